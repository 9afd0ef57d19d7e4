import { parseCallInput, type RawCallInput } from "./call-input.ts";
import type { Completion, Entry, ModelMessage, Origin } from "./entry.ts";
import { callId, callOrdinal } from "./call-ids.ts";
import { toPlainJson } from "./json.ts";
import { note, type Note } from "./notes.ts";
import type { Call, CallId, Code, Content, Media, Outcome, Seal, Text, Thinking, UserPart } from "./parts.ts";

/** A call as it arrives, before it has an id of ours. */
export type NewCall = {
  readonly type: "call";
  readonly tool: string;
  readonly input: RawCallInput;
  readonly seal?: Seal;
};

/** What a model message may hold on its way in. */
export type NewPart = Text | Thinking | Code | Media | NewCall;

/** What is known of entries that are no longer held: how many, and the highest number of a call among them. */
export type DroppedEntries = { readonly dropped: number; readonly ordinal: number };

/** The life of one call: who asked for what, how it ended if it has, and what else was claimed about its end. */
export type Interaction = { readonly call: Call; readonly outcome?: Outcome; readonly claims?: readonly Outcome[] };

/**
 * The one place where a conversation is written. It mints call ids, keeps the
 * first completion of every call, and lets nothing in that would not survive JSON.
 */
export class Ledger {
  readonly entries: Entry[] = [];
  readonly notes: Note[] = [];
  readonly #interactions = new Map<CallId, Interaction>();
  readonly #pending = new Set<CallId>();
  #ordinal = 0;
  #dropped = 0;

  /** Continues a conversation that was written before: its entries, and what is known of those that are no longer held. */
  static from(entries: readonly Entry[], { dropped, ordinal }: DroppedEntries = { dropped: 0, ordinal: 0 }): Ledger {
    const ledger = new Ledger();
    ledger.#dropped = dropped;
    ledger.#ordinal = ordinal;
    for (const entry of entries) ledger.#keep(entry);
    return ledger;
  }

  /** How many entries were released: of those held, all but an opening notice come after them. */
  get dropped(): number {
    return this.#dropped;
  }

  /** The highest number of a call so far. */
  get ordinal(): number {
    return this.#ordinal;
  }

  /**
   * Lets go of the entries from `opening` up to `cut`, which a summary replaces. Places in compactions are counted anew.
   * Call ids go on from where they were. Answers with those entries.
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
   * Empties the first entry instead of letting go of it where a notice would become the first one: a conversation that
   * begins with a notice opens with it.
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

  /** Records a model message and answers its calls, now with canonical ids. */
  model(origin: Origin, parts: readonly NewPart[], prefix?: string): readonly Call[] {
    const kept = parts.map((part) => (part.type === "call" ? this.#mint(part) : cleanPart(part)));
    const message: ModelMessage = { type: "model", origin, parts: kept };
    this.#keep(prefix === undefined ? message : { ...message, prefix });
    return kept.filter((part) => part.type === "call");
  }

  /** Records how a call ended. A second, equal end is ignored; a different one is kept beside the first and noted. */
  complete(call: CallId, tool: string, outcome: Outcome): void {
    const content = outcome.content.map((part) => this.#cleanContent(part, call));
    const completion: Completion = { type: "completion", call, tool, outcome: { ...outcome, content } };
    const { outcome: earlier, claims = [] } = this.#interactions.get(call) ?? {};
    if ([earlier, ...claims].some((known) => known !== undefined && isSameOutcome(known, completion.outcome))) {
      this.notes.push(note("duplicate-result", `The same result of ${tool} was recorded twice; one is kept.`, call));
      return;
    }
    this.#keep(completion);
  }

  /** Records a result nobody asked for, under an id of its own. */
  orphan(tool: string, outcome: Outcome): void {
    this.complete(callId(++this.#ordinal), tool, outcome);
  }

  /** Replaces everything before entry `from`, for models, by a summary. */
  compact(summary: string, from: number): void {
    this.entries.push({ type: "compaction", summary: summary.toWellFormed(), from });
  }

  /** Shows models no more than `longest` characters of any text in the results before entry `from`. */
  shorten(longest: number, from: number): void {
    this.entries.push({ type: "compaction", summary: "", from, longest });
  }

  /** Records a file that was fetched from its address. */
  copy(uri: string, media: Media): void {
    this.entries.push({ type: "copy", uri, media });
  }

  interaction(call: CallId): Interaction | undefined {
    return this.#interactions.get(call);
  }

  /** The calls that have no completion yet, in call order. */
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
      const { outcome, claims = [] } = interaction;
      this.#interactions.set(
        entry.call,
        outcome === undefined
          ? { ...interaction, outcome: entry.outcome }
          : { ...interaction, claims: [...claims, entry.outcome] },
      );
    }
  }

  #cleanContent(part: Content, call: CallId): Content {
    if (part.type === "text") return cleanText(part);
    if (part.type === "media") return part;
    const { value, isCyclic: cyclic } = toPlainJson(part.value);
    if (cyclic) this.notes.push(note("cyclic-value", "A result pointed back at itself and was cut.", call));
    return { type: "structured", value };
  }
}

/** Whether two completions say the same. Who wrote them does not matter. */
export const isSameOutcome = (one: Outcome, other: Outcome): boolean =>
  one === other || (one.status === other.status && JSON.stringify(one.content) === JSON.stringify(other.content));

const cleanPart = (part: Text | Thinking | Code | Media): Text | Thinking | Code | Media => {
  if (part.type === "media") return part;
  if (part.type === "code") return { ...part, language: part.language.toWellFormed(), text: part.text.toWellFormed() };
  return part.text.isWellFormed() ? part : { ...part, text: part.text.toWellFormed() };
};

const cleanText = (part: Text): Text => (part.text.isWellFormed() ? part : { ...part, text: part.text.toWellFormed() });
