import type { Conversation } from "./entry.ts";
import type { JsonValue } from "./json.ts";
import type { NewCall } from "./ledger.ts";
import type { Content, Outcome, Structured, Text, Thinking } from "./parts.ts";

/** Words. */
export const text = (words: string): Text => ({ type: "text", text: words });

/** Reasoning without a seal. */
export const thinking = (words: string): Thinking => ({ type: "thinking", text: words });

/** A value with structure. */
export const structured = (value: JsonValue): Structured => ({ type: "structured", value });

/** A call on its way into a ledger; `id` is the provider's own. */
export const call = (tool: string, input: unknown = {}, id?: string): NewCall =>
  id === undefined
    ? { type: "call", tool, input: { value: input } }
    : { type: "call", tool, input: { value: input }, seal: { id } };

/** A tool's answer. Strings become text. */
export const done = (...content: readonly (Content | string)[]): Outcome => ({
  status: "complete",
  content: toContent(content),
});

/** A tool's failure. */
export const failed = (...content: readonly (Content | string)[]): Outcome => ({
  status: "error",
  content: toContent(content),
});

/** A call the person stopped. */
export const cancelled = (reason = "The user cancelled this call."): Outcome => ({
  status: "cancelled",
  content: [text(reason)],
});

/** A call that ended with the run, not by anyone's decision. */
export const interrupted = (): Outcome => ({ status: "interrupted", content: [], synthetic: true });

/** A conversation in which nothing has happened. */
export const emptyConversation = (): Conversation => ({ version: 1, entries: [], blobs: {} });

const toContent = (content: readonly (Content | string)[]): readonly Content[] =>
  content.map((part) => (typeof part === "string" ? text(part) : part));
