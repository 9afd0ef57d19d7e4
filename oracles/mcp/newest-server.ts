/*
 * A server of the official package that supports only the newest protocol: over stdio, or over HTTP with the argument
 * `http`, when it prints its port. Each call returns the protocol revision it was made with.
 */
import { createServer } from "node:http";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, fromJsonSchema, McpServer, type McpServerFactory } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

const factory: McpServerFactory = ({ era }) => {
  const server = new McpServer({ name: "newest", version: "1" }, { capabilities: { tools: {} } });
  const inputSchema = fromJsonSchema<{ message: string }>({
    type: "object",
    properties: { message: { type: "string" } },
    required: ["message"],
  });
  server.registerTool("echo", { description: "Echoes.", inputSchema }, async ({ message }) => ({
    content: [{ type: "text", text: `${era}: ${message}` }],
  }));
  return server;
};

if (process.argv[2] === "http") {
  const handler = toNodeHandler(createMcpHandler(factory, { legacy: "reject" }));
  const server = createServer((request, response) => void handler(request as never, response)).listen(
    0,
    "127.0.0.1",
    () => {
      const address = server.address();
      process.stdout.write(`${typeof address === "object" && address !== null ? address.port : 0}\n`);
    },
  );
} else serveStdio(factory, { legacy: "reject" });
