import { beforeAll, describe, expect, it } from "vitest";
import { text } from "../../src/conversation/builders.ts";
import type { Conversation } from "../../src/conversation/entry.ts";
import type { NewCall } from "../../src/conversation/ledger.ts";
import type { SimFault, FaultPlan } from "../../src/sim/faults/fault.ts";
import type { Script } from "../../src/sim/model/script.ts";
import type { TransportEvent } from "../../src/transport/events.ts";
import { canary, exchange, simulateProvider, type ExchangeOutcome } from "../support/exchange.ts";
import { testedProviders } from "../support/tested-providers.ts";
import { perTier, seedFor } from "../support/tier.ts";

/*
 * Everything that goes wrong between us and a server, for every provider, in
 * simulated time. Each exchange ends in exactly one of two ways: a whole
 * answer, or a failure with a kind. What was not whole is never handed over.
 */

const randomFaultPlans = perTier({ quick: 5, all: 100 });
/** Places in a stream at which it is cut, and at which a byte is changed. */
const cutPlaces = perTier({ quick: 6, all: 24 });
const changedBytes = perTier({ quick: 10, all: 40 });
/** Every event, or every fourth, is lost, doubled and swapped. */
const eventStride = perTier({ quick: 4, all: 1 });
/** A line of 70 MB is sent by these. */
const sendersOfHugeLines = perTier<readonly string[]>({ quick: ["anthropic"], all: testedProviders });

const asking: Conversation = {
  version: 1,
  system: "Be brief.",
  tools: [
    { name: "look", description: "Looks.", parameters: { type: "object", properties: { at: { type: "string" } } } },
  ],
  entries: [{ type: "user", parts: [text("Look at both, bitte. Grüße 👋")] }],
  blobs: {},
};

const words = "Ich schaue beides an. Grüße zurück 👋🏽, 日本 too.";
const inputs = [{ at: "first/ä.txt" }, { at: "second/👋.txt" }];

const script: Script = {
  rules: [
    {
      replies: [{ say: words, call: inputs.map((input) => ({ tool: "look", input })) }],
    },
  ],
};

/** The calls of an answer, in order, with arguments as values. */
const callsOf = ({ response: answer }: ExchangeOutcome): readonly unknown[] =>
  (answer?.parts ?? [])
    .filter((part): part is NewCall => part.type === "call")
    .map(({ input }) => ("text" in input ? JSON.parse(input.text) : input.value));

const textOf = ({ response: answer }: ExchangeOutcome): string =>
  (answer?.parts ?? []).map((part) => (part.type === "text" ? part.text : "")).join("");

const good = { text: words, calls: inputs, failure: undefined };
const outcomeOf = (went: ExchangeOutcome): unknown => ({
  text: textOf(went),
  calls: callsOf(went),
  failure: went.failure?.kind,
});

const requestsIn = (events: readonly TransportEvent[]): number =>
  events.filter(({ type }) => type === "request").length;
const delaysIn = (events: readonly TransportEvent[]): readonly number[] =>
  events.flatMap((event) => (event.type === "retrying" ? [event.delay] : []));

const run = async (
  provider: string,
  faults: FaultPlan,
  options: { seed?: number; attempts?: number; chunkBytes?: number } = {},
): Promise<ExchangeOutcome & { requests: number; elapsed: number }> => {
  const { attempts, ...rest } = options;
  const set = simulateProvider(provider, {
    script,
    faults,
    ...rest,
    ...(attempts === undefined ? {} : { retryPolicy: { maxAttempts: attempts } }),
  });
  const went = await exchange(set, asking);
  return { ...went, requests: requestsIn(went.events), elapsed: set.world.clock.elapsed() };
};

const always = (fault: SimFault): FaultPlan => [{ fault }];
const once = (fault: SimFault): FaultPlan => [{ on: 1, fault }];
const status = (code: number, headers: Readonly<Record<string, string>> = {}, kind?: "quota"): SimFault => ({
  type: "status",
  status: code,
  headers,
  ...(kind === undefined ? {} : { kind }),
});

/** Who says that a quota is gone, and how we read it. The others say no more than that we are too fast. */
const tellsQuota: Readonly<Record<string, readonly [kind: string, requests: number]>> = {
  google: ["quota-gone", 1],
  "code-assist": ["quota-gone", 1],
  anthropic: ["quota-gone", 1],
  bedrock: ["quota-gone", 1],
  ...Object.fromEntries(
    ["openai", "azure", "openai-chat", "groq", "kimi", "deepseek", "qwen"].map((name) => [name, ["no-credit", 1]]),
  ),
};

const names = testedProviders;

// A simulated clock must not run while a module is being loaded.
beforeAll(async () => {
  await import("eventsource-parser");
  await import("@smithy/eventstream-codec");
  await import("@smithy/signature-v4");
  for (const name of names) await run(name, []);
});

describe.each(names)("%s", (name) => {
  it("answers when nothing goes wrong", async () => {
    const went = await run(name, []);
    expect(outcomeOf(went)).toEqual(good);
    expect(went.requests).toBe(1);
    expect(went.response?.finish).toBe("calls");
    expect(went.response?.usage?.input).toBeGreaterThan(0);
  });

  it.each<readonly [string, SimFault]>([
    ["the connection is refused", { type: "refuse-connection" }],
    ["nothing ever comes back", { type: "never-answer" }],
    ["the first byte never comes", { type: "delay-body", ms: 10_000_000 }],
    ["a compressed answer is cut", { type: "gzip-cut", at: 0 }],
    ["the server has trouble at once", { type: "stream-error", after: 0, status: 529 }],
    ["an event is no JSON", { type: "malformed-event", after: 0 }],
    ["the answer is a web page", { type: "content-type", value: "text/html" }],
    ["the connection breaks before the first byte", { type: "cut", at: 0 }],
    ["the answer is empty", { type: "truncate", at: 0 }],
    ["it is busy (408)", status(408)],
    ["it is limited (429)", status(429)],
    ["it fails (500)", status(500)],
    ["it is away (503)", status(503)],
    ["it is overloaded (529)", status(529)],
  ])("tries again when %s, and succeeds", async (_, fault) => {
    const went = await run(name, once(fault));
    expect(outcomeOf(went)).toEqual(good);
    expect(went.requests).toBe(2);
    expect(delaysIn(went.events)).toHaveLength(1);
  });

  it.each<readonly [string, SimFault, string, number]>([
    ["the connection is refused", { type: "refuse-connection" }, "network", 5],
    ["nothing ever comes back", { type: "never-answer" }, "time-out", 5],
    ["the first byte never comes", { type: "delay-body", ms: 10_000_000 }, "time-out", 5],
    ["it is overloaded", status(529), "overloaded", 5],
    ["it is limited", status(429), "rate-limited", 5],
    ["the wait it asks for is too long", status(429, { "retry-after": "200" }), "rate-limited", 1],
    ["the wait it asks for is absurd", status(429, { "retry-after": "99999999" }), "quota-gone", 1],
    ["it refuses the request (400)", status(400), "refused", 1],
    ["it does not know the model (404)", status(404), "refused", 1],
    ["it points elsewhere", { type: "redirect", to: "https://elsewhere.example" }, "refused", 1],
  ])("fails plainly when %s for good", async (_, fault, kind, attempts) => {
    const went = await run(name, always(fault));
    expect(went.failure?.kind).toBe(kind);
    expect(went.response).toBeUndefined();
    expect(went.requests).toBe(attempts);
    expect(went.events.filter(({ type }) => type === "part-end")).toEqual([]);
  });

  // Amazon has no such status.
  it.skipIf(name === "bedrock").each([409, 425])("tries again at %i", async (code) => {
    const went = await run(name, once(status(code)));
    expect(outcomeOf(went)).toEqual(good);
    expect(went.requests).toBe(2);
  });

  it("reports an exhausted quota, and does not retry", async () => {
    const went = await run(name, always(status(429, {}, "quota")));
    const expected = tellsQuota[name];
    expect([went.failure?.kind, went.requests]).toEqual(expected ?? [went.failure?.kind, 5]);
    expect(["quota-gone", "no-credit", "rate-limited", "overloaded"]).toContain(went.failure?.kind);
  });

  it("gives up on a stream that drips too slowly to be alive", async () => {
    const went = await run(name, always({ type: "drip", ms: 10_000_000 }));
    expect(went.failure).toMatchObject({ kind: "time-out", phase: "idle" });
    expect(went.requests).toBe(went.failure?.partial === true ? 1 : 5);
  });

  it.runIf(perTier({ quick: name === "anthropic", all: true }))(
    "says so when a prompt is longer than the model can read",
    async () => {
      const { simulator, ...set } = simulateProvider(name, { script });
      const most = Math.max(...simulator.provider.models.map(({ context }) => context));
      const long = { ...asking, entries: [{ type: "user" as const, parts: [text("so many words ".repeat(most))] }] };
      const went = await exchange({ simulator, ...set }, long);
      expect(went.failure?.kind).toBe("context-too-long");
      expect(requestsIn(went.events)).toBe(1);
    },
  );

  it("tries a new token once where it has tokens, and never a key again", async () => {
    const went = await run(name, always(status(401)));
    expect(went.failure?.kind).toBe("bad-key");
    expect(went.requests).toBeLessThanOrEqual(2);
    expect(delaysIn(went.events)).toEqual([]);
  });

  it.each<readonly [string, Readonly<Record<string, string>>, number]>([
    ["seconds", { "retry-after": "7" }, 7000],
    ["milliseconds", { "retry-after-ms": "2500" }, 2500],
    ["a date", { "retry-after": new Date(1_800_000_020_000).toUTCString() }, 19_000],
  ])("waits at least as long as it is asked to, in %s", async (_, headers, floor) => {
    const went = await run(name, once(status(429, headers)));
    expect(outcomeOf(went)).toEqual(good);
    expect(went.elapsed).toBeGreaterThanOrEqual(floor);
    expect(went.elapsed).toBeLessThan(floor + 10_000);
  });

  it.each(["-1", "NaN", "soon", ""])("is not stopped by a senseless wait: %j", async (wait) => {
    const went = await run(name, once(status(429, { "retry-after": wait })));
    expect(outcomeOf(went)).toEqual(good);
    // Google asks for a wait in the body too.
    expect(went.elapsed).toBeLessThan(40_000);
  });

  it("gives a whole answer however its bytes arrive, and whatever follows it", async () => {
    expect(outcomeOf(await run(name, [], { chunkBytes: 1 }))).toEqual(good);
    expect(outcomeOf(await run(name, [], { chunkBytes: 7 }))).toEqual(good);
    expect(outcomeOf(await run(name, always({ type: "drip", ms: 60_000 })))).toEqual(good);
    expect(outcomeOf(await run(name, always({ type: "garbage" })))).toEqual(good);
    expect(outcomeOf(await run(name, always({ type: "delay-headers", ms: 200_000 })))).toEqual(good);
  });

  it("hands over no call of an answer that broke off, and does not ask twice for what was seen", async () => {
    const { bytes: size } = await trafficOf(name);
    const cuts = Array.from({ length: cutPlaces }, (_, index) => Math.floor((size * index) / cutPlaces));
    for (const at of cuts) {
      for (const type of ["cut", "truncate"] as const) {
        const went = await run(name, always({ type, at }), { attempts: 1 });
        if (went.response !== undefined) expect(outcomeOf(went)).toEqual(good);
        else expect(["stream-cut", "malformed-stream"]).toContain(went.failure?.kind);
        const seen = went.events.some(({ type: kind }) => kind === "text-delta" || kind === "part-end");
        expect(went.failure?.partial ?? false).toBe(seen && went.failure !== undefined);
      }
    }
    const partial = await run(name, always({ type: "cut", at: size - 1 }));
    expect(partial.requests).toBe(1);
  });

  it("never makes a call of its own out of events that are missing, doubled or out of order", async () => {
    const { chunks: places } = await trafficOf(name);
    for (const type of ["drop", "duplicate", "swap"] as const)
      for (let event = 0; event < places; event += eventStride) {
        const went = await run(name, always({ type, event }), { attempts: 1 });
        expect(went.response === undefined).toBe(went.failure !== undefined);
        const calls = (went.response?.parts ?? []).filter(({ type: kind }) => kind === "call");
        expect(calls.length).toBeLessThanOrEqual(inputs.length);
      }
  });

  it("survives a changed byte anywhere", async () => {
    const { bytes: size } = await trafficOf(name);
    for (let at = 0; at < size; at += Math.ceil(size / changedBytes)) {
      const went = await run(name, always({ type: "corrupt", at }), { attempts: 1 });
      expect(went.response === undefined).toBe(went.failure !== undefined);
    }
  });

  it("keeps within its budget and its word whatever goes wrong, by chance", async () => {
    const { randomFaults } = await import("../../src/sim/faults/fault.ts");
    const first = seedFor(0);
    for (let seed = first; seed < first + randomFaultPlans; seed++) {
      const went = await run(name, randomFaults(seed, 6), { seed });
      expect(went.requests).toBeLessThanOrEqual(7);
      expect(went.response === undefined).toBe(went.failure !== undefined);
      expect(went.elapsed).toBeLessThan(5 * 600_000);
      if (went.failure?.partial === true) expect(went.events.at(-1)?.type).not.toBe("retrying");
    }
  });

  it("shows no key in anything it says", async () => {
    for (const fault of [
      status(401),
      status(400),
      { type: "refuse-connection" },
      { type: "redirect", to: "https://a.example" },
    ] as const) {
      const went = await run(name, always(fault));
      expect(JSON.stringify([went.events, went.failure])).not.toContain(canary);
    }
  });
});

describe.each(sendersOfHugeLines)("%s", (name) => {
  it("fails plainly when one event never ends", async () => {
    const went = await run(name, always({ type: "huge-line", bytes: 70_000_000, after: 0 }), { attempts: 2 });
    expect([went.failure?.kind, went.response, went.requests]).toEqual(["malformed-stream", undefined, 2]);
    expect(went.events.filter(({ type }) => type === "part-end")).toEqual([]);
  });
});

/** How many bytes, and how many events, the stream of the scripted answer has. */
const trafficOf = async (name: string): Promise<{ readonly bytes: number; readonly chunks: number }> => {
  const set = simulateProvider(name, { script });
  await exchange(set, asking);
  return set.traffic;
};
