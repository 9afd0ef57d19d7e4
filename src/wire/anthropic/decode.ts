import { isObject } from "../../conversation/json.ts";
import type { AnthropicDialect } from "./encode.ts";
import {
  chainStep,
  startBlock,
  parseBlockIndex,
  emptyTextBlock,
  emptyThinkingBlock,
  endBlock,
  finishResponse,
  initialBlockState,
  appendDeltas,
  type BlockStart,
  type BlockState,
  type BlockDelta,
} from "../decode/blocks.ts";
import {
  createStreamDecoder,
  toTokenCount,
  type ResponseEvent,
  type ResponseDecoder,
  type FinishReason,
  type StreamFold,
  type StreamFrame,
  type ApiError,
  type TokenUsage,
} from "../decode/events.ts";
import { fail, skip, shortName, endWith, type StepResult } from "../decode/fold.ts";
import { parseApiError } from "../decode/api-error.ts";
import { arrayOf, idOf, numberOf, objectOf, stringOf } from "../reader.ts";

/** Decodes Anthropic Messages responses. A stream is complete once `message_stop` was received. */
export const decodeAnthropic: ResponseDecoder<AnthropicDialect> = {
  open: () => createStreamDecoder(fold),
  frames: (body) => framesOfResponse(body),
  parseError: (body) => parseAnthropicError(body),
};

/** Keeps the usage so far: later counts may be partial. */
type AnthropicStreamState = BlockState<TokenUsage>;

const zeroUsage: TokenUsage = { input: 0, cachedRead: 0, cachedWrite: 0, output: 0, reasoning: 0 };

const fold: StreamFold<AnthropicStreamState> = {
  start: initialBlockState(zeroUsage),
  step: (state, frame) => step(state, frame),
  end: () => [],
};

const step = (state: AnthropicStreamState, { name, data }: StreamFrame): StepResult<AnthropicStreamState> => {
  const event = objectOf(data);
  const eventType = stringOf(event["type"]) ?? name;
  if (eventType === "ping") return [state, []];
  if (state.over) return skip(state, `${shortName(eventType)} after the end`);
  switch (eventType) {
    case "message_start":
      return onMessageStart(state, objectOf(event["message"]));
    case "content_block_start":
      return onBlockStart(state, parseBlockIndex(event["index"]), objectOf(event["content_block"]));
    case "content_block_delta":
      return appendDeltas(state, parseBlockIndex(event["index"]), [blockDeltaOf(objectOf(event["delta"]))]);
    case "content_block_stop":
      return endBlock(state, parseBlockIndex(event["index"]));
    case "message_delta":
      return onMessageDelta(state, event);
    case "message_stop":
      return finishResponse(state, finishReasons);
    default:
      return onOther(state, eventType, data);
  }
};

const onMessageStart = (
  state: AnthropicStreamState,
  message: Record<string, unknown>,
): StepResult<AnthropicStreamState> => {
  if (state.isStarted) return skip(state, "message_start, said twice");
  const { role, content } = message;
  if (role !== undefined && role !== "assistant") return fail(state, `The answer has the role ${shortName(role)}.`);
  const model = stringOf(message["model"]);
  const id = stringOf(message["id"]);
  const answering: ResponseEvent = {
    type: "response-start",
    ...(model === undefined ? {} : { model }),
    ...(id === undefined ? {} : { id }),
  };
  const result = withUsage(
    { ...state, isStarted: true },
    message["usage"],
    model === undefined && id === undefined ? [] : [answering],
  );
  return arrayOf(content).length === 0 ? result : chainStep(result, (now) => skip(now, "content in message_start"));
};

const onBlockStart = (
  state: AnthropicStreamState,
  at: number,
  block: Record<string, unknown>,
): StepResult<AnthropicStreamState> => {
  const result = startBlock(state, at, blockStartOf(block));
  return arrayOf(block["citations"]).length === 0 ? result : chainStep(result, (now) => skip(now, "citations"));
};

/** Parses a block start, with the content in it: in complete responses and on some gateways, all of it. */
const blockStartOf = (block: Record<string, unknown>): BlockStart => {
  switch (block["type"]) {
    case "thinking":
      return {
        ...emptyThinkingBlock,
        deltas: [
          { type: "thinking", text: stringOf(block["thinking"]) ?? "" },
          { type: "signature", text: stringOf(block["signature"]) ?? "" },
        ],
      };
    case "redacted_thinking": {
      const sealed = stringOf(block["data"]) ?? "";
      // Data that is not base64 is no seal.
      return /^[\w+/=-]+$/.test(sealed)
        ? { ...emptyThinkingBlock, deltas: [{ type: "encrypted", text: sealed }] }
        : untypedBlock(block);
    }
    case "tool_use": {
      const call = { type: "call", tool: stringOf(block["name"]) ?? "", id: idOf(block["id"]) } as const;
      return { draft: { ...call, given: block["input"] }, deltas: [] };
    }
    default:
      return untypedBlock(block);
  }
};

/** Reads a block of unknown type: text is kept, anything else (e.g. server tool results) is skipped. */
const untypedBlock = (block: Record<string, unknown>): BlockStart => {
  const text = stringOf(block["text"]);
  return text === undefined
    ? { draft: { type: "ignored", what: `${shortName(block["type"])} block` }, deltas: [] }
    : { ...emptyTextBlock, deltas: [{ type: "text", text }] };
};

const blockDeltaOf = (delta: Record<string, unknown>): BlockDelta => {
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
      return { type: "unknown", text: shortName(delta["type"]) };
  }
};

const onMessageDelta = (
  state: AnthropicStreamState,
  { delta, usage }: Record<string, unknown>,
): StepResult<AnthropicStreamState> => {
  const stop = stringOf(objectOf(delta)["stop_reason"]) ?? state.stopReason;
  return withUsage({ ...state, stopReason: stop }, usage, []);
};

const finishReasons: Readonly<Record<string, FinishReason>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  tool_use: "calls",
  max_tokens: "length",
  model_context_window_exceeded: "context",
  pause_turn: "paused",
  refusal: "refused",
};

/** Handles other frames. Not every gateway uses the right name for errors. */
const onOther = (state: AnthropicStreamState, eventType: string, data: unknown): StepResult<AnthropicStreamState> => {
  const { error } = objectOf(data);
  if (eventType !== "error" && (error === undefined || error === null))
    return skip(state, `${shortName(eventType)} frame`);
  const apiError = parseAnthropicError(data) ?? { message: "The server reported an error and said nothing about it." };
  return endWith(state, { type: "error", error: apiError });
};

/** Parses an error: a broad name, and on newer errors a more specific one in the details. */
const parseAnthropicError = (body: unknown): ApiError | undefined => {
  const apiError = parseApiError(body);
  const specific = stringOf(objectOf(objectOf(objectOf(body)["error"])["details"])["error_code"]);
  if (apiError === undefined || specific === undefined) return apiError;
  return { ...apiError, reasons: [specific, ...(apiError.reasons ?? [])] };
};

const withUsage = (
  state: AnthropicStreamState,
  counts: unknown,
  before: readonly ResponseEvent[],
): StepResult<AnthropicStreamState> => {
  if (!isObject(counts)) return [state, before];
  const usage = mergeUsage(state.familyState, counts);
  return [{ ...state, familyState: usage }, [...before, { type: "usage", usage }]];
};

/**
 * Merges usage counts: each is a total so far, and missing fields keep their value. Gateways that cannot count yet report
 * 0 for the whole prompt, which is ignored.
 */
const mergeUsage = (previous: TokenUsage, counts: Record<string, unknown>): TokenUsage => {
  const uncachedTokens = numberOf(counts["input_tokens"]);
  const cacheRead = numberOf(counts["cache_read_input_tokens"]);
  const cacheWritten = numberOf(counts["cache_creation_input_tokens"]) ?? sumCacheCreation(counts["cache_creation"]);
  const hasCounts = toTokenCount(uncachedTokens) + toTokenCount(cacheRead) + toTokenCount(cacheWritten) > 0;
  const cachedRead = hasCounts && cacheRead !== undefined ? toTokenCount(cacheRead) : previous.cachedRead;
  const cachedWrite = hasCounts && cacheWritten !== undefined ? toTokenCount(cacheWritten) : previous.cachedWrite;
  const uncached =
    hasCounts && uncachedTokens !== undefined
      ? toTokenCount(uncachedTokens)
      : previous.input - previous.cachedRead - previous.cachedWrite;
  const output = Math.max(previous.output, toTokenCount(counts["output_tokens"]));
  const reasoning = toTokenCount(objectOf(counts["output_tokens_details"])["thinking_tokens"]);
  return {
    input: uncached + cachedRead + cachedWrite,
    cachedRead,
    cachedWrite,
    output,
    reasoning: Math.min(output, Math.max(previous.reasoning, reasoning)),
  };
};

/** Sums the tokens written to the prompt cache where they are reported only by TTL. */
const sumCacheCreation = (creation: unknown): number | undefined => {
  const counts = Object.values(objectOf(creation));
  return counts.length === 0 ? undefined : counts.reduce<number>((sum, count) => sum + toTokenCount(count), 0);
};

const framesOfResponse = (body: unknown): readonly StreamFrame[] => {
  const { content, stop_reason, usage, ...message } = objectOf(body);
  const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content;
  if (!Array.isArray(blocks)) return [{ name: parseAnthropicError(body) === undefined ? "" : "error", data: body }];
  const event = (type: string, fields: Record<string, unknown>): StreamFrame => ({
    name: type,
    data: { ...fields, type },
  });
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
