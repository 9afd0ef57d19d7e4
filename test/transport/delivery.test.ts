import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { done, text } from "../../src/conversation/builders.ts";
import type { Conversation, Entry } from "../../src/conversation/entry.ts";
import { Ledger } from "../../src/conversation/ledger.ts";
import type { Part } from "../../src/conversation/parts.ts";
import type { Provider } from "../../src/providers/define.ts";
import { findProvider } from "../../src/providers/find.ts";
import { listSimulatedProviders } from "../../src/sim/registry.ts";
import type { LogEntry } from "../../src/sim/request-log.ts";
import type { Script } from "../../src/sim/model/script.ts";
import type { RenderReport } from "../../src/transcript/incremental-renderer.ts";
import { sendConversation, type ExchangeOutcome } from "../support/exchange.ts";
import { deliveryOfResult, kinds, returning, rows } from "../support/media-matrix.ts";
import { sequence } from "../support/sequence.ts";
import { realTransport, serveSimulators, type ServedSimulators } from "../support/serve-simulators.ts";
import { testedProviders } from "../support/tested-providers.ts";
import { sampleCases } from "../support/tier.ts";

/*
 * What we say we sent against what a strict server says it received: real
 * requests over HTTP to every provider's simulator, which checks keys,
 * signatures, rules and seals, and counts tokens by what they stand for.
 */

let served: ServedSimulators;
let servedTalks: ServedSimulators;

beforeAll(async () => {
  served = await serveSimulators();
  servedTalks = await serveSimulators({ script });
});
afterAll(() => Promise.all([served.close(), servedTalks.close()]));

const ids = listSimulatedProviders();

/** Who a row such as `kimi/kimi-k3` means. */
const ruleTarget = (row: string): { readonly id: string; readonly provider: Provider; readonly model: string } => {
  const id = row.slice(0, row.indexOf("/"));
  return { id, provider: findProvider(id), model: row.slice(id.length + 1) };
};

const usualOf = (id: string): string => `${id}/${findProvider(id).defaultModel}`;
const noTarget = rows.filter((row) => !ids.includes(ruleTarget(row).id));

it("is sent to everyone who is simulated; the others need no network", () => {
  expect(noTarget).toEqual(["offline/parley"]);
});

describe.each(sampleCases(ids, 4))("the sequence, sent to %s", (id) => {
  it.each([true, false])("is accepted, and its last words are heard (streamed: %s)", async (stream) => {
    const went = await sendConversation(served.transport, findProvider(id), sequence(), { settings: { stream } });
    expect(verdictOf(lastOf(served, id))).toBe("accepted");
    expect(wordsOf(went)).toBe('You said: "And the rest?".');
    expect(went.response?.usage?.input).toBe(acceptedOf(lastOf(served, id)).usage?.input);
  });
});

describe("every file of the media matrix", () => {
  const cells = kinds.flatMap((kind) =>
    (["bytes", "address"] as const).flatMap((source) =>
      (["alone", "among"] as const).map((style) => ({ kind, source, style })),
    ),
  );

  it.each(
    sampleCases(
      rows.filter((row) => !noTarget.includes(row)),
      5,
    ),
  )("reaches %s exactly where we say so", async (row) => {
    const { id, provider, model } = ruleTarget(row);
    const said: Record<string, string> = {};
    const received: Record<string, string> = {};
    for (const { kind, source, style } of cells) {
      const cell = `${kind} as ${source}, ${style}`;
      const { sent } = await sendConversation(served.transport, provider, returning(kind, source, style), { model });
      const delivery = tokensIn(sent?.report);
      expect([cell, delivery]).toEqual([cell, deliveryOfResult(row, kind, source)]);
      said[cell] = delivery === "named" ? "accepted, no file" : "accepted, a file";
      const entry = lastOf(served, id);
      received[cell] = `${verdictOf(entry)}, ${fileTokensIn(entry) > 0 ? "a" : "no"} file`;
    }
    expect(received).toEqual(said);
  });
});

/** How a report says its only file went. */
const tokensIn = (report: RenderReport | undefined): string => {
  const notes = (report?.notes ?? []).map(({ kind }) => kind);
  return notes.includes("media-stub") ? "named" : notes.includes("media-after") ? "after" : "inside";
};

/** Everything that is not text: which kind of token a file becomes is the vendor's choice, and Gemini counts pages as pictures. */
const fileTokensIn = (entry: LogEntry): number => {
  const { text: _, ...files } = acceptedOf(entry).usage?.inputBy ?? {};
  return Object.values(files).reduce((sum: number, tokens) => sum + (tokens ?? 0), 0);
};

const script: Script = {
  rules: [
    {
      prompt: "Tidy",
      replies: [
        {
          think: "First I look. Grüße 👋",
          say: "Let me look.",
          call: [
            { tool: "look", input: { at: "a.txt" } },
            { tool: "look", input: { at: "ä/👋.txt" } },
          ],
        },
        { think: "One more.", call: { tool: "look", input: { at: "c.txt" } } },
        { think: "Enough.", say: "All is tidy." },
      ],
    },
  ],
};

/** Long enough for every provider's cache, and no other talk's. */
const systemFor = (row: string): string => `For ${row}. ${"You keep projects tidy, and say so briefly. ".repeat(800)}`;
const tools = [
  { name: "look", description: "Looks.", parameters: { type: "object", properties: { at: { type: "string" } } } },
];

/** Settings that make every provider think, and use the prompt cache where that is explicit. */
const settings = {
  thinking: { effort: "medium", budget: 2048 },
  maxTokens: 8000,
  cache: { marks: true, key: "one" },
} as const;

/** Says something and lets it be answered until the model has nothing more to call. Answers every request the server saw. */
const runConversation = async (
  row: string,
  system: string,
  entries: Entry[],
  words: string,
): Promise<{ log: readonly LogEntry[]; went: ExchangeOutcome }> => {
  const { id, provider, model } = ruleTarget(row);
  const { log } = servedTalks.simulators[id]!;
  const begin = log.length;
  const ledger = Ledger.from(entries);
  ledger.user([text(words)]);
  for (;;) {
    const conversation: Conversation = { version: 1, system, tools, entries: ledger.entries, blobs: {} };
    const went = await sendConversation(servedTalks.transport, provider, conversation, { model, settings });
    if (went.response === undefined || went.sent === undefined)
      throw new Error(`${row}: ${JSON.stringify(went.failure)}`);
    const calls = ledger.model(went.sent.origin, went.response.parts, went.sent.prefix);
    for (const made of calls) ledger.complete(made.id, made.tool, done(`seen by ${made.id}`));
    if (calls.length > 0) continue;
    entries.splice(0, Infinity, ...ledger.entries);
    return { log: log.slice(begin), went };
  }
};

/** Every provider's default, and models that seal or bind their thoughts another way. */
const thinkers = [
  ...ids.map(usualOf),
  "google/gemini-2.5-flash",
  "google/gemini-3.1-pro-preview",
  "anthropic/claude-fable-5-1",
  "anthropic/claude-haiku-4-5",
  "bedrock/us.anthropic.claude-fable-5-1-v1:0",
  "bedrock/us.anthropic.claude-haiku-4-5-20251001-v1:0",
  "bedrock/us.amazon.nova-2-lite-v1:0",
  "openrouter/anthropic/claude-fable-5.1",
  "openrouter/google/gemini-3.8-flash",
  "openrouter/openai/gpt-5.6",
];

/** Talks that were had, by who was talked to. Made once, as what follows builds on them. */
const talks = new Map<string, { readonly entries: readonly Entry[]; readonly log: readonly LogEntry[] }>();

const talkWith = async (
  row: string,
): Promise<{ readonly entries: readonly Entry[]; readonly log: readonly LogEntry[] }> => {
  const known = talks.get(row);
  if (known !== undefined) return known;
  const entries: Entry[] = [];
  const { log } = await runConversation(row, systemFor(row), entries, "Tidy the project.");
  talks.set(row, { entries, log });
  return { entries, log };
};

describe.each(sampleCases(thinkers, 4))("a talk of three requests with %s", (row) => {
  it("is accepted throughout, and nothing of it is passed over", async () => {
    const { log } = await talkWith(row);
    expect(log.map((entry) => [verdictOf(entry), acceptedOf(entry).dropped])).toEqual(
      Array.from({ length: 3 }, () => ["accepted", undefined]),
    );
  });

  it("carries every seal back where the API has them", async () => {
    const { entries, log } = await talkWith(row);
    const { provider, model } = ruleTarget(row);
    const { target } = provider.destination(model);
    const { form } = target.thinking;
    // The last answer was not sent back yet.
    const seals = entries.slice(0, -1).flatMap((entry) => (entry.type === "model" ? entry.parts.flatMap(sealsIn) : []));
    expect(seals.length).toBeGreaterThanOrEqual(form === "signed" || form === "seal" ? 2 : 0);
    const last = JSON.stringify(log.at(-1)?.body);
    expect(seals.filter((seal) => !last.includes(seal))).toEqual([]);
    if (form === "plain") expect(last).toContain("First I look. Grüße 👋");
  });

  it("finds all of the request before in the cache, where there is one", async () => {
    const { log } = await talkWith(row);
    const { cache } = servedTalks.simulators[ruleTarget(row).id]!.provider;
    const usage = log.map((entry) => acceptedOf(entry).usage!);
    const whole = usage.map(({ input }) => (cache.mode === "none" ? 0 : input - (input % cache.stepTokens)));
    expect(usage.slice(1).map(({ cachedRead }) => cachedRead)).toEqual(whole.slice(0, -1));
  });

  it("continues with any other provider, which accepts the thinking made here", async () => {
    const { entries } = await talkWith(row);
    const verdicts: Record<string, unknown> = {};
    const others = testedProviders.map(usualOf);
    for (const other of others) {
      const { log } = await runConversation(other, systemFor(row), [...entries], "And the rest?");
      verdicts[other] = log.map((entry) => [verdictOf(entry), acceptedOf(entry).dropped]);
    }
    expect(verdicts).toEqual(Object.fromEntries(others.map((other) => [other, [["accepted", undefined]]])));
  });
});

/** MiniMax's thoughts are plain words, and Gemini 2.5 does not check what it signed. */
const unchecked = ["minimax/MiniMax-M2.5", "google/gemini-2.5-flash"];
const sealers = thinkers.filter((row) => {
  const { provider, model } = ruleTarget(row);
  const { form } = provider.destination(model).target.thinking;
  return (form === "signed" || form === "seal") && !unchecked.includes(row);
});

describe("a seal that was tampered with", () => {
  it.each(sampleCases(sealers, 3))("is noticed by %s, and the request goes without", async (row) => {
    const { entries } = await talkWith(row);
    const forged = entries.slice(0, -1).map(withForgedSeals);
    const { id, provider, model } = ruleTarget(row);
    const { log } = servedTalks.simulators[id]!;
    const begin = log.length;
    const conversation: Conversation = { version: 1, system: systemFor(row), tools, entries: forged, blobs: {} };
    const went = await sendConversation(realTransport(servedTalks.bases), provider, conversation, { model, settings });
    expect(went.events.flatMap((event) => (event.type === "repaired" ? [event.quirk] : []))).toEqual(["unsealed"]);
    expect(log.slice(begin).map(({ verdict, status }) => [verdict, status])).toEqual([
      ["refused", 400],
      ["accepted", 200],
    ]);
  });
});

/** The seals of a part: a signature, encrypted thinking, or a gateway's reasoning details. */
const sealsIn = (part: Part): readonly string[] => {
  if (!("seal" in part) || part.seal === undefined) return [];
  const { signature, encrypted, details = [] } = part.seal;
  const listed = details.flatMap((detail) => {
    const { data, signature: signed, text: thought } = detail as Readonly<Record<string, unknown>>;
    return [data, signed, thought];
  });
  return [signature, encrypted, ...listed].filter((seal) => typeof seal === "string" && seal !== "") as string[];
};

const withForgedSeals = (entry: Entry): Entry =>
  entry.type === "model" ? { ...entry, parts: entry.parts.map(forgedPart) } : entry;

const forgedPart = (part: Part): Part => {
  const all = JSON.stringify(part);
  return JSON.parse(
    sealsIn(part)
      .filter((seal) => seal.length > 60)
      .reduce((text, seal) => text.replaceAll(seal, `AAAA${seal.slice(4)}`), all),
  ) as Part;
};

const lastOf = ({ simulators }: ServedSimulators, id: string): LogEntry => simulators[id]!.log.at(-1)!;

/** The verdict, and the server's words where it is not what it should be. */
const verdictOf = (entry: LogEntry): string =>
  entry.verdict === "accepted" ? entry.verdict : `${entry.verdict}: ${entry.message}`;

const acceptedOf = (entry: LogEntry): Partial<Extract<LogEntry, { verdict: "accepted" }>> =>
  entry.verdict === "accepted" ? entry : {};

const wordsOf = ({ response: answer }: ExchangeOutcome): string =>
  (answer?.parts ?? []).map((part) => (part.type === "text" ? part.text : "")).join("");
