import type { Json, PromptUnit } from "../family.ts";
import { asArray, asObject, asText, isObject } from "../json.ts";
import type { ChatSimRequest } from "./quirks.ts";
import { messagesOf, type SimChatMessage } from "./request.ts";
import { upstreamOf } from "./upstream.ts";
import { openSeal } from "../seal.ts";
import { countTextTokens } from "../tokens.ts";

/** The prompt as it is counted and cached: tools, then each message, its parts and its calls. */
export const splitPrompt = (ask: ChatSimRequest): readonly PromptUnit[] => [
  ...asArray(ask.body["tools"])
    .map(asObject)
    .map((tool) => createUnit(tool, JSON.stringify(tool["function"] ?? tool), ask)),
  ...messagesOf(ask).flatMap((message) => messageUnits(message, ask)),
];

/** How many units of the prompt stand before each message. */
export const unitsBefore = (ask: ChatSimRequest): readonly number[] => {
  let count = asArray(ask.body["tools"]).length;
  return messagesOf(ask).map((message) => {
    const before = count;
    count += messageUnits(message, ask).length;
    return before;
  });
};

/** Role and markup of a message cost a little, whatever it says. */
const overhead = 3;

const messageUnits = (message: SimChatMessage, ask: ChatSimRequest): readonly PromptUnit[] => {
  const { content, tool_calls: _calls, ...rest } = message.value;
  const read = Object.entries(rest).filter(([field]) => !isReasoning(field) || isRereadField(field, ask));
  const thoughts = read.filter(([field]) => isReasoning(field));
  const tokens = sum(thoughts.map(([, value]) => thoughtTokens(value)));
  // A string is short for a list with one text in it: to the cache they are the same.
  const words = asText(content);
  return [
    { ...createUnit(Object.fromEntries(read), "", ask), tokens: { text: overhead + tokens } },
    ...(words === "" ? [] : [createUnit({ type: "text", text: words }, words, ask)]),
    ...message.parts.map(({ value, text, file, tokens: cost }) => ({
      ...createUnit(value, text + thinkingText(value), ask),
      ...(file === undefined ? {} : { tokens: { [file.kind]: cost } }),
    })),
    ...message.calls.map((call) => createUnit(call, callText(call), ask)),
  ];
};

const createUnit = (
  { cache_control: control, prompt_cache_breakpoint: point, ...value }: Json,
  text: string,
  ask: ChatSimRequest,
): PromptUnit => ({
  content: JSON.stringify(value),
  tokens: text === "" ? {} : { text: countTextTokens(text) },
  // Behind a gateway with marks, upstreams other than Anthropic cache by themselves.
  isCachePoint: isObject(control) || isObject(point) || (ask.provider.cache.mode === "marked" && cachesItself(ask)),
  ...(asObject(control)["ttl"] === "1h" ? { ttlSeconds: 3600 } : {}),
});

const cachesItself = (ask: ChatSimRequest): boolean => upstreamOf(ask.model) !== "anthropic";

const isReasoning = (field: string): boolean => field.startsWith("reasoning");

const isRereadField = (field: string, ask: ChatSimRequest): boolean => ask.provider.quirks.rereadFields.includes(field);

/** What a thought costs to read again; a sealed one costs what it cost to think. */
const thoughtTokens = (value: unknown): number =>
  Array.isArray(value)
    ? sum(
        value.map((item) => {
          const { text, summary, data } = asObject(item);
          return countTextTokens(asText(text) || asText(summary)) + (openSeal(asText(data))?.tokens ?? 0);
        }),
      )
    : countTextTokens(asText(value));

const thinkingText = (part: Json): string =>
  asArray(part["thinking"])
    .map((item) => asText(asObject(item)["text"]))
    .join("");

const callText = (call: Json): string => {
  const { name, arguments: given } = asObject(call["function"]);
  return `${asText(name)} ${typeof given === "string" ? given : JSON.stringify(given ?? {})}`;
};

const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);
