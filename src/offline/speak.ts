import type { Said } from "./heard.ts";
import { usageOf } from "./usage.ts";

type Json = Readonly<Record<string, unknown>>;

/** What is said, with all that an answer of the API needs besides. */
export type Spoken = {
  /** Follows from the request alone. */
  readonly id: string;
  readonly body: Json;
  readonly said: Said;
};

/** The answer as one object. */
export const wholeAnswer = (spoken: Spoken): Json => {
  const { think, say, calls = [], finish } = withinLimit(spoken);
  const message = {
    role: "assistant",
    content: say ?? null,
    ...(think === undefined ? {} : { reasoning_content: think }),
    ...(calls.length === 0 ? {} : { tool_calls: calls.map((call, index) => callOf(spoken, call, index)) }),
  };
  return {
    ...envelope(spoken, "chat.completion"),
    choices: [{ index: 0, message, finish_reason: finish }],
    usage: usage(spoken),
  };
};

/** The answer as the events of a stream, without their framing. */
export const streamedAnswer = function* (spoken: Spoken): Generator<Json> {
  const { think = "", say = "", calls = [], finish } = withinLimit(spoken);
  const chunk = (delta: Json, reason: string | null = null): Json => ({
    ...envelope(spoken, "chat.completion.chunk"),
    choices: [{ index: 0, delta, finish_reason: reason }],
  });
  yield chunk({ role: "assistant", content: "" });
  for (const piece of pieces(think)) yield chunk({ reasoning_content: piece });
  for (const piece of pieces(say)) yield chunk({ content: piece });
  for (const [index, call] of calls.entries()) {
    const { id, type, function: named } = callOf(spoken, call, index);
    yield chunk({ tool_calls: [{ index, id, type, function: { name: named.name, arguments: "" } }] });
    for (const piece of pieces(named.arguments))
      yield chunk({ tool_calls: [{ index, function: { arguments: piece } }] });
  }
  yield chunk({}, finish);
  const { stream_options: options } = spoken.body;
  if (typeof options === "object" && options !== null && "include_usage" in options && options.include_usage === true)
    yield { ...envelope(spoken, "chat.completion.chunk"), choices: [], usage: usage(spoken) };
};

const envelope = ({ id, body }: Spoken, object: string): Json => ({
  id: `chatcmpl-${id}`,
  object,
  created: 0,
  model: body["model"],
});

type WireCall = {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: string };
};

const callOf = ({ id }: Spoken, { tool, input }: NonNullable<Said["calls"]>[number], index: number): WireCall => ({
  id: `call_${id}_${index}`,
  type: "function",
  function: { name: tool, arguments: JSON.stringify(input) },
});

const usage = (spoken: Spoken): Json => {
  const { think = "", say = "", calls = [] } = withinLimit(spoken);
  return usageOf(spoken.body, { thought: think, said: say + (calls.length === 0 ? "" : JSON.stringify(calls)) });
};

/** What fits into the tokens the caller allows, and why the answer ends. */
const withinLimit = ({ said, body }: Spoken): Said & { readonly finish: string } => {
  const limit = body["max_completion_tokens"] ?? body["max_tokens"];
  const room = typeof limit === "number" && limit > 0 ? limit * 4 : Infinity;
  const { think = "", say = "", calls = [] } = said;
  const length = think.length + say.length;
  if (length <= room) return { ...said, finish: calls.length > 0 ? "tool_calls" : "stop" };
  const thought = think.slice(0, room).toWellFormed();
  const words = say.slice(0, room - thought.length).toWellFormed();
  return { ...(thought === "" ? {} : { think: thought }), say: words, finish: "length" };
};

/** A text in pieces of a few words, as models write. Letters are never cut in two. */
const pieces = (text: string): readonly string[] =>
  text.match(/[\s\S]{1,24}(?:\s+|$)|[\s\S]{1,24}(?<![\ud800-\udbff])|[\s\S]/g) ?? [];
