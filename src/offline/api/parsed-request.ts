import type { AttachedFile } from "./attached-file.ts";

/** A request as the model hears it. */
export type ParsedRequest = {
  readonly model: string;
  readonly system: string;
  readonly tools: readonly DemoTool[];
  /** Whether it may call tools, must, or must call a certain one. */
  readonly toolChoice: "auto" | "none" | "required" | { readonly tool: string };
  readonly turns: readonly DemoTurn[];
};

/** A tool that may be called. */
export type DemoTool = {
  readonly name: string;
  readonly parameters: readonly string[];
  readonly required: readonly string[];
};

/** What one side said before the other had the word. Results belong to the calls they answer. */
export type DemoTurn =
  | { readonly role: "user"; readonly texts: readonly string[]; readonly files: readonly AttachedFile[] }
  | { readonly role: "model"; readonly text: string; readonly exchanges: readonly ToolExchange[] };

/** A call and what came of it; no result where none is there. */
export type ToolExchange = DemoToolCall & { readonly id: string; readonly result?: ExchangeResult };

export type DemoToolCall = { readonly tool: string; readonly input: Readonly<Record<string, unknown>> };

export type ExchangeResult = { readonly text: string; readonly files: readonly AttachedFile[] };

/** What the model says: a thought, words, calls, in this order. */
export type DemoReply = {
  readonly thinking?: string;
  readonly text?: string;
  readonly calls?: readonly DemoToolCall[];
};
