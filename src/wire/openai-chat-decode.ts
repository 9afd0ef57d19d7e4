import { isObject } from "../conversation/json.ts";
import { decoding, type AnswerEvent, type Decode, type FinishReason, type Frame } from "./decode.ts";
import { breakOff, passOver, stopWith, through, type Told } from "./fold.ts";
import { ending } from "./openai-chat-calls.ts";
import { hasSubstance, isSilent, onDelta, start, thoughtEnd, wordsEnd, type State } from "./openai-chat-delta.ts";
import { chatProblem, chunkProblem, wordless } from "./openai-chat-problem.ts";
import { chatUsage } from "./openai-chat-usage.ts";
import type { ChatDialect } from "./openai-chat.ts";
import { objectOf, stringOf } from "./reader.ts";

/** How Chat Completions, and everything modelled on it, answers. */
export const decodeOpenaiChat: Decode<ChatDialect> = {
  open: (dialect) => decoding({ start: start(dialect), step, end }),
  frames: (body) => {
    const chunk: Frame = { name: "", data: body };
    return chatProblem(body) === undefined ? [chunk, { name: done, data: undefined }] : [chunk];
  },
  problem: chatProblem,
};

const done = "[DONE]";

type Fields = Record<string, unknown>;

const step = (state: State, { name, data }: Frame): Told<State> => {
  if (state.over) return passOver(state, "a frame after the end");
  if (name === done) return finished(state);
  const problem = name === "error" ? (chatProblem(data) ?? { message: wordless }) : chunkProblem(data);
  if (problem !== undefined) {
    const [over, events] = stopWith(state, { type: "problem", problem });
    return [over, [...counted(objectOf(data)), ...events]];
  }
  return isObject(data) ? onChunk(state, data) : passOver(state, "a frame that is no object");
};

/** A server that need not mark the end has ended well once it has said why it stopped. */
const end = (state: State): readonly AnswerEvent[] =>
  !state.over && state.dialect.ends === "finish" && state.raw !== undefined ? finished(state)[1] : [];

const onChunk = (state: State, chunk: Fields): Told<State> => {
  const { choices } = chunk;
  const [now, announcement] = announced(state, chunk);
  const events = [...announcement, ...counted(chunk)];
  if (!Array.isArray(choices)) {
    const isNews = events.length > announcement.length;
    return [now, isNews ? events : [...events, { type: "skipped", what: "a frame without choices" }]];
  }
  const [next, more] = through(now, choices.entries(), onChoice);
  return [next, [...events, ...more]];
};

const announced = (state: State, chunk: Fields): Told<State> => {
  const model = state.isAnnounced ? "" : (stringOf(chunk["model"]) ?? "");
  const id = state.isAnnounced ? "" : (stringOf(chunk["id"]) ?? "");
  if (model === "" && id === "") return [state, []];
  const news = { ...(model === "" ? {} : { model }), ...(id === "" ? {} : { id }) };
  return [{ ...state, isAnnounced: true }, [{ type: "answering", ...news }]];
};

const counted = (chunk: Fields): readonly AnswerEvent[] => {
  const usage = chatUsage(chunk);
  return usage === undefined ? [] : [{ type: "usage", usage }];
};

const onChoice = (state: State, [position, choice]: readonly [number, unknown]): Told<State> => {
  if (!isObject(choice)) return passOver(state, "a choice that is no object");
  const { index = position, delta, message, finish_reason: raw, error, logprobs } = choice;
  if (typeof index === "number" && index !== 0) return passOver(state, "another choice");
  const problem = chunkProblem({ error });
  if (problem !== undefined) return stopWith(state, { type: "problem", problem });
  const [next, events] = onSaid(state.isHeard ? state : { ...state, isHeard: true }, delta, message);
  return [
    typeof raw === "string" && raw !== "" ? { ...next, raw } : next,
    hasSubstance(logprobs) ? [{ type: "skipped", what: "logprobs" }, ...events] : events,
  ];
};

/** A whole answer has a message. Some streams end with one too; it counts only where nothing was said before. */
const onSaid = (state: State, delta: unknown, message: unknown): Told<State> => {
  if (isObject(delta)) return onDelta(state, delta);
  if (!isObject(message)) return [state, []];
  return isSilent(state) ? onDelta(state, message) : passOver(state, "the message once more");
};

const finished = (state: State): Told<State> => {
  const { raw, thought, words, calls } = state;
  if (!state.isHeard) return breakOff(state, "The stream ended before an answer began.");
  if (raw !== undefined && failures.has(raw.toLowerCase())) {
    const problem = { message: `The server stopped with "${raw}".`, reasons: [raw] };
    return stopWith(state, { type: "problem", problem });
  }
  const ends = [
    { index: thought?.index ?? 0, told: thoughtEnd(thought) },
    { index: words?.index ?? 0, told: wordsEnd(words) },
    ...calls.map((call) => ({ index: call.index, told: ending(call) })),
  ];
  const inOrder = ends.toSorted((one, other) => one.index - other.index).flatMap(({ told }) => told);
  const [over, finish] = stopWith(state, {
    type: "finish",
    reason: reasonOf(state),
    ...(raw === undefined ? {} : { raw }),
  });
  return [over, [...inOrder, ...finish]];
};

/** What vendors say when they, and not the model, brought the answer to an end. */
const failures: ReadonlySet<string> = new Set(["error", "timeout", "network_error", "insufficient_system_resource"]);

/** The calls are trusted more than the word for it: vendors say stop, or nothing, and mean calls. */
const reasonOf = ({ raw, calls, hasRefused }: State): FinishReason => {
  const reason = raw === undefined ? "stop" : (reasons.get(raw.toLowerCase()) ?? "other");
  if (reason === "stop" && calls.length > 0) return "calls";
  if (reason === "calls" && calls.length === 0) return "other";
  return reason === "stop" && hasRefused ? "refused" : reason;
};

const reasons: ReadonlyMap<string, FinishReason> = new Map([
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
