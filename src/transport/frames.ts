import { isObject } from "../conversation/json.ts";
import type { Frame } from "../wire/decode.ts";

/** The stream is not what its API sends: `what` says why. */
export class MalformedStream extends Error {}

/** No single event of any API comes near this many characters. */
const longestEvent = 2 ** 26;
const longestBody = 2 ** 28;

/** Turns the bytes of a stream into frames. */
export type Framing = {
  /** As many as a chunk completes. */
  readonly push: (chunk: Uint8Array) => Framed;
  /** What is left where the stream ends. */
  readonly end: () => Framed;
};

/** Frames, and what is wrong with the bytes behind them: what was whole before is told first, however the bytes were cut. */
export type Framed = { readonly frames: readonly Frame[]; readonly trouble?: unknown };

/** Has frames put together one by one. */
const framed = (work: (add: (frame: Frame) => void) => void): Framed => {
  const frames: Frame[] = [];
  try {
    work((frame) => void frames.push(frame));
    return { frames };
  } catch (trouble) {
    return { frames, trouble };
  }
};

/** Server-sent events with JSON in them. */
export const sseFraming = async (): Promise<Framing> => {
  const { createParser } = await import("eventsource-parser");
  const decoder = new TextDecoder();
  let add: (frame: Frame) => void = () => undefined;
  let isOver = false;
  const parser = createParser({
    maxBufferSize: longestEvent,
    onEvent: ({ event, data: given }) => {
      const data = given.trim();
      if (isOver && !isWhole(data)) return;
      const frame = jsonFrame(event ?? "", data);
      if (frame !== undefined) add(frame);
    },
    onError: (error) => {
      if (error.type === "max-buffer-size-exceeded")
        throw new MalformedStream(`One event is longer than ${longestEvent} characters.`);
      // llama.cpp reports an error in a field of its own: `error: {...}`.
      if (error.type === "unknown-field" && error.field === "error") add(errorFrame(error.value ?? ""));
    },
  });
  const feed = (text: string): Framed =>
    framed((each) => {
      add = each;
      parser.feed(text);
    });
  return {
    push: (chunk) => feed(decoder.decode(chunk, { stream: true })),
    // Some servers leave out the blank line that ends the last event; a cut stream ends within one.
    end: () => {
      isOver = true;
      return feed("\n\n");
    },
  };
};

/** What is no JSON object is none of our business, except that a broken one is. */
const jsonFrame = (name: string, data: string): Frame | undefined => {
  const first = data.charCodeAt(0);
  if (first !== openBrace && first !== openBracket)
    return data.trim() === "" ? undefined : { name: name === "" ? "text" : name, data };
  if (data === "[DONE]") return { name: data, data: undefined };
  return { name, data: parsed(data) };
};

const errorFrame = (value: string): Frame => {
  const error: unknown = isWhole(value) ? JSON.parse(value) : { message: value };
  return { name: "error", data: isObject(error) && "error" in error ? error : { error } };
};

const isWhole = (data: string): boolean => {
  try {
    return data === "[DONE]" || typeof JSON.parse(data) === "object";
  } catch {
    return false;
  }
};

const openBrace = 0x7b;
const openBracket = 0x5b;

const parsed = (json: string, what = "An event"): unknown => {
  try {
    return JSON.parse(json);
  } catch {
    throw new MalformedStream(`${what} holds no valid JSON: ${json.slice(0, 80)}`);
  }
};

/** Amazon's binary event stream with JSON in it. An exception is a frame with its name. */
export const eventStreamFraming = async (): Promise<Framing> => {
  const { EventStreamCodec } = await import("@smithy/eventstream-codec");
  const text = new TextDecoder();
  const codec = new EventStreamCodec(
    (bytes) => text.decode(typeof bytes === "string" ? new TextEncoder().encode(bytes) : bytes),
    (words) => new TextEncoder().encode(words),
  );
  const buffer = new ByteQueue();
  const frameOf = (message: Uint8Array): Frame => {
    const { headers, body } = decoded(() => codec.decode(message));
    const name = headers[":event-type"]?.value ?? headers[":exception-type"]?.value ?? headers[":error-code"]?.value;
    const words = text.decode(body);
    const said = headers[":error-message"]?.value;
    const data = words === "" ? (said === undefined ? {} : { message: said }) : parsed(words);
    return { name: String(name ?? ""), data };
  };
  return {
    push: (chunk) =>
      framed((add) => {
        buffer.push(chunk);
        for (let message = buffer.message(); message !== undefined; message = buffer.message()) add(frameOf(message));
      }),
    end: () => ({ frames: [] }),
  };
};

/** A body that is one JSON text, as the frames that would have streamed it. */
export const wholeFraming = (frames: (body: unknown) => readonly Frame[]): Framing => {
  const decoder = new TextDecoder();
  let text = "";
  return {
    push: (chunk) =>
      framed(() => {
        text += decoder.decode(chunk, { stream: true });
        if (text.length > longestBody) throw new MalformedStream(`The body is longer than ${longestBody} characters.`);
      }),
    end: () => framed((add) => frames(parsed(text, "The body")).forEach(add)),
  };
};

const decoded = <Result>(work: () => Result): Result => {
  try {
    return work();
  } catch (error) {
    throw new MalformedStream(`A message of the event stream is damaged: ${String(error)}`);
  }
};

/** Bytes in the order they came, cut into messages by the length each begins with. */
class ByteQueue {
  #chunks: Uint8Array[] = [];
  #length = 0;

  push(chunk: Uint8Array): void {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
  }

  message(): Uint8Array | undefined {
    if (this.#length < 4) return undefined;
    const first = this.#joined(4);
    const size = new DataView(first.buffer, first.byteOffset, 4).getUint32(0);
    if (size < 16 || size > longestEvent) throw new MalformedStream(`A message claims to be ${size} bytes long.`);
    if (this.#length < size) return undefined;
    const whole = this.#joined(size);
    this.#chunks[0] = whole.subarray(size);
    this.#length -= size;
    return whole.subarray(0, size);
  }

  /** The first chunk, made at least `size` bytes long. Joins all chunks at once, so that each byte is copied once per message. */
  #joined(size: number): Uint8Array {
    const [first] = this.#chunks;
    if (first !== undefined && first.length >= size) return first;
    const all = new Uint8Array(this.#length);
    let at = 0;
    for (const chunk of this.#chunks) {
      all.set(chunk, at);
      at += chunk.length;
    }
    this.#chunks = [all];
    return all;
  }
}
