import type { Entry, Notice, ToolDeclaration } from "../../conversation/entry.ts";
import { isObject, type JsonObject } from "../../conversation/json.ts";
import type { CallId, MediaKind } from "../../conversation/parts.ts";
import type { TodoItem } from "../../conversation/todo.ts";
import type { LogLine } from "./line.ts";
import type { ConsentRecord, SessionHead, RecordedModel, SessionRecord, UnknownRecord } from "./record.ts";

/** The state of a session, assembled from its records. */
export type SessionContent = {
  readonly head?: SessionHead;
  readonly entries: readonly Entry[];
  readonly title?: string;
  readonly model?: RecordedModel;
  readonly tools?: readonly ToolDeclaration[];
  /** The media kinds each model accepts, by provider/model, where they are known. */
  readonly inputs?: RecordedModelInputs;
  /** The to-do list of the model, if it keeps one. */
  readonly todos?: readonly TodoItem[];
  /** The calls that have not begun: they were asked about, without a decision to run them. */
  readonly notBegun?: ReadonlyMap<CallId, NotBegun>;
  /** The permission rules the person added or took back for the session, in order. */
  readonly consents?: readonly ConsentRecord[];
  /** The indexes of lost entries, which hold placeholder notices. */
  readonly lostEntries: ReadonlySet<number>;
};

/** Why a call has not begun: it awaits a decision, or was decided against. */
export type NotBegun = "undecided" | "refused";

/** Media kinds by provider/model. */
export type RecordedModelInputs = { readonly [model: string]: readonly MediaKind[] };

/** Assembles the state of a session from its records. Every entry keeps its index; a notice takes the place of a lost one. */
export const assembleContent = (lines: readonly LogLine[]): SessionContent => {
  const entries: Entry[] = [];
  const lost = new Set<number>();
  let state: Omit<SessionContent, "entries" | "lostEntries"> = {};
  for (const line of lines) {
    const record = parseRecord(line.text);
    if (isEntryLine(line.text)) {
      for (const first = entries.length; entries.length < readEntryIndex(line.text);) {
        lost.add(entries.length);
        entries.push(entries.length === first ? lostNotice : emptyNotice);
      }
      entries.push(record.kind === "entry" ? record.entry : emptyNotice);
    } else state = applyRecord(state, record);
  }
  return { ...state, entries, lostEntries: lost };
};

/** The notice a model reads in place of lost entries. */
const lostNotice: Notice = {
  type: "notice",
  text: "Part of the conversation was lost here: its record was damaged on disk.",
};

/** Keeps the index of an entry, without any text. */
const emptyNotice: Notice = { type: "notice", text: "" };

const applyRecord = (
  state: Omit<SessionContent, "entries" | "lostEntries">,
  record: SessionRecord | UnknownRecord,
): Omit<SessionContent, "entries" | "lostEntries"> => {
  switch (record.kind) {
    case "head":
      return state.head === undefined ? { ...state, ...initialState(record), head: record } : state;
    case "title":
      return { ...state, title: record.title };
    case "model":
      return { ...state, model: { provider: record.provider, model: record.model } };
    case "tools":
      return { ...state, tools: record.tools };
    case "input":
      return { ...state, inputs: { ...state.inputs, [`${record.provider}/${record.model}`]: record.input } };
    case "todos":
      return { ...state, todos: record.todos };
    case "asked":
      return { ...state, notBegun: new Map(state.notBegun).set(record.call, "undecided") };
    case "decided":
      return { ...state, notBegun: applyDecision(state.notBegun, record.call, record.decision) };
    case "consent":
      return { ...state, consents: [...(state.consents ?? []), record] };
    case "entry":
    case "request":
    case "turn":
    case "repair":
    case "unknown":
      return state;
  }
};

/** A decision that may have let a call begin removes it. One for another text is asked about again. */
const applyDecision = (
  notBegun: ReadonlyMap<CallId, NotBegun> = new Map(),
  call: CallId,
  decision: JsonObject,
): ReadonlyMap<CallId, NotBegun> => {
  const left = new Map(notBegun);
  if (decision["type"] === "refuse" || decision["type"] === "cancel") left.set(call, "refused");
  else if (decision["type"] !== "edit") left.delete(call);
  return left;
};

const initialState = ({ model, tools }: SessionHead): Omit<SessionContent, "entries" | "lostEntries"> => ({
  ...(model === undefined ? {} : { model }),
  ...(tools === undefined ? {} : { tools }),
});

const isEntryLine = (text: string): boolean => text.startsWith('{"kind":"entry"');
const readEntryIndex = (text: string): number => Number(/^\{"kind":"entry","index":(\d{1,9}),/.exec(text)?.[1] ?? 0);

/** Parses a record. The checksum guarantees its shape; only unknown kinds of a later version are checked for. */
export const parseRecord = (text: string): SessionRecord | UnknownRecord => {
  const value: unknown = JSON.parse(text);
  if (!isObject(value) || typeof value["kind"] !== "string") return { kind: "unknown", originalKind: "" };
  const { kind } = value;
  if (!kinds.has(kind)) return { kind: "unknown", originalKind: kind };
  if (kind !== "entry") return value as SessionRecord;
  const entry = parseEntry(value["entry"]);
  return entry === undefined ? { kind: "unknown", originalKind: kind } : ({ ...value, entry } as SessionRecord);
};

const kinds: ReadonlySet<string> = new Set<SessionRecord["kind"]>([
  "head",
  "entry",
  "model",
  "tools",
  "input",
  "request",
  "title",
  "todos",
  "asked",
  "decided",
  "consent",
  "turn",
  "repair",
]);
const entryTypes: ReadonlySet<unknown> = new Set<Entry["type"]>([
  "user",
  "model",
  "completion",
  "compaction",
  "notice",
  "copy",
]);
const partTypes: ReadonlySet<unknown> = new Set(["text", "thinking", "code", "media", "call", "structured"]);

/** Returns an entry with the parts this version knows; undefined if it knows none of it. */
const parseEntry = (entry: unknown): unknown => {
  if (!isObject(entry) || !entryTypes.has(entry["type"])) return undefined;
  const { parts, outcome } = entry;
  if (entry["type"] === "copy") return isObject(entry["media"]) && typeof entry["uri"] === "string" ? entry : undefined;
  if (parts !== undefined) {
    const known = parseParts(parts);
    return known === parts ? entry : known && { ...entry, parts: known };
  }
  if (!isObject(outcome)) return entry;
  const content = parseParts(outcome["content"]);
  return content === outcome["content"] ? entry : content && { ...entry, outcome: { ...outcome, content } };
};

/** Returns the parts, with a text placeholder for unknown ones; undefined if all are unknown. */
const parseParts = (parts: unknown): readonly unknown[] | undefined => {
  if (!Array.isArray(parts)) return undefined;
  const list: readonly unknown[] = parts;
  if (list.every(isKnownPart)) return list;
  const isAnyKnown = list.some((part) => isObject(part) && partTypes.has(part["type"]));
  return isAnyKnown ? list.map(parsePart) : undefined;
};

const isKnownPart = (part: unknown): boolean =>
  isObject(part) && partTypes.has(part["type"]) && (part["type"] !== "call" || isObject(part["input"]));

const parsePart = (part: unknown): unknown => {
  if (isKnownPart(part)) return part;
  if (isObject(part) && part["type"] === "call") return { ...part, input: { type: "malformed", text: "" } };
  const type = isObject(part) ? part["type"] : undefined;
  return {
    type: "text",
    text: `[A part of the kind ${JSON.stringify(type ?? "unknown")}, which this version of Parley does not know.]`,
  };
};
