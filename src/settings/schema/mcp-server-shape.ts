import type { Shape, ShapeOf } from "./shape.ts";

const text: Shape = { type: "text" };
const texts: Shape = { type: "list", of: text };

/** How to sign in at a server: what Gemini CLI takes, and how machines do it. */
const oauthShape: ShapeOf<"fields"> = {
  type: "fields",
  fields: {
    enabled: { shape: { type: "switch" }, description: "false: never sign in at it." },
    clientId: {
      shape: text,
      description: "The id this program is registered under, or the https address of its description.",
    },
    clientSecret: { shape: text, description: "The secret that goes with it.", secret: true },
    scopes: { shape: texts, description: "What to ask for, instead of what the server says." },
    redirectUri: {
      shape: text,
      description: "Where the browser comes back to: an address of this machine, with a port.",
    },
    issuer: { shape: text, description: "Who signs people in, whatever the server says." },
    authorizationUrl: { shape: text, description: "Where to sign in; with tokenUrl, where nothing describes the two." },
    tokenUrl: { shape: text, description: "Where tokens are had." },
    grantType: {
      shape: { type: "choice", of: ["authorization_code", "client_credentials"] },
      description: "client_credentials: a machine signs in, with a secret or a key; nobody is asked.",
    },
    privateKey: { shape: text, description: "A machine's private key, as PEM, in place of a secret.", secret: true },
    algorithm: { shape: text, description: "What that key signs with; ES256 if not given." },
  },
};

/** An MCP server: a program to start, or an address to ask. */
export const serverShape: ShapeOf<"fields"> = {
  type: "fields",
  oneOf: ["command", "url", "httpUrl"],
  fields: {
    type: {
      shape: { type: "choice", of: ["stdio", "http", "sse"] },
      description: "How it is spoken to; needless where the rest tells.",
    },
    command: { shape: text, description: "The program to start." },
    args: { shape: texts, description: "Its arguments." },
    env: { shape: { type: "names", entries: "variables", of: text }, description: "Variables it gets.", secret: true },
    cwd: { shape: text, description: "The folder it starts in." },
    url: { shape: text, description: "Its address." },
    httpUrl: { shape: text, description: "Its address, spoken to with streamable HTTP." },
    headers: {
      shape: { type: "names", entries: "headers", of: text },
      description: "Headers of every request.",
      secret: true,
    },
    oauth: { shape: oauthShape, description: "How to sign in at it; needless where it says so itself." },
    timeout: { shape: { type: "number", min: 1 }, description: "The longest a request may take, in milliseconds." },
    trust: { shape: { type: "switch" }, description: "Run its tools without asking." },
    sampling: {
      shape: { type: "choice", of: ["ask", "allow", "refuse"] },
      description: "Whether a model may answer the server when it wants one to.",
    },
    includeTools: { shape: texts, description: "The only tools to offer." },
    excludeTools: { shape: texts, description: "Tools not to offer." },
  },
};
