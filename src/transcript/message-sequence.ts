import type { AddNote } from "./decision-log.ts";
import { emptyHash, extendHash, hashToHex, type RunningHash } from "../hash.ts";
import type { Step, UserStep } from "./step.ts";
import type { Target } from "./target.ts";
import { bridgeText, continueText, openingText } from "./words.ts";

/** The role of the last step: a model step with calls ends with their results, which the user side sends. */
export type LastSpeaker = "none" | "user" | "results" | "model";

/** Options of a message sequence. */
export type MessageSequenceOptions<Message> = {
  readonly target: Target;
  readonly encode: (step: Step) => readonly Message[];
  /** Merges two adjacent messages of one role; used for targets that require alternating roles. */
  readonly merge?: ((before: Message, next: Message) => Message | undefined) | undefined;
  readonly head: readonly Message[];
  readonly preamble: () => string;
  readonly addNote: AddNote;
};

/** A message that temporarily replaces the one at an index. */
export type MessageOverlay<Message> = { readonly at: number; readonly message: Message };

/** A state to rewind to: how many messages were encoded and how many are sent, and the last of these as it is now. */
export type SequenceCheckpoint<Message> = {
  readonly count: number;
  readonly shown: number;
  readonly lastShown: Message | undefined;
  readonly last: LastSpeaker;
  readonly isAfterResults: boolean;
};

/** The messages of a request, in an order the target accepts: bridge messages are added where it requires one between two steps. */
export class MessageSequence<Message> {
  /** The messages to send: the encoded ones, with adjacent messages of one role merged where the target requires that. */
  readonly messages: Message[];
  readonly #options: MessageSequenceOptions<Message>;
  /** The messages as encoded. They never change, so hashes are made of them. */
  readonly #encoded: Message[];
  readonly #merge: MessageSequenceOptions<Message>["merge"];
  readonly #overlaid: MessageOverlay<Message>[] = [];
  #last: LastSpeaker = "none";
  #isAfterResults = false;
  #hashed: { readonly digest: RunningHash; readonly count: number } | undefined;

  constructor(options: MessageSequenceOptions<Message>) {
    this.#options = options;
    this.#merge = options.target.order.alternate ? options.merge : undefined;
    this.#encoded = [...options.head];
    this.messages = [...options.head];
  }

  /** Replaces messages at some indexes until the next change, e.g. by ones with cache points. */
  overlay(overlays: readonly MessageOverlay<Message>[]): void {
    this.#removeOverlay();
    for (const { at, message } of overlays) {
      this.#overlaid.push({ at, message: this.messages[at]! });
      this.messages[at] = message;
    }
  }

  #removeOverlay(): void {
    for (const { at, message } of this.#overlaid) this.messages[at] = message;
    this.#overlaid.length = 0;
  }

  /** Appends a step, after a neutral or bridge message where one is required before it. */
  add(step: Step, speaker: LastSpeaker): void {
    const { target, addNote } = this.#options;
    if (this.#last === "none" && step.role === "model" && target.order.userFirst) {
      addNote("neutral-step", "The conversation begins with the model; a neutral user message is placed before it.");
      this.#write({ role: "user", parts: [{ type: "text", text: openingText }] });
    }
    if (step.role === "user" && this.#needsBridge(step)) this.addBridge();
    this.#write(step);
    this.#last = speaker;
    if (speaker !== "user") this.#isAfterResults = speaker === "results";
  }

  /** Appends a short model message between two user steps. */
  addBridge(): void {
    this.#options.addNote("bridge-step", "This API requires a model message between two user messages.");
    this.#write({ role: "model", parts: [{ type: "text", text: bridgeText }] });
    this.#last = "model";
    this.#isAfterResults = false;
  }

  /** Appends a neutral user message where the target requires that the conversation ends with the user. */
  ensureUserLast(): void {
    const { target, addNote } = this.#options;
    if (this.#last !== "none" && !(this.#last === "model" && target.order.userLast)) return;
    addNote("neutral-step", "There is no user message at the end; a neutral one asks the model to continue.");
    this.add({ role: "user", parts: [{ type: "text", text: continueText }] }, "user");
  }

  /** Whether a user step added now would be merged into the last message. */
  get joinsUser(): boolean {
    return this.#merge !== undefined && (this.#last === "user" || this.#last === "results");
  }

  get checkpoint(): SequenceCheckpoint<Message> {
    return {
      count: this.#encoded.length,
      shown: this.messages.length,
      lastShown: this.messages.at(-1),
      last: this.#last,
      isAfterResults: this.#isAfterResults,
    };
  }

  /** Drops what was appended since a checkpoint. */
  rewind({ count, shown, lastShown, last, isAfterResults }: SequenceCheckpoint<Message>): void {
    this.#removeOverlay();
    this.#encoded.length = count;
    this.messages.length = shown;
    if (lastShown !== undefined) this.messages[shown - 1] = lastShown;
    this.#last = last;
    this.#isAfterResults = isAfterResults;
  }

  /** Drops everything but the head. */
  restart(): void {
    const { head } = this.#options;
    const lastShown = head.at(-1);
    this.rewind({ count: head.length, shown: head.length, lastShown, last: "none", isAfterResults: false });
    this.#hashed = undefined;
  }

  /** Returns the hash of all encoded messages; the first `settled` ones will not change, and are hashed once. */
  digest(settled: number = this.#encoded.length): string {
    const written = (at: number): string => JSON.stringify(this.#encoded[at]);
    let { digest, count } = this.#hashed ?? { digest: extendHash(emptyHash, this.#options.preamble()), count: 0 };
    for (; count < settled; count++) digest = extendHash(digest, written(count));
    this.#hashed = { digest, count };
    for (; count < this.#encoded.length; count++) digest = extendHash(digest, written(count));
    return hashToHex(digest);
  }

  #write(step: Step): void {
    for (const message of this.#options.encode(step)) {
      this.#encoded.push(message);
      const last = this.messages.at(-1);
      const merged = last === undefined ? undefined : this.#merge?.(last, message);
      if (merged === undefined) this.messages.push(message);
      else this.messages[this.messages.length - 1] = merged;
    }
  }

  /** Consecutive user steps are read as one message, so a file not allowed beside results needs a model message in between. */
  #needsBridge({ parts }: UserStep): boolean {
    const { order, media } = this.#options.target;
    if (this.#last === "results" && order.bridgeAfterResults) return true;
    const { after } = media;
    return (
      this.#isAfterResults &&
      after !== undefined &&
      parts.some((part) => part.type === "file" && after[part.kind]?.types.includes(part.mimeType) !== true)
    );
  }
}
