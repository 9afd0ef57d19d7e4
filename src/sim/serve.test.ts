import { connect } from "node:http2";
import { connect as connectSocket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { readBodyText, type HttpResponse } from "../world/net.ts";
import { createRealNet } from "../world/real/net.ts";
import { ask, versionHeaders } from "./anthropic/client.cases.ts";
import type { Json } from "./family.ts";
import type { FaultPlan } from "./faults/fault.ts";
import { serve, type RunningSimulator } from "./serve.ts";
import { createSimulator, type Simulator } from "./simulator.ts";

let serving: RunningSimulator | undefined;
afterEach(async () => {
  await serving?.close();
  serving = undefined;
});

const start = async (simulators: Parameters<typeof serve>[0]): Promise<string> => {
  serving = await serve(simulators);
  return serving.url;
};

const anthropic = (faults: FaultPlan = []): Simulator => createSimulator({ provider: "anthropic", faults });

const send = (url: string, body: Json = ask("hi"), signal?: AbortSignal): Promise<HttpResponse> =>
  createRealNet({}).send({ method: "POST", url, headers: versionHeaders, body: JSON.stringify(body) }, signal);

describe("a simulator on a port", () => {
  it("answers on loopback as in memory", async () => {
    const url = await start(anthropic());
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    const answer = await send(`${url}/v1/messages`);
    const inMemory = await anthropic().handle({
      method: "POST",
      url: `${url}/v1/messages`,
      headers: versionHeaders,
      body: JSON.stringify(ask("hi")),
    });
    expect([answer.status, await readBodyText(answer)]).toEqual([200, await readBodyText(inMemory)]);
    expect(answer.headers).toMatchObject({ "content-type": "application/json", "request-id": expect.any(String) });
  });

  it.each(["evil.test", "127.0.0.1.evil.test", "localhost@evil.test", ""])(
    "refuses a browser request with another host name: %s",
    async (host) => {
      const { port } = new URL(await start(anthropic()));
      const answer = await new Promise<string>((resolve) => {
        let text = "";
        const socket = connectSocket(Number(port), "127.0.0.1", () =>
          socket.end(`POST /v1/messages HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 2\r\n\r\n{}`),
        );
        socket.on("data", (bytes) => (text += bytes.toString()));
        socket.on("close", () => resolve(text));
      });
      expect(answer.split("\r\n")[0]).toBe("HTTP/1.1 403 Forbidden");
    },
  );

  it("streams event by event", async () => {
    const url = await start(anthropic());
    const answer = await send(`${url}/v1/messages`, ask("hi", { stream: true }));
    expect(answer.headers["content-type"]).toBe("text/event-stream; charset=utf-8");
    expect(await readBodyText(answer)).toMatch(/"message_stop" *}\n\n$/);
  });

  it("supports HTTP/2 without TLS on the same port", async () => {
    const simulator = anthropic();
    const url = await start(simulator);
    expect((await overHttp2(url)).status).toBe(200);
    expect((await send(`${url}/v1/messages`)).status).toBe(200);
    expect(simulator.log.map(({ verdict }) => verdict)).toEqual(["accepted", "accepted"]);
  });

  it("serves several simulators by path prefix, the longest first", async () => {
    const one = anthropic();
    const two = anthropic();
    const url = await start({ "/claude": one, "/claude/two": two });
    expect((await send(`${url}/claude/v1/messages`)).status).toBe(200);
    expect((await send(`${url}/claude/two/v1/messages`)).status).toBe(200);
    expect((await send(`${url}/other/v1/messages`)).status).toBe(404);
    expect([one.log.length, two.log.length]).toEqual([1, 1]);
  });

  it("answers several requests on one connection", async () => {
    const url = await start(anthropic());
    const net = createRealNet({});
    const statuses: number[] = [];
    for (const text of ["one", "two", "three"]) {
      const request = {
        method: "POST",
        url: `${url}/v1/messages`,
        headers: versionHeaders,
        body: JSON.stringify(ask(text)),
      } as const;
      const answer = await net.send(request);
      await readBodyText(answer);
      statuses.push(answer.status);
    }
    expect(statuses).toEqual([200, 200, 200]);
  });
});

describe("faults on a port", () => {
  it("reset the connection at the cut, after the bytes before it", async () => {
    const url = await start(anthropic([{ fault: { type: "cut", at: 100 } }]));
    const answer = await send(`${url}/v1/messages`);
    await expect(readBodyText(answer)).rejects.toMatchObject({ at: "broken" });
    const { text, isComplete } = await overHttp2(url);
    expect([text.length, isComplete]).toEqual([100, false]);
  });

  it("refuse a connection by closing it", async () => {
    const url = await start(anthropic([{ fault: { type: "refuse-connection" } }]));
    await expect(send(`${url}/v1/messages`)).rejects.toMatchObject({ at: "connect" });
  });

  it("end a truncated response cleanly", async () => {
    const url = await start(anthropic([{ fault: { type: "truncate", at: 100 } }]));
    expect((await readBodyText(await send(`${url}/v1/messages`))).length).toBe(100);
  });

  it("compress a response and lose its end", async () => {
    const url = await start(anthropic([{ fault: { type: "gzip-cut", at: 100 } }]));
    const answer = await send(`${url}/v1/messages`);
    expect(answer.headers["content-encoding"]).toBe("gzip");
    await expect(readBodyText(answer)).rejects.toMatchObject({ at: "broken" });
  });

  it("stop sending to a client that disconnected", async () => {
    let isAborted = (): void => undefined;
    const aborted = new Promise<void>((resolve) => (isAborted = resolve));
    const simulator = createSimulator({
      provider: "anthropic",
      faults: [{ fault: { type: "drip", ms: 1 } }],
      sleep: (_, signal) =>
        new Promise((_resolve, reject) => {
          signal?.addEventListener("abort", () => {
            isAborted();
            reject(signal.reason);
          });
        }),
    });
    const url = await start(simulator);
    const leaving = new AbortController();
    const answer = await send(`${url}/v1/messages`, ask("hi", { stream: true }), leaving.signal);
    for await (const _ of answer.body) break;
    leaving.abort();
    await aborted;
  });
});

it("close() ends idle and unanswered connections, and frees the port", async () => {
  const simulator = anthropic([{ fault: { type: "never-answer" } }]);
  const { url, close } = await serve(simulator);
  const { port } = new URL(url);
  const waiting = send(`${url}/v1/messages`).catch((error: unknown) => error);
  const silent = connectSocket(Number(port), "127.0.0.1");
  await new Promise((resolve) => silent.once("connect", resolve));
  const closed = new Promise((resolve) => silent.once("close", resolve));
  silent.on("error", () => undefined);
  await close();
  await closed;
  expect(await waiting).toMatchObject({ at: "connect" });
  await (await serve(anthropic(), { port: Number(port) })).close();
});

/** A request over HTTP/2 with prior knowledge, as AWS's client sends it. */
const overHttp2 = async (url: string): Promise<{ status: number; text: string; isComplete: boolean }> => {
  const session = connect(url);
  session.on("error", () => undefined);
  const request = session.request({ ":method": "POST", ":path": "/v1/messages", ...versionHeaders });
  request.on("error", () => undefined);
  request.end(JSON.stringify(ask("hi")));
  let status = 0;
  let text = "";
  let isComplete = false;
  request.on("response", (headers) => (status = headers[":status"] ?? 0));
  request.on("data", (chunk: Buffer) => (text += chunk.toString()));
  request.on("end", () => (isComplete = true));
  await new Promise((resolve) => request.once("close", resolve));
  session.destroy();
  return { status, text, isComplete };
};
