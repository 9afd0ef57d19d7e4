import { inputObject, parseCallInput } from "../../conversation/call-input.ts";
import type { JsonObject } from "../../conversation/json.ts";
import type { ContentEvent } from "../../transport/events.ts";
import type { FinishReason, TokenUsage } from "../../wire/decode/events.ts";
import type { AnswerContext, AnswerEncoder, AnswerStream } from "./answer.ts";
import { anthropicError } from "./errors.ts";
import { createSequencer, type SequenceEvent } from "./sequence.ts";
import {
  createCallIds,
  createSealCarrier,
  encodeNamedEvent,
  sequenceEvents,
  textOf,
  textOfWhole,
  wrapCargo,
} from "./shared.ts";

/** Encodes answers of the Anthropic Messages API. */
export const anthropicAnswers: AnswerEncoder = {
  api: "anthropic",
  contentType: () => "text/event-stream; charset=utf-8",
  openStream: (context) => openStream(context),
  encodeComplete: (context, events) => encodeComplete(context, events),
  encodeError: (failure, requestId) => anthropicError(failure, requestId),
  encodeTokenCount: (tokens) => ({ input_tokens: tokens }),
  encodeModels: (models) => ({
    data: models.map(({ id, label, created = 0, contextWindow, maxOutput }) => ({
      type: "model",
      id,
      display_name: label ?? id,
      created_at: new Date(created * 1000).toISOString(),
      ...(contextWindow === undefined ? {} : { max_input_tokens: contextWindow }),
      ...(maxOutput === undefined ? {} : { max_tokens: maxOutput }),
    })),
    has_more: false,
    first_id: models[0]?.id ?? null,
    last_id: models.at(-1)?.id ?? null,
  }),
};

/** A block of an answer with the deltas that stream it. */
type BlockPiece =
  | { readonly type: "start"; readonly block: JsonObject }
  | { readonly type: "delta"; readonly delta: JsonObject }
  | { readonly type: "stop" };

const openStream = (context: AnswerContext): AnswerStream => {
  const sequence = createSequencer();
  const blocks = createBlocks(context);
  let usage: TokenUsage | undefined;
  let isStarted = false;
  let index = -1;
  let hasCalls = false;

  const start = (): string => {
    if (isStarted) return "";
    isStarted = true;
    const { id, model, inputTokens: input = 0 } = context;
    const estimate = { input, cachedRead: 0, cachedWrite: 0, output: 0, reasoning: 0 };
    return encodeNamedEvent("message_start", {
      type: "message_start",
      message: {
        id: `msg_${id}`,
        type: "message",
        role: "assistant",
        model,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        stop_details: null,
        usage: { ...encodeUsage(usage ?? estimate), ...unknownUsage, output_tokens: 1 },
      },
    });
  };
  const encodePiece = (piece: BlockPiece): string => {
    switch (piece.type) {
      case "start":
        index += 1;
        hasCalls ||= piece.block["type"] === "tool_use";
        return encodeNamedEvent("content_block_start", {
          type: "content_block_start",
          index,
          content_block: piece.block,
        });
      case "delta":
        return encodeNamedEvent("content_block_delta", { type: "content_block_delta", index, delta: piece.delta });
      case "stop":
        return encodeNamedEvent("content_block_stop", { type: "content_block_stop", index });
    }
  };
  const fail: AnswerStream["fail"] = (failure) =>
    encodeNamedEvent("error", anthropicError(failure, `req_${context.id}`).body);
  const encode = (event: SequenceEvent): string => {
    switch (event.type) {
      case "usage":
        usage = event.usage;
        return start();
      case "mismatch":
        return fail({ kind: "internal", detail: `The arguments of ${event.tool} changed while they were streamed` });
      case "finish":
        return (
          start() +
          encodeNamedEvent("message_delta", {
            type: "message_delta",
            delta: {
              stop_reason: stopReasonOf(event.reason, event.raw, hasCalls),
              stop_sequence: null,
              stop_details: null,
            },
            usage: usage === undefined ? { output_tokens: 0 } : { ...encodeUsage(usage), ...usageDetails(usage) },
          }) +
          encodeNamedEvent("message_stop", { type: "message_stop" })
        );
      case "open":
      case "delta":
      case "close":
      case "cut":
      case "whole":
      case "late-seal":
        return start() + blocks(event).map(encodePiece).join("");
    }
  };
  return {
    push: (event) => sequence(event).map(encode).join(""),
    fail,
    ping: () => start() + encodeNamedEvent("ping", { type: "ping" }),
    end: () => "",
  };
};

type PartSequenceEvent = Exclude<SequenceEvent, { type: "usage" | "finish" | "mismatch" }>;

/** Turns parts into blocks. */
const createBlocks = (context: AnswerContext): ((event: PartSequenceEvent) => readonly BlockPiece[]) => {
  const carrier = createSealCarrier(context);
  const { thinking } = context.options;
  let kind: "text" | "thinking" | "call" = "text";
  const nextCallId = createCallIds(context, "toolu_");

  const openPart = (event: Extract<PartSequenceEvent, { type: "open" }>): readonly BlockPiece[] => {
    ({ kind } = event);
    if (event.kind === "thinking") return thinking === "none" ? [] : [thinkingStart];
    const carried = carrier.before(event.seal);
    const carrierBlock = carried === undefined ? [] : [thinkingStart, signatureDelta(carried), stop];
    if (event.kind !== "call") return [...carrierBlock, textStart];
    const id = nextCallId(event.id);
    return [
      ...carrierBlock,
      { type: "start", block: { type: "tool_use", id, name: event.tool, input: {}, caller: { type: "direct" } } },
    ];
  };
  const closePart = ({ part }: Extract<PartSequenceEvent, { type: "close" }>): readonly BlockPiece[] => {
    if (part.type === "text") carrier.late("text", part.seal);
    if (part.type !== "thinking") return [stop];
    const { text, seal } = part;
    const cargo = { ...(seal === undefined ? {} : { seal }), ...(thinking === "sealed" ? { text } : {}) };
    const signature = wrapCargo(context, cargo);
    if (thinking === "none") return [];
    return signature === undefined ? [stop] : [signatureDelta(signature), stop];
  };

  return (event) => {
    switch (event.type) {
      case "open":
        return openPart(event);
      case "delta":
        if (kind === "thinking" && thinking !== "shown") return [];
        return [{ type: "delta", delta: deltas[kind](event.text) }];
      case "close":
        return closePart(event);
      case "cut":
        return kind === "thinking" && thinking === "none" ? [] : [stop];
      case "whole":
        return [textStart, { type: "delta", delta: deltas.text(textOfWhole(event.part)) }, stop];
      case "late-seal":
        carrier.late(event.of, event.seal);
        return [];
    }
  };
};

const thinkingStart: BlockPiece = { type: "start", block: { type: "thinking", thinking: "", signature: "" } };
const textStart: BlockPiece = { type: "start", block: { type: "text", text: "" } };
const stop: BlockPiece = { type: "stop" };

const deltas = {
  text: (text: string): JsonObject => ({ type: "text_delta", text }),
  thinking: (text: string): JsonObject => ({ type: "thinking_delta", thinking: text }),
  call: (text: string): JsonObject => ({ type: "input_json_delta", partial_json: text }),
};

const signatureDelta = (signature: string): BlockPiece => ({
  type: "delta",
  delta: { type: "signature_delta", signature },
});

const encodeComplete = (context: AnswerContext, events: readonly ContentEvent[]): JsonObject => {
  const blocks = createBlocks(context);
  const content: JsonObject[] = [];
  let usage: TokenUsage | undefined;
  let stopReason = "end_turn";
  for (const event of sequenceEvents(events)) {
    if (event.type === "usage") ({ usage } = event);
    else if (event.type === "finish") stopReason = stopReasonOf(event.reason, event.raw, content.some(isToolUse));
    else if (event.type !== "mismatch") for (const piece of blocks(event)) applyPiece(content, piece);
  }
  return {
    id: `msg_${context.id}`,
    type: "message",
    role: "assistant",
    model: context.model,
    content: content.map(parseToolInput),
    stop_reason: stopReason,
    stop_sequence: null,
    stop_details: null,
    usage: {
      ...unknownUsage,
      ...(usage === undefined
        ? { input_tokens: 0, output_tokens: 0 }
        : { ...encodeUsage(usage), ...usageDetails(usage) }),
    },
  };
};

const isToolUse = (block: JsonObject): boolean => block["type"] === "tool_use";

/** Applies a piece to the last block, as a client does. Arguments stay text until the end. */
const applyPiece = (content: JsonObject[], piece: BlockPiece): void => {
  if (piece.type === "stop") return;
  if (piece.type === "start") {
    content.push(isToolUse(piece.block) ? { ...piece.block, input: "" } : piece.block);
    return;
  }
  const last = content.length - 1;
  const { type: _type, partial_json, ...fields } = piece.delta;
  const added: JsonObject = partial_json === undefined ? fields : { input: partial_json };
  const block = { ...content[last] };
  for (const [field, text] of Object.entries(added)) block[field] = textOf(block[field]) + textOf(text);
  content[last] = block;
};

const parseToolInput = (block: JsonObject): JsonObject =>
  isToolUse(block) ? { ...block, input: inputObject(parseCallInput({ text: textOf(block["input"]) })) } : block;

const encodeUsage = ({ input, cachedRead, cachedWrite, output }: TokenUsage): JsonObject => ({
  input_tokens: Math.max(0, input - cachedRead - cachedWrite),
  cache_creation_input_tokens: cachedWrite,
  cache_read_input_tokens: cachedRead,
  output_tokens: output,
});

/** Fields of Anthropic's usage that other APIs do not report. */
const unknownUsage: JsonObject = { cache_creation: null, inference_geo: null, service_tier: null };

const usageDetails = ({ reasoning }: TokenUsage): JsonObject => ({
  output_tokens_details: { thinking_tokens: reasoning },
});

const stopReasonOf = (reason: FinishReason, raw: string | undefined, hasCalls: boolean): string => {
  switch (reason) {
    case "stop":
      return raw === "stop_sequence" ? "stop_sequence" : "end_turn";
    case "calls":
      return "tool_use";
    case "length":
      return "max_tokens";
    case "context":
      return "model_context_window_exceeded";
    case "filtered":
    case "refused":
      return "refusal";
    case "paused":
      return "pause_turn";
    case "malformed":
    case "other":
      return hasCalls ? "tool_use" : "end_turn";
  }
};
