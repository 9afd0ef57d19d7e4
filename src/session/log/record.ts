import type { Entry, ToolDeclaration } from "../../conversation/entry.ts";
import type { JsonObject } from "../../conversation/json.ts";
import type { Note } from "../../conversation/notes.ts";
import type { CallId, MediaKind } from "../../conversation/parts.ts";
import type { TodoItem } from "../../conversation/todo.ts";

/** The format of the files this version writes. */
export const formatVersion = 1;

/** One record of a session log, without its frame. */
export type SessionRecord =
  | SessionHead
  | EntryRecord
  | ModelRecord
  | ToolsRecord
  | ModelInputRecord
  | RequestRecord
  | TitleRecord
  | TodosRecord
  | AskedRecord
  | DecidedRecord
  | ConsentRecord
  | TurnRecord
  | RepairRecord;

/** The first record: the initial state of the session. */
export type SessionHead = {
  readonly kind: "head";
  readonly version: number;
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly created: number;
  /** The project's folder. Empty in a head that a repair created. */
  readonly root: string;
  readonly system?: string;
  readonly tools?: readonly ToolDeclaration[];
  readonly model?: RecordedModel;
  /** Where an imported session is from. */
  readonly source?: ImportSource;
};

/** The session of another agent that a session was imported from. */
export type ImportSource = {
  /** The short name of the agent, such as `claude`. */
  readonly agent: string;
  readonly id: string;
  /** SHA-256 of what was imported. */
  readonly digest: string;
  /** The size and the last change of the other agent's file at that time. */
  readonly size: number;
  readonly modified: number;
  /** Our session of the main conversation, if this is another branch of it, a fork or the work of a subagent. */
  readonly of?: string;
};

/** A model and its provider. */
export type RecordedModel = { readonly provider: string; readonly model: string };

/** An entry of the conversation. `index` counts the entries from 0. */
export type EntryRecord = { readonly kind: "entry"; readonly index: number; readonly entry: Entry };

/** A switch to another model. */
type ModelRecord = RecordedModel & { readonly kind: "model"; readonly reason: string };

/** A change of the offered tools. */
type ToolsRecord = { readonly kind: "tools"; readonly tools: readonly ToolDeclaration[] };

/** The media kinds a model accepts from here on; other media are replaced by a text stub (image fallback). */
type ModelInputRecord = RecordedModel & { readonly kind: "input"; readonly input: readonly MediaKind[] };

/** A request that was sent, and its usage. */
type RequestRecord = RecordedModel & {
  readonly kind: "request";
  readonly turn: number;
  readonly usage?: JsonObject;
  readonly notes: readonly Note[];
  readonly digest?: string;
};

/** The title the user gave the session. */
type TitleRecord = { readonly kind: "title"; readonly title: string };

/** The whole to-do list of the model after a change. */
type TodosRecord = { readonly kind: "todos"; readonly todos: readonly TodoItem[] };

/**
 * A call that has not begun: it awaits a person's approval or, without `approval`, another call that does. `digest` is
 * that of everything the person was shown; a decision holds for that alone.
 */
type AskedRecord = {
  readonly kind: "asked";
  readonly call: CallId;
  readonly approval?: JsonObject;
  readonly digest?: string;
};

/** The decision about a call that was asked about. It is on disk before the call begins. */
type DecidedRecord = { readonly kind: "decided"; readonly call: CallId; readonly decision: JsonObject };

/**
 * A permission rule the person added for this session, or took back. It holds in a resumed session only where its seal
 * is valid, unless it restricts.
 */
export type ConsentRecord = {
  readonly kind: "consent";
  /** Counts the consents of the session from 1. */
  readonly number: number;
  readonly change: "add" | "remove";
  readonly list: "allow" | "ask" | "deny";
  readonly rule: JsonObject;
  /** The folder it was given in. */
  readonly folder: string;
  /** A keyed digest of the session id and all other fields. */
  readonly seal: string;
};

/** The end of a turn. `number` is that of the prompt it answered. */
type TurnRecord = { readonly kind: "turn"; readonly number: number; readonly end: LoggedTurnEnd };

/** How a turn ended. `parked` if it waits for a person without a process. */
export type LoggedTurnEnd = {
  readonly type: "finished" | "failed" | "cancelled" | "parked";
  /** Why it finished. */
  readonly reason?: string;
  /** Why it failed. */
  readonly message?: string;
};

/** Descriptions of the damage a repair found. */
export type RepairRecord = { readonly kind: "repair"; readonly found: readonly string[] };

/** A record of a kind this version does not know: kept in the file and skipped. */
export type UnknownRecord = { readonly kind: "unknown"; readonly originalKind: string };

/** A record with its sequence number and time. */
export type StoredRecord = {
  readonly sequence: number;
  /** The time it was written, in milliseconds since 1970. */
  readonly at: number;
  readonly record: SessionRecord | UnknownRecord;
};

/** A record callers can append. The session writes its head and repair records and assigns entry indexes itself. */
export type NewRecord =
  | Omit<EntryRecord, "index">
  | ModelRecord
  | ToolsRecord
  | ModelInputRecord
  | RequestRecord
  | TitleRecord
  | TodosRecord
  | AskedRecord
  | DecidedRecord
  | ConsentRecord
  | TurnRecord;
