import type { AttachedFile } from "./attached-file.ts";

/** A parsed Chat Completions request. */
export type ParsedRequest = {
  readonly model: string;
  readonly system: string;
  readonly tools: readonly DemoTool[];
  /** Whether tools may be called, must be called, or a certain one must be called. */
  readonly toolChoice: "auto" | "none" | "required" | { readonly tool: string };
  readonly turns: readonly DemoTurn[];
};

/** A tool offered in the request. */
export type DemoTool = {
  readonly name: string;
  readonly parameters: readonly string[];
  readonly required: readonly string[];
};

/** The consecutive messages of one role. Results are stored with their calls. */
export type DemoTurn =
  | { readonly role: "user"; readonly texts: readonly string[]; readonly files: readonly AttachedFile[] }
  | { readonly role: "model"; readonly text: string; readonly exchanges: readonly ToolExchange[] };

/** A tool call with its result, if one was recorded. */
export type ToolExchange = DemoToolCall & { readonly id: string; readonly result?: ExchangeResult };

export type DemoToolCall = { readonly tool: string; readonly input: Readonly<Record<string, unknown>> };

export type ExchangeResult = { readonly text: string; readonly files: readonly AttachedFile[] };

/** The demo model's reply: thinking, text and tool calls, in this order. */
export type DemoReply = {
  readonly thinking?: string;
  readonly text?: string;
  readonly calls?: readonly DemoToolCall[];
};
