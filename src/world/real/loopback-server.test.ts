import { connect } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { openLoopbackServer, type LoopbackServer } from "./loopback-server.ts";

let server: LoopbackServer | undefined;
afterEach(() => server?.close());

/** Sends raw bytes and reads the status. */
const sendRequest = (redirect: string, lines: readonly string[]): Promise<string> =>
  new Promise((resolve, reject) => {
    let answer = "";
    const socket = connect(Number(new URL(redirect).port), "127.0.0.1", () =>
      socket.write(`${lines.join("\r\n")}\r\n\r\n`),
    );
    socket.on("data", (bytes) => (answer += bytes.toString()));
    socket.on("close", () => resolve(answer.slice(0, "HTTP/1.1 200".length)));
    socket.on("error", reject);
  });

describe("the loopback server of a sign-in", () => {
  it.each(["//[", "//[::1", "http://[", "/callback?state=%", "*", "/callback/..//["])(
    "rejects the request target %s, and still accepts the right one",
    async (target) => {
      server = await openLoopbackServer("abc");
      const host = `Host: ${new URL(server.redirectUri).host}`;
      expect(await sendRequest(server.redirectUri, [`GET ${target} HTTP/1.1`, host])).toBe("HTTP/1.1 400");
      expect(await sendRequest(server.redirectUri, ["GET /callback?state=abc&code=42 HTTP/1.1", host])).toBe(
        "HTTP/1.1 200",
      );
      expect(await server.callback).toEqual({ type: "code", code: "42" });
    },
  );

  it.each([
    ["of another site", (port: string) => [`Host: evil.test:${port}`]],
    ["that begins like ours", (port: string) => [`Host: 127.0.0.1.evil.test:${port}`]],
    ["with another port", () => ["Host: 127.0.0.1:1"]],
    ["without a port", () => ["Host: 127.0.0.1"]],
    ["given twice", (port: string) => [`Host: 127.0.0.1:${port}`, "Host: evil.test"]],
    ["that is empty", () => ["Host:"]],
  ])("rejects a request to a host %s", async (_, headers) => {
    server = await openLoopbackServer("abc");
    const { port } = new URL(server.redirectUri);
    const status = sendRequest(server.redirectUri, ["GET /callback?state=abc&code=42 HTTP/1.1", ...headers(port)]);
    expect(await status).toBe("HTTP/1.1 400");
    expect(await Promise.race([server.callback, Promise.resolve("none")])).toBe("none");
  });
});
