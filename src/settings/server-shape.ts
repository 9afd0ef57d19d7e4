import type { Shape, ShapeOf } from "./shape.ts";

const text: Shape = { type: "text" };
const texts: Shape = { type: "list", of: text };

/** An MCP server: a program to start, or an address to ask. */
export const serverShape: ShapeOf<"fields"> = {
  type: "fields",
  oneOf: ["command", "url", "httpUrl"],
  fields: {
    type: {
      shape: { type: "choice", of: ["stdio", "http", "sse"] },
      about: "How it is spoken to; needless where the rest tells.",
    },
    command: { shape: text, about: "The program to start." },
    args: { shape: texts, about: "Its arguments." },
    env: { shape: { type: "names", named: "variables", of: text }, about: "Variables it gets.", secret: true },
    cwd: { shape: text, about: "The folder it starts in." },
    url: { shape: text, about: "Its address." },
    httpUrl: { shape: text, about: "Its address, spoken to with streamable HTTP." },
    headers: { shape: { type: "names", named: "headers", of: text }, about: "Headers of every request.", secret: true },
    timeout: { shape: { type: "number", least: 1 }, about: "The longest a request may take, in milliseconds." },
    trust: { shape: { type: "switch" }, about: "Run its tools without asking." },
    includeTools: { shape: texts, about: "The only tools to offer." },
    excludeTools: { shape: texts, about: "Tools not to offer." },
  },
};
