import type { Shape, ShapeOf } from "./shape.ts";

const text: Shape = { type: "text" };
const texts: Shape = { type: "list", of: text };

/** How to sign in at a server: what Gemini CLI takes, and how machines do it. */
const oauthShape: ShapeOf<"fields"> = {
  type: "fields",
  fields: {
    enabled: { shape: { type: "switch" }, about: "false: never sign in at it." },
    clientId: {
      shape: text,
      about: "The id this program is registered under, or the https address of its description.",
    },
    clientSecret: { shape: text, about: "The secret that goes with it.", secret: true },
    scopes: { shape: texts, about: "What to ask for, instead of what the server says." },
    redirectUri: { shape: text, about: "Where the browser comes back to: an address of this machine, with a port." },
    issuer: { shape: text, about: "Who signs people in, whatever the server says." },
    authorizationUrl: { shape: text, about: "Where to sign in; with tokenUrl, where nothing describes the two." },
    tokenUrl: { shape: text, about: "Where tokens are had." },
    grantType: {
      shape: { type: "choice", of: ["authorization_code", "client_credentials"] },
      about: "client_credentials: a machine signs in, with a secret or a key; nobody is asked.",
    },
    privateKey: { shape: text, about: "A machine's private key, as PEM, in place of a secret.", secret: true },
    algorithm: { shape: text, about: "What that key signs with; ES256 if not given." },
  },
};

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
    oauth: { shape: oauthShape, about: "How to sign in at it; needless where it says so itself." },
    timeout: { shape: { type: "number", least: 1 }, about: "The longest a request may take, in milliseconds." },
    trust: { shape: { type: "switch" }, about: "Run its tools without asking." },
    sampling: {
      shape: { type: "choice", of: ["ask", "allow", "refuse"] },
      about: "Whether a model may answer the server when it wants one to.",
    },
    includeTools: { shape: texts, about: "The only tools to offer." },
    excludeTools: { shape: texts, about: "Tools not to offer." },
  },
};
