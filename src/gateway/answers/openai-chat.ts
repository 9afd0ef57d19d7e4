import type { JsonObject, JsonValue } from "../../conversation/json.ts";
import type { NewCall } from "../../conversation/ledger.ts";
import type { Seal, Thinking } from "../../conversation/parts.ts";
import type { ContentEvent } from "../../transport/events.ts";
import type { FinishReason, TokenUsage } from "../../wire/decode/events.ts";
import type { AnswerContext, AnswerEncoder, AnswerStream, SealCargo } from "./answer.ts";
import { openaiError, openaiErrorObject } from "./errors.ts";
import { argumentText, createSequencer, type SequenceEvent } from "./sequence.ts";
import {
  createCallIds,
  encodeEvent,
  isWorthKeeping,
  sequenceEvents,
  textOf,
  textOfWhole,
  wrapCargo,
} from "./shared.ts";

/**
 * Encodes answers of Chat Completions. Thinking is in `reasoning_content`, which most clients of other vendors read, and
 * its seals in `reasoning_details`, as OpenRouter does.
 */
export const openaiChatAnswers: AnswerEncoder = {
  api: "openai-chat",
  contentType: () => "text/event-stream; charset=utf-8",
  openStream: (context) => openStream(context),
  encodeComplete: (context, events) => encodeComplete(context, events),
  encodeError: (failure, requestId) => openaiError(failure, requestId, "messages"),
  encodeTokenCount: (tokens) => ({ input_tokens: tokens }),
  encodeModels: (models) => ({
    object: "list",
    data: models.map(({ id, created = 0, contextWindow }) => ({
      id,
      object: "model",
      created,
      owned_by: "parley",
      ...(contextWindow === undefined ? {} : { context_length: contextWindow }),
    })),
  }),
};

const openStream = (context: AnswerContext): AnswerStream => {
  const sequence = createSequencer();
  const encodeDelta = createDeltas(context);
  const { includeUsage = false, finalUsage } = context.options;
  let usage: TokenUsage | undefined;
  let isStarted = false;

  const chunk = (fields: JsonObject): string =>
    encodeEvent({
      id: `chatcmpl-${context.id}`,
      object: "chat.completion.chunk",
      created: context.created,
      model: context.model,
      // OpenRouter's client refuses null there.
      ...(includeUsage && context.options.thinkingField !== "reasoning" ? { usage: null } : {}),
      ...fields,
    });
  const choice = (delta: JsonObject, finish: string | null = null, fields: JsonObject = {}): string =>
    chunk({ choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }], ...fields });
  const finalFields = (): JsonObject => {
    if (finalUsage === undefined) return {};
    const counts = encodeUsage(usage);
    return finalUsage === "usage" ? { usage: counts } : { x_groq: { id: context.id, usage: counts } };
  };
  const start = (): string => {
    if (isStarted) return "";
    isStarted = true;
    return choice({ role: "assistant", content: "" });
  };
  const fail: AnswerStream["fail"] = (failure) => encodeEvent({ error: openaiErrorObject(failure, "messages") });
  const encode = (event: SequenceEvent): string => {
    switch (event.type) {
      case "usage":
        ({ usage } = event);
        return "";
      case "mismatch":
        return fail({ kind: "internal", detail: `The arguments of ${event.tool} changed while they were streamed` });
      case "finish":
        return (
          start() +
          choice({}, finishReasons[event.reason], finalFields()) +
          (includeUsage ? chunk({ choices: [], usage: encodeUsage(usage) }) : "") +
          "data: [DONE]\n\n"
        );
      case "open":
      case "delta":
      case "close":
      case "cut":
      case "whole":
      case "late-seal":
        return (
          start() +
          encodeDelta(event)
            .map((delta) => choice(delta))
            .join("")
        );
    }
  };
  return {
    push: (event) => sequence(event).map(encode).join(""),
    fail,
    ping: () => ": ping\n\n",
    end: () => "",
  };
};

type PartSequenceEvent = Exclude<SequenceEvent, { type: "usage" | "finish" | "mismatch" }>;

/** Turns parts into deltas of a message. */
const createDeltas = (
  context: AnswerContext,
  thinkingField = context.options.thinkingField ?? "reasoning_content",
): ((event: PartSequenceEvent) => readonly JsonObject[]) => {
  const { thinking, wholeCalls = false } = context.options;
  let kind: "text" | "thinking" | "call" = "text";
  const nextCallId = createCallIds(context, "call_");
  let callIndex = -1;
  let callId = "";
  let detailCount = 0;
  /** Thinking at the start of the response, and since the last text or call. */
  let first: readonly Thinking[] = [];
  let before: readonly Thinking[] = [];
  let isStart = true;

  const keepThinking = (part: Thinking): void => {
    if (isStart) first = [...first, part];
    else before = [...before, part];
  };
  /** The seal of a thinking part that was closed before its seal was known. */
  const sealLast = (list: readonly Thinking[], seal: Seal): readonly Thinking[] =>
    list.map((part, index) => (index === list.length - 1 ? { ...part, seal } : part));
  const keepCall = ({ seal }: NewCall): void => {
    const cargo: SealCargo = {
      ...(isWorthKeeping(seal) ? { seal } : {}),
      ...(before.length === 0 ? {} : { before }),
      ...(first.length === 0 ? {} : { first }),
    };
    first = [];
    before = [];
    if (Object.keys(cargo).length > 0) context.keepSeal?.(callId, cargo);
  };

  const detail = (wrapped: string | undefined, id: string | null): readonly JsonObject[] => {
    if (wrapped === undefined) return [];
    const index = detailCount;
    detailCount += 1;
    return [{ reasoning_details: [{ type: "reasoning.encrypted", data: wrapped, id, format: "unknown", index }] }];
  };
  const sealThinking = ({ text, seal }: Thinking): readonly JsonObject[] => {
    const cargo = { ...(seal === undefined ? {} : { seal }), ...(thinking === "sealed" ? { text } : {}) };
    return detail(wrapCargo(context, cargo), null);
  };
  const sealCall = ({ seal }: NewCall): readonly JsonObject[] =>
    isWorthKeeping(seal) ? detail(wrapCargo(context, { seal }), callId) : [];
  const thinkingValue = (text: string): JsonValue => (thinkingField === "content" ? [thinkingChunk(text)] : text);
  const wholeCall = (call: NewCall): JsonObject =>
    callDelta({ id: callId, type: "function", function: { name: call.tool, arguments: argumentText(call) } });
  const callDelta = (fields: JsonObject): JsonObject => ({ tool_calls: [{ index: callIndex, ...fields }] });

  return (event) => {
    switch (event.type) {
      case "open":
        ({ kind } = event);
        if (kind !== "thinking") isStart = false;
        if (event.kind !== "call") return [];
        callIndex += 1;
        callId = nextCallId(event.id);
        return wholeCalls
          ? []
          : [callDelta({ id: callId, type: "function", function: { name: event.tool, arguments: "" } })];
      case "delta":
        if (kind === "text") return [{ content: event.text }];
        if (kind === "call") return wholeCalls ? [] : [callDelta({ function: { arguments: event.text } })];
        return thinking === "shown" ? [{ [thinkingField]: thinkingValue(event.text) }] : [];
      case "close":
        if (event.part.type === "text") return [];
        if (event.part.type === "call") {
          keepCall(event.part);
          return [...(wholeCalls ? [wholeCall(event.part)] : []), ...sealCall(event.part)];
        }
        keepThinking(event.part);
        return sealThinking(event.part);
      case "cut":
        return [];
      case "whole": {
        const { part } = event;
        if (part.type !== "file" || !part.mimeType.startsWith("image/")) return [{ content: textOfWhole(part) }];
        const url = `data:${part.mimeType};base64,${part.data}`;
        return [{ images: [{ type: "image_url", image_url: { url }, index: 0 }] }];
      }
      case "late-seal":
        if (event.of === "thinking")
          [first, before] =
            before.length > 0 ? [first, sealLast(before, event.seal)] : [sealLast(first, event.seal), before];
        return event.of === "thinking" ? detail(wrapCargo(context, { thinking: event.seal }), null) : [];
    }
  };
};

/** Mistral has thinking among the chunks of the content. */
const thinkingChunk = (text: string): JsonObject => ({ type: "thinking", thinking: [{ type: "text", text }] });

const encodeComplete = (context: AnswerContext, events: readonly ContentEvent[]): JsonObject => {
  const { thinkingField: asked = "reasoning_content" } = context.options;
  const isInContent = asked === "content";
  const thinkingField = isInContent ? "reasoning_content" : asked;
  const encodeDelta = createDeltas(context, thinkingField);
  const deltas: JsonObject[] = [];
  const calls: NewCall[] = [];
  let usage: TokenUsage | undefined;
  let finish: FinishReason = "stop";
  for (const event of sequenceEvents(events)) {
    if (event.type === "usage") ({ usage } = event);
    else if (event.type === "finish") finish = event.reason;
    else if (event.type !== "mismatch") {
      deltas.push(...encodeDelta(event));
      if (event.type === "close" && event.part.type === "call") calls.push(event.part);
    }
  }
  const text = deltas.map((delta) => textOf(delta["content"])).join("");
  const reasoning = deltas.map((delta) => textOf(delta[thinkingField])).join("");
  const list = (field: string): readonly JsonObject[] =>
    deltas.flatMap((delta) => (delta[field] ?? []) as readonly JsonObject[]);
  const starts = list("tool_calls").filter((call) => call["id"] !== undefined);
  const toolCalls = calls.map((call, index) => ({
    id: starts[index]?.["id"] ?? "",
    type: "function",
    function: { name: call.tool, arguments: argumentText(call) },
  }));
  const message: JsonObject = {
    role: "assistant",
    ...(isInContent && reasoning !== ""
      ? { content: [thinkingChunk(reasoning), ...(text === "" ? [] : [{ type: "text", text }])] }
      : { content: text === "" && toolCalls.length > 0 ? null : text }),
    refusal: null,
    ...(isInContent || reasoning === "" ? {} : { [thinkingField]: reasoning }),
    ...withItems("reasoning_details", list("reasoning_details")),
    ...withItems("images", list("images")),
    ...withItems("tool_calls", toolCalls),
  };
  return {
    id: `chatcmpl-${context.id}`,
    object: "chat.completion",
    created: context.created,
    model: context.model,
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishReasons[finish] }],
    usage: encodeUsage(usage),
  };
};

const withItems = (field: string, items: readonly JsonObject[]): JsonObject =>
  items.length === 0 ? {} : { [field]: items };

const encodeUsage = (usage: TokenUsage | undefined): JsonObject => {
  const { input, output, cachedRead, cachedWrite, reasoning } = usage ?? noUsage;
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: {
      cached_tokens: cachedRead,
      ...(cachedWrite === 0 ? {} : { cache_write_tokens: cachedWrite }),
    },
    completion_tokens_details: { reasoning_tokens: reasoning },
  };
};

const noUsage: TokenUsage = { input: 0, cachedRead: 0, cachedWrite: 0, output: 0, reasoning: 0 };

const finishReasons: { readonly [reason in FinishReason]: string } = {
  stop: "stop",
  calls: "tool_calls",
  length: "length",
  context: "length",
  filtered: "content_filter",
  refused: "content_filter",
  paused: "stop",
  malformed: "stop",
  other: "stop",
};
