import type { NewPart } from "../../conversation/ledger.ts";
import { mediaKindOf, storeBase64 } from "../../conversation/media.ts";
import type { ResponseEvent, ResponsePart, FinishReason, TokenUsage } from "./events.ts";

/** A complete response. */
export type DecodedResponse = {
  /** The parts of the model message, ready for a ledger. */
  readonly parts: readonly NewPart[];
  /** The bytes of files the model generated, as base64 by hash. */
  readonly blobs: { readonly [hash: string]: string };
  readonly finish: FinishReason;
  readonly usage?: TokenUsage;
  /** The responding model, as the server names it. */
  readonly model?: string;
  /** How many pieces could not be represented in a conversation. */
  readonly skipped: number;
};

/** Collects the events of one response. The response is complete once a `finish` was among them. */
export class ResponseBuilder {
  readonly #parts = new Map<number, ResponsePart>();
  readonly #texts = new Map<number, string>();
  #usage: TokenUsage | undefined;
  #model: string | undefined;
  #finish: FinishReason | undefined;
  #skipped = 0;

  add(event: ResponseEvent): void {
    switch (event.type) {
      case "part-end":
        this.#parts.set(event.index, event.part);
        return;
      case "usage":
        this.#usage = event.usage;
        return;
      case "response-start":
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
      case "error":
      case "malformed":
    }
  }

  /** The text received so far, for an interrupted response: nothing but its text can be trusted. */
  get partialText(): string {
    return [...this.#texts]
      .toSorted(([one], [other]) => one - other)
      .map(([, text]) => text)
      .join("");
  }

  /** Returns the response; undefined while it is not complete. */
  build(): DecodedResponse | undefined {
    if (this.#finish === undefined) return undefined;
    const blobs: Record<string, string> = {};
    const inOrder = [...this.#parts].toSorted(([one], [other]) => one - other);
    return {
      parts: inOrder.map(([, part]) => storeFile(part, blobs)),
      blobs,
      finish: this.#finish,
      skipped: this.#skipped,
      ...(this.#usage === undefined ? {} : { usage: this.#usage }),
      ...(this.#model === undefined ? {} : { model: this.#model }),
    };
  }
}

const storeFile = (part: ResponsePart, blobs: Record<string, string>): NewPart => {
  if (part.type !== "file") return part;
  const { media, blob } = storeBase64(part.data, { mimeType: part.mimeType, kind: mediaKindOf(part.mimeType) });
  blobs[blob.hash] = blob.base64;
  return media;
};
