import type { AddNote } from "./decision-log.ts";
import { emptyHash, extendHash, hashToHex, type RunningHash } from "./digest.ts";
import type { Step, UserStep } from "./step.ts";
import type { Target } from "./target.ts";
import { bridgeText, continueText, openingText } from "./words.ts";

/** Who had the word last: results count as handed in by the user. */
export type LastSpeaker = "nobody" | "user" | "results" | "model";

/** What a sequence is written with. */
export type MessageSequenceOptions<Message> = {
  readonly target: Target;
  readonly encode: (step: Step) => readonly Message[];
  /** Two neighbouring messages as one, where they are of one side; used for targets that want the sides to alternate. */
  readonly merge?: ((before: Message, next: Message) => Message | undefined) | undefined;
  readonly head: readonly Message[];
  readonly preamble: () => string;
  readonly decide: AddNote;
};

/** A message in a place of the sequence. */
export type MessageOverlay<Message> = { readonly at: number; readonly message: Message };

/** A place in a sequence to come back to: how many messages were encoded and shown, and the last of these as it is now. */
export type SequenceCheckpoint<Message> = {
  readonly count: number;
  readonly shown: number;
  readonly lastShown: Message | undefined;
  readonly last: LastSpeaker;
  readonly besideResults: boolean;
};

/** The messages of a request, in an order the target takes: where it wants a word between two steps, one is put there. */
export class MessageSequence<Message> {
  /** What is sent: the encoded messages, with neighbours of one side merged where the target wants that. */
  readonly messages: Message[];
  readonly #options: MessageSequenceOptions<Message>;
  /** The messages as they were encoded. They never change, so digests are made of them. */
  readonly #encoded: Message[];
  readonly #merge: MessageSequenceOptions<Message>["merge"];
  readonly #bare: MessageOverlay<Message>[] = [];
  #last: LastSpeaker = "nobody";
  #besideResults = false;
  #hashed: { readonly digest: RunningHash; readonly count: number } | undefined;

  constructor(options: MessageSequenceOptions<Message>) {
    this.#options = options;
    this.#merge = options.target.order.alternate ? options.merge : undefined;
    this.#encoded = [...options.head];
    this.messages = [...options.head];
  }

  /** Puts other messages in some places for the time being: until the next change, these are what is there. */
  overlay(dressed: readonly MessageOverlay<Message>[]): void {
    this.#undress();
    for (const { at, message } of dressed) {
      this.#bare.push({ at, message: this.messages[at]! });
      this.messages[at] = message;
    }
  }

  #undress(): void {
    for (const { at, message } of this.#bare) this.messages[at] = message;
    this.#bare.length = 0;
  }

  /** Writes a step after whatever must stand before it. */
  add(step: Step, speaker: LastSpeaker): void {
    const { target, decide } = this.#options;
    if (this.#last === "nobody" && step.role === "model" && target.order.userFirst) {
      decide("neutral-step", "The conversation begins with the model; a neutral user step stands before it.");
      this.#write({ role: "user", parts: [{ type: "text", text: openingText }] });
    }
    if (step.role === "user" && this.#needsBridge(step)) this.addBridge();
    this.#write(step);
    this.#last = speaker;
    if (speaker !== "user") this.#besideResults = speaker === "results";
  }

  /** Puts a word of the model between two steps of the user. */
  addBridge(): void {
    this.#options.decide("bridge-step", "This API wants a word of the model between two of the user.");
    this.#write({ role: "model", parts: [{ type: "text", text: bridgeText }] });
    this.#last = "model";
    this.#besideResults = false;
  }

  /** Hands the word to the model, where it is not with the model yet and the target wants that. */
  ensureUserLast(): void {
    const { target, decide } = this.#options;
    if (this.#last !== "nobody" && !(this.#last === "model" && target.order.userLast)) return;
    decide("neutral-step", "The word was not with the model; a neutral user step hands it over.");
    this.add({ role: "user", parts: [{ type: "text", text: continueText }] }, "user");
  }

  /** Whether a step of the user that is added now would go in one message with what is there. */
  get joinsUser(): boolean {
    return this.#merge !== undefined && (this.#last === "user" || this.#last === "results");
  }

  get checkpoint(): SequenceCheckpoint<Message> {
    return {
      count: this.#encoded.length,
      shown: this.messages.length,
      lastShown: this.messages.at(-1),
      last: this.#last,
      besideResults: this.#besideResults,
    };
  }

  /** Forgets what was written since. */
  rewind({ count, shown, lastShown, last, besideResults }: SequenceCheckpoint<Message>): void {
    this.#undress();
    this.#encoded.length = count;
    this.messages.length = shown;
    if (lastShown !== undefined) this.messages[shown - 1] = lastShown;
    this.#last = last;
    this.#besideResults = besideResults;
  }

  /** Forgets everything but the head. */
  restart(): void {
    const { head } = this.#options;
    const lastShown = head.at(-1);
    this.rewind({ count: head.length, shown: head.length, lastShown, last: "nobody", besideResults: false });
    this.#hashed = undefined;
  }

  /** Digest of all there is; the first `settled` encoded messages will not change, and are hashed once. */
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

  /** User steps in a row are read as one message, so a file that may not stand beside results needs a word in between. */
  #needsBridge({ parts }: UserStep): boolean {
    const { order, media } = this.#options.target;
    if (this.#last === "results" && order.bridgeAfterResults) return true;
    const { after } = media;
    return (
      this.#besideResults &&
      after !== undefined &&
      parts.some((part) => part.type === "file" && after[part.kind]?.types.includes(part.mimeType) !== true)
    );
  }
}
