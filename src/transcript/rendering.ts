import {
  classOf,
  inputObject,
  interrupted,
  type Blobs,
  type Call,
  type CallId,
  type CallInput,
  type Compaction,
  type Entry,
  type Media,
  type ModelMessage,
  type Note,
  type NoteKind,
  type Origin,
  type Outcome,
  type OutcomeStatus,
  type Seal,
  type Text,
} from "../conversation/index.ts";
import { cutBefore } from "./cut.ts";
import { Decisions } from "./decisions.ts";
import { emptyDigest, extend, toHex, type Digest } from "./digest.ts";
import { Names } from "./name.ts";
import { Pairing, type Draft, type ModelDraft, type OpenExchange } from "./pair.ts";
import { noMedia, Placer, type Counts } from "./place.ts";
import { reason, type Judgement, type Reasoned } from "./reason.ts";
import type { File, ModelStep, Step, UserStep } from "./step.ts";
import type { Policy, Target } from "./target.ts";
import {
  bridgeWord,
  calledTool,
  continueWord,
  isBlank,
  noticeOf,
  openingWord,
  resultOfTool,
  summaryOf,
  unreadableArguments,
} from "./words.ts";

/** What a rendering is made for. */
export type RenderingOptions<Message> = {
  readonly target: Target;
  readonly policy: Policy;
  /** The conversation's blobs; a live store may go on growing. */
  readonly blobs: Blobs;
  /** How a step is written; called once per step. */
  readonly encode: (step: Step) => readonly Message[];
  /** Messages that stand before all steps, such as a system message. */
  readonly head?: readonly Message[];
  /** The rest of what precedes the messages, for the digest: system text and tools. */
  readonly preamble?: () => string;
  /** Names of the declared tools. */
  readonly tools?: readonly string[];
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

type Mark = {
  messages: number;
  calls: number;
  decisions: number;
  last: Speaker;
  besideResults: boolean;
  lastCallsUnthought: boolean;
  counts: Counts;
};
type Speaker = "nobody" | "user" | "results" | "model";

/**
 * A conversation being rendered for one target as it grows. What can no
 * longer change is encoded once and kept; only the open end is done anew, so
 * the cost of a turn does not grow with the past.
 */
export class Rendering<Message> {
  readonly names: Names;
  readonly #options: RenderingOptions<Message>;
  readonly #entries: Entry[] = [];
  readonly #messages: Message[];
  readonly #shown: CallId[] = [];
  readonly #decisions = new Decisions();
  readonly #judgement: Judgement;
  readonly #filler: Seal | undefined;
  readonly #toolsShown = new Set<string>();
  readonly #items = new Set<string>();
  #lastCallsUnthought = false;
  #pairing: Pairing;
  #last: Speaker = "nobody";
  #besideResults = false;
  readonly #placer: Placer;
  #tail: Mark | undefined;
  #hashed: { digest: Digest; count: number } | undefined;

  constructor(options: RenderingOptions<Message>) {
    this.#options = options;
    this.names = new Names(options.target, options.tools ?? []);
    this.#messages = [...(options.head ?? [])];
    this.#pairing = new Pairing(this.#decisions.add);
    const { filler } = options.target.thinking;
    this.#filler = filler === undefined ? undefined : { signature: filler };
    this.#judgement = {
      target: options.target,
      policy: options.policy,
      intact: this.#intact,
      decide: this.#decisions.add,
      claimItem: (item) => !this.#items.has(item) && this.#items.add(item).has(item),
    };
    this.#placer = new Placer({
      target: options.target,
      policy: options.policy,
      blobs: options.blobs,
      decide: this.#decisions.add,
    });
    this.#hashed = undefined;
  }

  /** Adds what has happened since. */
  add(entries: Iterable<Entry>): void {
    this.#dropTail();
    for (const entry of entries) {
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
    if (this.#tail !== undefined) return this.#messages;
    this.#tail = {
      messages: this.#messages.length,
      calls: this.#shown.length,
      decisions: this.#decisions.count,
      last: this.#last,
      besideResults: this.#besideResults,
      lastCallsUnthought: this.#lastCallsUnthought,
      counts: this.#placer.counts,
    };
    for (const draft of this.#pairing.rest) this.#emitDraft(draft);
    const { order } = this.#options.target;
    if (this.#last === "nobody" || (this.#last === "model" && order.userLast)) {
      this.#decisions.add("neutral-step", "The word was not with the model; a neutral user step hands it over.");
      this.#emit({ role: "user", parts: [{ type: "text", text: continueWord }] }, "user");
    }
    return this.#messages;
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
    return this.#digestOf(this.#messages.length);
  }

  #fold(entry: Exclude<Entry, Compaction>): void {
    switch (entry.type) {
      case "user":
        if (entry.parts.every((part) => part.type === "text" && isBlank(part.text)))
          this.#decisions.add("blank-text", "A message without words is left out.");
        else this.#pairing.user(entry.parts);
        break;
      case "notice":
        if (!isBlank(entry.text)) this.#pairing.user([{ type: "text", text: noticeOf(entry.text) }]);
        break;
      case "model":
        this.#foldModel(entry);
        break;
      case "completion":
        this.#pairing.complete(entry);
    }
    this.#pairing.take(this.#emitDraft);
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
        input: inputObject(part.input),
        inputText: part.input.type === "parsed" ? part.input.text : undefined,
        seal: isFirst ? this.#sealed(part) : part.seal,
        result: undefined,
      });
      isFirst = false;
    }
    return parts;
  }

  /** The first call of a step carries a signature where the target demands one: its own, or the documented filler. */
  #sealed({ seal, id }: Call): Seal | undefined {
    if (this.#filler === undefined || seal?.signature !== undefined) return seal;
    const message = "This API wants a signature on the first call of a step; the documented filler stands in.";
    this.#decisions.add("signature-filler", message, id);
    return this.#filler;
  }

  /** Starts over from a summary. The cut never parts a call from its result: it moves back to before the call. */
  #compact({ summary, from }: Compaction): void {
    const end = this.#entries.length - 1;
    const cut = cutBefore(this.#entries, Math.min(from, end));
    this.#messages.length = this.#options.head?.length ?? 0;
    this.#shown.length = 0;
    this.#toolsShown.clear();
    this.#items.clear();
    this.#lastCallsUnthought = false;
    this.#decisions.keep(0);
    this.#pairing = new Pairing(this.#decisions.add);
    this.#last = "nobody";
    this.#besideResults = false;
    this.#placer.counts = noMedia;
    this.#hashed = undefined;
    this.#decisions.add("compacted", `A summary stands for the first ${cut} entries.`);
    this.#fold({ type: "user", parts: [{ type: "text", text: summaryOf(summary) }] });
    for (const entry of this.#entries.slice(cut, end)) if (entry.type !== "compaction") this.#fold(entry);
  }

  readonly #emitDraft = (draft: Draft): void => {
    if (draft.role === "user") {
      const parts = this.#placer.user(draft.parts);
      this.#emit(parts === draft.parts ? (draft as UserStep) : { role: "user", parts }, "user");
      this.#placer.nextMessage();
      return;
    }
    const parts = draft.parts.some((part) => part.type === "media") ? this.#withFiles(draft) : draft.parts;
    for (const part of parts) if (part.type === "exchange") this.#close(part as OpenExchange);
    if (draft.calls > 0 && this.#options.target.callsAsWords === true) {
      this.#emitAsWords(parts as ModelStep["parts"]);
      return;
    }
    const step = { role: "model", parts } as ModelStep;
    if (draft.calls > 0) this.#lastCallsUnthought = parts[0]?.type !== "thinking";
    this.#emit(step, draft.calls > 0 ? "results" : "model");
    const files = this.#placer.nextMessage();
    if (files.length > 0) this.#emit({ role: "user", parts: files }, "user");
  };

  /** Calls stand among the model's words, and their results in the user's. */
  #emitAsWords(parts: ModelStep["parts"]): void {
    const said: ModelStep["parts"][number][] = [];
    const answered: (Text | File)[] = [];
    for (const part of parts) {
      if (part.type !== "exchange") {
        said.push(part);
        continue;
      }
      const { tool, input, inputText, result } = part;
      this.#decisions.add(
        "calls-as-words",
        `This model knows no tools; the call of ${tool} is told in words.`,
        part.call,
      );
      said.push({ type: "text", text: calledTool(tool, inputText ?? JSON.stringify(input)) });
      answered.push({ type: "text", text: resultOfTool(tool, result.status) });
      for (const content of result.content)
        answered.push(content.type === "structured" ? { type: "text", text: JSON.stringify(content.value) } : content);
    }
    this.#emit({ role: "model", parts: said }, "model");
    this.#emit({ role: "user", parts: [...answered, ...this.#placer.nextMessage()] }, "user");
  }

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

  #emit(step: Step, speaker: Speaker): void {
    const { order } = this.#options.target;
    if (this.#last === "nobody" && step.role === "model" && order.userFirst) {
      this.#decisions.add(
        "neutral-step",
        "The conversation begins with the model; a neutral user step stands before it.",
      );
      this.#write({ role: "user", parts: [{ type: "text", text: openingWord }] });
    }
    if (step.role === "user" && this.#needsBridge(step)) {
      this.#decisions.add("bridge-step", "This API wants a word of the model between two of the user.");
      this.#write({ role: "model", parts: [{ type: "text", text: bridgeWord }] });
      this.#besideResults = false;
    }
    this.#write(step);
    this.#last = speaker;
    if (speaker !== "user") this.#besideResults = speaker === "results";
  }

  /** User steps in a row are read as one message, so a file that may not stand beside results needs a word in between. */
  #needsBridge({ parts }: UserStep): boolean {
    const { order, media } = this.#options.target;
    if (this.#last === "user" && order.alternate) return true;
    if (this.#last === "results" && order.bridgeAfterResults) return true;
    const { after } = media;
    return (
      this.#besideResults &&
      after !== undefined &&
      parts.some((part) => part.type === "file" && after[part.kind]?.types.includes(part.mimeType) !== true)
    );
  }

  #write(step: Step): void {
    for (const message of this.#options.encode(step)) this.#messages.push(message);
  }

  #dropTail(): void {
    if (this.#tail === undefined) return;
    this.#messages.length = this.#tail.messages;
    this.#shown.length = this.#tail.calls;
    this.#decisions.keep(this.#tail.decisions);
    this.#last = this.#tail.last;
    this.#besideResults = this.#tail.besideResults;
    this.#lastCallsUnthought = this.#tail.lastCallsUnthought;
    this.#placer.counts = this.#tail.counts;
    this.#tail = undefined;
  }

  /** Whether everything before a message is as it was when the message was made. */
  readonly #intact = (message: ModelMessage): boolean => {
    if (this.#pairing.rest.length > 0) return false;
    if (message.prefix !== undefined) return this.#digestOf(this.#messages.length) === message.prefix;
    return this.#options.unverified !== "drop" && !this.#decisions.some(changesThePast);
  };

  #digestOf(count: number): string {
    const settled = Math.min(count, this.#tail?.messages ?? count);
    let { digest, count: hashed } = this.#hashed ?? {
      digest: extend(emptyDigest, this.#options.preamble?.() ?? ""),
      count: 0,
    };
    for (let index = hashed; index < settled; index++) digest = extend(digest, JSON.stringify(this.#messages[index]));
    this.#hashed = { digest, count: settled };
    for (let index = settled; index < count; index++) digest = extend(digest, JSON.stringify(this.#messages[index]));
    return toHex(digest);
  }
}

const isCall = (part: Reasoned[number]): boolean => part.type === "call";

/** What is known about a call that has no completion: never that it succeeded, never that someone stopped it. */
const unrecorded = (input: CallInput): Outcome =>
  input.type === "malformed"
    ? { status: "error", content: [{ type: "text", text: unreadableArguments }], synthetic: true }
    : interrupted();

/** Thinking that was left out does not change what its reader saw; everything else does. */
const changesThePast = (kind: NoteKind): boolean => classOf(kind) !== "projection" && !kind.startsWith("thinking-");
