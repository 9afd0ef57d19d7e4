import type { Shape, ShapeOf } from "./shape.ts";

const text: Shape = { type: "string" };
const texts: Shape = { type: "list", of: text };

/** OAuth settings: those of Gemini CLI, and machine-to-machine credentials. */
const oauthShape: ShapeOf<"object"> = {
  type: "object",
  fields: {
    enabled: { shape: { type: "boolean" }, description: "false: never sign in." },
    clientId: {
      shape: text,
      description: "The registered client id, or the https URL of a client metadata document.",
    },
    clientSecret: { shape: text, description: "The client secret.", secret: true },
    scopes: { shape: texts, description: "Scopes to request instead of those the server announces." },
    redirectUri: {
      shape: text,
      description: "The redirect URI of the browser: a loopback URL with a port.",
    },
    issuer: { shape: text, description: "The authorization server, instead of the one the server announces." },
    authorizationUrl: {
      shape: text,
      description: "The authorization endpoint, with tokenUrl, if the server has no metadata.",
    },
    tokenUrl: { shape: text, description: "The token endpoint." },
    grantType: {
      shape: { type: "enum", of: ["authorization_code", "client_credentials"] },
      description: "client_credentials: sign in without a user, with a secret or a private key.",
    },
    privateKey: { shape: text, description: "A private key (PEM) instead of a client secret.", secret: true },
    algorithm: { shape: text, description: "The signature algorithm of that key; default: ES256." },
  },
};

/** An MCP server: a program to start, or a URL. */
export const serverShape: ShapeOf<"object"> = {
  type: "object",
  oneOf: ["command", "url", "httpUrl"],
  fields: {
    type: {
      shape: { type: "enum", of: ["stdio", "http", "sse"] },
      description: "The transport; usually detected from the other fields.",
    },
    command: { shape: text, description: "The program to start." },
    args: { shape: texts, description: "Its arguments." },
    env: {
      shape: { type: "record", entries: "variables", of: text },
      description: "Environment variables for the program.",
      secret: true,
    },
    cwd: { shape: text, description: "The working directory." },
    url: { shape: text, description: "The server's URL." },
    httpUrl: { shape: text, description: "The server's URL, for streamable HTTP." },
    headers: {
      shape: { type: "record", entries: "headers", of: text },
      description: "Headers sent with every request.",
      secret: true,
    },
    oauth: { shape: oauthShape, description: "How to sign in; usually detected from the server." },
    timeout: { shape: { type: "number", min: 1 }, description: "Request timeout in milliseconds." },
    trust: { shape: { type: "boolean" }, description: "Run its tools without asking." },
    sampling: {
      shape: { type: "enum", of: ["ask", "allow", "refuse"] },
      description: "Whether the server may request model completions (sampling).",
    },
    includeTools: { shape: texts, description: "Offer only these tools." },
    excludeTools: { shape: texts, description: "Do not offer these tools." },
  },
};
