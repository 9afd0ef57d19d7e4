import { describe, expect, it } from "vitest";
import { providers } from "../../providers/all.ts";
import { findProvider } from "../../providers/find.ts";
import type { HttpHeaders, HttpRequest } from "../../world/net.ts";
import { simulatedWorld } from "../../world/simulated/world.ts";
import type { Environment } from "../../world/world.ts";
import { accountDigest, authorize, findCredentials, openCredentials, renewCredentials } from "./credentials.ts";
import { resolveEndpoint } from "../endpoint.ts";

const cloud = { GOOGLE_CLOUD_PROJECT: "p", AZURE_OPENAI_RESOURCE: "r" };

const requestTo = (provider: string, env: Environment): HttpRequest => {
  const resolved = resolveEndpoint(findProvider(provider), "m", env, "generate");
  return { method: "POST", url: resolved.found ? resolved.url : "", headers: {}, body: "{}" };
};
const headersTo = async (provider: string, given: Environment): Promise<HttpHeaders> => {
  const env = { ...cloud, ...given };
  const world = simulatedWorld({ env });
  return (await authorize(requestTo(provider, env), findProvider(provider), openCredentials(world))).headers;
};

describe("a request", () => {
  it.each<[string, Environment, HttpHeaders]>([
    ["openai", { OPENAI_API_KEY: " key-1\n" }, { authorization: "Bearer key-1" }],
    ["google", { GOOGLE_API_KEY: "key-2", GEMINI_API_KEY: "key-1" }, { "x-goog-api-key": "key-1" }],
    ["azure", { AZURE_OPENAI_API_KEY: "key-1" }, { "api-key": "key-1" }],
    ["anthropic", { ANTHROPIC_API_KEY: "key-1" }, { "anthropic-version": "2023-06-01", "x-api-key": "key-1" }],
    ["anthropic", { ANTHROPIC_AUTH_TOKEN: "t" }, { "anthropic-version": "2023-06-01", authorization: "Bearer t" }],
    [
      "anthropic",
      { ANTHROPIC_API_KEY: "key-1", ANTHROPIC_AUTH_TOKEN: "t", PARLEY_ANTHROPIC_VERSION: "2026-10-21" },
      { "anthropic-version": "2026-10-21", "x-api-key": "key-1" },
    ],
    ["local", {}, {}],
    ["local", { PARLEY_LOCAL_API_KEY: "key-1" }, { authorization: "Bearer key-1" }],
    ["offline", { OPENAI_API_KEY: "key-1" }, {}],
  ])("to %s with %j carries %j", async (provider, env, headers) => {
    expect(await headersTo(provider, env)).toEqual(headers);
  });

  it("follows its endpoint when that is moved on purpose, with its key", async () => {
    const env = { OPENAI_API_KEY: "key-1", OPENAI_BASE_URL: "https://gate.test/v1" };
    expect([requestTo("openai", env).url, await headersTo("openai", env)]).toEqual([
      "https://gate.test/v1/responses",
      { authorization: "Bearer key-1" },
    ]);
  });

  it.each([
    "https://evil.test/v1/responses",
    "http://api.openai.com/v1/responses",
    "https://api.openai.com:444/v1/responses",
  ])("never carries a key to another place: %s", async (url) => {
    const credentials = openCredentials(simulatedWorld({ env: { OPENAI_API_KEY: "canary" } }));
    const request: HttpRequest = { method: "POST", url, headers: {} };

    await expect(authorize(request, findProvider("openai"), credentials)).rejects.toThrow(
      "A key for OpenAI (Responses) was about to leave for another host.",
    );
  });

  it.each<[string, string]>([
    ["a line break", "can\nary"],
    ["a space", "can ary"],
    ["a control character", "can\u0007ary"],
    ["another alphabet", "canaрy"],
  ])("is refused rather than sent with a key that holds %s", async (_, key) => {
    const failure = {
      provider: "anthropic",
      label: "Anthropic",
      kind: "bad-key",
      detail: "ANTHROPIC_API_KEY holds a space, a line break or a character outside plain ASCII, which no key does.",
    };
    await expect(headersTo("anthropic", { ANTHROPIC_API_KEY: key })).rejects.toMatchObject({ failure });
    expect(
      await findCredentials(findProvider("anthropic"), simulatedWorld({ env: { ANTHROPIC_API_KEY: key } })),
    ).toEqual({
      found: false,
      how: failure.detail,
    });
  });

  it("does not leave without a key, and says what to set", async () => {
    await expect(headersTo("anthropic", {})).rejects.toMatchObject({
      failure: { kind: "no-key", how: "Set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN." },
    });
  });

  it("is not tried again with the same key", async () => {
    const credentials = openCredentials(simulatedWorld());
    const renewable = await Promise.all(
      providers.map(async (provider) => [provider.id, await renewCredentials(provider, credentials)] as const),
    );
    expect(renewable.filter(([, again]) => again).map(([id]) => id)).toEqual(["vertex", "code-assist", "bedrock"]);
  });
});

describe("what a provider is signed in with", () => {
  it("is nothing for most of them in an empty world, each with advice", async () => {
    const world = simulatedWorld();
    const found = await Promise.all(
      providers.map(async (provider) => {
        const result = await findCredentials(provider, world);
        return [provider.id, result.found ? result.from : /^(Set|Run) [A-Z"]/.test(result.how)];
      }),
    );
    expect(found.filter(([, advice]) => advice !== true)).toEqual([
      ["local", "no key set (optional)"],
      ["offline", "no key needed"],
    ]);
  });

  it("is reported by the name of the variable", async () => {
    const world = simulatedWorld({ env: { KIMI_API_KEY: "k", ANTHROPIC_AUTH_TOKEN: "t" } });
    expect([
      await findCredentials(findProvider("kimi"), world),
      await findCredentials(findProvider("anthropic"), world),
    ]).toEqual([
      { found: true, from: "KIMI_API_KEY", kind: "key" },
      { found: true, from: "ANTHROPIC_AUTH_TOKEN", kind: "token" },
    ]);
  });
});

describe("the digest of an account", () => {
  it("tells keys and providers apart, says nothing of the key, and is missing where there is no key", () => {
    const of = (provider: string, env: Environment): string | undefined => accountDigest(findProvider(provider), env);
    const digests = [
      of("openai", { OPENAI_API_KEY: "canary-1" }),
      of("openai", { OPENAI_API_KEY: "canary-2" }),
      of("openai-chat", { OPENAI_API_KEY: "canary-1" }),
      of("bedrock", { AWS_ACCESS_KEY_ID: "canary-1" }),
      of("vertex", { GOOGLE_CLOUD_PROJECT: "canary-1" }),
    ];
    expect(digests.every((digest) => /^[0-9a-f]{16}$/.test(digest ?? ""))).toBe(true);
    expect(new Set(digests).size).toBe(5);
    expect(of("openai", { OPENAI_API_KEY: " canary-1 " })).toBe(digests[0]);
    expect([of("openai", {}), of("offline", {}), of("local", {})]).toEqual([undefined, undefined, undefined]);
  });

  it("is the account's, not the hour's", () => {
    const hour = (key: string): string | undefined =>
      accountDigest(findProvider("bedrock"), { AWS_PROFILE: "work", AWS_ACCESS_KEY_ID: key });
    expect(hour("ASIA1")).toBe(hour("ASIA2"));
  });
});

describe("a secret", () => {
  const secretNames = [
    ...providers.flatMap(({ auth }) => ("env" in auth ? [...auth.env, ...(auth.tokens ?? [])] : [])),
    "AWS_BEARER_TOKEN_BEDROCK",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "GOOGLE_OAUTH_ACCESS_TOKEN",
    "PARLEY_GOOGLE_OAUTH_CLIENT_SECRET",
  ];

  it.each(["canary-7f3a", "canary-7f3a\u0000"])("%j shows in nothing that is found or thrown", async (canary) => {
    const env = { ...Object.fromEntries(secretNames.map((name) => [name, canary])), ...cloud };
    const world = simulatedWorld({ env: { ...env, AWS_ACCESS_KEY_ID: "AKID", PARLEY_GOOGLE_OAUTH_CLIENT_ID: "c" } });
    const credentials = openCredentials(world);
    const shown: string[] = [];
    for (const provider of providers) {
      shown.push(JSON.stringify(await findCredentials(provider, world)), accountDigest(provider, world.env) ?? "");
      const request = requestTo(provider.id, env);
      const outcome = await authorize(request, provider, credentials).catch((error: unknown) => error);
      if (outcome instanceof Error) shown.push(outcome.message, outcome.stack ?? "", JSON.stringify(outcome));
    }
    expect(shown.filter((text) => text.includes("canary-7f3a"))).toEqual([]);
    expect(shown.length).toBeGreaterThanOrEqual(providers.length * 2);
  });
});
