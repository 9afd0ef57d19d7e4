import type { Conversation, Entry } from "../../src/conversation/entry.ts";
import type { JsonObject } from "../../src/conversation/json.ts";
import type { CallId, Media } from "../../src/conversation/parts.ts";
import type { Provider } from "../../src/providers/define.ts";
import { lint } from "../../src/rules/lint.ts";
import { composeRequest, RequestComposer, type ComposedRequest } from "../../src/wire/compose.ts";
import type { RenderReport } from "../../src/transcript/incremental-renderer.ts";
import type { Destination } from "../../src/wire/bind.ts";
import type { DecodedRequest, RequestSettings } from "../../src/wire/wire.ts";
import { buildHistory, type BuiltHistory, type History } from "./histories.ts";
import { Random } from "./random.ts";

/** A broken property: which one, for which provider, and how. */
export type BrokenProperty = { readonly property: string; readonly target: string; readonly detail: string };

const policy = { unsupportedMedia: "stub", thinking: "own" } as const;

/** Makes random request settings. */
export const makeSettings = (seed: number): RequestSettings => {
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

/** Checks every property for one history and all providers; returns the first that is broken. */
export const checkHistory = (
  history: History,
  providers: readonly Provider[],
  seed: number,
): BrokenProperty | undefined => {
  const built = buildHistory(history);
  deepFreeze(built.conversation);
  const facts = factsOf(built.conversation);
  for (const provider of providers) {
    for (const model of modelsOf(provider, seed)) {
      const broken = checkTarget(built, facts, provider, model, seed);
      if (broken !== undefined) return { ...broken, target: `${provider.id}/${model}` };
    }
  }
  return undefined;
};

/** The models of a provider that differ most; each history uses one of them. */
const others: Readonly<Record<string, readonly string[]>> = {
  google: ["gemini-2.5-flash", "gemini-3.6-flash", "gemini-2.5-flash-image"],
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
  "openai-chat": ["gpt-4o-audio-preview", "gpt-4o", "gpt-5-pro", "o1-mini", "gpt-5.4-mini", "gpt-5-chat-latest"],
  openai: ["gpt-4o", "gpt-5-pro", "gpt-5-chat-latest"],
  xai: ["grok-code-fast-1", "grok-4", "grok-4.3"],
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

type PropertyFailure = { readonly property: string; readonly detail: string };

const checkTarget = (
  built: BuiltHistory,
  facts: HistoryFacts,
  provider: Provider,
  model: string,
  seed: number,
): PropertyFailure | undefined => {
  const destination = provider.destination(model);
  const { conversation } = built;
  const settings = makeSettings(seed);
  const full = composeRequest(conversation, destination, { policy, settings });
  const bytes = JSON.stringify(full.body);
  const reading = destination.wire.read(full.body, { provider: provider.id, model });
  return (
    checkValid(full, provider, model) ??
    checkNothingLost(facts, full, bytes, reading) ??
    checkNames(conversation, full, destination) ??
    checkReadable(reading, bytes, destination, settings) ??
    checkStablePrefix(built, bytes, destination, seed)
  );
};

/** Advice that Parley itself keeps: one model or vendor was recorded to take it, others refuse it. */
const neverSent: ReadonlySet<string> = new Set([
  "gemini/open-call",
  "gemini/spread-responses",
  "gemini/dataless-part",
  "bedrock/blank-after-document",
  "openai-chat/open-call",
  "openai-chat/empty-content-beside-calls",
  "openai-chat/portable-strict-schema",
  "openai-responses/portable-strict-schema",
  "openai-responses/repeated-item-id",
]);

/** V: the rules find nothing. */
const checkValid = ({ body }: ComposedRequest, provider: Provider, model: string): PropertyFailure | undefined => {
  const finding = lint(body, { wire: provider.wire, provider: provider.id, model }).find(
    ({ level, rule }) => level === "error" || neverSent.has(rule),
  );
  return finding === undefined
    ? undefined
    : { property: "V valid", detail: `${finding.rule} at ${finding.pointer}: ${finding.message}` };
};

const tokenPattern = /⟦\d+⟧/g;

/** The facts of an entry that must survive: its tokens, its files, and for a first completion the call. */
type EntryFacts = {
  readonly tokens: readonly string[];
  readonly files: readonly { readonly media: Media; readonly needle: string | undefined }[];
  readonly call: CallId | undefined;
};

/** The facts that must survive of every entry that is not compacted. */
type HistoryFacts = readonly EntryFacts[];

const factsOf = ({ entries, blobs }: Conversation): HistoryFacts => {
  const ended = new Set<CallId>();
  const facts = entries.map((entry): EntryFacts => {
    const parts = entry.type === "completion" ? entry.outcome.content : "parts" in entry ? entry.parts : [];
    const said = entry.type === "model" || entry.type === "compaction" ? "" : JSON.stringify(entry);
    const call = entry.type === "completion" && !ended.has(entry.call) ? entry.call : undefined;
    if (call !== undefined) ended.add(call);
    return {
      call,
      tokens: [...said.matchAll(tokenPattern)].map(([token]) => token),
      files: parts.flatMap((part) => {
        if (part.type !== "media") return [];
        const needle = part.source.type === "uri" ? part.source.uri : blobs[part.source.hash];
        return [{ media: part, needle: needle === undefined ? undefined : JSON.stringify(needle).slice(1, -1) }];
      }),
    };
  });
  return facts.slice(visibleFrom(entries));
};

const visibleFrom = (entries: readonly Entry[]): number => {
  const last = entries.findLast((entry) => entry.type === "compaction");
  return last === undefined ? 0 : Math.max(0, Math.min(last.from, entries.indexOf(last)));
};

/** W: every word and every file appears once; a result's on its own call. */
const checkNothingLost = (
  facts: HistoryFacts,
  { report }: ComposedRequest,
  bytes: string,
  reading: DecodedRequest,
): PropertyFailure | undefined => {
  const seen = new Set<string>();
  for (const [token] of bytes.matchAll(tokenPattern)) {
    if (seen.has(token)) return { property: "W whole", detail: `${token} appears twice` };
    seen.add(token);
  }
  const shown = resultsByCall(report, reading);
  for (const { tokens, files, call } of facts) {
    for (const token of tokens) if (!seen.has(token)) return { property: "W whole", detail: `${token} is lost` };
    for (const { media, needle } of files) {
      const lost = lostMedia(media, needle, bytes);
      if (lost !== undefined) return { property: "W whole", detail: lost };
    }
    const result = call === undefined ? undefined : shown.get(call);
    const stray = result === undefined ? undefined : tokens.find((token) => !result.includes(token));
    if (stray !== undefined) return { property: "W whole", detail: `${stray} is not on its own call ${call}` };
  }
  return undefined;
};

const lostMedia = ({ id, mimeType, source }: Media, needle: string | undefined, bytes: string): string | undefined => {
  // An address may begin as another does.
  const at = needle === undefined ? -1 : placeOf(needle, bytes, 0);
  if (needle !== undefined && at !== -1 && placeOf(needle, bytes, at + 1) !== -1)
    return `${mimeType} ${id} appears twice`;
  const isWords = source.type === "blob" && bytes.includes(`File ${id}`);
  return at === -1 && !isWords && !bytes.includes(`${id} not shown`) ? `${mimeType} ${id} is lost` : undefined;
};

/** Returns where a text occurs as a whole word. */
const placeOf = (needle: string, bytes: string, from: number): number => {
  let at = bytes.indexOf(needle, from);
  while (at !== -1 && /[a-z0-9]/i.test(bytes.charAt(at + needle.length))) at = bytes.indexOf(needle, at + 1);
  return at;
};

/** Reads the results in the body, by call. Every call must have one. */
const resultsByCall = ({ calls }: RenderReport, { conversation }: DecodedRequest): ReadonlyMap<CallId, string> => {
  const canonical = new Map(calls.map(({ id, call }) => [id, call]));
  const wireIds = new Map<CallId, string>();
  const results = new Map<CallId, string>(calls.map(({ call }) => [call, ""]));
  for (const entry of conversation.entries) {
    if (entry.type === "model") {
      for (const part of entry.parts) if (part.type === "call") wireIds.set(part.id, part.seal?.id ?? "");
    } else if (entry.type === "completion") {
      const call = canonical.get(wireIds.get(entry.call) ?? "");
      if (call !== undefined) results.set(call, JSON.stringify(entry.outcome.content));
    }
  }
  return results;
};

/** I and T: ids are unique and legal, and what this provider named itself keeps its name. */
const checkNames = (
  { entries }: Conversation,
  { report }: ComposedRequest,
  { target }: Destination,
): PropertyFailure | undefined => {
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
const checkReadable = (
  reading: DecodedRequest,
  bytes: string,
  destination: Destination,
  { cache, stream }: RequestSettings,
): PropertyFailure | undefined => {
  // Cache hints and streaming are said to the sender, not always in the body.
  const said = { ...(cache === undefined ? {} : { cache }), ...(stream === undefined ? {} : { stream }) };
  const again = JSON.stringify(
    composeRequest(reading.conversation, destination, { policy, settings: { ...reading.settings, ...said } }).body,
  );
  return again === bytes ? undefined : { property: "R readable", detail: difference(bytes, again) };
};

/** S, P and D: grown step by step it is the same, and what was sent stays as it was sent. */
const checkStablePrefix = (
  { conversation, requests }: BuiltHistory,
  bytes: string,
  destination: Destination,
  seed: number,
): PropertyFailure | undefined => {
  const composer = new RequestComposer({
    destination,
    system: conversation.system,
    tools: conversation.tools,
    blobs: conversation.blobs,
    policy,
  });
  const random = new Random(seed);
  const settings = makeSettings(seed);
  let sent: readonly JsonObject[] = [];
  let marked = pointsIn({});
  let done = 0;
  while (done < conversation.entries.length) {
    const request = requests.find((count) => count > done);
    const next = Math.min(conversation.entries.length, request ?? Infinity, done + 1 + random.below(4));
    const added = conversation.entries.slice(done, next);
    composer.add(added);
    done = next;
    if (added.some((entry) => entry.type === "compaction")) [sent, marked] = [[], pointsIn({})];
    if (next !== request) {
      if (random.chance(0.3)) composer.body(settings);
      continue;
    }
    const body = composer.body({ ...settings, cache: { marks: true } });
    const points = pointsIn(body);
    const lost = lostPoint(marked, points);
    if (lost !== undefined) return { property: "S cache points", detail: lost };
    marked = points;
    const now = unitsIn(destination.wire.extractMessages(body), destination);
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

/** The units that stay as sent: whole messages, or their blocks where messages of one role are merged. */
export const unitsIn = (messages: readonly JsonObject[], { target }: Destination): readonly JsonObject[] =>
  target.order.alternate
    ? messages.flatMap(({ role = "", content }) => (content as readonly JsonObject[]).map((block) => ({ role, block })))
    : messages.slice();

/** On Bedrock: the last cache point of a request that the next one, which follows the model's answer, has no more. */
const lostPoint = (before: CachePoints, now: CachePoints): string | undefined => {
  const last = before.points.at(-1);
  const isAnswered = now.answers === before.answers + 1 && now.roles[before.roles.length] === "assistant";
  if (last === undefined || !isAnswered) return undefined;
  return now.points.includes(last) ? undefined : `the point after block ${last} is gone: ${now.points.join()}`;
};

/** Whose each block is, after how many of them cache points stand, and how many messages of the model there are. */
type CachePoints = { readonly roles: readonly unknown[]; readonly points: readonly number[]; readonly answers: number };

const pointsIn = ({ messages }: JsonObject): CachePoints => {
  const list = (Array.isArray(messages) ? messages : []) as readonly JsonObject[];
  const points: number[] = [];
  const roles: unknown[] = [];
  for (const { role, content } of list)
    for (const block of Array.isArray(content) ? (content as readonly JsonObject[]) : [])
      if ("cachePoint" in block) points.push(roles.length);
      else roles.push(role);
  return { roles, points, answers: list.filter(({ role }) => role === "assistant").length };
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
