import { connect } from "node:net";
import { request as httpRequest } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ExchangeRecord } from "../../src/wire/exchange.ts";
import { openGatewayStage, token, type GatewayStage } from "./stage.ts";

const hello = { model: "google/gemini-3.8-flash", max_tokens: 100, messages: [{ role: "user", content: "hi" }] };
let stage: GatewayStage;
const records: ExchangeRecord[] = [];

beforeAll(async () => {
  stage = await openGatewayStage({
    gateway: { limits: { bodyBytes: 50_000 }, onExchange: (record) => records.push(record) },
    serve: { headTime: 200, requestTime: 400 },
  });
});
afterAll(() => stage.close());

const ask = (
  headers: Readonly<Record<string, string>>,
  path = "/v1/messages",
): Promise<{ status: number; body: string }> =>
  new Promise((resolve, reject) => {
    const { port } = stage.running;
    const sent = httpRequest({
      port,
      path,
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
    });
    sent.on("response", (response) => {
      let body = "";
      response.on("data", (chunk: Buffer) => (body += chunk.toString()));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, body }));
    });
    sent.on("error", reject);
    sent.end(JSON.stringify(hello));
  });

describe("the door of the gateway", () => {
  it.each([
    ["a bearer token", { authorization: `Bearer ${token}` }, ""],
    ["an Anthropic key", { "x-api-key": token }, ""],
    ["a Gemini key", { "x-goog-api-key": token }, ""],
    ["a key in the query", {}, `?key=${token}`],
  ] as const)("takes its token as %s", async (_, headers, query) => {
    expect((await ask(headers, `/v1/messages${query}`)).status).toBe(200);
  });

  it.each([
    ["no token", {}, 401],
    ["another token", { authorization: "Bearer other" }, 401],
    ["the hash of a token", { authorization: "Bearer sha256:00" }, 401],
    ["another host (DNS rebinding)", { authorization: `Bearer ${token}`, host: "evil.example" }, 403],
    ["a page of another origin", { authorization: `Bearer ${token}`, origin: "https://evil.example" }, 403],
    ["a page of another site", { authorization: `Bearer ${token}`, "sec-fetch-site": "cross-site" }, 403],
    ["a form (CSRF)", { authorization: `Bearer ${token}`, "content-type": "text/plain" }, 400],
  ] as const)("refuses %s", async (_, headers, status) => {
    const before = Object.values(stage.sims.simulators).reduce((sum, { log }) => sum + log.length, 0);
    const answer = await ask(headers);
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.body)).toMatchObject({ type: "error" });
    expect(answer.body).not.toContain(token);
    expect(Object.values(stage.sims.simulators).reduce((sum, { log }) => sum + log.length, 0)).toBe(before);
  });

  it("refuses a body that is too large, or no JSON", async () => {
    const large = await stage.post("/v1/messages", {
      ...hello,
      messages: [{ role: "user", content: "x".repeat(60_000) }],
    });
    expect([large.status, (await large.json()) as unknown]).toEqual([413, expect.objectContaining({ type: "error" })]);
    expect((await stage.post("/v1/messages", "{ no json")).status).toBe(400);
    expect((await stage.post("/v1/messages", "[]")).status).toBe(400);
    expect((await stage.post("/v1/messages", { messages: [] })).status).toBe(400);
  });

  it.each([
    ["a wrong token", `content-length: 40000`, "authorization: Bearer other", " 401 "],
    ["a length above the limit", "content-length: 80000", `x-api-key: ${token}`, " 413 "],
    ["more than the limit", "transfer-encoding: chunked", `x-api-key: ${token}`, " 413 "],
  ] as const)("lets a client that still sends read why it is refused: %s", async (_, length, credential, status) => {
    const isChunked = length.startsWith("transfer");
    const chunk = isChunked ? `${(40_000).toString(16)}\r\n${"x".repeat(40_000)}\r\n` : "x".repeat(20_000);
    const ended = await new Promise<string>((resolve) => {
      const socket = connect(stage.running.port, "127.0.0.1");
      let received = "";
      socket.write(
        `POST /v1/messages HTTP/1.1\r\nhost: 127.0.0.1:${stage.running.port}\r\ncontent-type: application/json\r\n${length}\r\n${credential}\r\n\r\n`,
      );
      socket.write(isChunked ? chunk + chunk : chunk);
      socket.on("data", (bytes) => {
        if (received === "") {
          // The rest is sent in pieces, so that a closed connection would be noticed.
          socket.write(chunk);
          setImmediate(() => socket.write(isChunked ? "0\r\n\r\n" : chunk.repeat(length.endsWith("80000") ? 2 : 0)));
        }
        received += bytes.toString();
      });
      socket.on("error", (error) => resolve(`${error.message} after ${received.slice(0, 20)}`));
      socket.on("end", () => resolve(received));
    });
    expect(ended).toContain(`HTTP/1.1${status}`);
    expect(ended).toContain('"type":"error"');
  });

  it("closes connections that send slowly (slowloris), or in two readings (smuggling)", async () => {
    const answerOf = (text: string): Promise<string> =>
      new Promise((resolve) => {
        let answer = "";
        const socket = connect(stage.running.port, "127.0.0.1", () => socket.write(text));
        socket.on("data", (chunk) => (answer += chunk.toString()));
        socket.on("error", () => undefined);
        socket.on("close", () => resolve(answer.split("\r\n")[0] ?? ""));
      });
    expect(await answerOf("POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ")).toBe(
      "HTTP/1.1 408 Request Timeout",
    );
    const head = `Host: 127.0.0.1:${stage.running.port}\r\nX-Api-Key: ${token}\r\nContent-Type: application/json`;
    expect(await answerOf(`POST /v1/messages HTTP/1.1\r\n${head}\r\nContent-Length: 100\r\n\r\n{`)).toBe(
      "HTTP/1.1 408 Request Timeout",
    );
    expect(
      await answerOf(
        `POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1:${stage.running.port}\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET / HTTP/1.1\r\n\r\n`,
      ),
    ).toBe("HTTP/1.1 400 Bad Request");
  });

  it("keeps an idle connection longer than clients do, but none of a sender without a token", async () => {
    const answer = await stage.post("/v1/messages", hello);
    await answer.text();
    const seconds = Number(/timeout=(\d+)/.exec(answer.headers.get("keep-alive") ?? "")?.[1]);
    // Codex and programs in Go keep one for 90 s.
    expect([answer.status, seconds > 90]).toEqual([200, true]);
    const refused = await stage.post("/v1/messages", hello, { authorization: "Bearer other" });
    await refused.text();
    expect([refused.status, refused.headers.get("connection")]).toEqual([401, "close"]);
  });

  it("says that it is there, what it has, and what it has not", async () => {
    const { url } = stage.running;
    expect((await fetch(`${url}/`, { method: "HEAD" })).status).toBe(200);
    expect(await (await fetch(`${url}/healthz`)).json()).toEqual({ name: "parley", status: "ok" });
    expect((await stage.post("/v1/embeddings", {})).status).toBe(404);
    expect((await fetch(`${url}/v1/messages`, { headers: { "x-api-key": token } })).status).toBe(405);
    const listed = await fetch(`${url}/v1/models`, {
      headers: { "x-api-key": token, "anthropic-version": "2023-06-01" },
    });
    expect(((await listed.json()) as { data: { id: string }[] }).data.map(({ id }) => id)).toContain(
      "google/gemini-3.8-flash",
    );
  });

  it("keeps tokens out of the records of exchanges", () => {
    expect(records.length).toBeGreaterThan(0);
    expect(JSON.stringify(records)).not.toContain(token);
  });
});
