import { version } from "../world/version.ts";

/** The agent card: what this agent does and how it is reached. Fields of 0.3 stand beside those of 1.0. */
export const createAgentCard = (base: string): object => {
  const [rpc, rest] = [`${base}/a2a`, `${base}/a2a/rest`];
  return {
    name: "Parley",
    description: "A coding agent: reads and changes files of a project, runs commands, and asks before it does.",
    version,
    supportedInterfaces: [
      { url: rpc, protocolBinding: "JSONRPC", protocolVersion: "1.0" },
      { url: rest, protocolBinding: "HTTP+JSON", protocolVersion: "1.0" },
      { url: rpc, protocolBinding: "JSONRPC", protocolVersion: "0.3" },
    ],
    capabilities: { streaming: true, pushNotifications: false, extendedAgentCard: false, extensions: [] },
    defaultInputModes: ["text/plain", "application/json", "image/png", "image/jpeg", "application/pdf"],
    defaultOutputModes: ["text/plain", "text/markdown", "text/x-diff", "application/json"],
    skills: [
      {
        id: "code",
        name: "Work on code",
        description: "Answers questions about a project, changes its files and runs commands in it.",
        tags: ["code", "files", "shell"],
        examples: ["Find out why the test in math.test.js fails, and mend it."],
      },
    ],
    securitySchemes: { bearer: { type: "http", scheme: "bearer", httpAuthSecurityScheme: { scheme: "bearer" } } },
    securityRequirements: [{ schemes: { bearer: { list: [] } } }],
    // Read by clients of 0.3.
    url: rpc,
    preferredTransport: "JSONRPC",
    protocolVersion: "0.3.0",
    security: [{ bearer: [] }],
  };
};
