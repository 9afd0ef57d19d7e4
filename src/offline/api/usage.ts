import { listOf, objectOf, textOf } from "../json.ts";

/** Tokens of a request and its answer, in the API's own words. */
export type DemoUsage = {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
  readonly prompt_tokens_details: { readonly cached_tokens: number };
  readonly completion_tokens_details: { readonly reasoning_tokens: number };
};

/**
 * Counts tokens by length. What stood in the request before this one, all up to
 * the model's last words, counts as found in a cache.
 */
export const estimateUsage = (
  body: Readonly<Record<string, unknown>>,
  { thought, said }: { readonly thought: string; readonly said: string },
): DemoUsage => {
  const messages = listOf(body["messages"]).map(objectOf);
  const last = messages.findLastIndex(({ role }) => role === "assistant");
  const head = estimateTextTokens(JSON.stringify(body["tools"] ?? ""));
  const prompt = head + sum(messages);
  const reasoning = estimateTextTokens(thought);
  const completion = reasoning + estimateTextTokens(said);
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: last === -1 ? 0 : head + sum(messages.slice(0, last)) },
    completion_tokens_details: { reasoning_tokens: reasoning },
  };
};

const sum = (messages: readonly Readonly<Record<string, unknown>>[]): number =>
  messages.reduce((all, message) => all + messageTokens(message), 0);

/** A few for the frame of each message. A file costs the same however large it is. */
const messageTokens = ({ content, tool_calls: calls }: Readonly<Record<string, unknown>>): number => {
  const parts = typeof content === "string" ? [{ type: "text", text: content }] : listOf(content).map(objectOf);
  const words = parts.reduce(
    (all, part) => all + ("text" in part ? estimateTextTokens(textOf(part["text"])) : fileTokens),
    0,
  );
  return 4 + words + (calls === undefined ? 0 : estimateTextTokens(JSON.stringify(calls)));
};

const fileTokens = 258;

/** One for every four characters begun. */
const estimateTextTokens = (text: string): number => Math.ceil(text.length / 4);
