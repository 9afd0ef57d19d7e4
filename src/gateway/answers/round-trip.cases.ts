import type { NewCall } from "../../conversation/ledger.ts";
import type { Seal, Thinking } from "../../conversation/parts.ts";
import { destinationOf } from "../../providers/find.ts";
import { createSseParser } from "../../transport/stream/frames.ts";
import type { ContentEvent } from "../../transport/events.ts";
import type { ResponseEvent, ResponsePart, StreamFrame } from "../../wire/decode/events.ts";
import { fc } from "../../../test/support/fast-check.ts";
import type { AnswerContext, AnswerOptions, InboundApi, SealCargo } from "./answer.ts";
import { answerEncoders } from "./encoders.ts";

/** A model whose decoder reads the answers of an inbound API. */
export const readers: { readonly [api in InboundApi]: string } = {
  anthropic: "anthropic/claude-opus-5",
  "openai-chat": "deepseek/deepseek-v4-pro",
  "openai-responses": "openai/gpt-5.6",
  gemini: "google/gemini-3.1-pro-preview",
};

export const inboundApis = Object.keys(readers) as readonly InboundApi[];

/** Describes an exchange whose seals are wrapped as readable JSON in base64. */
export const contextFor = (options: Partial<AnswerOptions> = {}): AnswerContext => ({
  model: "the-model-asked-for",
  id: "0123456789abcdefghijkl",
  created: 1_700_000_000,
  wrapSeal: (cargo) => Buffer.from(JSON.stringify(cargo)).toString("base64"),
  options: { thinking: "shown", includeUsage: true, ...options },
});

/** Unwraps a seal that `contextFor` wrapped. */
export const unwrapCargo = (field: string | undefined): SealCargo =>
  field === undefined ? {} : (JSON.parse(Buffer.from(field, "base64").toString()) as SealCargo);

/** Encodes events as a stream, in one text. */
export const encodeStream = (
  api: InboundApi,
  events: readonly ContentEvent[],
  context: AnswerContext = contextFor(),
): string => {
  const stream = answerEncoders[api].openStream(context);
  return events.map((event) => stream.push(event)).join("") + stream.end();
};

/** Decodes a stream whose bytes arrive in chunks of `size`. */
export const decodeStream = async (
  api: InboundApi,
  text: string,
  size = 1_000_000,
): Promise<readonly ResponseEvent[]> => {
  const parser = await createSseParser();
  const bytes = Buffer.from(text);
  const frames: StreamFrame[] = [];
  for (let at = 0; at < bytes.length; at += size) frames.push(...parser.push(bytes.subarray(at, at + size)).frames);
  frames.push(...parser.end().frames);
  return decodeFrames(api, frames);
};

/** Decodes a complete answer. */
export const decodeComplete = (api: InboundApi, body: unknown): readonly ResponseEvent[] =>
  decodeFrames(api, destinationOf(readers[api]).wire.decode.frames(body));

const decodeFrames = (api: InboundApi, frames: readonly StreamFrame[]): readonly ResponseEvent[] => {
  const decoder = destinationOf(readers[api]).wire.decode.open();
  return [...frames.flatMap((frame) => decoder.step(frame)), ...decoder.end()];
};

/** A part as every API can carry it: without ids, arguments as a value, neighbouring texts joined. */
export type BarePart = { readonly type: string; readonly [field: string]: unknown };

/** Reduces parts to what every API can carry. Empty thinking, which carries seals, is left out. */
export const bareParts = (parts: readonly ResponsePart[]): readonly BarePart[] => {
  const bare: BarePart[] = [];
  for (const part of parts) {
    const last = bare.at(-1);
    if (part.type === "text" || part.type === "thinking") {
      if (part.text === "") continue;
      if (last?.type === part.type) bare[bare.length - 1] = { ...last, text: `${String(last["text"])}${part.text}` };
      else bare.push({ type: part.type, text: part.text });
    } else if (part.type === "call") bare.push({ type: "call", tool: part.tool, input: inputValue(part) });
    else bare.push({ ...part });
  }
  return bare;
};

const inputValue = ({ input }: NewCall): unknown => ("text" in input ? JSON.parse(input.text || "{}") : input.value);

/** The parts that ended, in the order they started. */
export const partsIn = (events: readonly ResponseEvent[]): readonly ResponsePart[] =>
  events
    .flatMap((event) => (event.type === "part-end" ? [event] : []))
    .toSorted((one, other) => one.index - other.index)
    .map(({ part }) => part);

const someText = fc.string({ unit: "grapheme", minLength: 1, maxLength: 40 });
const seal: fc.Arbitrary<Seal> = fc.oneof(
  fc.record({ signature: fc.base64String({ minLength: 4, maxLength: 40 }) }),
  fc.record({ encrypted: fc.base64String({ minLength: 4, maxLength: 40 }), item: fc.constant("rs_1") }),
);

const thinking: fc.Arbitrary<Thinking> = fc.oneof(
  fc.record({ type: fc.constant("thinking" as const), text: someText }),
  fc.record({ type: fc.constant("thinking" as const), text: someText, seal }),
);
const call: fc.Arbitrary<NewCall> = fc.record({
  type: fc.constant("call" as const),
  tool: fc.constantFrom("read_file", "run_shell_command", "list"),
  input: fc
    .dictionary(fc.constantFrom("path", "n", "list"), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 })
    .map((value) => ({ text: JSON.stringify(value) })),
  seal: fc.oneof(
    fc.record({ id: fc.constantFrom("call_0", "toolu_01ABCDEFGHIJKLMNOPQRSTUV") }),
    fc.record({ signature: fc.base64String({ minLength: 8, maxLength: 30 }) }),
  ),
});
const plainText = fc.record({ type: fc.constant("text" as const), text: someText });

/** Turns: some thinking, text and calls, in any order. */
export const someParts: fc.Arbitrary<readonly (ResponsePart & { type: "text" | "thinking" | "call" })[]> = fc.array(
  fc.oneof(thinking, plainText, call),
  { maxLength: 6 },
);

/** Splits text into pieces at the places that random numbers choose. */
const split = (text: string, numbers: readonly number[]): readonly string[] => {
  const letters = Array.from(text);
  const pieces: string[] = [];
  for (let at = 0, turn = 0; at < letters.length; turn += 1) {
    const size = 1 + ((numbers[turn % Math.max(1, numbers.length)] ?? 3) % 7);
    pieces.push(letters.slice(at, at + size).join(""));
    at += size;
  }
  return pieces;
};

/** Streams parts as a target does. Neighbouring calls grow together and end last, if `isParallel`. */
export const eventsFor = (
  parts: readonly ResponsePart[],
  { numbers, isParallel }: { readonly numbers: readonly number[]; readonly isParallel: boolean },
): readonly ContentEvent[] => {
  const events: ContentEvent[] = [{ type: "response-start", model: "target", id: "r1" }];
  const ends: ContentEvent[] = [];
  const queues: ContentEvent[][] = [];
  parts.forEach((part, index) => {
    const end: ContentEvent = { type: "part-end", index, part };
    if (part.type === "call") {
      const id = part.seal?.id;
      const text = "text" in part.input ? part.input.text : "";
      // A call with a signature comes whole.
      const pieces = part.seal?.signature === undefined ? split(text, numbers) : [];
      const start: ContentEvent = { type: "call-start", index, tool: part.tool, ...(id === undefined ? {} : { id }) };
      const deltas = pieces.map((piece): ContentEvent => ({ type: "call-delta", index, text: piece }));
      if (!isParallel) events.push(start, ...deltas, end);
      else if (pieces.length === 0) queues.push([start, end]);
      else {
        queues.push([start, ...deltas]);
        ends.push(end);
      }
      return;
    }
    flush(queues, events);
    if (part.type === "text" || part.type === "thinking")
      for (const text of split(part.text, numbers)) events.push({ type: `${part.type}-delta`, index, text });
    events.push(end);
  });
  flush(queues, events);
  const reason = parts.some(({ type }) => type === "call") ? "calls" : "stop";
  return [...events, ...ends, { type: "usage", usage: someUsage }, { type: "finish", reason }];
};

/** Takes one event of each queue in turn. */
const flush = (queues: ContentEvent[][], events: ContentEvent[]): void => {
  while (queues.some((queue) => queue.length > 0))
    for (const queue of queues) {
      const event = queue.shift();
      if (event !== undefined) events.push(event);
    }
  queues.length = 0;
};

export const someUsage = { input: 1200, cachedRead: 1000, cachedWrite: 150, output: 80, reasoning: 30 };
