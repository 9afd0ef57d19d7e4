import { inputObject, parseCallInput } from "../../conversation/call-input.ts";
import type { JsonObject } from "../../conversation/json.ts";
import type { NewCall } from "../../conversation/ledger.ts";
import type { Code, Seal, Thinking } from "../../conversation/parts.ts";
import type { ContentEvent } from "../../transport/events.ts";
import type { FinishReason, GeneratedFile, TokenUsage } from "../../wire/decode/events.ts";
import type { AnswerContext, AnswerEncoder, AnswerStream, SealCargo } from "./answer.ts";
import { geminiError } from "./errors.ts";
import { createSequencer, type SequenceEvent } from "./sequence.ts";
import { createCallIds, isWorthKeeping, sequenceEvents, textOf } from "./shared.ts";

/** Encodes answers of Gemini's generateContent and streamGenerateContent. A call is complete in one chunk. */
export const geminiAnswers: AnswerEncoder = {
  api: "gemini",
  contentType: ({ options }) =>
    options.framing === "json-array" ? "application/json; charset=utf-8" : "text/event-stream; charset=utf-8",
  openStream: (context) => openStream(context),
  encodeComplete: (context, events) => encodeComplete(context, events),
  encodeError: (failure, requestId) => geminiError(failure, requestId),
  encodeTokenCount: (tokens) => ({ totalTokens: tokens }),
  encodeModels: (models) => ({
    models: models.map(({ id, label, contextWindow, maxOutput }) => ({
      name: `models/${id}`,
      displayName: label ?? id,
      ...(contextWindow === undefined ? {} : { inputTokenLimit: contextWindow }),
      ...(maxOutput === undefined ? {} : { outputTokenLimit: maxOutput }),
      supportedGenerationMethods: ["generateContent", "countTokens"],
    })),
  }),
};

const openStream = (context: AnswerContext): AnswerStream => {
  const sequence = createSequencer();
  const encodeParts = createParts(context);
  const isArray = context.options.framing === "json-array";
  let usage: TokenUsage | undefined;
  let isStarted = false;

  const frame = (chunk: JsonObject): string => {
    const lead = isStarted ? ",\r\n" : "[";
    isStarted = true;
    return isArray ? `${lead}${JSON.stringify(chunk)}` : `data: ${JSON.stringify(chunk)}\r\n\r\n`;
  };
  const content = (parts: readonly JsonObject[], fields: JsonObject = {}): string =>
    frame(responseOf(context, { candidate: candidateOf(parts, fields), usage }));
  const fail: AnswerStream["fail"] = (failure) => frame(geminiError(failure, context.id).body);
  const encode = (event: SequenceEvent): string => {
    switch (event.type) {
      case "usage":
        ({ usage } = event);
        return "";
      case "mismatch":
        return fail({ kind: "internal", detail: `The arguments of ${event.tool} changed while they were streamed` });
      case "finish":
        return content([{ text: "" }], { finishReason: finishReasons[event.reason] });
      case "open":
      case "delta":
      case "close":
      case "cut":
      case "whole":
      case "late-seal": {
        const parts = encodeParts(event);
        return parts.length === 0 ? "" : content(parts);
      }
    }
  };
  return {
    push: (event) => sequence(event).map(encode).join(""),
    fail,
    // Google's clients do not skip comments.
    ping: () => (isArray ? (isStarted ? "\n" : "") : content([{ text: "" }])),
    end: () => (isArray ? (isStarted ? "]\n" : "[]\n") : ""),
  };
};

type PartSequenceEvent = Exclude<SequenceEvent, { type: "usage" | "finish" | "mismatch" }>;

/** Turns parts into Gemini's. Clients drop thoughts, so each call and text carries the thinking before it. */
const createParts = (context: AnswerContext): ((event: PartSequenceEvent) => readonly JsonObject[]) => {
  const isShown = context.options.thinking === "shown";
  let kind: "text" | "thinking" | "call" = "text";
  let before: readonly Thinking[] = [];
  /** The thinking before a text. Clients drop the signature of a text, so the first call repeats it. */
  let first: readonly Thinking[] = [];
  const nextCallId = createCallIds(context, "call_");
  let hasCalls = false;

  const signature = (
    seal: Seal | undefined,
    repeated: readonly Thinking[] = [],
  ): { readonly thoughtSignature?: string } => {
    const cargo: SealCargo = {
      ...(isWorthKeeping(seal) ? { seal } : {}),
      ...(before.length === 0 ? {} : { before }),
      ...(repeated.length === 0 ? {} : { first: repeated }),
    };
    before = [];
    const wrapped = Object.keys(cargo).length === 0 ? undefined : context.wrapSeal?.(cargo);
    return wrapped === undefined ? {} : { thoughtSignature: wrapped };
  };
  const callPart = (call: NewCall): JsonObject => {
    const id = nextCallId(call.seal?.id);
    hasCalls = true;
    const args = inputObject(parseCallInput(call.input));
    const signed = signature(call.seal, first);
    first = [];
    return { functionCall: { id, name: call.tool, args }, ...signed };
  };

  return (event) => {
    switch (event.type) {
      case "open":
        ({ kind } = event);
        return [];
      case "delta":
        if (kind === "text") return [{ text: event.text }];
        return kind === "thinking" && isShown ? [{ text: event.text, thought: true }] : [];
      case "close": {
        const { part } = event;
        if (part.type === "call") return [callPart(part)];
        if (part.type === "thinking") {
          before = [...before, part];
          return [];
        }
        if (!hasCalls && first.length === 0) first = before;
        const signed = signature(part.seal);
        return signed.thoughtSignature === undefined ? [] : [{ text: "", ...signed }];
      }
      case "cut":
        return [];
      case "whole":
        return [wholePart(event.part)];
      case "late-seal":
        if (event.of === "thinking") {
          before = [...before, { type: "thinking", text: "", seal: event.seal }];
          return [];
        }
        return [{ text: "", ...signature(event.seal) }];
    }
  };
};

const wholePart = (part: Code | GeneratedFile): JsonObject => {
  if (part.type === "file") return { inlineData: { mimeType: part.mimeType, data: part.data } };
  if (part.language === "output" || part.language === "error")
    return {
      codeExecutionResult: {
        outcome: part.language === "output" ? "OUTCOME_OK" : "OUTCOME_FAILED",
        output: part.text,
      },
    };
  return { executableCode: { language: part.language.toUpperCase(), code: part.text } };
};

const encodeComplete = (context: AnswerContext, events: readonly ContentEvent[]): JsonObject => {
  const encodeParts = createParts(context);
  let parts: readonly JsonObject[] = [];
  let usage: TokenUsage | undefined;
  let finish: FinishReason = "stop";
  for (const event of sequenceEvents(events)) {
    if (event.type === "usage") ({ usage } = event);
    else if (event.type === "finish") finish = event.reason;
    else if (event.type !== "mismatch") for (const part of encodeParts(event)) parts = appendPart(parts, part);
  }
  const fields = { finishReason: finishReasons[finish] };
  return responseOf(context, { candidate: candidateOf(parts.length === 0 ? [{ text: "" }] : parts, fields), usage });
};

/** Appends a part; a piece of text joins the text of the same kind before it. */
const appendPart = (parts: readonly JsonObject[], part: JsonObject): readonly JsonObject[] => {
  const last = parts.at(-1);
  const isMore =
    typeof part["text"] === "string" &&
    typeof last?.["text"] === "string" &&
    last["thought"] === part["thought"] &&
    last["thoughtSignature"] === undefined;
  return isMore
    ? [...parts.slice(0, -1), { ...last, ...part, text: textOf(last["text"]) + textOf(part["text"]) }]
    : [...parts, part];
};

const candidateOf = (parts: readonly JsonObject[], fields: JsonObject): JsonObject => ({
  content: { parts, role: "model" },
  ...fields,
  index: 0,
});

const responseOf = (
  { model, id }: AnswerContext,
  { candidate, usage }: { readonly candidate: JsonObject; readonly usage: TokenUsage | undefined },
): JsonObject => ({
  candidates: [candidate],
  ...(usage === undefined ? {} : { usageMetadata: encodeUsage(usage) }),
  modelVersion: model,
  responseId: id,
});

const encodeUsage = ({ input, cachedRead, output, reasoning }: TokenUsage): JsonObject => ({
  promptTokenCount: input,
  candidatesTokenCount: output - reasoning,
  totalTokenCount: input + output,
  ...(cachedRead === 0 ? {} : { cachedContentTokenCount: cachedRead }),
  ...(reasoning === 0 ? {} : { thoughtsTokenCount: reasoning }),
});

const finishReasons: { readonly [reason in FinishReason]: string } = {
  stop: "STOP",
  calls: "STOP",
  length: "MAX_TOKENS",
  context: "MAX_TOKENS",
  filtered: "SAFETY",
  refused: "PROHIBITED_CONTENT",
  paused: "OTHER",
  malformed: "MALFORMED_FUNCTION_CALL",
  other: "OTHER",
};
