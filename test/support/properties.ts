import type { CallId, Conversation, Entry, JsonObject } from "../../src/conversation/index.ts";
import type { Provider } from "../../src/providers/index.ts";
import { lint } from "../../src/rules/index.ts";
import { compose, Composer, type Composed } from "../../src/wire/compose.ts";
import type { Report } from "../../src/transcript/index.ts";
import type { Destination } from "../../src/wire/bind.ts";
import type { Reading, Settings } from "../../src/wire/wire.ts";
import { build, type Built, type History } from "./histories.ts";
import { Random } from "./random.ts";

/** A promise that was not kept: which one, to whom, and how. */
export type Broken = { readonly property: string; readonly target: string; readonly detail: string };

const policy = { unsupportedMedia: "stub", thinking: "own" } as const;

/** What a caller may ask for, at random. */
export const makeSettings = (seed: number): Settings => {
  const random = new Random(seed ^ 0x5e77);
  return {
    ...(random.chance(0.5) ? { maxTokens: 1 + random.below(random.chance(0.3) ? 20 : 8000) } : {}),
    ...(random.chance(0.2) ? { temperature: random.pick([0, 0.7, 1, 2]) } : {}),
    ...(random.chance(0.5) ? { stream: true } : {}),
    ...(random.chance(0.4)
      ? { toolChoice: random.pick(["auto", "none", "required", { tool: "read_file" }, { tool: "gone" }] as const) }
      : {}),
    ...(random.chance(0.4) ? { thinking: { effort: random.pick(["none", "low", "medium", "high"] as const) } } : {}),
    ...(random.chance(0.3) ? { cache: { marks: random.chance(0.5), key: "one" } } : {}),
  };
};

/** Checks every promise for one history and all providers; answers the first that is broken. */
export const checkHistory = (history: History, providers: readonly Provider[], seed: number): Broken | undefined => {
  const built = build(history);
  deepFreeze(built.conversation);
  for (const provider of providers) {
    for (const model of modelsOf(provider, seed)) {
      const broken = checkTarget(built, provider, model, seed);
      if (broken !== undefined) return { ...broken, target: `${provider.id}/${model}` };
    }
  }
  return undefined;
};

/** The models of a provider that differ most; each history meets one of them. */
const others: Readonly<Record<string, readonly string[]>> = {
  google: ["gemini-2.5-flash", "gemini-3.6-flash"],
  vertex: ["gemini-2.5-pro"],
  anthropic: ["claude-fable-5-1", "claude-haiku-4-5", "claude-opus-5-5", "claude-3-5-sonnet-20241022"],
  bedrock: [
    "us.anthropic.claude-fable-5-1-v1:0",
    "us.anthropic.claude-haiku-4-5-20251001-v1:0",
    "us.amazon.nova-2-lite-v1:0",
    "us.meta.llama4-maverick-17b-instruct-v1:0",
    "mistral.pixtral-large-2502-v1:0",
    "writer.palmyra-x5-v1:0",
    "qwen.qwen3-vl-235b-a22b",
    "unknown.model-v1:0",
  ],
  "openai-chat": ["gpt-4o-audio-preview", "gpt-4o", "gpt-5-pro", "o1-mini"],
  openai: ["gpt-4o", "gpt-5-pro"],
  kimi: ["kimi-k2-0905-preview", "kimi-k3"],
  deepseek: ["deepseek-v4-flash-vision-exp", "deepseek-chat"],
  mistral: ["voxtral-small-latest", "zai-glm-5-2"],
  local: ["llava", "mistral-small", "kimi-k2.5"],
  zai: ["glm-4.5v"],
  qwen: ["qwen3-vl-plus"],
};

const modelsOf = ({ id, defaultModel }: Provider, seed: number): readonly string[] => {
  const all = [defaultModel, ...(others[id] ?? [])];
  return [all[seed % all.length]!];
};

type Failure = { readonly property: string; readonly detail: string };

const checkTarget = (built: Built, provider: Provider, model: string, seed: number): Failure | undefined => {
  const destination = provider.destination(model);
  const { conversation } = built;
  const settings = makeSettings(seed);
  const full = compose(conversation, destination, { policy, settings });
  const bytes = JSON.stringify(full.body);
  const reading = destination.wire.read(full.body, { provider: provider.id, model });
  return (
    valid(full, provider, model) ??
    whole(conversation, full, bytes, reading) ??
    named(conversation, full, destination) ??
    readable(reading, bytes, destination, settings) ??
    stable(built, bytes, destination, seed)
  );
};

/** V: the rules find nothing. */
const valid = ({ body }: Composed, provider: Provider, model: string): Failure | undefined => {
  const finding = lint(body, { wire: provider.wire, provider: provider.id, model }).find(
    ({ level }) => level === "error",
  );
  return finding === undefined
    ? undefined
    : { property: "V valid", detail: `${finding.rule} at ${finding.pointer}: ${finding.message}` };
};

const tokenPattern = /⟦\d+⟧/g;

/** W: every word and every file appears once; a result's on its own call. */
const whole = (
  conversation: Conversation,
  { report }: Composed,
  bytes: string,
  reading: Reading,
): Failure | undefined => {
  const seen = new Map<string, number>();
  for (const [token] of bytes.matchAll(tokenPattern)) seen.set(token, (seen.get(token) ?? 0) + 1);
  for (const [token, count] of seen)
    if (count > 1) return { property: "W whole", detail: `${token} appears ${count} times` };
  const from = visibleFrom(conversation.entries);
  for (const [index, entry] of conversation.entries.entries()) {
    if (index < from) continue;
    const said = entry.type === "model" || entry.type === "compaction" ? "" : JSON.stringify(entry);
    for (const [token] of said.matchAll(tokenPattern))
      if (!seen.has(token))
        return { property: "W whole", detail: `${token} of entry ${index} (${entry.type}) is lost` };
    const lost = lostMedia(entry, conversation, bytes);
    if (lost !== undefined) return { property: "W whole", detail: lost };
  }
  return onOwnCall(conversation, report, reading, from);
};

const visibleFrom = (entries: readonly Entry[]): number => {
  const last = entries.findLast((entry) => entry.type === "compaction");
  return last === undefined ? 0 : Math.max(0, Math.min(last.from, entries.indexOf(last)));
};

const lostMedia = (entry: Entry, { blobs }: Conversation, bytes: string): string | undefined => {
  const parts =
    entry.type === "completion"
      ? entry.outcome.content
      : entry.type === "user" || entry.type === "model"
        ? entry.parts
        : [];
  for (const part of parts) {
    if (part.type !== "media") continue;
    const needle = part.source.type === "uri" ? part.source.uri : blobs[part.source.hash];
    const shown = needle === undefined ? 0 : bytes.split(JSON.stringify(needle).slice(1, -1)).length - 1;
    const isWords = part.source.type === "blob" && bytes.includes(`File ${part.id}`);
    const stubbedHere = bytes.includes(`${part.id} not shown`);
    if (shown > 1) return `${part.mimeType} ${part.id} appears ${shown} times`;
    if (shown === 0 && !isWords && !stubbedHere) return `${part.mimeType} ${part.id} is lost`;
  }
  return undefined;
};

const onOwnCall = (
  conversation: Conversation,
  report: Report,
  { conversation: back }: Reading,
  from: number,
): Failure | undefined => {
  const canonical = new Map(report.calls.map(({ id, call }) => [id, call]));
  const rawIds = new Map<CallId, string>();
  for (const entry of back.entries)
    if (entry.type === "model")
      for (const part of entry.parts) if (part.type === "call") rawIds.set(part.id, part.seal?.id ?? "");
  const shown = new Map<CallId, string>();
  for (const entry of back.entries) {
    if (entry.type !== "completion") continue;
    const call = canonical.get(rawIds.get(entry.call) ?? "");
    if (call !== undefined) shown.set(call, JSON.stringify(entry.outcome.content));
  }
  const first = new Set<CallId>();
  for (const [index, entry] of conversation.entries.entries()) {
    if (entry.type !== "completion" || first.has(entry.call)) continue;
    first.add(entry.call);
    const calls = report.calls.some(({ call }) => call === entry.call);
    if (index < from || !calls) continue;
    for (const [token] of JSON.stringify(entry.outcome.content).matchAll(tokenPattern))
      if (!shown.get(entry.call)?.includes(token))
        return { property: "W whole", detail: `${token} is not on its own call ${entry.call}` };
  }
  return undefined;
};

/** I and T: ids are unique and legal, and what this provider named itself keeps its name. */
const named = ({ entries }: Conversation, { report }: Composed, { target }: Destination): Failure | undefined => {
  const ids = new Map(report.calls.map(({ call, id }) => [call, id]));
  if (new Set(ids.values()).size !== report.calls.length)
    return { property: "I injective", detail: "two calls share an id" };
  for (const [call, id] of ids)
    if (!target.ids.legal.test(id)) return { property: "I legal", detail: `${id} of ${call}` };
  if (entries.some((entry) => entry.type === "compaction")) return undefined;
  const taken = new Set<string>();
  for (const entry of entries) {
    if (entry.type !== "model") continue;
    for (const part of entry.parts) {
      if (part.type !== "call") continue;
      const native = entry.origin.provider === target.provider ? part.seal?.id : undefined;
      const id = ids.get(part.id);
      if (
        native !== undefined &&
        id !== undefined &&
        id !== native &&
        target.ids.legal.test(native) &&
        !taken.has(native)
      )
        return { property: "T native ids", detail: `${native} became ${id}` };
      if (id !== undefined) taken.add(id);
    }
  }
  return undefined;
};

/** R: what was written can be read, and is written the same again. */
const readable = (
  reading: Reading,
  bytes: string,
  destination: Destination,
  { cache, stream }: Settings,
): Failure | undefined => {
  // Cache hints and streaming are said to the sender, not always in the body.
  const said = { ...(cache === undefined ? {} : { cache }), ...(stream === undefined ? {} : { stream }) };
  const again = JSON.stringify(
    compose(reading.conversation, destination, { policy, settings: { ...reading.settings, ...said } }).body,
  );
  return again === bytes ? undefined : { property: "R readable", detail: difference(bytes, again) };
};

/** S, P and D: grown step by step it is the same, and what was sent stays as it was sent. */
const stable = (
  { conversation, requests }: Built,
  bytes: string,
  destination: Destination,
  seed: number,
): Failure | undefined => {
  const composer = new Composer({
    destination,
    system: conversation.system,
    tools: conversation.tools,
    blobs: conversation.blobs,
    policy,
  });
  const random = new Random(seed);
  const settings = makeSettings(seed);
  let sent: readonly JsonObject[] = [];
  let done = 0;
  while (done < conversation.entries.length) {
    const request = requests.find((count) => count > done);
    const next = Math.min(conversation.entries.length, request ?? Infinity, done + 1 + random.below(4));
    const added = conversation.entries.slice(done, next);
    composer.add(added);
    done = next;
    if (added.some((entry) => entry.type === "compaction")) sent = [];
    if (next !== request) {
      if (random.chance(0.3)) composer.body(settings);
      continue;
    }
    const now = destination.wire.messagesIn(composer.body(settings)).slice();
    const changed = sent.findIndex(
      (message, index) => message !== now[index] && JSON.stringify(message) !== JSON.stringify(now[index]),
    );
    if (changed !== -1)
      return {
        property: "S stable",
        detail: `message ${changed}: ${difference(JSON.stringify(sent[changed]), JSON.stringify(now[changed] ?? ""))}`,
      };
    sent = now;
  }
  const grown = JSON.stringify(composer.body(settings));
  return grown === bytes ? undefined : { property: "P incremental", detail: difference(bytes, grown) };
};

const difference = (one: string, other: string): string => {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at++;
  const cut = (text: string): string => text.slice(Math.max(0, at - 120), at + 160);
  return `at ${at}:\n  ${cut(one)}\n  ${cut(other)}`;
};

const deepFreeze = (value: unknown): void => {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const item of Object.values(value)) deepFreeze(item);
};
