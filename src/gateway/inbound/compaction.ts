import { isObject, type JsonObject } from "../../conversation/json.ts";
import { unwrapSeal } from "../carry.ts";
import type { Fields } from "./normalize.ts";

/*
 * Clients of the Responses API have their conversation compacted in two ways: by /responses/compact, and by an input that ends with
 * an item of type `compaction_trigger`, which is answered with one item of type `compaction` (Codex, for a provider named OpenAI).
 * OpenAI encrypts that item. The gateway's holds a summary by the target, so that every target can read it in the next request.
 */

/** Whether the input of a request ends with a request to compact it. */
export const asksForCompaction = ({ input }: Fields): boolean => Array.isArray(input) && isTrigger(input.at(-1));

/** Rewrites a request to compact its input as one for a summary. Tools are left out, so that the model writes text. */
export const askForSummary = (body: Fields): Fields => {
  const { tools: _tools, tool_choice: _choice, text: _text, ...rest } = body;
  const input: readonly unknown[] = Array.isArray(body["input"]) ? body["input"] : [body["input"]];
  return {
    ...rest,
    input: [...input.filter((item) => !isTrigger(item)), { type: "message", role: "user", content: compactionPrompt }],
  };
};

const isTrigger = (item: unknown): boolean => isObject(item) && item["type"] === "compaction_trigger";

/** Writes a summary of the gateway as a message; other items are returned unchanged. */
export const expandSummary = (item: unknown): unknown => {
  if (!isObject(item) || item["type"] !== "compaction" || typeof item["encrypted_content"] !== "string") return item;
  const text = unwrapSeal(item["encrypted_content"])?.text;
  return text === undefined ? item : summaryMessage(text);
};

/** The message that continues a conversation from a summary. */
export const summaryMessage = (summary: string): JsonObject => ({
  type: "message",
  role: "user",
  content: [{ type: "input_text", text: `${summaryHeading}\n\n${summary}` }],
});

const compactionPrompt =
  "Summarize this conversation so that you can continue the work from the summary alone. State the goal, the decisions and their reasons, every file that was read or changed with what matters in it, the exact names, commands and errors that are still needed, what is done, and what comes next. Write only the summary.";

const summaryHeading = "Summary of the conversation before this point:";
