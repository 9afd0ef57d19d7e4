import type { Json, PromptUnit } from "../family.ts";
import { asArray, asObject, asText, isObject } from "../json.ts";
import type { ChatSimRequest } from "./quirks.ts";
import { messagesOf, type SimChatMessage } from "./request.ts";
import { upstreamOf } from "./upstream.ts";
import { openSeal } from "../seal.ts";
import { countTextTokens } from "../tokens.ts";

/** Splits the prompt as it is counted and cached: tools, then each message with its parts and calls. */
export const splitPrompt = (request: ChatSimRequest): readonly PromptUnit[] => [
  ...asArray(request.body["tools"])
    .map(asObject)
    .map((tool) => createUnit(tool, JSON.stringify(tool["function"] ?? tool), request)),
  ...messagesOf(request).flatMap((message) => messageUnits(message, request)),
];

/** The number of prompt units before each message. */
export const unitsBefore = (request: ChatSimRequest): readonly number[] => {
  let count = asArray(request.body["tools"]).length;
  return messagesOf(request).map((message) => {
    const before = count;
    count += messageUnits(message, request).length;
    return before;
  });
};

/** Tokens for the role and markup of a message. */
const overhead = 3;

const messageUnits = (message: SimChatMessage, request: ChatSimRequest): readonly PromptUnit[] => {
  const { content, tool_calls: _calls, ...rest } = message.value;
  const read = Object.entries(rest).filter(([field]) => !isReasoning(field) || isRereadField(field, request));
  const thoughts = read.filter(([field]) => isReasoning(field));
  const tokens = sum(thoughts.map(([, value]) => thoughtTokens(value)));
  // A string is shorthand for a list with one text: the cache treats them alike.
  const words = asText(content);
  return [
    { ...createUnit(Object.fromEntries(read), "", request), tokens: { text: overhead + tokens } },
    ...(words === "" ? [] : [createUnit({ type: "text", text: words }, words, request)]),
    ...message.parts.map(({ value, text, file, tokens: cost }) => ({
      ...createUnit(value, text + thinkingText(value), request),
      ...(file === undefined ? {} : { tokens: { [file.kind]: cost } }),
    })),
    ...message.calls.map((call) => createUnit(call, callText(call), request)),
  ];
};

const createUnit = (
  { cache_control: control, prompt_cache_breakpoint: point, ...value }: Json,
  text: string,
  request: ChatSimRequest,
): PromptUnit => ({
  content: JSON.stringify(value),
  tokens: text === "" ? {} : { text: countTextTokens(text) },
  // Behind a gateway with cache points, upstreams other than Anthropic cache automatically.
  isCachePoint:
    isObject(control) || isObject(point) || (request.provider.cache.mode === "marked" && cachesItself(request)),
  ...(asObject(control)["ttl"] === "1h" ? { ttlSeconds: 3600 } : {}),
});

const cachesItself = (request: ChatSimRequest): boolean => upstreamOf(request.model) !== "anthropic";

const isReasoning = (field: string): boolean => field.startsWith("reasoning");

const isRereadField = (field: string, request: ChatSimRequest): boolean =>
  request.provider.quirks.rereadFields.includes(field);

/** The tokens of thinking that is read again; sealed thinking costs its original size. */
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
