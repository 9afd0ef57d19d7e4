import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** Answers a message of a client. */
export type Answer = (request: Rpc, response: ServerResponse, message: IncomingMessage) => void;
type Rpc = { readonly id?: number; readonly method?: string; readonly params?: Record<string, unknown> };

const capabilities = { tools: {} };
/** Sends JSON. */
export const json = (
  response: ServerResponse,
  body: unknown,
  status = 200,
  headers: Record<string, string> = {},
): void => {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
};
/** The message that carries a result. */
const result = (id: number | undefined, value: object): object => ({ jsonrpc: "2.0", id, result: value });

/** The responses of a valid server, in a session of this name. */
export const honestIn =
  (session: string): Answer =>
  ({ id, method, params }, response) => {
    if (id === undefined) return void response.writeHead(202).end();
    if (method === "initialize")
      return json(
        response,
        result(id, {
          protocolVersion: params!["protocolVersion"],
          capabilities,
          serverInfo: { name: "h", version: "1" },
        }),
        200,
        { "mcp-session-id": session },
      );
    if (method === "tools/list")
      return json(response, result(id, { tools: [{ name: "echo", inputSchema: { type: "object" } }] }));
    return json(response, result(id, { content: [{ type: "text", text: "over http" }] }));
  };
/** The responses of a valid server. */
export const honest: Answer = honestIn("session-1");

/** A request that arrived. */
export type ReceivedRequest = {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
};

/** A web server for a test. GET is not supported unless the test says otherwise. */
export const serving = async (
  answer: Answer,
  work: (at: { readonly url: string; readonly heard: readonly ReceivedRequest[] }) => Promise<void>,
  onGet: (response: ServerResponse, message: IncomingMessage) => void = (response) =>
    void response.writeHead(405).end(),
): Promise<void> => {
  const heard: ReceivedRequest[] = [];
  const server: Server = createServer((message, response) => {
    heard.push({ method: message.method ?? "", url: message.url ?? "", headers: message.headers });
    if (message.method !== "POST") return onGet(response, message);
    let body = "";
    message.on("data", (chunk: Buffer) => (body += chunk.toString()));
    message.on("end", () => answer(JSON.parse(body) as Rpc, response, message));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    await work({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, heard });
  } finally {
    server.closeAllConnections();
    server.close();
  }
};

/** A server of the older protocol: responses come in the stream of one GET request. */
export const speakOlderProtocol = (
  respond: Answer,
): { readonly answer: Answer; readonly onGet: (response: ServerResponse) => void } => {
  let send: ((message: object) => void) | undefined;
  return {
    answer: (request, response, message) => {
      if (message.url?.startsWith("/messages") !== true) return void response.writeHead(404).end();
      response.writeHead(202).end();
      const caught = {
        writeHead: () => caught,
        end: (body?: string) => void (body !== undefined && send?.(JSON.parse(body) as object)),
      };
      respond(request, caught as never, message);
    },
    onGet: (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write("event: endpoint\ndata: /messages?session=1\n\n");
      send = (message) => void response.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
    },
  };
};
