import { isObject } from "../conversation/json.ts";
import type { AnthropicDialect } from "./anthropic.ts";
import {
  after,
  begin,
  blockNumber,
  emptyText,
  emptyThinking,
  end,
  finish,
  noBlocks,
  say,
  type Beginning,
  type Blocks,
  type Piece,
} from "./blocks.ts";
import {
  decoding,
  tokens,
  type AnswerEvent,
  type Decode,
  type FinishReason,
  type Fold,
  type Frame,
  type Problem,
  type Usage,
} from "./decode.ts";
import { breakOff, passOver, shortWord, stopWith, type Told } from "./fold.ts";
import { problemOf } from "./problem.ts";
import { arrayOf, idOf, numberOf, objectOf, stringOf } from "./reader.ts";

/** How Anthropic Messages answers. A stream is whole when `message_stop` has come, not before. */
export const decodeAnthropic: Decode<AnthropicDialect> = {
  open: () => decoding(fold),
  frames: (body) => framesOf(body),
  problem: (body) => anthropicProblem(body),
};

/** What was used is kept: later counts may be partial. */
type State = Blocks<Usage>;

const nothingUsed: Usage = { input: 0, cachedRead: 0, cachedWrite: 0, output: 0, reasoning: 0 };

const fold: Fold<State> = {
  start: noBlocks(nothingUsed),
  step: (state, frame) => step(state, frame),
  end: () => [],
};

const step = (state: State, { name, data }: Frame): Told<State> => {
  const event = objectOf(data);
  const kind = stringOf(event["type"]) ?? name;
  if (kind === "ping") return [state, []];
  if (state.over) return passOver(state, `${shortWord(kind)} after the end`);
  switch (kind) {
    case "message_start":
      return onMessageStart(state, objectOf(event["message"]));
    case "content_block_start":
      return onBlockStart(state, blockNumber(event["index"]), objectOf(event["content_block"]));
    case "content_block_delta":
      return say(state, blockNumber(event["index"]), [pieceOf(objectOf(event["delta"]))]);
    case "content_block_stop":
      return end(state, blockNumber(event["index"]));
    case "message_delta":
      return onMessageDelta(state, event);
    case "message_stop":
      return finish(state, reasons);
    default:
      return onOther(state, kind, data);
  }
};

const onMessageStart = (state: State, message: Record<string, unknown>): Told<State> => {
  if (state.begun) return passOver(state, "message_start, said twice");
  const { role, content } = message;
  if (role !== undefined && role !== "assistant") return breakOff(state, `The answer has the role ${shortWord(role)}.`);
  const model = stringOf(message["model"]);
  const id = stringOf(message["id"]);
  const answering: AnswerEvent = {
    type: "answering",
    ...(model === undefined ? {} : { model }),
    ...(id === undefined ? {} : { id }),
  };
  const told = withUsage(
    { ...state, begun: true },
    message["usage"],
    model === undefined && id === undefined ? [] : [answering],
  );
  return arrayOf(content).length === 0 ? told : after(told, (now) => passOver(now, "content in message_start"));
};

const onBlockStart = (state: State, at: number, block: Record<string, unknown>): Told<State> => {
  const told = begin(state, at, beginning(block));
  return arrayOf(block["citations"]).length === 0 ? told : after(told, (now) => passOver(now, "citations"));
};

/** What a block is, and what of it has come with its start: in whole answers and on some gateways, all of it. */
const beginning = (block: Record<string, unknown>): Beginning => {
  switch (block["type"]) {
    case "thinking":
      return {
        ...emptyThinking,
        pieces: [
          { type: "thinking", text: stringOf(block["thinking"]) ?? "" },
          { type: "signature", text: stringOf(block["signature"]) ?? "" },
        ],
      };
    case "redacted_thinking": {
      const sealed = stringOf(block["data"]) ?? "";
      // What is not base64 was never sealed by anyone.
      return /^[\w+/=-]+$/.test(sealed)
        ? { ...emptyThinking, pieces: [{ type: "encrypted", text: sealed }] }
        : untyped(block);
    }
    case "tool_use": {
      const call = { type: "call", tool: stringOf(block["name"]) ?? "", id: idOf(block["id"]) } as const;
      return { draft: { ...call, given: block["input"] }, pieces: [] };
    }
    default:
      return untyped(block);
  }
};

/** Words are words, whatever they are called; the tools a server runs by itself have no place in a message. */
const untyped = (block: Record<string, unknown>): Beginning => {
  const text = stringOf(block["text"]);
  return text === undefined
    ? { draft: { type: "ignored", what: `${shortWord(block["type"])} block` }, pieces: [] }
    : { ...emptyText, pieces: [{ type: "text", text }] };
};

const pieceOf = (delta: Record<string, unknown>): Piece => {
  switch (delta["type"]) {
    case "text_delta":
      return { type: "text", text: stringOf(delta["text"]) ?? "" };
    case "thinking_delta":
      return { type: "thinking", text: stringOf(delta["thinking"]) ?? "" };
    case "signature_delta":
      return { type: "signature", text: stringOf(delta["signature"]) ?? "" };
    case "input_json_delta":
      return { type: "call", text: stringOf(delta["partial_json"]) ?? "" };
    default:
      return { type: "unknown", text: shortWord(delta["type"]) };
  }
};

const onMessageDelta = (state: State, { delta, usage }: Record<string, unknown>): Told<State> => {
  const stop = stringOf(objectOf(delta)["stop_reason"]) ?? state.stop;
  return withUsage({ ...state, stop }, usage, []);
};

const reasons: Readonly<Record<string, FinishReason>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  tool_use: "calls",
  max_tokens: "length",
  model_context_window_exceeded: "context",
  pause_turn: "paused",
  refusal: "refused",
};

/** Not every gateway gives its errors the right name. */
const onOther = (state: State, kind: string, data: unknown): Told<State> => {
  const { error } = objectOf(data);
  if (kind !== "error" && (error === undefined || error === null)) return passOver(state, `${shortWord(kind)} frame`);
  const problem = anthropicProblem(data) ?? { message: "The server reported an error and said nothing about it." };
  return stopWith(state, { type: "problem", problem });
};

/** A broad name, and on newer errors a finer one in the details. */
const anthropicProblem = (body: unknown): Problem | undefined => {
  const problem = problemOf(body);
  const finer = stringOf(objectOf(objectOf(objectOf(body)["error"])["details"])["error_code"]);
  if (problem === undefined || finer === undefined) return problem;
  return { ...problem, reasons: [finer, ...(problem.reasons ?? [])] };
};

const withUsage = (state: State, counts: unknown, before: readonly AnswerEvent[]): Told<State> => {
  if (!isObject(counts)) return [state, before];
  const usage = counted(state.own, counts);
  return [{ ...state, own: usage }, [...before, { type: "usage", usage }]];
};

/**
 * Every count is of everything so far, and what is not said stays as it was.
 * Gateways that cannot count yet say 0 of the whole prompt; that is no news.
 */
const counted = (earlier: Usage, counts: Record<string, unknown>): Usage => {
  const fresh = numberOf(counts["input_tokens"]);
  const read = numberOf(counts["cache_read_input_tokens"]);
  const written = numberOf(counts["cache_creation_input_tokens"]) ?? sumOf(counts["cache_creation"]);
  const isNews = tokens(fresh) + tokens(read) + tokens(written) > 0;
  const cachedRead = isNews && read !== undefined ? tokens(read) : earlier.cachedRead;
  const cachedWrite = isNews && written !== undefined ? tokens(written) : earlier.cachedWrite;
  const uncached =
    isNews && fresh !== undefined ? tokens(fresh) : earlier.input - earlier.cachedRead - earlier.cachedWrite;
  const output = Math.max(earlier.output, tokens(counts["output_tokens"]));
  const reasoning = tokens(objectOf(counts["output_tokens_details"])["thinking_tokens"]);
  return {
    input: uncached + cachedRead + cachedWrite,
    cachedRead,
    cachedWrite,
    output,
    reasoning: Math.min(output, Math.max(earlier.reasoning, reasoning)),
  };
};

/** What was written to the cache, where it is told only by how long it is kept. */
const sumOf = (creation: unknown): number | undefined => {
  const counts = Object.values(objectOf(creation));
  return counts.length === 0 ? undefined : counts.reduce<number>((sum, count) => sum + tokens(count), 0);
};

const framesOf = (body: unknown): readonly Frame[] => {
  const { content, stop_reason, usage, ...message } = objectOf(body);
  const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content;
  if (!Array.isArray(blocks)) return [{ name: anthropicProblem(body) === undefined ? "" : "error", data: body }];
  const event = (type: string, fields: Record<string, unknown>): Frame => ({ name: type, data: { ...fields, type } });
  return [
    event("message_start", { message }),
    ...blocks.flatMap((block: unknown, index) => [
      event("content_block_start", {
        index,
        content_block: typeof block === "string" ? { type: "text", text: block } : block,
      }),
      event("content_block_stop", { index }),
    ]),
    event("message_delta", { delta: { stop_reason }, usage }),
    event("message_stop", {}),
  ];
};
