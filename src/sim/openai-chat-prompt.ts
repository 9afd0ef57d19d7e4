import type { Json, Unit } from "./family.ts";
import { asArray, asObject, asText, isObject } from "./json.ts";
import type { ChatAsk } from "./openai-chat-quirks.ts";
import { messagesOf, type ChatMessage } from "./openai-chat-request.ts";
import { upstreamOf } from "./openai-chat-upstream.ts";
import { openSeal } from "./seal.ts";
import { textTokens } from "./tokens.ts";

/** The prompt as it is counted and cached: tools, then each message, its parts and its calls. */
export const prompt = (ask: ChatAsk): readonly Unit[] => [
  ...asArray(ask.body["tools"])
    .map(asObject)
    .map((tool) => unit(tool, JSON.stringify(tool["function"] ?? tool), ask)),
  ...messagesOf(ask).flatMap((message) => unitsOf(message, ask)),
];

/** How many units of the prompt stand before each message. */
export const unitsBefore = (ask: ChatAsk): readonly number[] => {
  let count = asArray(ask.body["tools"]).length;
  return messagesOf(ask).map((message) => {
    const before = count;
    count += unitsOf(message, ask).length;
    return before;
  });
};

/** Role and markup of a message cost a little, whatever it says. */
const overhead = 3;

const unitsOf = (message: ChatMessage, ask: ChatAsk): readonly Unit[] => {
  const { content, tool_calls: _calls, ...rest } = message.value;
  const read = Object.entries(rest).filter(([field]) => !isReasoning(field) || isReread(field, ask));
  const thoughts = read.filter(([field]) => isReasoning(field));
  const tokens = sum(thoughts.map(([, value]) => thoughtTokens(value)));
  // A string is short for a list with one text in it: to the cache they are the same.
  const words = asText(content);
  return [
    { ...unit(Object.fromEntries(read), "", ask), tokens: { text: overhead + tokens } },
    ...(words === "" ? [] : [unit({ type: "text", text: words }, words, ask)]),
    ...message.parts.map(({ value, text, file, tokens: cost }) => ({
      ...unit(value, text + thinkingText(value), ask),
      ...(file === undefined ? {} : { tokens: { [file.kind]: cost } }),
    })),
    ...message.calls.map((call) => unit(call, callText(call), ask)),
  ];
};

const unit = (
  { cache_control: control, prompt_cache_breakpoint: point, ...value }: Json,
  text: string,
  ask: ChatAsk,
): Unit => ({
  content: JSON.stringify(value),
  tokens: text === "" ? {} : { text: textTokens(text) },
  // Behind a gateway with marks, upstreams other than Anthropic cache by themselves.
  marked: isObject(control) || isObject(point) || (ask.provider.cache.mode === "marked" && cachesItself(ask)),
  ...(asObject(control)["ttl"] === "1h" ? { keep: 3600 } : {}),
});

const cachesItself = (ask: ChatAsk): boolean => upstreamOf(ask.model) !== "anthropic";

const isReasoning = (field: string): boolean => field.startsWith("reasoning");

const isReread = (field: string, ask: ChatAsk): boolean => ask.provider.quirks.rereads.includes(field);

/** What a thought costs to read again; a sealed one costs what it cost to think. */
const thoughtTokens = (value: unknown): number =>
  Array.isArray(value)
    ? sum(
        value.map((item) => {
          const { text, summary, data } = asObject(item);
          return textTokens(asText(text) || asText(summary)) + (openSeal(asText(data))?.tokens ?? 0);
        }),
      )
    : textTokens(asText(value));

const thinkingText = (part: Json): string =>
  asArray(part["thinking"])
    .map((item) => asText(asObject(item)["text"]))
    .join("");

const callText = (call: Json): string => {
  const { name, arguments: given } = asObject(call["function"]);
  return `${asText(name)} ${typeof given === "string" ? given : JSON.stringify(given ?? {})}`;
};

const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);
