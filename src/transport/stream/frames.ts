import { isObject } from "../../conversation/json.ts";
import type { StreamFrame } from "../../wire/decode/events.ts";

/** The stream is not what its API sends: `what` says why. */
export class MalformedStreamError extends Error {}

/** No single event of any API comes near this many characters. */
const maxEventSize = 2 ** 26;
const maxBodySize = 2 ** 28;

/** Turns the bytes of a stream into frames. */
export type FrameParser = {
  /** As many as a chunk completes. */
  readonly push: (chunk: Uint8Array) => ParsedFrames;
  /** What is left where the stream ends. */
  readonly end: () => ParsedFrames;
};

/** Frames, and what is wrong with the bytes behind them: what was whole before is told first, however the bytes were cut. */
export type ParsedFrames = { readonly frames: readonly StreamFrame[]; readonly error?: unknown };

/** Has frames put together one by one. */
const collectFrames = (work: (add: (frame: StreamFrame) => void) => void): ParsedFrames => {
  const frames: StreamFrame[] = [];
  try {
    work((frame) => void frames.push(frame));
    return { frames };
  } catch (trouble) {
    return { frames, error: trouble };
  }
};

/** Server-sent events with JSON in them. */
export const createSseParser = async (): Promise<FrameParser> => {
  const { createParser } = await import("eventsource-parser");
  const decoder = new TextDecoder();
  let add: (frame: StreamFrame) => void = () => undefined;
  let isOver = false;
  const parser = createParser({
    maxBufferSize: maxEventSize,
    onEvent: ({ event, data: given }) => {
      const data = given.trim();
      if (isOver && !isCompleteJson(data)) return;
      const frame = jsonFrame(event ?? "", data);
      if (frame !== undefined) add(frame);
    },
    onError: (error) => {
      if (error.type === "max-buffer-size-exceeded")
        throw new MalformedStreamError(`One event is longer than ${maxEventSize} characters.`);
      // llama.cpp reports an error in a field of its own: `error: {...}`.
      if (error.type === "unknown-field" && error.field === "error") add(errorFrame(error.value ?? ""));
    },
  });
  const feed = (text: string): ParsedFrames =>
    collectFrames((each) => {
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
const jsonFrame = (name: string, data: string): StreamFrame | undefined => {
  const first = data.charCodeAt(0);
  if (first !== openBrace && first !== openBracket)
    return data.trim() === "" ? undefined : { name: name === "" ? "text" : name, data };
  if (data === "[DONE]") return { name: data, data: undefined };
  return { name, data: parseFrameJson(data) };
};

const errorFrame = (value: string): StreamFrame => {
  const error: unknown = isCompleteJson(value) ? JSON.parse(value) : { message: value };
  return { name: "error", data: isObject(error) && "error" in error ? error : { error } };
};

const isCompleteJson = (data: string): boolean => {
  try {
    return data === "[DONE]" || typeof JSON.parse(data) === "object";
  } catch {
    return false;
  }
};

const openBrace = 0x7b;
const openBracket = 0x5b;

const parseFrameJson = (json: string, what = "An event"): unknown => {
  try {
    return JSON.parse(json);
  } catch {
    throw new MalformedStreamError(`${what} holds no valid JSON: ${json.slice(0, 80)}`);
  }
};

/** Amazon's binary event stream with JSON in it. An exception is a frame with its name. */
export const createEventStreamParser = async (): Promise<FrameParser> => {
  const { EventStreamCodec } = await import("@smithy/eventstream-codec");
  const text = new TextDecoder();
  const codec = new EventStreamCodec(
    (bytes) => text.decode(typeof bytes === "string" ? new TextEncoder().encode(bytes) : bytes),
    (words) => new TextEncoder().encode(words),
  );
  const buffer = new ByteQueue();
  const frameOf = (message: Uint8Array): StreamFrame => {
    const { headers, body } = decodeMessage(() => codec.decode(message));
    const name = headers[":event-type"]?.value ?? headers[":exception-type"]?.value ?? headers[":error-code"]?.value;
    const words = text.decode(body);
    const said = headers[":error-message"]?.value;
    const data = words === "" ? (said === undefined ? {} : { message: said }) : parseFrameJson(words);
    return { name: String(name ?? ""), data };
  };
  return {
    push: (chunk) =>
      collectFrames((add) => {
        buffer.push(chunk);
        for (let message = buffer.message(); message !== undefined; message = buffer.message()) add(frameOf(message));
      }),
    end: () => ({ frames: [] }),
  };
};

/** A body that is one JSON text, as the frames that would have streamed it. */
export const createJsonBodyParser = (frames: (body: unknown) => readonly StreamFrame[]): FrameParser => {
  const decoder = new TextDecoder();
  let text = "";
  return {
    push: (chunk) =>
      collectFrames(() => {
        text += decoder.decode(chunk, { stream: true });
        if (text.length > maxBodySize)
          throw new MalformedStreamError(`The body is longer than ${maxBodySize} characters.`);
      }),
    end: () => collectFrames((add) => frames(parseFrameJson(text, "The body")).forEach(add)),
  };
};

const decodeMessage = <Result>(work: () => Result): Result => {
  try {
    return work();
  } catch (error) {
    throw new MalformedStreamError(`A message of the event stream is damaged: ${String(error)}`);
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
    if (size < 16 || size > maxEventSize) throw new MalformedStreamError(`A message claims to be ${size} bytes long.`);
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
