import type { Decide } from "./decisions.ts";
import { emptyDigest, extend, toHex, type Digest } from "./digest.ts";
import type { Step, UserStep } from "./step.ts";
import type { Target } from "./target.ts";
import { bridgeWord, continueWord, openingWord } from "./words.ts";

/** Who had the word last: results count as handed in by the user. */
export type Speaker = "nobody" | "user" | "results" | "model";

/** What a sequence is written with. */
export type SequenceOptions<Message> = {
  readonly target: Target;
  readonly encode: (step: Step) => readonly Message[];
  readonly head: readonly Message[];
  readonly preamble: () => string;
  readonly decide: Decide;
};

/** A message in a place of the sequence. */
export type Dressed<Message> = { readonly at: number; readonly message: Message };

/** A place in a sequence to come back to. */
export type Place = { readonly count: number; readonly last: Speaker; readonly besideResults: boolean };

/** The messages of a request, in an order the target takes: where it wants a word between two steps, one is put there. */
export class Sequence<Message> {
  readonly messages: Message[];
  readonly #options: SequenceOptions<Message>;
  readonly #bare: Dressed<Message>[] = [];
  #last: Speaker = "nobody";
  #besideResults = false;
  #hashed: { readonly digest: Digest; readonly count: number } | undefined;

  constructor(options: SequenceOptions<Message>) {
    this.#options = options;
    this.messages = [...options.head];
  }

  /** Puts other messages in some places for the time being: until the next change, these are what is there. */
  dress(dressed: readonly Dressed<Message>[]): void {
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
  add(step: Step, speaker: Speaker): void {
    const { target, decide } = this.#options;
    if (this.#last === "nobody" && step.role === "model" && target.order.userFirst) {
      decide("neutral-step", "The conversation begins with the model; a neutral user step stands before it.");
      this.#write({ role: "user", parts: [{ type: "text", text: openingWord }] });
    }
    if (step.role === "user" && this.#needsBridge(step)) {
      decide("bridge-step", "This API wants a word of the model between two of the user.");
      this.#write({ role: "model", parts: [{ type: "text", text: bridgeWord }] });
      this.#besideResults = false;
    }
    this.#write(step);
    this.#last = speaker;
    if (speaker !== "user") this.#besideResults = speaker === "results";
  }

  /** Hands the word to the model, where it is not with the model yet and the target wants that. */
  close(): void {
    const { target, decide } = this.#options;
    if (this.#last !== "nobody" && !(this.#last === "model" && target.order.userLast)) return;
    decide("neutral-step", "The word was not with the model; a neutral user step hands it over.");
    this.add({ role: "user", parts: [{ type: "text", text: continueWord }] }, "user");
  }

  get place(): Place {
    return { count: this.messages.length, last: this.#last, besideResults: this.#besideResults };
  }

  /** Forgets what was written since. */
  backTo({ count, last, besideResults }: Place): void {
    this.#undress();
    this.messages.length = count;
    this.#last = last;
    this.#besideResults = besideResults;
  }

  /** Forgets everything but the head. */
  restart(): void {
    this.backTo({ count: this.#options.head.length, last: "nobody", besideResults: false });
    this.#hashed = undefined;
  }

  /** Digest of all there is; the first `settled` messages will not change, and are hashed once. */
  digest(settled: number = this.messages.length): string {
    const bare = new Map(this.#bare.map(({ at, message }) => [at, message]));
    const written = (at: number): string => JSON.stringify(bare.get(at) ?? this.messages[at]);
    let { digest, count } = this.#hashed ?? { digest: extend(emptyDigest, this.#options.preamble()), count: 0 };
    for (; count < settled; count++) digest = extend(digest, written(count));
    this.#hashed = { digest, count };
    for (; count < this.messages.length; count++) digest = extend(digest, written(count));
    return toHex(digest);
  }

  #write(step: Step): void {
    for (const message of this.#options.encode(step)) this.messages.push(message);
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
}
