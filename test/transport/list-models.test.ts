import { beforeAll, describe, expect, it } from "vitest";
import { text } from "../../src/conversation/builders.ts";
import type { Conversation } from "../../src/conversation/entry.ts";
import { providers } from "../../src/providers/all.ts";
import type { Provider } from "../../src/providers/define.ts";
import { findProvider } from "../../src/providers/find.ts";
import { listSimulatable } from "../../src/cli/requests/simulated-providers.ts";
import { listSimulatedProviders } from "../../src/sim/registry.ts";
import type { SimFault } from "../../src/sim/faults/fault.ts";
import type { SimulatorOptions } from "../../src/sim/simulator.ts";
import { countTokens } from "../../src/transport/queries/count-tokens.ts";
import { ProviderError, type Failure } from "../../src/transport/failure.ts";
import { listModels } from "../../src/transport/queries/list-models.ts";
import { probeProvider } from "../../src/transport/queries/probe.ts";
import { composeRequest } from "../../src/wire/compose.ts";
import { NetError, type HttpRequest } from "../../src/world/net.ts";
import { simulatedWorld, type SimulatedWorld } from "../../src/world/simulated/world.ts";
import { canary, everyKey, simulateProvider, type SimulatedProvider } from "../support/exchange.ts";

/*
 * Small questions to every provider: what models it has, and how many tokens a
 * request is, in the vendors' own shapes and with the failures of any request.
 */

const lists = providers.filter(({ endpoint }) => endpoint.paths.models !== undefined).map(({ id }) => id);
const counts = providers.filter(({ endpoint }) => endpoint.paths.count !== undefined).map(({ id }) => id);

/** The shapes Cohere and Kimi answer in are no part of their simulators. */
const unlisted = ["cohere"];
const uncounted = ["kimi"];

const listFrom = ({ provider, world }: SimulatedProvider) => world.run(listModels(provider, world));

const talk: Conversation = {
  version: 1,
  system: "Be brief.",
  tools: [{ name: "look", description: "Looks.", parameters: { type: "object", properties: {} } }],
  entries: [{ type: "user", parts: [text("How many tokens is this?")] }],
  blobs: {},
};

const bodyFor = (provider: Provider) =>
  composeRequest(talk, provider.destination(provider.defaultModel), {
    settings: { stream: true, maxTokens: 100, temperature: 0.5, toolChoice: "auto", thinking: { effort: "low" } },
  }).body;

/** A world in which one server gives these answers, one after the other, and remembers the questions. */
const scripted = (...answers: readonly unknown[]): { world: SimulatedWorld; asked: HttpRequest[] } => {
  const asked: HttpRequest[] = [];
  const world = simulatedWorld({
    env: everyKey,
    answer: async (request) => {
      const body = answers[Math.min(asked.push(request), answers.length) - 1];
      const said = typeof body === "string" ? body : JSON.stringify(body);
      return { status: 200, headers: {}, body: chunks(said) };
    },
  });
  return { world, asked };
};

async function* chunks(said: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(said);
}

const failureFrom = async (work: Promise<unknown>): Promise<Failure> => {
  const error: unknown = await work.then(
    () => new Error("It did not fail."),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ProviderError)) throw error;
  return error.failure;
};

// A simulated clock must not run while a module is being loaded.
beforeAll(() => import("@smithy/signature-v4"));

describe("the list of models", () => {
  it("is offered by everyone but Code Assist and the model within", () => {
    expect(providers.filter(({ id }) => !lists.includes(id)).map(({ id }) => id)).toEqual(["code-assist", "offline"]);
    expect(lists.filter((id) => !listSimulatable().includes(id))).toEqual([]);
  });

  it.each(lists.filter((id) => !unlisted.includes(id)))("of %s comes whole, by the names requests use", async (id) => {
    const set = simulateProvider(id);
    const served = set.simulator.provider.models.map((model) => model.id).filter((name) => !name.startsWith("us."));

    const listed = await listFrom(set);

    expect(listed.map((model) => model.id)).toEqual(served);
    expect(set.simulator.log).toMatchObject([{ method: "GET", verdict: "accepted", faults: [] }]);
  });

  it.each([
    ["google", { id: "gemini-3.8-flash", context: 1_048_576, label: "Gemini 3.8 flash" }],
    ["vertex", { id: "gemini-3.8-flash" }],
    ["anthropic", { id: "claude-sonnet-5", context: 1_000_000, label: "Claude Sonnet 5" }],
    ["openai", { id: "gpt-5.6" }],
    ["groq", { id: "openai/gpt-oss-120b", context: 131_072 }],
    ["mistral", { id: "mistral-large-latest", context: 262_144 }],
    ["openrouter", { id: "anthropic/claude-sonnet-5", context: 1_000_000 }],
    ["kimi", { id: "kimi-k3", context: 262_144 }],
  ])("of %s tells what it knows of a model", async (id, expected) => {
    expect((await listFrom(simulateProvider(id))).find((model) => model.id === expected.id)).toEqual(expected);
  });

  it.each<[string, readonly unknown[], readonly string[], readonly string[]]>([
    [
      "google",
      [{ models: [{ name: "models/a" }], nextPageToken: "t/1" }, { models: [{ name: "models/b" }] }],
      ["/v1beta/models?pageSize=1000", "/v1beta/models?pageSize=1000&pageToken=t%2F1"],
      ["a", "b"],
    ],
    [
      "anthropic",
      [
        { data: [{ id: "a" }], has_more: true, last_id: "a" },
        { data: [{ id: "b" }], has_more: false, last_id: "b" },
      ],
      ["/v1/models", "/v1/models?after_id=a"],
      ["a", "b"],
    ],
    [
      "cohere",
      [
        { models: [{ name: "a", endpoints: ["chat"] }], next_page_token: "2" },
        {
          models: [
            { name: "b", endpoints: ["chat", "generate"] },
            { name: "c", endpoints: ["embed"] },
          ],
        },
      ],
      ["/v1/models", "/v1/models?page_token=2"],
      ["a", "b"],
    ],
  ])("of %s is read page by page", async (id, answers, paths, expected) => {
    const { world, asked } = scripted(...answers);
    const listed = await world.run(listModels(findProvider(id), world));
    const shown = asked.map(({ url }) => url.replace(/^https:\/\/[^/]+/, ""));
    expect([shown, listed.map((model) => model.id)]).toEqual([paths, expected]);
  });

  it("ends after twenty pages, and at a page it has seen, and holds no model twice", async () => {
    const endless = Array.from({ length: 30 }, (_, page) => ({
      models: [{ name: "models/same" }, { name: `models/${page}` }],
      nextPageToken: String(page),
    }));
    const long = scripted(...endless);
    expect(await long.world.run(listModels(findProvider("google"), long.world))).toHaveLength(21);
    expect(long.asked).toHaveLength(20);

    const round = scripted({ models: [{ name: "models/a" }], nextPageToken: "again" });
    expect(await round.world.run(listModels(findProvider("google"), round.world))).toEqual([{ id: "a" }]);
    expect(round.asked).toHaveLength(2);
  });

  it("leaves out what cannot hold a conversation", async () => {
    const cases = {
      google: {
        models: [
          { name: "models/talks", supportedGenerationMethods: ["generateContent"] },
          { name: "models/embeds", supportedGenerationMethods: ["embedContent"] },
        ],
      },
      mistral: {
        data: [
          { id: "talks", capabilities: { completion_chat: true } },
          { id: "ocr", capabilities: { completion_chat: false } },
        ],
      },
      azure: {
        data: [
          { id: "talks", capabilities: { chat_completion: true } },
          { id: "whisper", capabilities: { chat_completion: false } },
        ],
      },
      bedrock: {
        modelSummaries: [
          { modelId: "talks", outputModalities: ["TEXT"] },
          { modelId: "canvas", outputModalities: ["IMAGE"] },
        ],
      },
      groq: {
        data: [
          { id: "talks", active: true },
          { id: "gone", active: false },
        ],
      },
    };
    for (const [id, answer] of Object.entries(cases)) {
      const { world } = scripted(answer);
      expect(await world.run(listModels(findProvider(id), world))).toEqual([{ id: "talks" }]);
    }
  });

  it.each([[{}], [{ object: "list", data: null }], [{ data: [] }], [[]], [{ data: [null, 7, {}, { id: "" }] }]])(
    "may be empty: %j",
    async (answer) => {
      const { world } = scripted(answer);
      expect(await world.run(listModels(findProvider("local"), world))).toEqual([]);
    },
  );

  it.each([["<html>Welcome</html>"], ['"yes"'], ["7"], [{ object: "list" }], [{ data: "none" }]])(
    "that is malformed is reported, not guessed: %j",
    async (answer) => {
      const { world } = scripted(answer);
      const failure = await failureFrom(world.run(listModels(findProvider("local"), world)));
      expect(failure).toMatchObject({ kind: "malformed-stream", provider: "local" });
    },
  );
});

describe("what goes wrong with a list", () => {
  const refusedBy = async (id: string, options: Omit<SimulatorOptions, "provider">): Promise<Failure> => {
    const { provider, world } = simulateProvider(id, options);
    return failureFrom(world.run(listModels(provider, world)));
  };
  const faulty = (id: string, fault: SimFault): Promise<Failure> => refusedBy(id, { faults: [{ fault }] });

  it.each(lists.filter((id) => id !== "local" && id !== "bedrock"))("at %s: a key that is not accepted", async (id) => {
    const failure = await refusedBy(id, { keys: ["another"] });
    expect(failure).toMatchObject(id === "cohere" ? { kind: "refused", status: 404 } : { kind: "bad-key" });
    expect(JSON.stringify(failure)).not.toContain(canary);
  });

  it("a signature that is not accepted", async () => {
    expect(await refusedBy("bedrock", { awsSecret: { id: "AKIDEXAMPLE", secret: "another" } })).toMatchObject({
      kind: "bad-key",
    });
  });

  it.each<[SimFault, string]>([
    [{ type: "refuse-connection" }, "network"],
    [{ type: "never-answer" }, "time-out"],
    [{ type: "delay-body", ms: 10_000_000 }, "time-out"],
    [{ type: "drip", ms: 29_000 }, "time-out"],
    [{ type: "cut", at: 20 }, "stream-cut"],
    [{ type: "truncate", at: 20 }, "malformed-stream"],
    [{ type: "status", status: 429 }, "rate-limited"],
    [{ type: "status", status: 503 }, "overloaded"],
    [{ type: "status", status: 402 }, "no-credit"],
    [{ type: "redirect", to: "https://elsewhere.example" }, "refused"],
  ])("%j is %s, within half a minute and without a second try", async (fault, kind) => {
    const { provider, world, simulator } = simulateProvider("anthropic", {
      faults: [{ fault }],
      ...(fault.type === "drip" ? { chunkBytes: 40 } : {}),
    });
    const failure = await failureFrom(world.run(listModels(provider, world)));
    expect(failure.kind).toBe(kind);
    expect(world.clock.elapsed()).toBeLessThanOrEqual(30_000);
    expect(simulator.log.length).toBeLessThanOrEqual(1);
  });

  it("names no key that a server quotes", async () => {
    const quoting: SimFault = {
      type: "status",
      status: 401,
      message: `Incorrect API key: ${everyKey["OPENAI_API_KEY"]}`,
    };
    const failure = await faulty("openai", quoting);
    expect(failure).toMatchObject({ kind: "bad-key", detail: "Incorrect API key: [secret]" });
  });

  it("no key, and no address", async () => {
    const world = simulatedWorld();
    expect(await failureFrom(listModels(findProvider("groq"), world))).toEqual({
      provider: "groq",
      label: "Groq",
      kind: "no-key",
      how: "Set GROQ_API_KEY.",
    });
    expect(await failureFrom(listModels(findProvider("azure"), world))).toMatchObject({ kind: "misconfigured" });
    expect(await failureFrom(listModels(findProvider("code-assist"), world))).toMatchObject({
      kind: "misconfigured",
      how: "Gemini Code Assist does not list its models.",
    });
  });

  it("the caller gives up", async () => {
    const { provider, world } = simulateProvider("groq", { faults: [{ fault: { type: "never-answer" } }] });
    const given = new AbortController();
    const asking = failureFrom(listModels(provider, world, given.signal));
    given.abort(new Error("enough"));
    expect((await world.run(asking)).kind).toBe("cancelled");
  });
});

describe("a token that is refused", () => {
  it("is renewed once, as when sending", async () => {
    const bearers: (string | undefined)[] = [];
    let made = 0;
    const world = simulatedWorld({
      env: { GCE_METADATA_HOST: "metadata.test", GOOGLE_CLOUD_PROJECT: "p" },
      answer: async ({ url, headers }) => {
        if (url.includes("metadata.test"))
          return { status: 200, headers: {}, body: chunks(`{"access_token":"token-${++made}","expires_in":3600}`) };
        bearers.push(headers["authorization"]);
        const isGood = headers["authorization"] === "Bearer token-2";
        const said = isGood ? '{"publisherModels":[]}' : '{"error":{"code":401,"status":"UNAUTHENTICATED"}}';
        return { status: isGood ? 200 : 401, headers: {}, body: chunks(said) };
      },
    });
    expect(await world.run(listModels(findProvider("vertex"), world))).toEqual([]);
    expect(bearers).toEqual(["Bearer token-1", "Bearer token-2"]);
  });
});

describe("a count of tokens", () => {
  it("is offered by those who have a path for it", () => {
    expect(counts).toEqual(["google", "vertex", "code-assist", "anthropic", "bedrock", "openai", "kimi"]);
  });

  it.each(counts.filter((id) => !uncounted.includes(id)))(
    "from %s is what the same request is billed for",
    async (id) => {
      const { provider, world, simulator } = simulateProvider(id);
      const counted = await world.run(countTokens(provider, provider.defaultModel, bodyFor(provider), world));
      const [entry] = simulator.log;
      expect(entry).toMatchObject({ verdict: "accepted", usage: { input: counted } });
      expect(counted).toBeGreaterThan(5);
    },
  );

  it.each<[string, readonly string[]]>([
    ["google", ["generateContentRequest"]],
    ["vertex", ["systemInstruction", "tools", "generationConfig", "contents"]],
    ["code-assist", ["request"]],
    ["anthropic", ["model", "system", "tools", "tool_choice", "thinking", "output_config", "messages"]],
    ["bedrock", ["input"]],
    ["openai", ["model", "instructions", "tools", "tool_choice", "reasoning", "input"]],
  ])("asks %s about nothing its counter refuses", async (id, fields) => {
    const { provider, world, simulator } = simulateProvider(id);
    await world.run(countTokens(provider, provider.defaultModel, bodyFor(provider), world));
    expect(Object.keys(simulator.log[0]?.body as object)).toEqual(fields);
  });

  it("from Kimi stands in an envelope", async () => {
    const { world, asked } = scripted({ data: { total_tokens: 42 } });
    const kimi = findProvider("kimi");
    expect(await world.run(countTokens(kimi, "kimi-k3", bodyFor(kimi), world))).toBe(42);
    expect(Object.keys(JSON.parse(String(asked[0]?.body)) as object)).toEqual(["model", "messages"]);
  });

  it("is undefined where there is no counter, without a request", async () => {
    const { world, asked } = scripted({});
    for (const id of ["groq", "azure", "local", "offline"])
      expect(await countTokens(findProvider(id), "m", {}, world)).toBe(undefined);
    expect(asked).toEqual([]);
  });

  it("is not made up when the answer holds none", async () => {
    for (const answer of [{}, { input_tokens: "9" }, { input_tokens: -1 }]) {
      const { world } = scripted(answer);
      const failure = await failureFrom(world.run(countTokens(findProvider("anthropic"), "m", {}, world)));
      expect(failure).toMatchObject({ kind: "malformed-stream", detail: "It holds no number of tokens" });
    }
  });

  it("says what to set before anything is asked", async () => {
    const world = simulatedWorld({ env: { GOOGLE_OAUTH_ACCESS_TOKEN: "t" } });
    expect(await failureFrom(countTokens(findProvider("vertex"), "m", {}, world))).toMatchObject({
      kind: "misconfigured",
      how: "Set GOOGLE_CLOUD_PROJECT to the id of your Google Cloud project.",
    });
  });
});

describe("a probe", () => {
  it.each(listSimulatedProviders())("finds %s answering", async (id) => {
    const { provider, world, simulator } = simulateProvider(id);
    const { models } = await world.run(probeProvider(provider, world));
    expect(models === undefined).toBe(["code-assist", "cohere"].includes(id));
    expect(simulator.log).toHaveLength(1);
  });

  it("does not take a closed door for an answer", async () => {
    for (const id of ["code-assist", "openai"]) {
      const world = simulatedWorld({
        env: everyKey,
        answer: () => Promise.reject(new NetError("connect", "The host is down.")),
      });
      expect((await failureFrom(world.run(probeProvider(findProvider(id), world)))).kind).toBe("network");
    }
  });
});
