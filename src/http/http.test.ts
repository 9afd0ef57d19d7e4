import { connect } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { sendJson } from "./answer.ts";
import { formatEvent, openEventStream } from "./event-stream.ts";
import { listen, type ListeningServer, type ListenOptions } from "./listen.ts";
import { readJsonBody, RequestBodyError } from "./request-body.ts";
import { hashToken, isSameSecret, loopbackHosts, readBearerToken, refuseRequest } from "./request-guard.ts";

let running: ListeningServer | undefined;
afterEach(() => running?.close());

/** A door that answers the JSON it was sent. */
const openDoor = async (options: ListenOptions = {}): Promise<ListeningServer> => {
  running = await listen((request, response) => {
    const { port } = running!;
    const refusal = refuseRequest(request, {
      hosts: loopbackHosts(port),
      origins: ["https://app.example"],
      methods: ["GET", "POST"],
    });
    if (refusal !== undefined) return sendJson(response, refusal.status, { error: refusal.message });
    void readJsonBody(request, { bytes: 100, types: ["application/json"] }).then(
      (value) => sendJson(response, 200, { value: value ?? null }),
      (error: unknown) =>
        sendJson(
          response,
          (error as RequestBodyError).status,
          { error: (error as Error).message },
          { connection: "close" },
        ),
    );
  }, options);
  return running;
};

/** Writes bytes to the door and resolves with the first line of the answer, or "" if it closes without one. */
const writeRaw = (port: number, bytes: string): Promise<string> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(bytes));
    let got = "";
    socket.on("data", (chunk) => (got += chunk.toString()));
    socket.on("close", () => resolve(got.split("\r\n")[0] ?? ""));
    socket.on("error", () => undefined);
  });

const head = (lines: readonly string[]): string => `${lines.join("\r\n")}\r\n\r\n`;

describe("a door", () => {
  it.each<readonly [string, Readonly<Record<string, string>>, number]>([
    ["its own address", {}, 200],
    ["a page of its own origin", { origin: "http://127.0.0.1:PORT", "sec-fetch-site": "same-origin" }, 200],
    ["a page that was listed", { origin: "https://app.example", "sec-fetch-site": "cross-site" }, 200],
    ["a page of another origin (CSRF)", { origin: "https://evil.example" }, 403],
    ["a page without an origin", { origin: "null" }, 403],
    ["a page of another site", { "sec-fetch-site": "cross-site" }, 403],
    ["a form", { "content-type": "text/plain" }, 415],
    ["compressed bytes", { "content-encoding": "gzip" }, 415],
  ])("answers %s", async (_, headers, status) => {
    const { port } = await openDoor();
    const own = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, value.replace("PORT", `${port}`)]),
    );
    const response = await fetch(`http://127.0.0.1:${port}/`, {
      method: "POST",
      body: "{}",
      headers: { "content-type": "application/json", ...own },
    });
    expect(response.status).toBe(status);
  });

  it.each<readonly [string, readonly string[], string]>([
    ["another host (DNS rebinding)", ["GET / HTTP/1.1", "Host: evil.example", "Connection: close"], "403 Forbidden"],
    ["no host", ["GET / HTTP/1.1", "Connection: close"], "400 Bad Request"],
    ["another method", ["TRACE / HTTP/1.1", "Host: 127.0.0.1:PORT", "Connection: close"], "405 Method Not Allowed"],
    [
      "two lengths (smuggling)",
      ["POST / HTTP/1.1", "Host: 127.0.0.1:PORT", "Content-Length: 2", "Content-Length: 3"],
      "400 Bad Request",
    ],
    [
      "a length and chunks (smuggling)",
      ["POST / HTTP/1.1", "Host: 127.0.0.1:PORT", "Content-Length: 2", "Transfer-Encoding: chunked"],
      "400 Bad Request",
    ],
    [
      "an obscured encoding (smuggling)",
      ["POST / HTTP/1.1", "Host: 127.0.0.1:PORT", "Transfer-Encoding: xchunked"],
      "400 Bad Request",
    ],
    [
      "headers over 16 KiB",
      ["GET / HTTP/1.1", "Host: 127.0.0.1:PORT", `X: ${"x".repeat(20_000)}`],
      "431 Request Header Fields Too Large",
    ],
    [
      "a body over its limit",
      ["POST / HTTP/1.1", "Host: 127.0.0.1:PORT", "Content-Type: application/json", "Content-Length: 101"],
      "413 Payload Too Large",
    ],
    [
      "chunks over the limit",
      [
        "POST / HTTP/1.1",
        "Host: 127.0.0.1:PORT",
        "Content-Type: application/json",
        "Transfer-Encoding: chunked",
        "",
        `80\r\n${"x".repeat(128)}`,
      ],
      "413 Payload Too Large",
    ],
  ])("refuses %s", async (_, lines, status) => {
    const { port } = await openDoor();
    const answer = await writeRaw(port, head(lines).replaceAll("PORT", `${port}`));
    expect(answer).toBe(`HTTP/1.1 ${status}`);
  });

  it("closes a connection whose head never ends (slowloris)", async () => {
    const { port } = await openDoor({ headTime: 100, requestTime: 200 });
    expect(await writeRaw(port, "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ")).toBe("HTTP/1.1 408 Request Timeout");
  });

  it("closes a connection whose body never ends", async () => {
    const { port } = await openDoor({ headTime: 100, requestTime: 200 });
    const slow = ["POST / HTTP/1.1", `Host: 127.0.0.1:${port}`, "Content-Type: application/json", "Content-Length: 10"];
    expect(await writeRaw(port, `${head(slow)}{`)).toBe("HTTP/1.1 408 Request Timeout");
  });
});

describe("a token", () => {
  it.each([
    ["Bearer abc.DEF-_~+/=", "abc.DEF-_~+/="],
    ["bearer abc", "abc"],
    ["Basic abc", undefined],
    ["Bearer a b", undefined],
    [undefined, undefined],
  ])("is read from %s", (authorization, token) => {
    expect(readBearerToken({ headers: authorization === undefined ? {} : { authorization } })).toBe(token);
  });

  it("is compared by its digest", () => {
    expect([isSameSecret("a", "a"), isSameSecret("a", "b"), isSameSecret("a", "aa")]).toEqual([true, false, false]);
    expect(hashToken("a")).toMatch(/^[0-9a-f]{64}$/);
  });
});

describe("an event", () => {
  it("leaves at once, not when the work that led to it pauses", async () => {
    const held: (number | undefined)[] = [];
    running = await listen((_, response) => {
      const stream = openEventStream(response);
      void stream.send({ data: "one" });
      held.push(response.socket?.writableCorked);
      void stream.send({ data: "two" });
      held.push(response.socket?.writableCorked);
      stream.end();
    });
    const response = await fetch(`http://127.0.0.1:${running.port}/`);
    expect(await response.text()).toBe("data: one\n\ndata: two\n\n");
    expect(held).toEqual([0, 0]);
  });

  it("cannot be ended or forged by its own text", () => {
    expect(formatEvent({ id: "1\nevent: x", event: "text", data: "a\n\nid: 9\r\rb" })).toBe(
      "id: 1 event: x\nevent: text\ndata: a\ndata: \ndata: id: 9\ndata: \ndata: b\n\n",
    );
  });
});
