import { isObject } from "../../conversation/json.ts";
import {
  createStreamDecoder,
  type ResponseEvent,
  type ResponseDecoder,
  type FinishReason,
  type StreamFrame,
} from "../decode/events.ts";
import { fail, skip, endWith, foldItems, type StepResult } from "../decode/fold.ts";
import { callEndEvents } from "./decode-calls.ts";
import {
  hasSubstance,
  hasNoContent,
  onDelta,
  initialState,
  thinkingEndEvents,
  textEndEvents,
  type ChatStreamState,
} from "./decode-delta.ts";
import { parseChatError, parseChunkError, unknownErrorMessage } from "./decode-error.ts";
import { chatUsage } from "./decode-usage.ts";
import type { ChatDialect } from "./encode.ts";
import { objectOf, stringOf } from "../reader.ts";

/** Decodes responses of Chat Completions and everything modelled on it. */
export const decodeOpenaiChat: ResponseDecoder<ChatDialect> = {
  open: (dialect) => createStreamDecoder({ start: initialState(dialect), step, end }),
  frames: (body) => {
    const chunk: StreamFrame = { name: "", data: body };
    return parseChatError(body) === undefined ? [chunk, { name: done, data: undefined }] : [chunk];
  },
  parseError: parseChatError,
};

const done = "[DONE]";

type ChatChunkFields = Record<string, unknown>;

const step = (state: ChatStreamState, { name, data }: StreamFrame): StepResult<ChatStreamState> => {
  if (state.over) return skip(state, "a frame after the end");
  if (name === done) return finishStream(state);
  const apiError =
    name === "error" ? (parseChatError(data) ?? { message: unknownErrorMessage }) : parseChunkError(data);
  if (apiError !== undefined) {
    const [over, events] = endWith(state, { type: "error", error: apiError });
    return [over, [...usageEvents(objectOf(data)), ...events]];
  }
  return isObject(data) ? onChunk(state, data) : skip(state, "a frame that is no object");
};

/** Ends the stream. Where the `[DONE]` line may be missing, a finish reason is enough. */
const end = (state: ChatStreamState): readonly ResponseEvent[] =>
  !state.over && state.dialect.ends === "finish" && state.raw !== undefined ? finishStream(state)[1] : [];

const onChunk = (state: ChatStreamState, chunk: ChatChunkFields): StepResult<ChatStreamState> => {
  const { choices } = chunk;
  const [announced, announcement] = announceModel(state, chunk);
  const events = [...announcement, ...usageEvents(chunk)];
  if (!Array.isArray(choices)) {
    const hasUsage = events.length > announcement.length;
    return [announced, hasUsage ? events : [...events, { type: "skipped", what: "a frame without choices" }]];
  }
  const [next, more] = foldItems(announced, choices.entries(), onChoice);
  return [next, [...events, ...more]];
};

const announceModel = (state: ChatStreamState, chunk: ChatChunkFields): StepResult<ChatStreamState> => {
  const model = state.isAnnounced ? "" : (stringOf(chunk["model"]) ?? "");
  const id = state.isAnnounced ? "" : (stringOf(chunk["id"]) ?? "");
  if (model === "" && id === "") return [state, []];
  const names = { ...(model === "" ? {} : { model }), ...(id === "" ? {} : { id }) };
  return [{ ...state, isAnnounced: true }, [{ type: "response-start", ...names }]];
};

const usageEvents = (chunk: ChatChunkFields): readonly ResponseEvent[] => {
  const usage = chatUsage(chunk);
  return usage === undefined ? [] : [{ type: "usage", usage }];
};

const onChoice = (
  state: ChatStreamState,
  [position, choice]: readonly [number, unknown],
): StepResult<ChatStreamState> => {
  if (!isObject(choice)) return skip(state, "a choice that is no object");
  const { index = position, delta, message, finish_reason: raw, error, logprobs } = choice;
  if (typeof index === "number" && index !== 0) return skip(state, "another choice");
  const apiError = parseChunkError({ error });
  if (apiError !== undefined) return endWith(state, { type: "error", error: apiError });
  const [next, events] = onDeltaOrMessage(state.hasStarted ? state : { ...state, hasStarted: true }, delta, message);
  return [
    typeof raw === "string" && raw !== "" ? { ...next, raw } : next,
    hasSubstance(logprobs) ? [{ type: "skipped", what: "logprobs" }, ...events] : events,
  ];
};

/** A complete response has a message. Some streams end with one too; it is used only if there was no content before. */
const onDeltaOrMessage = (state: ChatStreamState, delta: unknown, message: unknown): StepResult<ChatStreamState> => {
  if (isObject(delta)) return onDelta(state, delta);
  if (!isObject(message)) return [state, []];
  return hasNoContent(state) ? onDelta(state, message) : skip(state, "the message once more");
};

const finishStream = (state: ChatStreamState): StepResult<ChatStreamState> => {
  const { raw, openThinking, openText, calls } = state;
  if (!state.hasStarted) return fail(state, "The stream ended before an answer began.");
  if (raw !== undefined && failureReasons.has(raw.toLowerCase())) {
    const apiError = { message: `The server stopped with "${raw}".`, reasons: [raw] };
    return endWith(state, { type: "error", error: apiError });
  }
  const ends = [
    { index: openThinking?.index ?? 0, told: thinkingEndEvents(openThinking) },
    { index: openText?.index ?? 0, told: textEndEvents(openText) },
    ...calls.map((call) => ({ index: call.index, told: callEndEvents(call) })),
  ];
  const inOrder = ends.toSorted((one, other) => one.index - other.index).flatMap(({ told }) => told);
  const [over, finish] = endWith(state, {
    type: "finish",
    reason: reasonOf(state),
    ...(raw === undefined ? {} : { raw }),
  });
  return [over, [...inOrder, ...finish]];
};

/** Finish reasons that mean a server error. */
const failureReasons: ReadonlySet<string> = new Set([
  "error",
  "timeout",
  "network_error",
  "insufficient_system_resource",
]);

/** Returns the finish reason. Calls count more than the vendor's reason: some send `stop`, or nothing, with calls. */
const reasonOf = ({ raw, calls, hasRefused }: ChatStreamState): FinishReason => {
  const reason = raw === undefined ? "stop" : (finishReasons.get(raw.toLowerCase()) ?? "other");
  if (reason === "stop" && calls.length > 0) return "calls";
  if (reason === "calls" && calls.length === 0) return "other";
  return reason === "stop" && hasRefused ? "refused" : reason;
};

const finishReasons: ReadonlyMap<string, FinishReason> = new Map([
  ["stop", "stop"],
  ["end_turn", "stop"],
  ["stop_sequence", "stop"],
  ["eos", "stop"],
  ["eos_token", "stop"],
  ["complete", "stop"],
  ["tool_calls", "calls"],
  ["tool_call", "calls"],
  ["tool_use", "calls"],
  ["function_call", "calls"],
  ["length", "length"],
  ["max_tokens", "length"],
  ["model_length", "context"],
  ["model_context_window_exceeded", "context"],
  ["content_filter", "filtered"],
  ["sensitive", "filtered"],
]);
