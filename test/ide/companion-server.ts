import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { MessageLog, type ReceivedMessage } from "./message-log.ts";

/** How the stand-in behaves. */
export type CompanionServerOptions = {
  readonly token?: string;
  /** The text block that answers a tool; undefined for an empty result, "hang" for no answer. */
  readonly answer?: (tool: string, args: Readonly<Record<string, unknown>>) => string | undefined;
};

/** An editor with the companion of Gemini CLI: MCP over Streamable HTTP on this machine. */
export type CompanionServer = {
  readonly port: number;
  readonly token: string;
  readonly log: MessageLog;
  /** The status of each response. */
  readonly statuses: readonly number[];
  /** Sends a notification in the stream; waits until there is one. */
  readonly notify: (method: string, params: object) => Promise<void>;
  readonly drop: () => void;
  readonly close: () => Promise<void>;
};

/** Starts the stand-in. */
export const serveCompanion = async ({
  token = "companion-token",
  answer = () => undefined,
}: CompanionServerOptions = {}): Promise<CompanionServer> => {
  const log = new MessageLog();
  const statuses: number[] = [];
  let stream: ServerResponse | undefined;
  const end = (response: ServerResponse, status: number, body?: object): void => {
    statuses.push(status);
    response.writeHead(status, { "content-type": "application/json", "mcp-session-id": "session-1" });
    response.end(body === undefined ? "" : JSON.stringify(body));
  };
  const server = createServer((request, response) => {
    const { port } = server.address() as AddressInfo;
    if (![`127.0.0.1:${port}`, `localhost:${port}`].includes(request.headers.host ?? "")) return end(response, 403);
    if (request.headers.origin !== undefined) return end(response, 403);
    if (request.headers.authorization !== `Bearer ${token}`) return end(response, 401);
    if (request.method === "GET") {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.flushHeaders();
      stream = response;
      response.write('data: {"jsonrpc":"2.0","id":"alive","method":"ping"}\n\n');
      log.add({ method: "(stream)", params: {} });
      return;
    }
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      const message = JSON.parse(body) as ReceivedMessage & { readonly result?: unknown };
      log.add(message.method === undefined ? { method: "(answer)", params: message as never } : message);
      if (message.method === undefined || message.id === undefined) return end(response, 202);
      const { id, method, params } = message;
      if (method === "initialize")
        return end(response, 200, {
          jsonrpc: "2.0",
          id,
          result: {
            protocolVersion: params["protocolVersion"],
            capabilities: {},
            serverInfo: { name: "c", version: "1" },
          },
        });
      const text = answer(String(params["name"]), params["arguments"] as Record<string, unknown>);
      if (text === "hang") return;
      end(response, 200, {
        jsonrpc: "2.0",
        id,
        result: { content: text === undefined ? [] : [{ type: "text", text }] },
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    token,
    log,
    statuses,
    notify: async (method, params) => {
      await log.count("(stream)", 1);
      stream?.write(`data: ${JSON.stringify({ jsonrpc: "2.0", method, params })}\n\n`);
    },
    drop: () => server.closeAllConnections(),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

/** Writes the discovery file of the companion into a folder for temporary files. */
export const writeCompanionFile = (
  temporary: string,
  { port, token }: Pick<CompanionServer, "port" | "token">,
  { mode = 0o600, pid = process.pid, ...changes }: Readonly<Record<string, unknown>> & { readonly mode?: number } = {},
): void => {
  const folder = join(temporary, "gemini", "ide");
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `gemini-ide-server-${String(pid)}-${port}.json`);
  writeFileSync(path, JSON.stringify({ port, workspacePath: "", authToken: token, ...changes }));
  chmodSync(path, mode);
};
