import type { JsonObject } from "../../conversation/json.ts";
import { noteClassOf, type Note } from "../../conversation/notes.ts";
import { computeCost } from "../../providers/models.ts";
import { destinationOf } from "../../providers/find.ts";
import type { ReadSession } from "../../session/store/store.ts";
import { listRequests, sessionAtRequest, type SessionRequest } from "../../session/store/requests.ts";
import type { TokenUsage } from "../../wire/decode/events.ts";
import { findFacts, type KnownModels } from "./model-facts.ts";
import type { EntryTimes } from "./reading-rows.ts";
import { formatJson, traceRequest, type TracedRequest } from "./aligned-request.ts";

/** A completed request as a row of the timeline. */
export type RequestRow = {
  readonly number: number;
  readonly model: string;
  /** When its response was complete, in milliseconds since 1970. */
  readonly at: number;
  /** Milliseconds from the last entry it contained to its response. */
  readonly took?: number;
  /** The number of entries it contained; its response is the next one. */
  readonly entries: number;
  readonly usage?: TokenUsage;
  /** US dollars; absent if price or usage is unknown. */
  readonly cost?: number;
  /** Notes on changed content: those on ids and names alone are not counted. */
  readonly repairs: number;
  readonly notes: readonly Note[];
};

/** The sum of all requests. */
export type RequestTotals = {
  readonly requests: number;
  readonly input: number;
  readonly cachedRead: number;
  readonly output: number;
  readonly took: number;
  readonly cost: number;
  /** Requests whose price or usage is unknown, so that the cost lacks them. */
  readonly unpriced: number;
};

/** Lists the requests of a session with usage, time and cost. */
export const listRequestRows = async (
  session: ReadSession,
  times: EntryTimes,
  models?: KnownModels,
): Promise<readonly RequestRow[]> => (await listRequests(session)).map((request) => rowOf(request, times, models));

export const sumRequests = (rows: readonly RequestRow[]): RequestTotals => {
  const sum = (read: (row: RequestRow) => number | undefined): number =>
    rows.reduce((total, row) => total + (read(row) ?? 0), 0);
  return {
    requests: rows.length,
    input: sum(({ usage }) => usage?.input),
    cachedRead: sum(({ usage }) => usage?.cachedRead),
    output: sum(({ usage }) => usage?.output),
    took: sum(({ took }) => took),
    cost: sum(({ cost }) => cost),
    unpriced: rows.filter(({ cost }) => cost === undefined).length,
  };
};

const rowOf = (
  { number, model, at, entries, usage, notes }: SessionRequest,
  times: EntryTimes,
  models: KnownModels | undefined,
): RequestRow => {
  const end = times.get(entries) ?? Date.parse(at);
  const start = times.get(entries - 1);
  const read = usage === undefined ? undefined : readUsage(usage);
  const cost = read === undefined ? undefined : computeCost(findFacts(model, models), read);
  return {
    number,
    model,
    at: end,
    ...(start === undefined || end < start ? {} : { took: end - start }),
    entries,
    ...(read === undefined ? {} : { usage: read }),
    ...(cost === undefined ? {} : { cost }),
    repairs: notes.filter(({ kind }) => noteClassOf(kind) !== "projection").length,
    notes,
  };
};

const readUsage = (usage: JsonObject): TokenUsage => {
  const read = (name: string): number => (typeof usage[name] === "number" ? (usage[name] as number) : 0);
  return {
    input: read("input"),
    cachedRead: read("cachedRead"),
    cachedWrite: read("cachedWrite"),
    output: read("output"),
    reasoning: read("reasoning"),
  };
};

/** Request n against the one before it: what is new, and how much of it the prompt cache can hold. */
export type RequestComparison = {
  readonly number: number;
  readonly model: string;
  readonly previous?: { readonly number: number; readonly model: string; readonly bytes: number };
  /** Why the request prefix is shared or lost. */
  readonly cause: ComparisonCause;
  readonly bytes: number;
  /** Bytes that are the same as in the request before, from the start. */
  readonly sharedBytes: number;
  /** Messages that are shared, and all of them. */
  readonly sharedMessages: number;
  readonly messages: number;
  /** The byte positions of the prompt cache points. */
  readonly cachePoints: readonly number[];
  /** The first message that differs from the one in its place before, if there was one. */
  readonly difference?: { readonly message: number; readonly before: string; readonly now: string };
  /** The messages after the shared ones, with the entries they are made of. */
  readonly added: readonly { readonly message: number; readonly entries: readonly number[]; readonly json: string }[];
  readonly usage?: TokenUsage;
};

export type ComparisonCause = "first" | "appended" | "other-model" | "prefix-changed" | "compacted" | "history-changed";

/** Compares a request with the one before it, as both were sent. Undefined if there is no such request. */
export const compareRequest = async (session: ReadSession, number: number): Promise<RequestComparison | undefined> => {
  const requests = await listRequests(session);
  const request = requests[number - 1];
  if (request === undefined) return undefined;
  const before = requests[number - 2];
  const now = await traceAt(session, request);
  const previous = before === undefined ? undefined : { request: before, traced: await traceAt(session, before) };
  const written = sizeOf(now);
  const old = previous === undefined ? undefined : sizeOf(previous.traced);
  const isComparable = previous !== undefined && previous.traced.model === now.model;
  const shared = isComparable && old !== undefined ? sharedPrefix(old, written) : { messages: 0, bytes: 0 };
  const at = shared.messages;
  const differs = isComparable && old !== undefined && at < old.messages.length && at < written.messages.length;
  return {
    number,
    model: now.model,
    ...(previous === undefined || old === undefined
      ? {}
      : { previous: { number: number - 1, model: previous.traced.model, bytes: old.bytes } }),
    cause: causeOf(session, { previous, request, isComparable, shared, old, written }),
    bytes: written.bytes,
    sharedBytes: shared.bytes,
    sharedMessages: shared.messages,
    messages: written.messages.length,
    cachePoints: now.messages.flatMap(({ isCachePoint }, index) => (isCachePoint ? [written.ends[index] ?? 0] : [])),
    ...(differs
      ? {
          difference: {
            message: at,
            before: formatJson(previous.traced.messages[at]?.message),
            now: formatJson(now.messages[at]?.message),
          },
        }
      : {}),
    added: now.messages.slice(at).map(({ message, pieces }, index) => ({
      message: at + index,
      entries: [...new Set(pieces.flatMap(({ entries }) => entries))],
      json: formatJson(message),
    })),
    ...(request.usage === undefined ? {} : { usage: readUsage(request.usage) }),
  };
};

const traceAt = async (session: ReadSession, request: SessionRequest): Promise<TracedRequest> =>
  traceRequest(await sessionAtRequest(session, request), knownModel(request.model));

/** A session may name a model of a provider that was removed since; its API is then unknown. */
const knownModel = (model: string): string => {
  destinationOf(model);
  return model;
};

/** The texts of a request in the order a provider reads them, and where each ends. */
type WrittenRequest = {
  readonly prefix: string;
  readonly messages: readonly string[];
  readonly ends: readonly number[];
  readonly bytes: number;
};

const sizeOf = ({ body, messages }: TracedRequest): WrittenRequest => {
  const { messages: _, contents: __, input: ___, ...rest } = body;
  const prefix = JSON.stringify(rest, (key, value: unknown) => (key === "cache_control" ? undefined : value));
  const texts = messages.map(({ message }) => JSON.stringify(message));
  let bytes = Buffer.byteLength(prefix);
  const ends = texts.map((text) => (bytes += Buffer.byteLength(text)));
  return { prefix, messages: texts, ends, bytes };
};

const sharedPrefix = (
  old: WrittenRequest,
  now: WrittenRequest,
): { readonly messages: number; readonly bytes: number } => {
  if (old.prefix !== now.prefix) return { messages: 0, bytes: sharedLength(old.prefix, now.prefix) };
  let at = 0;
  while (at < now.messages.length && now.messages[at] === old.messages[at]) at += 1;
  const start = at === 0 ? Buffer.byteLength(now.prefix) : (now.ends[at - 1] ?? 0);
  return { messages: at, bytes: start + sharedLength(old.messages[at] ?? "", now.messages[at] ?? "") };
};

const sharedLength = (one: string, other: string): number => {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  return Buffer.byteLength(one.slice(0, at));
};

type CauseFacts = {
  readonly previous: { readonly request: SessionRequest } | undefined;
  readonly request: SessionRequest;
  readonly isComparable: boolean;
  readonly shared: { readonly messages: number };
  readonly old: WrittenRequest | undefined;
  readonly written: WrittenRequest;
};

const causeOf = (session: ReadSession, facts: CauseFacts): ComparisonCause => {
  const { previous, request, isComparable, shared, old, written } = facts;
  if (previous === undefined || old === undefined) return "first";
  if (!isComparable) return "other-model";
  if (old.prefix !== written.prefix) return "prefix-changed";
  if (shared.messages >= old.messages.length) return "appended";
  const between = session.entries.slice(previous.request.entries, request.entries);
  return between.some(({ type }) => type === "compaction") ? "compacted" : "history-changed";
};
