import type { Conversation } from "./entry.ts";
import type { JsonValue } from "./json.ts";
import type { NewCall } from "./ledger.ts";
import type { Content, Outcome, Structured, Text, Thinking } from "./parts.ts";

/** Creates a text part. */
export const text = (words: string): Text => ({ type: "text", text: words });

/** Creates a thinking part without a seal. */
export const thinking = (words: string): Thinking => ({ type: "thinking", text: words });

/** Creates structured content. */
export const structured = (value: JsonValue): Structured => ({ type: "structured", value });

/** Creates a tool call to append to a `Ledger`; `id` is the provider's own tool-call id. */
export const call = (tool: string, input: unknown = {}, id?: string): NewCall =>
  id === undefined
    ? { type: "call", tool, input: { value: input } }
    : { type: "call", tool, input: { value: input }, seal: { id } };

/** Creates the outcome of a tool call that succeeded. Strings become text. */
export const done = (...content: readonly (Content | string)[]): Outcome => ({
  status: "complete",
  content: toContent(content),
});

/** Creates the outcome of a tool call that failed. */
export const failed = (...content: readonly (Content | string)[]): Outcome => ({
  status: "error",
  content: toContent(content),
});

/** Creates the outcome of a tool call the user cancelled. */
export const cancelled = (reason = "The user cancelled this call."): Outcome => ({
  status: "cancelled",
  content: [text(reason)],
});

/** Creates the outcome of a tool call that was cut off when the run ended, without a decision of the user. */
export const interrupted = (): Outcome => ({ status: "interrupted", content: [], synthetic: true });

/** Creates a conversation without entries. */
export const emptyConversation = (): Conversation => ({ version: 1, entries: [], blobs: {} });

const toContent = (content: readonly (Content | string)[]): readonly Content[] =>
  content.map((part) => (typeof part === "string" ? text(part) : part));
