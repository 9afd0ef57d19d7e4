import { createJsonBodyParser, createSseParser, type FrameParser } from "../../transport/stream/frames.ts";
import type { BoundWire } from "../../wire/bind.ts";
import type { StreamDecoder, TokenUsage } from "../../wire/decode/events.ts";

/** Reads the token usage of a response that passes through, while it passes. */
export class UsageTap {
  readonly #parser: FrameParser;
  readonly #decoder: StreamDecoder;
  #usage: TokenUsage | undefined;
  #isBroken = false;

  private constructor(parser: FrameParser, decoder: StreamDecoder) {
    this.#parser = parser;
    this.#decoder = decoder;
  }

  static async open(wire: BoundWire, contentType: string): Promise<UsageTap> {
    const isJson = contentType.startsWith("application/json");
    const parser = isJson ? createJsonBodyParser(wire.decode.frames) : await createSseParser();
    return new UsageTap(parser, wire.decode.open());
  }

  push(chunk: Uint8Array): void {
    this.#read(() => this.#parser.push(chunk));
  }

  end(): TokenUsage | undefined {
    this.#read(() => this.#parser.end());
    return this.#usage;
  }

  /** The usage of a response that cannot be decoded is unknown; that does not concern the client. */
  #read(parse: () => ReturnType<FrameParser["push"]>): void {
    if (this.#isBroken) return;
    try {
      for (const frame of parse().frames)
        for (const event of this.#decoder.step(frame)) if (event.type === "usage") this.#usage = event.usage;
    } catch {
      this.#isBroken = true;
    }
  }
}
