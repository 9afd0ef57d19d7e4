import { parseCallInput, type RawCallInput } from "./call-input.ts";
import type { Completion, Entry, ModelMessage, Origin } from "./entry.ts";
import { callId, callOrdinal } from "./call-ids.ts";
import { toPlainJson } from "./json.ts";
import { note, type Note } from "./notes.ts";
import type { Call, CallId, Code, Content, Media, Outcome, Seal, Text, Thinking, UserPart } from "./parts.ts";

/** A tool call as received, before it has an id of ours. */
export type NewCall = {
  readonly type: "call";
  readonly tool: string;
  readonly input: RawCallInput;
  readonly seal?: Seal;
};

/** A part of a model message as received. */
export type NewPart = Text | Thinking | Code | Media | NewCall;

/** The entries that are no longer in memory: how many, and the highest call ordinal among them. */
export type DroppedEntries = { readonly dropped: number; readonly ordinal: number };

/** A tool call with its outcome, if it has ended, and any conflicting outcomes recorded later. */
export type Interaction = { readonly call: Call; readonly outcome?: Outcome; readonly claims?: readonly Outcome[] };

/**
 * The append-only log of a conversation, and the only writer of entries. It assigns tool-call ids, keeps the first
 * completion of every call, and converts everything to plain JSON data.
 */
export class Ledger {
  readonly entries: Entry[] = [];
  readonly notes: Note[] = [];
  readonly #interactions = new Map<CallId, Interaction>();
  readonly #pending = new Set<CallId>();
  #ordinal = 0;
  #dropped = 0;

  /** Continues an existing conversation from its entries; `dropped` and `ordinal` describe those no longer in memory. */
  static from(entries: readonly Entry[], { dropped, ordinal }: DroppedEntries = { dropped: 0, ordinal: 0 }): Ledger {
    const ledger = new Ledger();
    ledger.#dropped = dropped;
    ledger.#ordinal = ordinal;
    for (const entry of entries) ledger.#keep(entry);
    return ledger;
  }

  /** How many entries were released. All entries in memory except an opening notice come after them. */
  get dropped(): number {
    return this.#dropped;
  }

  /** The highest call ordinal so far. */
  get ordinal(): number {
    return this.#ordinal;
  }

  /**
   * Removes the entries from `opening` up to `cut`, which a summary replaces, from memory and returns them. Indexes in
   * compactions are adjusted; tool-call ids continue from the highest ordinal.
   */
  release(opening: number, cut: number): readonly Entry[] {
    const kept = opening === 0 ? this.#keepPlace(cut) : [];
    const start = opening + kept.length;
    const removed = this.entries.splice(start, Math.max(0, cut - start));
    this.#dropped += removed.length;
    for (const [at, entry] of this.entries.entries())
      if (entry.type === "compaction")
        this.entries[at] = { ...entry, from: Math.max(start, entry.from - removed.length) };
    for (const entry of [...kept, ...removed])
      if (entry.type === "model")
        for (const part of entry.parts) if (part.type === "call") this.#interactions.delete(part.id);
    return [...kept, ...removed];
  }

  /**
   * Replaces the first entry by an empty notice where removing it would make another notice the first entry: a notice at
   * index 0 is the opening notice, which compaction never replaces.
   */
  #keepPlace(cut: number): readonly Entry[] {
    const [first] = this.entries;
    if (first === undefined || cut === 0 || this.entries[cut]?.type !== "notice") return [];
    this.entries[0] = { type: "notice", text: "" };
    return [first];
  }

  user(parts: readonly UserPart[]): void {
    this.entries.push({ type: "user", parts: parts.map((part) => (part.type === "text" ? cleanText(part) : part)) });
  }

  notice(text: string): void {
    this.entries.push({ type: "notice", text: text.toWellFormed() });
  }

  /** Appends a model message and returns its calls, now with ids of ours. */
  model(origin: Origin, parts: readonly NewPart[], prefix?: string): readonly Call[] {
    const kept = parts.map((part) => (part.type === "call" ? this.#mint(part) : cleanPart(part)));
    const message: ModelMessage = { type: "model", origin, parts: kept };
    this.#keep(prefix === undefined ? message : { ...message, prefix });
    return kept.filter((part) => part.type === "call");
  }

  /** Appends the outcome of a call. An equal second outcome is ignored; a different one is kept beside the first and noted. */
  complete(call: CallId, tool: string, outcome: Outcome): void {
    const content = outcome.content.map((part) => this.#cleanContent(part, call));
    const completion: Completion = { type: "completion", call, tool, outcome: { ...outcome, content } };
    const { outcome: earlier, claims: conflicting = [] } = this.#interactions.get(call) ?? {};
    if ([earlier, ...conflicting].some((known) => known !== undefined && isSameOutcome(known, completion.outcome))) {
      this.notes.push(note("duplicate-result", `The same result of ${tool} was recorded twice; one is kept.`, call));
      return;
    }
    this.#keep(completion);
  }

  /** Appends a result without a call, under an id of its own. */
  orphan(tool: string, outcome: Outcome): void {
    this.complete(callId(++this.#ordinal), tool, outcome);
  }

  /** Appends a compaction: models see the summary in place of everything before entry `from`. */
  compact(summary: string, from: number): void {
    this.entries.push({ type: "compaction", summary: summary.toWellFormed(), from });
  }

  /** Appends a compaction that truncates texts in tool results before entry `from` to `longest` characters. */
  shorten(longest: number, from: number): void {
    this.entries.push({ type: "compaction", summary: "", from, longest });
  }

  /** Appends a file that was downloaded from its URL. */
  copy(uri: string, media: Media): void {
    this.entries.push({ type: "copy", uri, media });
  }

  interaction(call: CallId): Interaction | undefined {
    return this.#interactions.get(call);
  }

  /** Returns the calls without a completion, in call order. */
  pending(): readonly Call[] {
    return [...this.#pending].flatMap((id) => this.#interactions.get(id)?.call ?? []);
  }

  #mint(part: NewCall): Call {
    const id = callId(++this.#ordinal);
    const input = parseCallInput(part.input);
    if (input.type === "malformed")
      this.notes.push(note("malformed-arguments", `The arguments of ${part.tool} are not a JSON object.`, id));
    if ("value" in part.input && toPlainJson(part.input.value).isCyclic)
      this.notes.push(
        note("cyclic-value", `The arguments of ${part.tool} pointed back at themselves and were cut.`, id),
      );
    const call: Call = { type: "call", id, tool: part.tool.toWellFormed(), input };
    return part.seal === undefined ? call : { ...call, seal: part.seal };
  }

  #keep(entry: Entry): void {
    this.entries.push(entry);
    if (entry.type === "model") {
      for (const part of entry.parts) {
        if (part.type !== "call") continue;
        this.#ordinal = Math.max(this.#ordinal, callOrdinal(part.id));
        this.#interactions.set(part.id, { call: part });
        this.#pending.add(part.id);
      }
    } else if (entry.type === "completion") {
      this.#ordinal = Math.max(this.#ordinal, callOrdinal(entry.call));
      const interaction = this.#interactions.get(entry.call);
      this.#pending.delete(entry.call);
      if (interaction === undefined) return;
      const { outcome, claims: conflicting = [] } = interaction;
      this.#interactions.set(
        entry.call,
        outcome === undefined
          ? { ...interaction, outcome: entry.outcome }
          : { ...interaction, claims: [...conflicting, entry.outcome] },
      );
    }
  }

  #cleanContent(part: Content, call: CallId): Content {
    if (part.type === "text") return cleanText(part);
    if (part.type === "media") return part;
    const { value, isCyclic } = toPlainJson(part.value);
    if (isCyclic) this.notes.push(note("cyclic-value", "A result pointed back at itself and was cut.", call));
    return { type: "structured", value };
  }
}

/** Whether two outcomes have the same status and content. The `synthetic` mark does not matter. */
export const isSameOutcome = (one: Outcome, other: Outcome): boolean =>
  one === other || (one.status === other.status && JSON.stringify(one.content) === JSON.stringify(other.content));

const cleanPart = (part: Text | Thinking | Code | Media): Text | Thinking | Code | Media => {
  if (part.type === "media") return part;
  if (part.type === "code") return { ...part, language: part.language.toWellFormed(), text: part.text.toWellFormed() };
  return part.text.isWellFormed() ? part : { ...part, text: part.text.toWellFormed() };
};

const cleanText = (part: Text): Text => (part.text.isWellFormed() ? part : { ...part, text: part.text.toWellFormed() });
