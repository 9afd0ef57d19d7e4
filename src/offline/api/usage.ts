import { listOf, objectOf, textOf } from "../json.ts";

/** Token usage in the API's format. */
export type DemoUsage = {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
  readonly prompt_tokens_details: { readonly cached_tokens: number };
  readonly completion_tokens_details: { readonly reasoning_tokens: number };
};

/** Estimates tokens by length. Everything up to the last model message was in the previous request and counts as cached. */
export const estimateUsage = (
  body: Readonly<Record<string, unknown>>,
  { thinking, text }: { readonly thinking: string; readonly text: string },
): DemoUsage => {
  const messages = listOf(body["messages"]).map(objectOf);
  const last = messages.findLastIndex(({ role }) => role === "assistant");
  const head = estimateTextTokens(JSON.stringify(body["tools"] ?? ""));
  const prompt = head + sum(messages);
  const reasoning = estimateTextTokens(thinking);
  const completion = reasoning + estimateTextTokens(text);
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

/** A few tokens of overhead per message; a file costs the same whatever its size. */
const messageTokens = ({ content, tool_calls: calls }: Readonly<Record<string, unknown>>): number => {
  const parts = typeof content === "string" ? [{ type: "text", text: content }] : listOf(content).map(objectOf);
  const words = parts.reduce(
    (all, part) => all + ("text" in part ? estimateTextTokens(textOf(part["text"])) : fileTokens),
    0,
  );
  return 4 + words + (calls === undefined ? 0 : estimateTextTokens(JSON.stringify(calls)));
};

const fileTokens = 258;

/** One token per four characters, rounded up. */
const estimateTextTokens = (text: string): number => Math.ceil(text.length / 4);
