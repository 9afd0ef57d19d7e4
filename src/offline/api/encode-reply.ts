import type { DemoReply } from "./parsed-request.ts";
import { estimateUsage } from "./usage.ts";

type DemoJson = Readonly<Record<string, unknown>>;

/** A reply with the request data its encoding needs. */
export type ReplyContext = {
  /** Derived from the request alone. */
  readonly id: string;
  readonly body: DemoJson;
  readonly reply: DemoReply;
};

/** Encodes the reply as one response object. */
export const encodeCompletion = (context: ReplyContext): DemoJson => {
  const { thinking, text, calls = [], finish } = truncateReply(context);
  const message = {
    role: "assistant",
    content: text ?? null,
    ...(thinking === undefined ? {} : { reasoning_content: thinking }),
    ...(calls.length === 0 ? {} : { tool_calls: calls.map((call, index) => encodeCall(context, call, index)) }),
  };
  return {
    ...envelope(context, "chat.completion"),
    choices: [{ index: 0, message, finish_reason: finish }],
    usage: encodeUsage(context),
  };
};

/** Encodes the reply as stream events, without framing. */
export const encodeChunks = function* (context: ReplyContext): Generator<DemoJson> {
  const { thinking = "", text = "", calls = [], finish } = truncateReply(context);
  const chunk = (delta: DemoJson, reason: string | null = null): DemoJson => ({
    ...envelope(context, "chat.completion.chunk"),
    choices: [{ index: 0, delta, finish_reason: reason }],
  });
  yield chunk({ role: "assistant", content: "" });
  for (const piece of splitText(thinking)) yield chunk({ reasoning_content: piece });
  for (const piece of splitText(text)) yield chunk({ content: piece });
  for (const [index, call] of calls.entries()) {
    const { id, type, function: named } = encodeCall(context, call, index);
    yield chunk({ tool_calls: [{ index, id, type, function: { name: named.name, arguments: "" } }] });
    for (const piece of splitText(named.arguments))
      yield chunk({ tool_calls: [{ index, function: { arguments: piece } }] });
  }
  yield chunk({}, finish);
  const { stream_options: options } = context.body;
  if (typeof options === "object" && options !== null && "include_usage" in options && options.include_usage === true)
    yield { ...envelope(context, "chat.completion.chunk"), choices: [], usage: encodeUsage(context) };
};

const envelope = ({ id, body }: ReplyContext, object: string): DemoJson => ({
  id: `chatcmpl-${id}`,
  object,
  created: 0,
  model: body["model"],
});

type DemoWireCall = {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: string };
};

const encodeCall = (
  { id }: ReplyContext,
  { tool, input }: NonNullable<DemoReply["calls"]>[number],
  index: number,
): DemoWireCall => ({
  id: `call_${id}_${index}`,
  type: "function",
  function: { name: tool, arguments: JSON.stringify(input) },
});

const encodeUsage = (context: ReplyContext): DemoJson => {
  const { thinking = "", text = "", calls = [] } = truncateReply(context);
  return estimateUsage(context.body, {
    thinking,
    text: text + (calls.length === 0 ? "" : JSON.stringify(calls)),
  });
};

/** Truncates a reply to the allowed tokens and sets the finish reason. */
const truncateReply = ({ reply, body }: ReplyContext): DemoReply & { readonly finish: string } => {
  const limit = body["max_completion_tokens"] ?? body["max_tokens"];
  const room = typeof limit === "number" && limit > 0 ? limit * 4 : Infinity;
  const { thinking = "", text = "", calls = [] } = reply;
  const length = thinking.length + text.length;
  if (length <= room) return { ...reply, finish: calls.length > 0 ? "tool_calls" : "stop" };
  const shortThinking = thinking.slice(0, room).toWellFormed();
  const shortText = text.slice(0, room - shortThinking.length).toWellFormed();
  return { ...(shortThinking === "" ? {} : { thinking: shortThinking }), text: shortText, finish: "length" };
};

/** Splits text into pieces of a few words, as models stream. Surrogate pairs are never split. */
const splitText = (text: string): readonly string[] =>
  text.match(/[\s\S]{1,24}(?:\s+|$)|[\s\S]{1,24}(?<![\ud800-\udbff])|[\s\S]/g) ?? [];
