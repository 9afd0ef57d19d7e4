import { isObject } from "../../conversation/json.ts";
import type { StreamFrame } from "../../wire/decode/events.ts";

/** Thrown when a stream violates its format. */
export class MalformedStreamError extends Error {}

/** Far more characters than any event of any API has. */
const maxEventSize = 2 ** 26;
const maxBodySize = 2 ** 28;

/** Parses the bytes of a stream into frames. */
export type FrameParser = {
  /** Returns the frames a chunk completes. */
  readonly push: (chunk: Uint8Array) => ParsedFrames;
  /** Returns the remaining frames at the end of the stream. */
  readonly end: () => ParsedFrames;
};

/** Parsed frames, and the error after them, if any: complete frames are decoded first, wherever the bytes were split. */
export type ParsedFrames = { readonly frames: readonly StreamFrame[]; readonly error?: unknown };

/** Collects frames until an error. */
const collectFrames = (work: (add: (frame: StreamFrame) => void) => void): ParsedFrames => {
  const frames: StreamFrame[] = [];
  try {
    work((frame) => void frames.push(frame));
    return { frames };
  } catch (error) {
    return { frames, error };
  }
};

/** Creates a parser of server-sent events (SSE) with JSON data. */
export const createSseParser = async (): Promise<FrameParser> => {
  const { createParser } = await import("eventsource-parser");
  const decoder = new TextDecoder();
  let add: (frame: StreamFrame) => void = () => undefined;
  let isOver = false;
  const parser = createParser({
    maxBufferSize: maxEventSize,
    onEvent: ({ event, data: rawData }) => {
      const data = rawData.trim();
      if (isOver && !isCompleteJson(data)) return;
      const frame = jsonFrame(event ?? "", data);
      if (frame !== undefined) add(frame);
    },
    onError: (error) => {
      if (error.type === "max-buffer-size-exceeded")
        throw new MalformedStreamError(`One event is longer than ${maxEventSize} characters.`);
      // llama.cpp reports errors in its own field: `error: {...}`.
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
    // Some servers omit the blank line after the last event; a cut stream ends within an event.
    end: () => {
      isOver = true;
      return feed("\n\n");
    },
  };
};

/** Parses the data of an event. Text that is no JSON becomes a frame with that text; malformed JSON is an error. */
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

/** Creates a parser of Amazon's binary event stream with JSON data. An exception becomes a frame with its name. */
export const createEventStreamParser = async (): Promise<FrameParser> => {
  const { EventStreamCodec } = await import("@smithy/eventstream-codec");
  const text = new TextDecoder();
  const codec = new EventStreamCodec(
    (bytes) => text.decode(typeof bytes === "string" ? new TextEncoder().encode(bytes) : bytes),
    (text) => new TextEncoder().encode(text),
  );
  const buffer = new ByteQueue();
  const frameOf = (message: Uint8Array): StreamFrame => {
    const { headers, body } = decodeMessage(() => codec.decode(message));
    const name = headers[":event-type"]?.value ?? headers[":exception-type"]?.value ?? headers[":error-code"]?.value;
    const json = text.decode(body);
    const errorMessage = headers[":error-message"]?.value;
    const data = json === "" ? (errorMessage === undefined ? {} : { message: errorMessage }) : parseFrameJson(json);
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

/** Creates a parser of a body that is one JSON text; it returns the frames that would have streamed it. */
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

/** A byte queue split into messages by their length prefix. */
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

  /** Returns the first chunk with at least `size` bytes. Joins all chunks at once, so that each byte is copied once per message. */
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
