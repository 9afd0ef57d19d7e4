import type { NewPart } from "../conversation/ledger.ts";
import { kindOf, storeBase64 } from "../conversation/media.ts";
import type { AnswerEvent, AnswerPart, FinishReason, Usage } from "./decode.ts";

/** A whole answer. */
export type Answer = {
  /** What the model said, ready for a ledger. */
  readonly parts: readonly NewPart[];
  /** The bytes of files the model made, as base64 by hash. */
  readonly blobs: { readonly [hash: string]: string };
  readonly finish: FinishReason;
  readonly usage?: Usage;
  /** The model that answered, as the server calls it. */
  readonly model?: string;
  /** How many things in it had no place in a message. */
  readonly skipped: number;
};

/** Gathers the events of one answer. There is an answer only once `finish` was among them. */
export class AnswerBuilder {
  readonly #parts = new Map<number, AnswerPart>();
  readonly #texts = new Map<number, string>();
  #usage: Usage | undefined;
  #model: string | undefined;
  #finish: FinishReason | undefined;
  #skipped = 0;

  add(event: AnswerEvent): void {
    switch (event.type) {
      case "part-end":
        this.#parts.set(event.index, event.part);
        return;
      case "usage":
        this.#usage = event.usage;
        return;
      case "answering":
        this.#model = event.model ?? this.#model;
        return;
      case "finish":
        this.#finish = event.reason;
        return;
      case "skipped":
        this.#skipped += 1;
        return;
      case "text-delta":
        this.#texts.set(event.index, (this.#texts.get(event.index) ?? "") + event.text);
        return;
      case "thinking-delta":
      case "call-start":
      case "call-delta":
      case "problem":
      case "broken":
    }
  }

  /** What was said so far, for an answer that broke off: its words alone, since nothing else of it can be trusted. */
  get words(): string {
    return [...this.#texts]
      .toSorted(([one], [other]) => one - other)
      .map(([, text]) => text)
      .join("");
  }

  /** The answer, or undefined while it is not complete. */
  answer(): Answer | undefined {
    if (this.#finish === undefined) return undefined;
    const blobs: Record<string, string> = {};
    const inOrder = [...this.#parts].toSorted(([one], [other]) => one - other);
    return {
      parts: inOrder.map(([, part]) => stored(part, blobs)),
      blobs,
      finish: this.#finish,
      skipped: this.#skipped,
      ...(this.#usage === undefined ? {} : { usage: this.#usage }),
      ...(this.#model === undefined ? {} : { model: this.#model }),
    };
  }
}

const stored = (part: AnswerPart, blobs: Record<string, string>): NewPart => {
  if (part.type !== "file") return part;
  const { media, blob } = storeBase64(part.data, { mimeType: part.mimeType, kind: kindOf(part.mimeType) });
  blobs[blob.hash] = blob.base64;
  return media;
};
