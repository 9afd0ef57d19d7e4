import { inputObject } from "../conversation/call-input.ts";
import type { Blobs, Compaction, Entry, ModelMessage, Notice, Origin } from "../conversation/entry.ts";
import type { JsonObject } from "../conversation/json.ts";
import { noteClassOf, type Note, type NoteKind } from "../conversation/notes.ts";
import type { Call, CallId, Media, Outcome, OutcomeStatus, Seal } from "../conversation/parts.ts";
import { cutBefore, openingNotice } from "./compaction-cut.ts";
import { moveCallsLast } from "./calls-last.ts";
import { DecisionLog } from "./decision-log.ts";
import { withNamedKeys, withRenamedKeys } from "./argument-keys.ts";
import { NameMapper } from "./name.ts";
import { ResultPairing, type StepDraft, type ModelDraft, type OpenExchange } from "./pair.ts";
import { noMediaCounts, MediaPlacer, type MediaCounts } from "./place.ts";
import { applyThinkingPolicy, type ThinkingContext, type ReasonedParts } from "./reason.ts";
import { shortenResults } from "./shorten-results.ts";
import { MessageSequence, type MessageOverlay, type SequenceCheckpoint } from "./message-sequence.ts";
import type { MediaFile, ModelStep, Step, UserStep } from "./step.ts";
import type { RenderPolicy, Target } from "./target.ts";
import { renderCallsAsText } from "./calls-as-text.ts";
import { missingOutcome } from "./missing-result.ts";
import { isBlank, noticeText, summaryText } from "./words.ts";

/** What a rendering is made for. */
export type RendererOptions<Message> = {
  readonly target: Target;
  readonly policy: RenderPolicy;
  /** The conversation's blobs; a live store may go on growing. */
  readonly blobs: Blobs;
  /** How a step is written; called once per step. */
  readonly encode: (step: Step) => readonly Message[];
  /** Two neighbouring messages of one side as one, for targets that want the sides to alternate. */
  readonly merge?: (before: Message, next: Message) => Message | undefined;
  /** Messages that stand before all steps, such as a system message. */
  readonly head?: readonly Message[];
  /** The rest of what precedes the messages, for the digest: system text and tools. */
  readonly preamble?: () => string;
  /** Names of the declared tools. */
  readonly tools?: readonly string[];
  /** The arguments of a tool that have another name here. */
  readonly argumentNames?: (tool: string) => ReadonlyMap<string, string> | undefined;
  /** Sealed thinking whose prefix nobody recorded: `keep` trusts that nothing before it has changed. */
  readonly unverified?: "keep" | "drop";
};

/** One call as it went out. */
export type CallReport = {
  readonly call: CallId;
  readonly id: string;
  readonly tool: string;
  readonly status: OutcomeStatus;
  /** Set when no result was recorded and one had to be made up. */
  readonly synthetic?: true;
};

/** What was seen, what went out, and what was decided on the way. */
export type RenderReport = {
  readonly target: string;
  readonly idFormat: string;
  readonly calls: readonly CallReport[];
  readonly notes: readonly Note[];
};

/** Where the part that cannot change any more ends. */
type RendererCheckpoint<Message> = {
  readonly place: SequenceCheckpoint<Message>;
  readonly calls: number;
  readonly decisions: number;
  readonly counts: MediaCounts;
  readonly lastCallsLackThinking: boolean;
};

/**
 * A conversation being rendered for one target as it grows. What can no
 * longer change is encoded once and kept; only the open end is done anew, so
 * the cost of a turn does not grow with the past.
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
  #lastCallsUnthought = false;
  #past: { readonly summary: string; readonly cut: number } | undefined;
  #settled: RendererCheckpoint<Message> | undefined;

  constructor(options: RendererOptions<Message>) {
    const { target, policy, blobs, encode, merge, head = [], preamble = () => "", tools = [] } = options;
    const { filler } = target.thinking;
    const decide = this.#decisions.add;
    const claimItem = (item: string): boolean => !this.#items.has(item) && this.#items.add(item).has(item);
    this.#options = options;
    this.names = new NameMapper(target, tools);
    this.#filler = filler === undefined ? undefined : { signature: filler };
    this.#judgement = { target, policy, isIntact: this.#intact, decide, claimItem };
    this.#placer = new MediaPlacer({ target, policy, blobs, copies: this.#copies, decide });
    this.#sequence = new MessageSequence({ target, encode, merge, head, preamble, decide });
    this.#pairing = new ResultPairing(decide);
  }

  /** Adds what has happened since. After an `UnsupportedMediaError` the rendering is spent. */
  add(entries: Iterable<Entry>): void {
    this.#reopen();
    const added = [...entries];
    // A copy stands after the message that names its address, and is needed for it.
    for (const entry of added) if (entry.type === "copy") this.#copies.set(entry.uri, entry.media);
    for (const entry of added) {
      this.#entries.push(entry);
      if (entry.type === "compaction") this.#compact(entry);
      else this.#fold(entry);
    }
  }

  /**
   * The messages as they would be sent now. The array is the rendering's own
   * and is valid until the next `add`.
   */
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

  #reportCall(call: CallId): CallReport {
    const { tool, input } = this.#pairing.callOf(call);
    const outcome = this.#pairing.outcomeOf(call) ?? missingOutcome(input);
    const { status, synthetic } = outcome;
    const known = { call, id: this.names.idOf(call), tool: this.names.toolName(tool), status };
    return synthetic === undefined ? known : { ...known, synthetic };
  }

  /** The tools whose calls are shown, under the names the target sees. */
  get toolsShown(): ReadonlySet<string> {
    return this.#toolsShown;
  }

  /** Whether the last calls shown come without thinking. */
  get lastCallsLackThinking(): boolean {
    return this.#lastCallsUnthought;
  }

  /** Digest of everything that would be sent now; a reply records it as its `prefix`. */
  digest(): string {
    this.messages();
    return this.#sequence.digest(this.#settled?.place.count);
  }

  #fold(entry: Exclude<Entry, Compaction>): void {
    switch (entry.type) {
      case "user":
        if (entry.parts.every((part) => part.type === "text" && isBlank(part.text)))
          this.#decisions.add("blank-text", "A message without words is left out.");
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
    const made = applyThinkingPolicy(message, this.#judgement);
    if (made.length === 0) return;
    const parts = made.some(isCall) ? this.#named(made, message.origin) : (made as ModelDraft["parts"]);
    this.#pairing.addModel(parts, made);
  }

  /** The parts of a message with every call under the names of the target, still without a result. */
  #named(made: ReasonedParts, origin: Origin): ModelDraft["parts"] {
    const parts: ModelDraft["parts"][number][] = [];
    let isFirst = true;
    for (const part of made) {
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
    const given = inputObject(input);
    const named = this.#options.target.namedKeys === true ? withNamedKeys(given) : given;
    if (named !== given)
      this.#decisions.add("key-renamed", `Arguments of ${tool} had a key without a letter; it has a name here.`, id);
    const names = this.#options.argumentNames?.(tool);
    const renamed = names === undefined ? named : withRenamedKeys(named, names);
    if (renamed !== named)
      this.#decisions.add("key-renamed", `Arguments of ${tool} are called as the API was told they are.`, id);
    return renamed;
  }

  /** The first call of a step carries a signature where the target demands one: its own, or the documented filler. */
  #sealed({ seal, id }: Call): Seal | undefined {
    if (this.#filler === undefined || seal?.signature !== undefined) return seal;
    const message = "This API wants a signature on the first call of a step; the documented filler stands in.";
    this.#decisions.add("signature-filler", message, id);
    return this.#filler;
  }

  /** Starts over from a summary, or with shorter results. The cut never parts a call from its result: it moves back to before the call. */
  #compact({ summary, from }: Compaction): void {
    const end = this.#entries.length - 1;
    if (!isBlank(summary)) this.#past = { summary, cut: cutBefore(this.#entries, Math.min(from, end)) };
    this.#sequence.restart();
    this.#decisions.truncate(0);
    this.#pairing = new ResultPairing(this.#decisions.add);
    this.#placer.counts = noMediaCounts;
    this.#shown.length = 0;
    this.#toolsShown.clear();
    this.#items.clear();
    this.#lastCallsUnthought = false;
    if (this.#past !== undefined) {
      const opening = openingNotice(this.#entries, this.#past.cut);
      if (opening !== undefined) this.#fold(opening);
      this.#decisions.add("compacted", "A summary stands for the earlier part of the conversation.");
      this.#fold({ type: "user", parts: [{ type: "text", text: summaryText(this.#past.summary) }] });
    }
    for (const entry of shortenResults(this.#entries, this.#past?.cut ?? 0, this.#decisions.add)) this.#fold(entry);
  }

  readonly #emit = (draft: StepDraft): void => {
    if (draft.role === "user") {
      if (this.#sequence.joinsUser && this.#placer.overflows(draft.parts)) this.#sequence.addBridge();
      if (!this.#sequence.joinsUser) this.#placer.nextMessage();
      const parts = this.#placer.user(draft.parts);
      const isStep = parts === draft.parts && draft.opens !== true;
      this.#sequence.add(isStep ? (draft as UserStep) : { role: "user", parts }, "user");
      return;
    }
    this.#placer.nextMessage();
    const parts = draft.parts.some((part) => part.type === "media") ? this.#withFiles(draft) : draft.parts;
    for (const part of parts) if (part.type === "exchange") this.#close(part as OpenExchange);
    const closed = parts as ModelStep["parts"];
    const { callsAsText: callsAsWords, callsLast } = this.#options.target;
    if (draft.calls > 0 && callsAsWords === true) {
      const { modelParts: said, userParts: answered } = renderCallsAsText(closed, this.#decisions.add);
      this.#sequence.add({ role: "model", parts: said }, "model");
      this.#sequence.add({ role: "user", parts: [...answered, ...this.#placer.takeAfter()] }, "user");
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

  /** Gives an exchange its result as the target can take it. An open one is closed only for now, and closed anew next time. */
  #close(exchange: OpenExchange): void {
    const call = this.#pairing.callOf(exchange.call);
    const outcome = this.#pairing.outcomeOf(exchange.call) ?? this.#synthesise(call);
    exchange.result = this.#placer.result(outcome, call.id, call.tool);
    if (this.#options.target.callsAsText === true) return;
    this.#shown.push(exchange.call);
    this.#toolsShown.add(exchange.tool);
  }

  #synthesise({ id, tool, input }: Call): Outcome {
    this.#decisions.add("synthetic-result", `${tool} has no recorded result; the model is told so.`, id);
    return missingOutcome(input);
  }

  /** Goes back to what cannot change any more. */
  #reopen(): void {
    if (this.#settled === undefined) return;
    this.#sequence.rewind(this.#settled.place);
    this.#shown.length = this.#settled.calls;
    this.#decisions.truncate(this.#settled.decisions);
    this.#placer.counts = this.#settled.counts;
    this.#lastCallsUnthought = this.#settled.lastCallsLackThinking;
    this.#settled = undefined;
  }

  /** Whether everything before a message is as it was when the message was made. */
  readonly #intact = (message: ModelMessage): boolean => {
    if (this.#pairing.openDrafts.length > 0) return false;
    if (message.prefix !== undefined) return this.#sequence.digest() === message.prefix;
    return this.#options.unverified !== "drop" && !this.#decisions.some(invalidatesSeals);
  };
}

const isCall = (part: ReasonedParts[number]): boolean => part.type === "call";

/** Thinking that was left out does not change what its reader saw; everything else does. */
const invalidatesSeals = (kind: NoteKind): boolean =>
  noteClassOf(kind) !== "projection" && !kind.startsWith("thinking-");
