import { describe, expect, it } from "vitest";
import type { HttpRequest, HttpResponse } from "../../world/net.ts";
import { simulatedWorld } from "../../world/simulated/world.ts";
import { createGuardedFetch } from "./http-guard.ts";

/** Host names and their addresses. */
const addresses: Readonly<Record<string, readonly string[]>> = {
  "public.test": ["93.184.216.34"],
  "other.test": ["93.184.216.35"],
  "private.test": ["10.0.0.7"],
  "loop.test": ["127.0.0.1"],
  "mixed.test": ["93.184.216.34", "169.254.169.254"],
  localhost: ["127.0.0.1", "::1"],
};

type Sent = Pick<HttpRequest, "url" | "addresses" | "headers" | "method">;

const guard = (server: string, redirect: Readonly<Record<string, string>> = {}, lookups = addresses) => {
  const sent: Sent[] = [];
  const answer = async ({ url, headers, method, addresses: pinned }: HttpRequest): Promise<HttpResponse> => {
    sent.push({ url, headers, method, ...(pinned === undefined ? {} : { addresses: pinned }) });
    const location = redirect[url];
    return {
      status: location === undefined ? 200 : 302,
      headers: { "content-type": "text/plain", ...(location === undefined ? {} : { location }) },
      body: (async function* () {
        yield Buffer.from("fine");
      })(),
    };
  };
  const world = simulatedWorld({ answer });
  const lookup = async (host: string): Promise<readonly string[]> => lookups[host] ?? [];
  const fetch = createGuardedFetch({
    world,
    server,
    headers: { authorization: "Bearer secret" },
    maxPause: 1000,
    lookup,
  });
  const ask = async (url: string): Promise<string> =>
    fetch(url).then(
      (response) => response.text(),
      (error: Error) => error.message,
    );
  return { ask, sent, fetch };
};

describe("the URLs a server may send us to", () => {
  it.each<[string, string, boolean]>([
    ["https://public.test/mcp", "https://public.test/other", true],
    ["https://public.test/mcp", "https://other.test/", true],
    ["https://public.test/mcp", "https://private.test/", false],
    ["https://public.test/mcp", "http://127.0.0.1/", false],
    ["https://public.test/mcp", "http://[::1]/", false],
    ["https://public.test/mcp", "http://2130706433/", false],
    ["https://public.test/mcp", "http://localhost/", false],
    ["https://public.test/mcp", "http://169.254.169.254/latest/", false],
    ["https://public.test/mcp", "http://[::ffff:a9fe:a9fe]/", false],
    ["https://public.test/mcp", "https://mixed.test/", false],
    ["https://private.test/mcp", "https://private.test/x", true],
    ["https://private.test/mcp", "https://public.test/", true],
    ["https://private.test/mcp", "http://192.168.1.1/", true],
    ["https://private.test/mcp", "http://127.0.0.1/", false],
    ["https://private.test/mcp", "http://169.254.169.254/", false],
    ["http://localhost:3000/mcp", "http://127.0.0.1:4000/", true],
    ["http://localhost:3000/mcp", "https://private.test/", true],
    ["http://localhost:3000/mcp", "http://169.254.169.254/", false],
    ["https://public.test/mcp", "file:///etc/passwd", false],
    ["https://public.test/mcp", "https://user:pass@other.test/", false],
  ])("from %s to %s: %s", async (server, url, isAllowed) => {
    const { ask, sent } = guard(server);
    await ask(server);
    const answer = await ask(url);
    expect([answer === "fine", sent.length]).toEqual([isAllowed, isAllowed ? 2 : 1]);
  });

  it("do not include its own name when it resolves to a nearer address later", async () => {
    const moving: Record<string, readonly string[]> = { "public.test": ["93.184.216.34"] };
    const { ask, sent } = guard("https://public.test/", {}, moving);
    expect(await ask("https://public.test/")).toBe("fine");
    moving["public.test"] = ["127.0.0.1"];
    expect(await ask("https://public.test/")).toBe(
      "public.test leads to 127.0.0.1, where a server at public.test may not send requests.",
    );
    expect(sent).toHaveLength(1);
  });

  it("are checked with every redirect, and the connection goes to the checked address", async () => {
    const { ask, sent } = guard("https://public.test/", {
      "https://public.test/": "/next",
      "https://public.test/next": "https://other.test/",
      "https://other.test/": "http://127.0.0.1/",
    });
    expect(await ask("https://public.test/")).toMatch(/^127\.0\.0\.1 leads to 127\.0\.0\.1, where/);
    expect(sent.map(({ url, addresses: pinned, headers }) => [url, pinned, headers["authorization"]])).toEqual([
      ["https://public.test/", ["93.184.216.34"], "Bearer secret"],
      ["https://public.test/next", ["93.184.216.34"], "Bearer secret"],
      ["https://other.test/", ["93.184.216.35"], undefined],
    ]);
  });

  it("are not followed in circles, nor where the caller follows by itself", async () => {
    const { ask, sent, fetch } = guard("https://public.test/", { "https://public.test/": "https://public.test/" });
    expect(await ask("https://public.test/")).toBe("public.test redirects too often.");
    expect(sent).toHaveLength(6);
    expect((await fetch("https://public.test/", { redirect: "manual" })).status).toBe(302);
    expect((await fetch("https://public.test/", { method: "POST", body: "x" })).status).toBe(302);
  });
});

describe("a secret in a header", () => {
  it.each([
    ["https://public.test/mcp", "fine"],
    ["http://localhost:3000/mcp", "fine"],
    ["http://127.0.0.1:3000/mcp", "fine"],
    [
      "http://public.test/mcp",
      "The header authorization contains a secret and is not sent to public.test over plain http. Use an https URL.",
    ],
    [
      "http://private.test/mcp",
      "The header authorization contains a secret and is not sent to private.test over plain http. Use an https URL.",
    ],
  ])("is sent to %s or not: %s", async (url, said) => {
    const { ask, sent } = guard(url);
    expect(await ask(url)).toBe(said);
    expect(sent).toHaveLength(said === "fine" ? 1 : 0);
  });
});
