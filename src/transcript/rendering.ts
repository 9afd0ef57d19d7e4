import { inputObject } from "../conversation/arguments.ts";
import type { Blobs, Compaction, Entry, ModelMessage, Notice, Origin } from "../conversation/entry.ts";
import type { JsonObject } from "../conversation/json.ts";
import { classOf, type Note, type NoteKind } from "../conversation/notes.ts";
import type { Call, CallId, Media, Outcome, OutcomeStatus, Seal } from "../conversation/parts.ts";
import { cutBefore, openingNotice } from "./cut.ts";
import { placeCallsLast } from "./calls-last.ts";
import { Decisions } from "./decisions.ts";
import { withNamedKeys, withRenamedKeys } from "./keys.ts";
import { Names } from "./name.ts";
import { Pairing, type Draft, type ModelDraft, type OpenExchange } from "./pair.ts";
import { noMedia, Placer, type Counts } from "./place.ts";
import { reason, type Judgement, type Reasoned } from "./reason.ts";
import { shortened } from "./shorten.ts";
import { Sequence, type Dressed, type Place } from "./sequence.ts";
import type { File, ModelStep, Step, UserStep } from "./step.ts";
import type { Policy, Target } from "./target.ts";
import { tellInWords } from "./tell.ts";
import { unrecorded } from "./unrecorded.ts";
import { isBlank, noticeOf, summaryOf } from "./words.ts";

/** What a rendering is made for. */
export type RenderingOptions<Message> = {
  readonly target: Target;
  readonly policy: Policy;
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
export type Report = {
  readonly target: string;
  readonly idFormat: string;
  readonly calls: readonly CallReport[];
  readonly notes: readonly Note[];
};

/** Where the part that cannot change any more ends. */
type Settled<Message> = {
  readonly place: Place<Message>;
  readonly calls: number;
  readonly decisions: number;
  readonly counts: Counts;
  readonly lastCallsUnthought: boolean;
};

/**
 * A conversation being rendered for one target as it grows. What can no
 * longer change is encoded once and kept; only the open end is done anew, so
 * the cost of a turn does not grow with the past.
 */
export class Rendering<Message> {
  readonly names: Names;
  readonly #options: RenderingOptions<Message>;
  readonly #entries: Entry[] = [];
  readonly #decisions = new Decisions();
  readonly #judgement: Judgement;
  readonly #placer: Placer;
  readonly #sequence: Sequence<Message>;
  readonly #filler: Seal | undefined;
  readonly #shown: CallId[] = [];
  readonly #toolsShown = new Set<string>();
  readonly #items = new Set<string>();
  readonly #copies = new Map<string, Media>();
  #pairing: Pairing;
  #lastCallsUnthought = false;
  #past: { readonly summary: string; readonly cut: number } | undefined;
  #settled: Settled<Message> | undefined;

  constructor(options: RenderingOptions<Message>) {
    const { target, policy, blobs, encode, merge, head = [], preamble = () => "", tools = [] } = options;
    const { filler } = target.thinking;
    const decide = this.#decisions.add;
    const claimItem = (item: string): boolean => !this.#items.has(item) && this.#items.add(item).has(item);
    this.#options = options;
    this.names = new Names(target, tools);
    this.#filler = filler === undefined ? undefined : { signature: filler };
    this.#judgement = { target, policy, intact: this.#intact, decide, claimItem };
    this.#placer = new Placer({ target, policy, blobs, copies: this.#copies, decide });
    this.#sequence = new Sequence({ target, encode, merge, head, preamble, decide });
    this.#pairing = new Pairing(decide);
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
      place: this.#sequence.place,
      calls: this.#shown.length,
      decisions: this.#decisions.count,
      counts: this.#placer.counts,
      lastCallsUnthought: this.#lastCallsUnthought,
    };
    for (const draft of this.#pairing.rest) this.#emit(draft);
    this.#sequence.close();
    return this.#sequence.messages;
  }

  /** Shows some messages otherwise, such as with cache markers, until the next `add` or `dress`. Digests do not see it. */
  dress(dressed: readonly Dressed<Message>[]): void {
    this.messages();
    this.#sequence.dress(dressed);
  }

  /** Which calls were seen, under which ids they went out, and every decision. */
  report(): Report {
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
    const outcome = this.#pairing.outcomeOf(call) ?? unrecorded(input);
    const { status, synthetic } = outcome;
    const known = { call, id: this.names.idOf(call), tool: this.names.toolName(tool), status };
    return synthetic === undefined ? known : { ...known, synthetic };
  }

  /** The tools whose calls are shown, under the names the target sees. */
  get toolsShown(): ReadonlySet<string> {
    return this.#toolsShown;
  }

  /** Whether the last calls shown come without thinking. */
  get lastCallsUnthought(): boolean {
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
        else this.#pairing.user(entry.parts);
        break;
      case "notice":
        this.#foldNotice(entry);
        break;
      case "model":
        this.#foldModel(entry);
        break;
      case "completion":
        this.#pairing.complete(entry);
        break;
      case "copy":
        return;
    }
    this.#pairing.take(this.#emit);
  }

  #foldNotice({ text, opens }: Notice): void {
    if (isBlank(text)) return;
    const parts = [{ type: "text", text: noticeOf(text) }] as const;
    if (opens === true) this.#pairing.opening(parts);
    else this.#pairing.user(parts);
  }

  #foldModel(message: ModelMessage): void {
    const made = reason(message, this.#judgement);
    if (made.length === 0) return;
    const parts = made.some(isCall) ? this.#named(made, message.origin) : (made as ModelDraft["parts"]);
    this.#pairing.model(parts, made);
  }

  /** The parts of a message with every call under the names of the target, still without a result. */
  #named(made: Reasoned, origin: Origin): ModelDraft["parts"] {
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
    this.#decisions.keep(0);
    this.#pairing = new Pairing(this.#decisions.add);
    this.#placer.counts = noMedia;
    this.#shown.length = 0;
    this.#toolsShown.clear();
    this.#items.clear();
    this.#lastCallsUnthought = false;
    if (this.#past !== undefined) {
      const opening = openingNotice(this.#entries, this.#past.cut);
      if (opening !== undefined) this.#fold(opening);
      this.#decisions.add("compacted", "A summary stands for the earlier part of the conversation.");
      this.#fold({ type: "user", parts: [{ type: "text", text: summaryOf(this.#past.summary) }] });
    }
    for (const entry of shortened(this.#entries, this.#past?.cut ?? 0, this.#decisions.add)) this.#fold(entry);
  }

  readonly #emit = (draft: Draft): void => {
    if (draft.role === "user") {
      if (this.#sequence.joinsUser && this.#placer.overflows(draft.parts)) this.#sequence.bridge();
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
    const { callsAsWords, callsLast } = this.#options.target;
    if (draft.calls > 0 && callsAsWords === true) {
      const { said, answered } = tellInWords(closed, this.#decisions.add);
      this.#sequence.add({ role: "model", parts: said }, "model");
      this.#sequence.add({ role: "user", parts: [...answered, ...this.#placer.takeAfter()] }, "user");
      return;
    }
    const ordered = callsLast === true ? placeCallsLast(closed, this.#decisions.add) : closed;
    if (draft.calls > 0) this.#lastCallsUnthought = ordered[0]?.type !== "thinking";
    this.#sequence.add({ role: "model", parts: ordered }, draft.calls > 0 ? "results" : "model");
    const files = this.#placer.takeAfter();
    if (files.length > 0) this.#sequence.add({ role: "user", parts: files }, "user");
  };

  #withFiles({ parts }: ModelDraft): readonly (Exclude<ModelDraft["parts"][number], Media> | File)[] {
    return parts.flatMap((part): readonly (Exclude<ModelDraft["parts"][number], Media> | File)[] =>
      part.type === "media" ? this.#placer.model(part) : [part],
    );
  }

  /** Gives an exchange its result as the target can take it. An open one is closed only for now, and closed anew next time. */
  #close(exchange: OpenExchange): void {
    const call = this.#pairing.callOf(exchange.call);
    const outcome = this.#pairing.outcomeOf(exchange.call) ?? this.#synthesise(call);
    exchange.result = this.#placer.result(outcome, call.id, call.tool);
    if (this.#options.target.callsAsWords === true) return;
    this.#shown.push(exchange.call);
    this.#toolsShown.add(exchange.tool);
  }

  #synthesise({ id, tool, input }: Call): Outcome {
    this.#decisions.add("synthetic-result", `${tool} has no recorded result; the model is told so.`, id);
    return unrecorded(input);
  }

  /** Goes back to what cannot change any more. */
  #reopen(): void {
    if (this.#settled === undefined) return;
    this.#sequence.backTo(this.#settled.place);
    this.#shown.length = this.#settled.calls;
    this.#decisions.keep(this.#settled.decisions);
    this.#placer.counts = this.#settled.counts;
    this.#lastCallsUnthought = this.#settled.lastCallsUnthought;
    this.#settled = undefined;
  }

  /** Whether everything before a message is as it was when the message was made. */
  readonly #intact = (message: ModelMessage): boolean => {
    if (this.#pairing.rest.length > 0) return false;
    if (message.prefix !== undefined) return this.#sequence.digest() === message.prefix;
    return this.#options.unverified !== "drop" && !this.#decisions.some(changesThePast);
  };
}

const isCall = (part: Reasoned[number]): boolean => part.type === "call";

/** Thinking that was left out does not change what its reader saw; everything else does. */
const changesThePast = (kind: NoteKind): boolean => classOf(kind) !== "projection" && !kind.startsWith("thinking-");
