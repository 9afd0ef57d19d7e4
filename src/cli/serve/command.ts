import type { CommandSpec } from "../command.ts";
import { databaseOptions } from "../store/command.ts";

/** The spec of `parley serve`. */
export const serveCommand: CommandSpec = {
  name: "serve",
  about: "Serve sessions over HTTP: create, post, decide, cancel, follow, list, export",
  usage: "[--port N] [--folder DIR]... [--tokens FILE] [--oidc-issuer URL] [options]",
  positionals: [],
  details: [
    "Programs create sessions, post messages and follow them as server-sent events; approvals wait for a",
    "decision, also over a restart. Listens on 127.0.0.1 and prints a new token, unless --tokens or",
    "--oidc-issuer says who may come. Each token belongs to one tenant, who sees its own sessions alone.",
    "GET /openapi.json describes all routes; /healthz, /readyz and /metrics are for operators. SIGTERM",
    "lets turns end (--grace) and parks approvals; what is left is continued at the next start.",
  ],
  options: [
    { name: "port", value: "N", about: "Port to listen on (default: any free port)" },
    { name: "host", value: "ADDRESS", about: "Address to listen on (default: 127.0.0.1)" },
    {
      name: "behind-tls",
      about: "A proxy in front ends TLS; required with a --host that is not of this machine",
    },
    { name: "public-host", value: "NAME", about: "Name that clients use, as their Host header says; repeatable" },
    { name: "allow-origin", value: "ORIGIN", about: "Web page that may use it; repeatable" },
    { name: "folder", value: "DIR", about: "Folder that sessions may work in, or below; repeatable (default: .)" },
    ...databaseOptions,
    { name: "tokens", value: "FILE", about: 'Accepted tokens: {"tokens": [{"sha256", "tenant"}]}' },
    { name: "oidc-issuer", value: "URL", about: "Accept signed tokens of this identity provider" },
    { name: "oidc-audience", value: "NAME", about: "The audience they must be for" },
    { name: "oidc-tenant-claim", value: "NAME", about: "The claim that names the tenant (default: sub)" },
    { name: "max-open", value: "N", about: "Most agents open at once; further turns wait (default: 16)" },
    { name: "grace", value: "SECONDS", about: "Time for turns to end after SIGTERM (default: 30)" },
    { name: "model", short: "m", value: "PROVIDER/MODEL", values: "targets", about: "Model of new sessions" },
    { name: "a2a", about: "Speak A2A too: agent card, JSON-RPC at /a2a, REST below /a2a/rest" },
    { name: "log", about: "Print each answer to stderr: method, route, status, milliseconds" },
  ],
  example: "parley serve --port 8080 --folder ~/project",
  exitCodes: ["0  stopped by a signal", "1  cannot listen", "2  wrong usage, or an unreadable file"],
  load: async () => (await import("./run.ts")).serve,
};
