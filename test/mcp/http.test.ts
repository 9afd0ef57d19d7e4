import { describe, expect, it } from "vitest";
import { honest, honestIn, json, serving, speakOlderProtocol, type Answer } from "./http-server.ts";
import { textOf, withServers, type McpTestSession } from "./with-servers.ts";

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
    ["with nothing", () => undefined, /^Error: timeout: web did not answer: no response for 4 s\.$/],
    [
      "with a stream that never says anything",
      (_, response) => response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders(),
      /^Error: timeout: web did not answer/,
    ],
  ])("that answers %s fails with a message", async (_, answer, words) => {
    // The limit applies to the start of the server too, which takes a second on a busy machine.
    const timeout = words.source.includes("timeout") ? 4000 : 600_000;
    await serving(onCall(answer), async ({ url }) => {
      await one({ httpUrl: url, timeout }, async ({ call }) => expect(textOf(await call("echo"))).toMatch(words));
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
    const { answer, onGet } = speakOlderProtocol(honest);
    await serving(
      answer,
      async ({ url }) => {
        for (const config of [{ url }, { url, type: "sse" }])
          await one(config, async ({ call }) => expect(textOf(await call("echo"))).toBe("over http"));
      },
      onGet,
    );
  });
});
