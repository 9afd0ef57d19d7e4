import type { Entry, ToolDeclaration } from "../../conversation/entry.ts";
import type { JsonObject } from "../../conversation/json.ts";
import type { Note } from "../../conversation/notes.ts";
import type { MediaKind } from "../../conversation/parts.ts";

/** The format of the files this version writes. */
export const formatVersion = 1;

/** One line of a session, without what frames it. */
export type SessionRecord =
  | SessionHead
  | EntryRecord
  | ModelRecord
  | ToolsRecord
  | ModelInputRecord
  | RequestRecord
  | TitleRecord
  | RepairRecord;

/** The first line: what the session began with. */
export type SessionHead = {
  readonly kind: "head";
  readonly version: number;
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly created: number;
  /** The project's folder. Empty in a head that had to be made up. */
  readonly root: string;
  readonly system?: string;
  readonly tools?: readonly ToolDeclaration[];
  readonly model?: RecordedModel;
};

/** A model, and who serves it. */
export type RecordedModel = { readonly provider: string; readonly model: string };

/** What happened in the conversation. `index` is its place among the entries, counted from 0. */
export type EntryRecord = { readonly kind: "entry"; readonly index: number; readonly entry: Entry };

/** From here on another model answers. */
type ModelRecord = RecordedModel & { readonly kind: "model"; readonly reason: string };

/** From here on these tools are offered. */
type ToolsRecord = { readonly kind: "tools"; readonly tools: readonly ToolDeclaration[] };

/** From here on files of these kinds are sent to a model, and others are only named to it. */
type ModelInputRecord = RecordedModel & { readonly kind: "input"; readonly input: readonly MediaKind[] };

/** What one request looked like, and what it cost. */
type RequestRecord = RecordedModel & {
  readonly kind: "request";
  readonly turn: number;
  readonly usage?: JsonObject;
  readonly notes: readonly Note[];
  readonly digest?: string;
};

/** What the person calls the session from here on. */
type TitleRecord = { readonly kind: "title"; readonly title: string };

/** What a repair found, in words. */
export type RepairRecord = { readonly kind: "repair"; readonly found: readonly string[] };

/** A kind only a later version knows: kept, and otherwise left alone. */
export type UnknownRecord = { readonly kind: "unknown"; readonly originalKind: string };

/** A record as it stands in the file. */
export type StoredRecord = {
  readonly sequence: number;
  /** When it was written, in milliseconds since 1970. */
  readonly at: number;
  readonly record: SessionRecord | UnknownRecord;
};

/** What may be written. The session itself writes its head and its repairs, and counts its entries. */
export type NewRecord =
  | Omit<EntryRecord, "index">
  | ModelRecord
  | ToolsRecord
  | ModelInputRecord
  | RequestRecord
  | TitleRecord;
