import { inputObject } from "../conversation/call-input.ts";
import type { Blobs, Compaction, Entry, ModelMessage, Notice, Origin } from "../conversation/entry.ts";
import type { JsonObject } from "../conversation/json.ts";
import { noteClassOf, type Note, type NoteKind } from "../conversation/notes.ts";
import type { Call, CallId, Media, Outcome, OutcomeStatus, Seal } from "../conversation/parts.ts";
import { cutBefore, openingNotice } from "./compaction-cut.ts";
import { moveCallsLast } from "./calls-last.ts";
import { DecisionLog, type PlacedNote } from "./decision-log.ts";
import { withNamedKeys, withRenamedKeys } from "./argument-keys.ts";
import { NameMapper } from "./name.ts";
import { ResultPairing, type StepDraft, type ModelDraft, type OpenExchange } from "./pair.ts";
import { noMediaCounts, MediaPlacer, type MediaCounts } from "./place.ts";
import { applyThinkingPolicy, type ThinkingContext, type ReasonedParts } from "./reason.ts";
import { shortenResults } from "./shorten-results.ts";
import { MessageSequence, type MessageOverlay, type SequenceCheckpoint } from "./message-sequence.ts";
import type { MediaFile, ModelStep, Step } from "./step.ts";
import type { RenderPolicy, Target } from "./target.ts";
import { renderCallsAsText } from "./calls-as-text.ts";
import { missingOutcome } from "./missing-result.ts";
import { isBlank, noticeText, summaryText } from "./words.ts";

/** Options of an incremental renderer. */
export type RendererOptions<Message> = {
  readonly target: Target;
  readonly policy: RenderPolicy;
  /** The conversation's blobs; a live store may grow later. */
  readonly blobs: Blobs;
  /** Encodes a step, made of these entries, as messages; called once per step. */
  readonly encode: (step: Step, entries: readonly number[]) => readonly Message[];
  /** Merges two adjacent messages of one role, for targets that require alternating roles. */
  readonly merge?: (before: Message, next: Message) => Message | undefined;
  /** Messages before all steps, such as a system message. */
  readonly head?: readonly Message[];
  /** The rest of the request prefix, for its hash: system prompt and tools. */
  readonly preamble?: () => string;
  /** Names of the declared tools. */
  readonly tools?: readonly string[];
  /** Renamed arguments of a tool, by their own name. */
  readonly argumentNames?: (tool: string) => ReadonlyMap<string, string> | undefined;
  /** Sealed thinking without a recorded request prefix: `keep` trusts that nothing before it has changed. */
  readonly unverified?: "keep" | "drop";
};

/** One tool call as sent. */
export type CallReport = {
  readonly call: CallId;
  readonly id: string;
  readonly tool: string;
  readonly status: OutcomeStatus;
  /** Set when no result was recorded and a synthetic one was sent. */
  readonly synthetic?: true;
};

/** The report of a rendering: the calls as sent, and a note for every decision. */
export type RenderReport = {
  readonly target: string;
  readonly idFormat: string;
  readonly calls: readonly CallReport[];
  readonly notes: readonly Note[];
};

/** The state after the last draft that can no longer change; rendering resumes from it. */
type RendererCheckpoint<Message> = {
  readonly place: SequenceCheckpoint<Message>;
  readonly calls: number;
  readonly decisions: number;
  readonly counts: MediaCounts;
  readonly lastCallsLackThinking: boolean;
};

/**
 * Renders a growing conversation for one target. What can no longer change is encoded once and kept; only the open end
 * is rendered again, so the cost of a turn does not grow with the length of the conversation.
 */
export class IncrementalRenderer<Message> {
  readonly names: NameMapper;
  readonly #options: RendererOptions<Message>;
  readonly #entries: Entry[] = [];
  readonly #decisions = new DecisionLog();
  readonly #judgement: ThinkingContext;
  readonly #placer: MediaPlacer;
  readonly #sequence: MessageSequence<Message>;
  readonly #filler: Seal | undefined;
  readonly #shown: CallId[] = [];
  readonly #toolsShown = new Set<string>();
  readonly #items = new Set<string>();
  readonly #copies = new Map<string, Media>();
  #pairing: ResultPairing;
  /** The entries of the step that is encoded now. */
  #emitted: readonly number[] = [];
  #lastCallsUnthought = false;
  #past: { readonly summary: string; readonly cut: number } | undefined;
  #settled: RendererCheckpoint<Message> | undefined;

  constructor(options: RendererOptions<Message>) {
    const { target, policy, blobs, encode, merge, head = [], preamble = () => "", tools = [] } = options;
    const { filler } = target.thinking;
    const addNote = this.#decisions.add;
    const claimItem = (item: string): boolean => !this.#items.has(item) && this.#items.add(item).has(item);
    this.#options = options;
    this.names = new NameMapper(target, tools);
    this.#filler = filler === undefined ? undefined : { signature: filler };
    this.#judgement = { target, policy, isIntact: this.#intact, addNote, claimItem };
    this.#placer = new MediaPlacer({ target, policy, blobs, copies: this.#copies, addNote });
    const encodeStep = (step: Step): readonly Message[] => encode(step, this.#emitted);
    this.#sequence = new MessageSequence({ target, encode: encodeStep, merge, head, preamble, addNote });
    this.#pairing = new ResultPairing(addNote);
  }

  /** Adds new entries. After an `UnsupportedMediaError` the renderer must not be used again. */
  add(entries: Iterable<Entry>): void {
    this.#reopen();
    const added = [...entries];
    // A copy is recorded after the message that names its URL, and is needed to render that message.
    for (const entry of added) if (entry.type === "copy") this.#copies.set(entry.uri, entry.media);
    for (const entry of added) {
      this.#entries.push(entry);
      if (entry.type === "compaction") this.#compact(entry);
      else this.#fold(entry, this.#entries.length - 1);
    }
  }

  /** Returns the messages as they would be sent now. The array belongs to the renderer and is valid until the next `add`. */
  messages(): readonly Message[] {
    if (this.#settled !== undefined) return this.#sequence.messages;
    this.#settled = {
      place: this.#sequence.checkpoint,
      calls: this.#shown.length,
      decisions: this.#decisions.count,
      counts: this.#placer.counts,
      lastCallsLackThinking: this.#lastCallsUnthought,
    };
    for (const draft of this.#pairing.openDrafts) this.#emit(draft);
    this.#emitted = [];
    this.#decisions.entry = undefined;
    this.#sequence.ensureUserLast();
    return this.#sequence.messages;
  }

  /** Shows some messages otherwise, such as with cache markers, until the next `add` or `dress`. Digests do not see it. */
  overlay(dressed: readonly MessageOverlay<Message>[]): void {
    this.messages();
    this.#sequence.overlay(dressed);
  }

  /** Which calls were seen, under which ids they went out, and every decision. */
  report(): RenderReport {
    this.messages();
    const { target } = this.#options;
    return {
      target: `${target.provider}/${target.model}`,
      idFormat: target.ids.name,
      calls: this.#shown.map((call) => this.#reportCall(call)),
      notes: [...this.names.notes, ...this.#decisions.notes()],
    };
  }

  /** Returns the notes of the report, each with the index of the entry it is about. */
  placedNotes(): readonly PlacedNote[] {
    this.messages();
    return [...this.names.notes.map((note) => ({ note })), ...this.#decisions.placedNotes()];
  }

  #reportCall(call: CallId): CallReport {
    const { tool, input } = this.#pairing.callOf(call);
    const outcome = this.#pairing.outcomeOf(call) ?? missingOutcome(input);
    const { status, synthetic } = outcome;
    const known = { call, id: this.names.idOf(call), tool: this.names.toolName(tool), status };
    return synthetic === undefined ? known : { ...known, synthetic };
  }

  /** The tools whose calls are in the transcript, by the target's names. */
  get toolsShown(): ReadonlySet<string> {
    return this.#toolsShown;
  }

  /** Whether the last calls in the transcript have no thinking before them. */
  get lastCallsLackThinking(): boolean {
    return this.#lastCallsUnthought;
  }

  /** Returns the hash of everything that would be sent now; the response records it as its `prefix`. */
  digest(): string {
    this.messages();
    return this.#sequence.digest(this.#settled?.place.count);
  }

  #fold(entry: Exclude<Entry, Compaction>, index: number): void {
    this.#pairing.entry = index;
    this.#decisions.entry = index;
    switch (entry.type) {
      case "user":
        if (entry.parts.every((part) => part.type === "text" && isBlank(part.text)))
          this.#decisions.add("blank-text", "A blank message is left out.");
        else this.#pairing.addUser(entry.parts);
        break;
      case "notice":
        this.#foldNotice(entry);
        break;
      case "model":
        this.#foldModel(entry);
        break;
      case "completion":
        this.#pairing.addCompletion(entry);
        break;
      case "copy":
        return;
    }
    this.#pairing.takeClosed(this.#emit);
  }

  #foldNotice({ text, opens }: Notice): void {
    if (isBlank(text)) return;
    const parts = [{ type: "text", text: noticeText(text) }] as const;
    if (opens === true) this.#pairing.addOpening(parts);
    else this.#pairing.addUser(parts);
  }

  #foldModel(message: ModelMessage): void {
    const reasoned = applyThinkingPolicy(message, this.#judgement);
    if (reasoned.length === 0) return;
    const parts = reasoned.some(isCall) ? this.#named(reasoned, message.origin) : (reasoned as ModelDraft["parts"]);
    this.#pairing.addModel(parts, reasoned);
  }

  /** Returns the parts of a message with every call under the target's names, still without a result. */
  #named(reasoned: ReasonedParts, origin: Origin): ModelDraft["parts"] {
    const parts: ModelDraft["parts"][number][] = [];
    let isFirst = true;
    for (const part of reasoned) {
      if (part.type !== "call") {
        parts.push(part);
        continue;
      }
      parts.push({
        type: "exchange",
        call: part.id,
        id: this.names.callId(part, origin),
        tool: this.names.toolName(part.tool),
        input: this.#input(part),
        inputText: part.input.type === "parsed" ? part.input.text : undefined,
        seal: isFirst ? this.#sealed(part) : part.seal,
        result: undefined,
      });
      isFirst = false;
    }
    return parts;
  }

  #input({ id, tool, input }: Call): JsonObject {
    const inputValue = inputObject(input);
    const named = this.#options.target.namedKeys === true ? withNamedKeys(inputValue) : inputValue;
    if (named !== inputValue)
      this.#decisions.add("key-renamed", `Arguments of ${tool} had an empty key; it is renamed here.`, id);
    const names = this.#options.argumentNames?.(tool);
    const renamed = names === undefined ? named : withRenamedKeys(named, names);
    if (renamed !== named)
      this.#decisions.add("key-renamed", `Arguments of ${tool} have the names declared to this API.`, id);
    return renamed;
  }

  /** Returns the seal for the first call of a step: where the target requires a signature, its own or the documented filler. */
  #sealed({ seal, id }: Call): Seal | undefined {
    if (this.#filler === undefined || seal?.signature !== undefined) return seal;
    const message = "This API requires a signature on the first call of a step; the documented filler is used.";
    this.#decisions.add("signature-filler", message, id);
    return this.#filler;
  }

  /** Renders again from a summary, or with shorter results. The cut never separates a call from its result: it moves back to before the call. */
  #compact({ summary, from }: Compaction): void {
    const end = this.#entries.length - 1;
    if (!isBlank(summary)) this.#past = { summary, cut: cutBefore(this.#entries, Math.min(from, end)) };
    this.#sequence.restart();
    this.#decisions.truncate(0);
    this.#pairing = new ResultPairing(this.#decisions.add);
    this.#decisions.entry = end;
    this.#placer.counts = noMediaCounts;
    this.#shown.length = 0;
    this.#toolsShown.clear();
    this.#items.clear();
    this.#lastCallsUnthought = false;
    if (this.#past !== undefined) {
      const opening = openingNotice(this.#entries, this.#past.cut);
      if (opening !== undefined) this.#fold(opening, 0);
      this.#decisions.entry = end;
      this.#decisions.add("compacted", "A summary replaces the earlier part of the conversation.");
      this.#fold({ type: "user", parts: [{ type: "text", text: summaryText(this.#past.summary) }] }, end);
    }
    const cut = this.#past?.cut ?? 0;
    for (const { entry, index } of shortenResults(this.#entries, cut, this.#decisions.add)) this.#fold(entry, index);
  }

  readonly #emit = (draft: StepDraft): void => {
    this.#emitted = draft.entries;
    this.#decisions.entry = draft.entries[0];
    if (draft.role === "user") {
      if (this.#sequence.joinsUser && this.#placer.overflows(draft.parts)) this.#sequence.addBridge();
      if (!this.#sequence.joinsUser) this.#placer.nextMessage();
      this.#sequence.add({ role: "user", parts: this.#placer.user(draft.parts) }, "user");
      return;
    }
    this.#placer.nextMessage();
    const parts = draft.parts.some((part) => part.type === "media") ? this.#withFiles(draft) : draft.parts;
    for (const part of parts) if (part.type === "exchange") this.#close(part as OpenExchange);
    const closed = parts as ModelStep["parts"];
    const { callsAsText, callsLast } = this.#options.target;
    if (draft.calls > 0 && callsAsText === true) {
      const { modelParts, userParts } = renderCallsAsText(closed, this.#decisions.add);
      this.#sequence.add({ role: "model", parts: modelParts }, "model");
      this.#sequence.add({ role: "user", parts: [...userParts, ...this.#placer.takeAfter()] }, "user");
      return;
    }
    const ordered = callsLast === true ? moveCallsLast(closed, this.#decisions.add) : closed;
    if (draft.calls > 0) this.#lastCallsUnthought = ordered[0]?.type !== "thinking";
    this.#sequence.add({ role: "model", parts: ordered }, draft.calls > 0 ? "results" : "model");
    const files = this.#placer.takeAfter();
    if (files.length > 0) this.#sequence.add({ role: "user", parts: files }, "user");
  };

  #withFiles({ parts }: ModelDraft): readonly (Exclude<ModelDraft["parts"][number], Media> | MediaFile)[] {
    return parts.flatMap((part): readonly (Exclude<ModelDraft["parts"][number], Media> | MediaFile)[] =>
      part.type === "media" ? this.#placer.model(part) : [part],
    );
  }

  /** Sets an exchange's result in the form the target accepts. A missing one is made up for this request and looked up again for the next. */
  #close(exchange: OpenExchange): void {
    const call = this.#pairing.callOf(exchange.call);
    const outcome = this.#pairing.outcomeOf(exchange.call) ?? this.#synthesise(call);
    exchange.result = this.#placer.result(outcome, call.id, call.tool);
    if (this.#options.target.callsAsText === true) return;
    this.#shown.push(exchange.call);
    this.#toolsShown.add(exchange.tool);
  }

  #synthesise({ id, tool, input }: Call): Outcome {
    this.#decisions.add("synthetic-result", `${tool} has no recorded result; the transcript says so.`, id);
    return missingOutcome(input);
  }

  /** Rewinds to the last checkpoint. */
  #reopen(): void {
    if (this.#settled === undefined) return;
    this.#sequence.rewind(this.#settled.place);
    this.#shown.length = this.#settled.calls;
    this.#decisions.truncate(this.#settled.decisions);
    this.#placer.counts = this.#settled.counts;
    this.#lastCallsUnthought = this.#settled.lastCallsLackThinking;
    this.#settled = undefined;
  }

  /** Whether everything before a message is as it was when the message was written. */
  readonly #intact = (message: ModelMessage): boolean => {
    if (this.#pairing.openDrafts.length > 0) return false;
    if (message.prefix !== undefined) return this.#sequence.digest() === message.prefix;
    return this.#options.unverified !== "drop" && !this.#decisions.some(invalidatesSeals);
  };
}

const isCall = (part: ReasonedParts[number]): boolean => part.type === "call";

/** Whether a note says that an earlier part of the transcript differs from what the model saw. Thinking that was left out does not count. */
const invalidatesSeals = (kind: NoteKind): boolean =>
  noteClassOf(kind) !== "projection" && !kind.startsWith("thinking-");
