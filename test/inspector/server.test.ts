import { request, type IncomingHttpHeaders } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { serveInspector, type RunningInspector } from "../../src/inspect/server/serve.ts";
import { createRichSession, type RichSession } from "./rich-session.ts";

type Answer = { readonly status: number; readonly headers: IncomingHttpHeaders; readonly body: string };

describe("the inspector's server", () => {
  let rich: RichSession;
  let server: RunningInspector;
  let address: URL;
  let token: string;

  beforeAll(async () => {
    rich = await createRichSession();
    server = await serveInspector(rich.source, { world: rich.world, interval: 10 });
    address = new URL(server.url);
    token = address.hash.slice("#token=".length);
  });
  afterAll(() => server.close());

  const send = (path: string, headers: Record<string, string> = {}, method = "GET"): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const options = { host: "127.0.0.1", port: address.port, path, method, headers };
      request(options, (response) => {
        let body = "";
        response.setEncoding("utf8").on("data", (text: string) => (body += text));
        response.on("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }));
      })
        .on("error", reject)
        .end();
    });
  const get = async (path: string): Promise<unknown> =>
    JSON.parse((await send(path, { "x-parley-token": token })).body);

  it("listens on loopback with a token of 192 random bits in the fragment", () => {
    expect(address.hostname).toBe("127.0.0.1");
    expect(address.pathname + address.search).toBe("/");
    expect(token).toMatch(/^[\w-]{32}$/);
  });

  it.each([
    ["no token", "/api/overview", {}, "GET", 401],
    ["a wrong token", "/api/overview", { "x-parley-token": "A".repeat(32) }, "GET", 401],
    ["a token in the address", "/api/overview?token=TOKEN", {}, "GET", 401],
    [
      "another host name, as after DNS rebinding",
      "/api/overview",
      { "x-parley-token": "TOKEN", host: "evil.test" },
      "GET",
      403,
    ],
    ["another host name for the page itself", "/", { host: "evil.test" }, "GET", 403],
    ["another origin", "/api/overview", { "x-parley-token": "TOKEN", origin: "http://evil.test" }, "GET", 403],
    ["another site", "/app.js", { "sec-fetch-site": "cross-site" }, "GET", 403],
    ["a POST", "/api/overview", { "x-parley-token": "TOKEN" }, "POST", 405],
    ["a DELETE", "/api/rows", { "x-parley-token": "TOKEN" }, "DELETE", 405],
    ["a path outside the page", "/../package.json", {}, "GET", 404],
    ["an encoded path outside the page", "/%2e%2e/%2e%2e/package.json", {}, "GET", 404],
    ["an unknown blob", "/api/blob?hash=__proto__", { "x-parley-token": "TOKEN" }, "GET", 404],
    ["an unknown model", "/api/rendering?for=unknown/x", { "x-parley-token": "TOKEN" }, "GET", 400],
  ])("refuses %s", async (_, path, headers, method, status) => {
    const filled = Object.fromEntries(
      Object.entries(headers as Record<string, string>).map(([name, value]) => [name, value.replace("TOKEN", token)]),
    );
    const answer = await send(path.replace("TOKEN", token), filled, method);
    expect(answer.status).toBe(status);
    expect(answer.body).not.toContain("flaky");
  });

  it("sends a policy without inline script or style, and nothing that may be stored or framed", async () => {
    const { status, headers } = await send("/");
    expect(status).toBe(200);
    expect(headers["content-security-policy"]).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; media-src blob:; " +
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
        "require-trusted-types-for 'script'; trusted-types 'none'",
    );
    expect(headers).toMatchObject({
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "cross-origin-resource-policy": "same-origin",
    });
  });

  it("answers with the session, its rows, a rendering and a switch check", async () => {
    expect(await get("/api/overview")).toMatchObject({
      kind: "session",
      title: "Find the flaky test",
      entries: 15,
      rows: 9,
      totals: { requests: 5 },
    });
    expect(await get("/api/rows?from=1&count=1")).toMatchObject({ rows: [{ entry: 1, type: "user" }] });
    expect(await get("/api/places")).toEqual([0, 1, 2, 5, 9, 10, 12, 13, 14]);
    expect(await get("/api/rendering?for=google&start=2&end=3")).toMatchObject({
      wire: "gemini",
      findings: [],
      rows: [{ entry: 2, entries: [2, 3, 4] }],
    });
    expect(await get("/api/switch?for=anthropic")).toMatchObject({ fits: true, model: "anthropic/claude-sonnet-5" });
    expect(await get("/api/comparison?n=2")).toMatchObject({ cause: "appended" });
    expect(await get("/api/search?q=drain()")).toMatchObject([{ entry: 5 }]);
  });

  it("tells a page that follows it when the session grows", async () => {
    const options = {
      host: "127.0.0.1",
      port: address.port,
      path: "/api/events",
      headers: { "x-parley-token": token },
    };
    const changes = await new Promise<string>((resolve, reject) => {
      let received = "";
      const following = request(options, (response) => {
        response.setEncoding("utf8").on("data", (text: string) => {
          received += text;
          const count = received.split("event: change").length - 1;
          if (count === 1) void rich.say("One more thing.");
          if (count < 2) return;
          following.destroy();
          resolve(received);
        });
      });
      following.on("error", reject).end();
    });
    expect(changes).toMatch(/^: connected\n\nevent: change\ndata: \d+\n\nevent: change\ndata: \d+\n\n$/);
    expect(await get("/api/overview")).toMatchObject({ rows: 10 });
  });
});
