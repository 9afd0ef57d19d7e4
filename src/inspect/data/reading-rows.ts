import { inputObject } from "../../conversation/call-input.ts";
import type { Entry, ModelMessage } from "../../conversation/entry.ts";
import type { Call, CallId, Content, Media, MediaKind, OutcomeStatus, Part } from "../../conversation/parts.ts";
import { sanitizeForTerminal } from "../../policy/terminal/sanitize.ts";
import type { ReadSession } from "../../session/store/store.ts";
import { createDiffDisplay } from "../../tools/edit/diff-display.ts";

/** One row of the reading view: an entry, with the results of its calls. All texts are sanitized. */
export type ReadingRow = {
  /** The index of its entry in the conversation. */
  readonly entry: number;
  readonly type: "user" | "model" | "result" | "notice" | "compaction" | "copy";
  /** The model that wrote it, as provider/model. */
  readonly author?: string;
  /** When it was written, in milliseconds since 1970. */
  readonly at?: number;
  readonly parts: readonly ReadingPart[];
};

/** A piece of a row. */
export type ReadingPart =
  /** Markdown. */
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "plain"; readonly text: string }
  | { readonly type: "thinking"; readonly text: string; readonly isSealed: boolean }
  | { readonly type: "code"; readonly language: string; readonly text: string }
  | ReadingMedia
  | ReadingCall
  | ReadingResult;

export type ReadingMedia = {
  readonly type: "media";
  readonly kind: MediaKind;
  readonly mimeType: string;
  readonly id: string;
  readonly name?: string;
  readonly width?: number;
  readonly height?: number;
  /** The hash of stored bytes, or the address; neither if the bytes are gone. */
  readonly hash?: string;
  readonly bytes?: number;
  readonly uri?: string;
};

export type ReadingCall = {
  readonly type: "call";
  readonly id: CallId;
  readonly tool: string;
  /** The arguments as JSON, or as the model wrote them. */
  readonly input: string;
  readonly isMalformed: boolean;
  /** The first argument that says what it is about: a path, a command, a pattern. */
  readonly subject?: string;
  /** The edit as a unified diff. */
  readonly patch?: string;
  readonly result?: ReadingResult;
};

export type ReadingResult = {
  readonly type: "result";
  readonly call: CallId;
  readonly tool: string;
  readonly status: OutcomeStatus;
  readonly isSynthetic: boolean;
  /** Milliseconds from the call to its result. */
  readonly took?: number;
  readonly content: readonly (Extract<ReadingPart, { type: "plain" | "code" }> | ReadingMedia)[];
};

/** The time each entry was written, by index. */
export type EntryTimes = ReadonlyMap<number, number>;

/** Reads the time of each entry from the records of a session. */
export const readEntryTimes = async ({ records }: Pick<ReadSession, "records">): Promise<EntryTimes> => {
  const times = new Map<number, number>();
  for await (const { at, record } of records()) if (record.kind === "entry") times.set(record.index, at);
  return times;
};

/** Lists the rows as people read them. The result of a call is shown with it, wherever it was recorded. */
export const listReadingRows = (
  { entries, blobs }: Pick<ReadSession, "entries" | "blobs">,
  times: EntryTimes = new Map(),
): readonly ReadingRow[] => {
  const results = firstResults(entries);
  const calls = new Set(entries.flatMap((entry) => (entry.type === "model" ? callIdsIn(entry) : [])));
  const context: RowContext = { blobs, times, results };
  return entries.flatMap((entry, index): readonly ReadingRow[] => {
    const isShownWithCall = entry.type === "completion" && calls.has(entry.call) && results.get(entry.call) === index;
    if (isShownWithCall || (entry.type === "notice" && entry.text.trim() === "")) return [];
    const at = times.get(index);
    return [{ entry: index, ...rowOf(entry, index, entries, context), ...(at === undefined ? {} : { at }) }];
  });
};

type RowContext = {
  readonly blobs: ReadSession["blobs"];
  readonly times: EntryTimes;
  /** The index of the result of every call. */
  readonly results: ReadonlyMap<CallId, number>;
};

const firstResults = (entries: readonly Entry[]): ReadonlyMap<CallId, number> => {
  const results = new Map<CallId, number>();
  for (const [index, entry] of entries.entries())
    if (entry.type === "completion" && !results.has(entry.call)) results.set(entry.call, index);
  return results;
};

const callIdsIn = ({ parts }: ModelMessage): readonly CallId[] =>
  parts.flatMap((part) => (part.type === "call" ? [part.id] : []));

const rowOf = (
  entry: Entry,
  index: number,
  entries: readonly Entry[],
  context: RowContext,
): Omit<ReadingRow, "entry" | "at"> => {
  switch (entry.type) {
    case "user":
      return { type: "user", parts: entry.parts.map((part) => partOf(part, context)) };
    case "model":
      return {
        type: "model",
        author: sanitizeForTerminal(`${entry.origin.provider}/${entry.origin.model}`, "line"),
        parts: entry.parts.map((part) =>
          part.type === "call" ? callOf(part, index, entries, context) : partOf(part, context),
        ),
      };
    case "completion":
      return { type: "result", parts: [resultOf(entry, context)] };
    case "notice":
      return { type: "notice", parts: [plain(entry.text)] };
    case "compaction":
      return {
        type: "compaction",
        parts: [
          entry.summary === ""
            ? plain(`Results before entry ${entry.from + 1} are shortened to ${entry.longest} characters.`)
            : { type: "text", text: clean(entry.summary) },
        ],
      };
    case "copy":
      return { type: "copy", parts: [plain(`Downloaded ${entry.uri}`), mediaOf(entry.media, context)] };
  }
};

const partOf = (part: Exclude<Part, Call>, context: RowContext): ReadingPart => {
  switch (part.type) {
    case "text":
      return { type: "text", text: clean(part.text) };
    case "thinking":
      return { type: "thinking", text: clean(part.text), isSealed: part.seal !== undefined };
    case "code":
      return { type: "code", language: clean(part.language), text: clean(part.text) };
    case "media":
      return mediaOf(part, context);
  }
};

const callOf = (call: Call, index: number, entries: readonly Entry[], context: RowContext): ReadingCall => {
  const { id, tool, input } = call;
  const at = context.results.get(id);
  const completion = at === undefined ? undefined : entries[at];
  const [start, end] = [context.times.get(index), at === undefined ? undefined : context.times.get(at)];
  const took = start === undefined || end === undefined || end < start ? {} : { took: end - start };
  const subject = subjectOf(call);
  const patch = patchOf(call);
  return {
    type: "call",
    id,
    tool: sanitizeForTerminal(tool, "line"),
    input: clean(input.type === "parsed" ? JSON.stringify(input.value, undefined, 2) : input.text),
    isMalformed: input.type === "malformed",
    ...(subject === undefined ? {} : { subject }),
    ...(patch === undefined ? {} : { patch }),
    ...(completion?.type === "completion" ? { result: { ...resultOf(completion, context), ...took } } : {}),
  };
};

const resultOf = (
  { call, tool, outcome }: Extract<Entry, { type: "completion" }>,
  context: RowContext,
): ReadingResult => ({
  type: "result",
  call,
  tool: sanitizeForTerminal(tool, "line"),
  status: outcome.status,
  isSynthetic: outcome.synthetic === true,
  content: outcome.content.map((part) => contentOf(part, context)),
});

const contentOf = (part: Content, context: RowContext): ReadingResult["content"][number] => {
  switch (part.type) {
    case "text":
      return plain(part.text);
    case "structured":
      return { type: "code", language: "json", text: clean(JSON.stringify(part.value, undefined, 2)) };
    case "media":
      return mediaOf(part, context);
  }
};

const mediaOf = ({ kind, mimeType, id, name, width, height, source }: Media, { blobs }: RowContext): ReadingMedia => ({
  type: "media",
  kind,
  mimeType: sanitizeForTerminal(mimeType, "line"),
  id,
  ...(name === undefined ? {} : { name: sanitizeForTerminal(name, "line") }),
  ...(width === undefined ? {} : { width }),
  ...(height === undefined ? {} : { height }),
  ...(source.type === "uri"
    ? { uri: sanitizeForTerminal(source.uri, "line") }
    : blobs[source.hash] === undefined
      ? { bytes: source.bytes }
      : { hash: source.hash, bytes: source.bytes }),
});

const plain = (text: string): { readonly type: "plain"; readonly text: string } => ({
  type: "plain",
  text: clean(text),
});

const subjectKeys = ["file_path", "path", "absolute_path", "command", "pattern", "url", "query", "dir_path", "name"];

const subjectOf = ({ input }: Call): string | undefined => {
  const values = inputObject(input);
  const value = subjectKeys.map((key) => values[key]).find((found) => typeof found === "string" && found !== "");
  return typeof value === "string" ? sanitizeForTerminal(value.slice(0, 200), "line") : undefined;
};

/** Returns the edit of a call as a diff. The log has the arguments of an edit, not the whole files. */
const patchOf = ({ input }: Call): string | undefined => {
  const { file_path: path, old_string: before, new_string: after, content } = inputObject(input);
  const updated = after ?? content;
  if (typeof path !== "string" || typeof updated !== "string" || updated.length > maxTextLength) return undefined;
  const old = typeof before === "string" && before !== "" ? before : undefined;
  return clean(createDiffDisplay({ path, before: old, after: updated }, updated).patch);
};

/** The most characters of one text that are shown. */
const maxTextLength = 200_000;

const clean = (text: string): string =>
  text.length <= maxTextLength
    ? sanitizeForTerminal(text)
    : `${sanitizeForTerminal(text.slice(0, maxTextLength).toWellFormed())}\n… ${text.length - maxTextLength} more characters are not shown here.`;
