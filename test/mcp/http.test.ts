import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { textOf, withServers, type McpTestSession } from "./with-servers.ts";

type Answer = (request: Rpc, response: ServerResponse, message: IncomingMessage) => void;
type Rpc = { readonly id?: number; readonly method?: string; readonly params?: Record<string, unknown> };

const capabilities = { tools: {} };
const json = (response: ServerResponse, body: unknown, status = 200, headers: Record<string, string> = {}): void => {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
};
const result = (id: number | undefined, value: object): object => ({ jsonrpc: "2.0", id, result: value });

/** The responses of a valid server, in a session of this name. */
const honestIn =
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
const honest: Answer = honestIn("session-1");

type Heard = { readonly method: string; readonly url: string; readonly headers: IncomingMessage["headers"] };

/** A web server for a test. GET is not supported unless the test says otherwise. */
const serving = async (
  answer: Answer,
  work: (at: { readonly url: string; readonly heard: readonly Heard[] }) => Promise<void>,
  onGet: (response: ServerResponse, message: IncomingMessage) => void = (response) =>
    void response.writeHead(405).end(),
): Promise<void> => {
  const heard: Heard[] = [];
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

/** One call on a server that is reached over HTTP. */
const one = (config: object, work: (setting: McpTestSession) => Promise<void>, options: object = {}): Promise<void> =>
  withServers({ configured: { web: config }, ...options }, work);

const onCall =
  (answer: Answer): Answer =>
  (request, response, message) =>
    request.method === "tools/call" ? answer(request, response, message) : honest(request, response, message);

describe("a server over HTTP", () => {
  it("is called with the configured headers and its session", async () => {
    await serving(honest, async ({ url, heard }) => {
      await one({ httpUrl: url, headers: { "x-team": "${TEAM:-blue}" } }, async ({ call }) => {
        expect(textOf(await call("echo"))).toBe("over http");
      });
      const posts = heard.filter(({ method }) => method === "POST");
      expect(posts.map(({ headers }) => [headers["x-team"], headers["mcp-session-id"]])).toEqual([
        ["blue", undefined],
        ["blue", "session-1"],
        ["blue", "session-1"],
        ["blue", "session-1"],
      ]);
    });
  });

  it("has a session of its own, which ends with its connection and is sent to no other server", async () => {
    const naming = (name: string): Answer => {
      let count = 0;
      return (request, response, message) => {
        if (request.method === "initialize") count += 1;
        sent.push([name, request.method ?? "", String(message.headers["mcp-session-id"] ?? "none")]);
        return honestIn(`${name}-${count}`)(request, response, message);
      };
    };
    const sent: (readonly [string, string, string])[] = [];
    await serving(naming("one"), async (one) => {
      await serving(naming("two"), async (two) => {
        const configured = { one: { httpUrl: one.url }, two: { httpUrl: two.url } };
        await withServers({ configured }, async ({ servers, until }) => {
          servers.restart("one");
          await until(() => servers.status().every(({ status }) => status.state === "ready"));
        });
        await withServers({ configured }, async () => undefined);
      });
    });
    const sessions = (name: string, method: string): readonly string[] =>
      sent.flatMap(([to, asked, session]) => (to === name && asked === method ? [session] : []));
    expect([sessions("one", "initialize"), sessions("two", "initialize")]).toEqual([
      ["none", "none", "none"],
      ["none", "none"],
    ]);
    expect([sessions("one", "tools/list"), sessions("two", "tools/list")]).toEqual([
      ["one-1", "one-2", "one-3"],
      ["two-1", "two-2"],
    ]);
  });

  it("streams its responses, with progress", async () => {
    const streaming = onCall(({ id, params }, response) => {
      const token = (params!["_meta"] as { progressToken: number }).progressToken;
      response.writeHead(200, { "content-type": "text/event-stream" });
      const event = (value: object): void =>
        void response.write(`event: message\ndata: ${JSON.stringify({ jsonrpc: "2.0", ...value })}\n\n`);
      event({ method: "notifications/progress", params: { progressToken: token, progress: 1, total: 2 } });
      event({ id, result: { content: [{ type: "text", text: "streamed" }] } });
      response.end();
    });
    await serving(streaming, async ({ url }) => {
      await one({ httpUrl: url }, async ({ call, progressTexts }) => {
        expect([textOf(await call("echo")), progressTexts]).toEqual(["streamed", ["1 of 2\n"]]);
      });
    });
  });

  it.each<[string, Answer, RegExp]>([
    [
      "with HTML",
      (_, response) => void response.writeHead(200, { "content-type": "text/html" }).end("<p>hi"),
      /^Error: mcp_tool_error: web /,
    ],
    [
      "with nonsense",
      (_, response) => void response.writeHead(200, { "content-type": "application/json" }).end("{"),
      /^Error: mcp_tool_error: web cannot be reached: /,
    ],
    [
      "with an error of its own",
      (_, response) => json(response, {}, 500),
      /^Error: mcp_tool_error: web answered with HTTP 500/,
    ],
    [
      "with a connection that breaks",
      (_, response) => void response.destroy(),
      /^Error: mcp_tool_error: web cannot be reached: /,
    ],
    [
      "with a redirect to another place",
      (_, response) => void response.writeHead(307, { location: "http://127.0.0.1:1/" }).end(),
      /^Error: mcp_tool_error: web /,
    ],
    ["with nothing", () => undefined, /^Error: timeout: web did not answer: no response for 1 s\.$/],
    [
      "with a stream that never says anything",
      (_, response) => response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders(),
      /^Error: timeout: web did not answer/,
    ],
  ])("that answers %s fails with a message", async (_, answer, words) => {
    await serving(onCall(answer), async ({ url }) => {
      await one({ httpUrl: url, timeout: 1000 }, async ({ call }) => expect(textOf(await call("echo"))).toMatch(words));
    });
  });

  it.each<[string, string, string]>([
    ["as a whole", "application/json", '{"jsonrpc":"2.0","id":3,"result":{"x":"'],
    ["as an event", "text/event-stream", "data: "],
  ])("that answers without end is cut off, and not buffered: %s", async (_, type, begin) => {
    const before = process.memoryUsage().rss;
    const endless = onCall((_request, response) => {
      response.writeHead(200, { "content-type": type });
      response.write(begin);
      const more = (): void => {
        while (response.write("x".repeat(2 ** 16)));
        response.once("drain", more);
      };
      more();
    });
    await serving(endless, async ({ url }) => {
      await one({ httpUrl: url, timeout: 600_000 }, async ({ call }) => {
        expect(textOf(await call("echo"))).toContain("The server's response is longer than 24 MB.");
      });
    });
    expect(process.memoryUsage().rss - before).toBeLessThan(400 * 2 ** 20);
  });

  it("that requires a sign-in is not retried forever", async () => {
    await serving(
      (_, response) => void response.writeHead(401, { "www-authenticate": "Bearer" }).end(),
      async ({ url, heard }) => {
        await one({ httpUrl: url }, async ({ servers }) => {
          expect(servers.status()[0]?.status).toEqual({
            state: "sign-in",
            reason: "web requires a sign-in. Run parley mcp login web.",
          });
        });
        expect(heard.length).toBeLessThan(10);
      },
    );
  });

  it("is reached with the older protocol where it speaks that", async () => {
    let send: ((message: object) => void) | undefined;
    const posting: Answer = (request, response, { url = "" }) => {
      if (!url.startsWith("/messages")) return void response.writeHead(404).end();
      response.writeHead(202).end();
      const caught = {
        writeHead: () => caught,
        end: (body?: string) => void (body !== undefined && send?.(JSON.parse(body) as object)),
      };
      honest(request, caught as never, undefined as never);
    };
    const listening = (response: ServerResponse): void => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write("event: endpoint\ndata: /messages?session=1\n\n");
      send = (message) => void response.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
    };
    await serving(
      posting,
      async ({ url }) => {
        for (const config of [{ url }, { url, type: "sse" }])
          await one(config, async ({ call }) => expect(textOf(await call("echo"))).toBe("over http"));
      },
      listening,
    );
  });
});
