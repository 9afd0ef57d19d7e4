import type { Entry } from "../../conversation/entry.ts";
import { isObject, type JsonObject } from "../../conversation/json.ts";
import type { Note } from "../../conversation/notes.ts";
import type { CallId } from "../../conversation/parts.ts";
import { estimateTokens } from "../../context/estimate-tokens.ts";
import { sanitizeForTerminal } from "../../policy/terminal/sanitize.ts";
import { destinationOf } from "../../providers/find.ts";
import { computeCost } from "../../providers/models.ts";
import { lint } from "../../rules/lint.ts";
import type { Finding } from "../../rules/rule.ts";
import type { ReadSession } from "../../session/store/store.ts";
import type { CallReport } from "../../transcript/incremental-renderer.ts";
import { RequestComposer } from "../../wire/compose.ts";
import type { WireId } from "../../wire/wire.ts";
import { findFacts, type KnownModels } from "./model-facts.ts";

/** A conversation as one model gets it, aligned with the entries it is made of. */
export type Rendering = {
  readonly model: string;
  readonly wire: WireId;
  /** The body without its messages: system prompt, tools, settings. */
  readonly head: string;
  readonly rows: readonly RenderingRow[];
  /** Notes that are about the request as a whole. */
  readonly notes: readonly Note[];
  /** The calls, with the ids and names this model gets. */
  readonly calls: readonly CallReport[];
  /** The findings of this API's rules. Without one, the API accepts the body. */
  readonly findings: readonly Finding[];
  readonly messages: number;
  readonly bytes: number;
  /** Estimated tokens, and what they cost without a prompt cache. */
  readonly tokens: number;
  readonly context: number;
  readonly cost?: number;
};

/** The messages that one entry became, with the entries sent together with it. */
export type RenderingRow = {
  /** The first of the entries; -1 for messages before all entries, and the number of entries for those after all. */
  readonly entry: number;
  /** All entries of this row, in order. */
  readonly entries: readonly number[];
  readonly pieces: readonly RenderingPiece[];
  readonly notes: readonly Note[];
};

/** A message, or the part of one that an entry became. */
type RenderingPiece = {
  /** The index of the message in the request. */
  readonly message: number;
  readonly json: string;
  /** Whether the message has a prompt cache point. */
  readonly isCachePoint: boolean;
  /** Whether it shares its message with another piece. */
  readonly isMerged: boolean;
};

/** The messages of a request, each with the pieces it is made of and the entries those come from. */
export type TracedRequest = {
  readonly model: string;
  readonly wire: WireId;
  readonly body: JsonObject;
  readonly messages: readonly TracedMessage[];
  readonly placedNotes: ReturnType<RequestComposer["placedNotes"]>;
  readonly calls: readonly CallReport[];
};

type TracedMessage = {
  readonly message: JsonObject;
  readonly isCachePoint: boolean;
  readonly pieces: readonly { readonly message: JsonObject; readonly entries: readonly number[] }[];
};

/** Composes the request of a session for a model, as the agent would, and traces every message to its entries. */
export const traceRequest = (session: ReadSession, to: string): TracedRequest => {
  const account = lastAccount(session, to);
  const named = destinationOf(to).target;
  const model = `${named.provider}/${named.model}`;
  const destination = destinationOf(to, account, session.inputs?.[model]);
  const { wire } = destination;
  const traces = new WeakMap<JsonObject, TracedMessage["pieces"]>();
  const piecesOf = (message: JsonObject): TracedMessage["pieces"] => traces.get(message) ?? [{ message, entries: [] }];
  let sent: readonly JsonObject[] = [];
  let marked: ReadonlySet<number> = new Set();
  const composer = new RequestComposer({
    destination: {
      ...destination,
      wire: {
        ...wire,
        mergeMessages: (before, next) => {
          const merged = wire.mergeMessages(before, next);
          if (merged !== undefined) traces.set(merged, [...piecesOf(before), ...piecesOf(next)]);
          return merged;
        },
        markCachePoints: (messages, request) => {
          const marks = wire.markCachePoints(messages, request);
          sent = [...messages];
          marked = new Set(marks.map(({ at }) => at));
          return marks;
        },
      },
    },
    system: session.head.system,
    tools: session.tools ?? [],
    blobs: session.blobs,
    policy: { unsupportedMedia: "stub" },
    onStep: (messages, entries) => {
      for (const message of messages) traces.set(message, [{ message, entries: [...entries] }]);
    },
  });
  composer.add(session.entries);
  const settings = { cache: { marks: true, key: session.id } };
  const { body, report } = composer.compose(settings);
  return {
    model,
    wire: wire.id,
    body,
    messages: sent.map((message, at) => ({ message, isCachePoint: marked.has(at), pieces: piecesOf(message) })),
    placedNotes: composer.placedNotes(settings),
    calls: report.calls,
  };
};

/** Renders a session for a model and aligns the messages with the entries. */
export const renderFor = (session: ReadSession, to: string, models?: KnownModels): Rendering => {
  const traced = traceRequest(session, to);
  const { model, wire, body, messages, calls } = traced;
  const [provider = "", ...name] = model.split("/");
  const facts = findFacts(model, models);
  const rows = alignRows(traced, session.entries);
  const text = JSON.stringify(body);
  const tokens = estimateTokens(JSON.stringify(shortenMedia(body)));
  const cost = computeCost(facts, { input: tokens, cachedRead: 0, cachedWrite: 0, output: 0, reasoning: 0 });
  return {
    model,
    wire,
    head: formatJson(withoutMessages(body)),
    rows: rows.rows,
    notes: rows.others,
    calls,
    findings: lint(body, { wire, provider, model: name.join("/") }),
    messages: messages.length,
    bytes: Buffer.byteLength(text),
    tokens,
    context: facts.context,
    ...(cost === undefined ? {} : { cost }),
  };
};

/** Formats a message for display: media data shortened, terminal sequences removed. */
export const formatJson = (value: unknown): string =>
  sanitizeForTerminal(JSON.stringify(shortenMedia(value), undefined, 2) ?? "");

const lastAccount = ({ entries }: ReadSession, to: string): string | undefined => {
  const [provider] = to.split("/", 1);
  const last = entries.findLast((entry) => entry.type === "model" && entry.origin.provider === provider);
  return last?.type === "model" ? last.origin.account : undefined;
};

type RowDraft = { readonly entries: Set<number>; readonly pieces: RenderingPiece[]; readonly notes: Note[] };
type AlignedRows = { readonly rows: readonly RenderingRow[]; readonly others: readonly Note[] };

const alignRows = ({ messages, placedNotes }: TracedRequest, entries: readonly Entry[]): AlignedRows => {
  const rows = new Map<number, RowDraft>();
  const rowOf = new Map<number, number>();
  const rowAt = (first: number): RowDraft => {
    const found: RowDraft = rows.get(first) ?? { entries: new Set([first]), pieces: [], notes: [] };
    rows.set(first, found);
    return found;
  };
  for (const [at, { pieces, isCachePoint }] of messages.entries())
    for (const { message, entries: made } of pieces) {
      const first = made[0] ?? (rowOf.size === 0 ? -1 : entries.length);
      const row = rowAt(first);
      for (const entry of made) row.entries.add(entry);
      for (const entry of made) rowOf.set(entry, first);
      row.pieces.push({ message: at, json: formatJson(message), isCachePoint, isMerged: pieces.length > 1 });
    }
  const entryOfCall = callEntries(entries);
  const others: Note[] = [];
  for (const { note, entry = note.call === undefined ? undefined : entryOfCall.get(note.call) } of placedNotes)
    if (entry === undefined) others.push(note);
    else rowAt(rowOf.get(entry) ?? entry).notes.push(note);
  return {
    rows: [...rows]
      .map(([entry, row]) => ({ ...row, entry, entries: [...row.entries].toSorted((one, other) => one - other) }))
      .toSorted((one, other) => one.entry - other.entry),
    others,
  };
};

const callEntries = (entries: readonly Entry[]): ReadonlyMap<CallId, number> =>
  new Map(
    entries.flatMap((entry, index) =>
      entry.type === "model"
        ? entry.parts.flatMap((part): readonly [CallId, number][] => (part.type === "call" ? [[part.id, index]] : []))
        : [],
    ),
  );

const messageFields = ["messages", "contents", "input"];

/** Returns a body without its messages. */
export const withoutMessages = (body: JsonObject): JsonObject => {
  const inner = isObject(body["request"]) ? (body["request"] as JsonObject) : undefined;
  const rest = Object.fromEntries(Object.entries(body).filter(([key]) => !messageFields.includes(key)));
  return inner === undefined ? rest : { ...rest, request: withoutMessages(inner) };
};

/** The longest base64 text that is shown in full. */
const maxDataLength = 120;

/** Replaces base64 data by its start and its length. */
const shortenMedia = (value: unknown): unknown => {
  if (typeof value === "string")
    return value.length > maxDataLength && /^(data:[^,]{0,100},)?[A-Za-z0-9+/_-]+={0,2}$/.test(value)
      ? `${value.slice(0, 40)}… (${value.length} characters)`
      : value;
  if (Array.isArray(value)) return value.map(shortenMedia);
  if (isObject(value)) return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, shortenMedia(item)]));
  return value;
};
