import { callsOf, messagesOf, type ChatMessage } from "./walk.ts";
import { isDeepseekThinking, isMistralModel, isKimiThinking } from "../openai/models.ts";
import type { Rule, RuleTarget } from "../rule.ts";
import { adviceRule, asArray, asObject, isObject, join, rejectedRule, type Check } from "../walk.ts";

/** Mistral accepts system messages first or after a user message; never after an assistant or tool message. */
const systemPosition: Check = (body, report, target) => {
  if (target.provider !== "mistral") return;
  let previous: ChatMessage | undefined;
  for (const message of messagesOf(body)) {
    const before = previous?.role;
    if (message.role === "system" && (before === "assistant" || before === "tool")) {
      report(message.at, `Unexpected role 'system' after role '${before}'`);
    }
    previous = message;
  }
};

/** Many chat templates of local models refuse system messages after the first message. */
const lateSystem: Check = (body, report, target) => {
  if (target.provider !== "local") return;
  let isHead = true;
  for (const { role, at } of messagesOf(body)) {
    if (role !== "system") isHead = false;
    else if (!isHead) report(at, "System message must be at the beginning.");
  }
};

const lastMessage: Check = (body, report, target) => {
  const last = messagesOf(body).at(-1);
  if (target.provider !== "mistral" || last?.role !== "assistant" || callsOf(last).length > 0) return;
  if (last.value["prefix"] === true) return;
  report(last.at, "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant");
};

const prefixPosition: Check = (body, report, target) => {
  if (target.provider !== "mistral") return;
  const messages = messagesOf(body);
  for (const { value, at } of messages.slice(0, -1)) {
    if (value["prefix"] === true) report(join(at, "prefix"), "Assistant message with prefix True must be last message");
  }
};

/** Hosted Mistral accepts this since 2026; the templates of self-hosted models mostly do not. */
const userAfterTool: Check = (body, report, target) => {
  if (target.provider !== "local" || target.model === undefined || !isMistralModel(target)) return;
  let previous: ChatMessage | undefined;
  for (const message of messagesOf(body)) {
    if (message.role === "user" && previous?.role === "tool")
      report(message.at, "Unexpected role 'user' after role 'tool'");
    previous = message;
  }
};

const noUser: Check = (body, report, target) => {
  const messages = messagesOf(body);
  if (target.provider !== "zai" || messages.length === 0 || messages.some(({ role }) => role === "user")) return;
  report("/messages", "The messages parameter is illegal. Please check the documentation.");
};

/**
 * Thinking models of DeepSeek and Kimi require their reasoning back wherever tools were used; an empty text is enough.
 */
const missingReasoning: Check = (body, report, target) => {
  for (const { at, index } of missingReasoners(body, target)) {
    report(
      at,
      target.provider === "kimi"
        ? `thinking is enabled but reasoning_content is missing in assistant tool call message at index ${index}`
        : "The `reasoning_content` in the thinking mode must be passed back to the API.",
    );
  }
};

const missingReasoners = (body: unknown, target: RuleTarget): readonly ChatMessage[] => {
  const isSilent = ({ value }: ChatMessage): boolean => typeof value["reasoning_content"] !== "string";
  if (target.provider === "kimi" && isKimiThinking(body, target)) {
    return messagesOf(body).filter((message) => callsOf(message).length > 0 && isSilent(message));
  }
  if (target.provider === "deepseek" && isDeepseekThinking(body, target)) {
    return turns(messagesOf(body)).flatMap((turn) =>
      turn.some((message) => callsOf(message).length > 0)
        ? turn.filter((each) => each.role === "assistant" && isSilent(each))
        : [],
    );
  }
  return [];
};

/** The messages between two user messages. */
const turns = (messages: readonly ChatMessage[]): readonly (readonly ChatMessage[])[] => {
  const all: ChatMessage[][] = [[]];
  for (const message of messages) {
    if (message.role === "user") all.push([]);
    else all.at(-1)?.push(message);
  }
  return all;
};

/** Mistral's thinking chunks precede the text. */
const thinkingFirst: Check = (body, report, target) => {
  if (target.provider !== "mistral") return;
  for (const { role, value, at } of messagesOf(body)) {
    if (role !== "assistant") continue;
    let hasSpoken = false;
    asArray(value["content"]).forEach((part, index) => {
      const { type } = asObject(part);
      if (type === "thinking" && hasSpoken) {
        report(join(at, "content", index), "Thinking chunks must come before other chunks of an assistant message.");
      }
      if (isObject(part) && type !== "thinking") hasSpoken = true;
    });
  }
};

/** OpenRouter passes these ids to the Responses API, which refuses duplicates. */
const duplicateReasoningId: Check = (body, report, target) => {
  if (target.provider !== "openrouter") return;
  const owners = new Map<string, number>();
  for (const { at, index: owner, value } of messagesOf(body)) {
    asArray(value["reasoning_details"]).forEach((detail, index) => {
      const { id } = asObject(detail);
      if (typeof id !== "string" || !id.startsWith("rs_")) return;
      // Summary and blob of one item share its id, within one message.
      if ((owners.get(id) ?? owner) !== owner) {
        report(join(at, "reasoning_details", index, "id"), `Duplicate item found with id ${id}.`);
      }
      owners.set(id, owner);
    });
  }
};

/** Rules about the order of messages and about required reasoning. */
export const chatOrderRules: readonly Rule<unknown>[] = [
  rejectedRule("openai-chat/system-position", systemPosition),
  adviceRule("openai-chat/late-system", lateSystem),
  rejectedRule("openai-chat/last-message", lastMessage),
  rejectedRule("openai-chat/prefix-position", prefixPosition),
  adviceRule("openai-chat/user-after-tool", userAfterTool),
  rejectedRule("openai-chat/no-user", noUser),
  rejectedRule("openai-chat/missing-reasoning", missingReasoning),
  rejectedRule("openai-chat/thinking-first", thinkingFirst),
  rejectedRule("openai-chat/duplicate-reasoning-id", duplicateReasoningId),
];
