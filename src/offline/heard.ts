import type { HeardFile } from "./file.ts";

/** A request as the model hears it. */
export type Heard = {
  readonly model: string;
  readonly system: string;
  readonly tools: readonly Offered[];
  /** Whether it may call tools, must, or must call a certain one. */
  readonly choice: "auto" | "none" | "required" | { readonly tool: string };
  readonly turns: readonly Turn[];
};

/** A tool that may be called. */
export type Offered = {
  readonly name: string;
  readonly parameters: readonly string[];
  readonly required: readonly string[];
};

/** What one side said before the other had the word. Results belong to the calls they answer. */
export type Turn =
  | { readonly by: "user"; readonly texts: readonly string[]; readonly files: readonly HeardFile[] }
  | { readonly by: "model"; readonly text: string; readonly exchanges: readonly Exchange[] };

/** A call and what came of it; no result where none is there. */
export type Exchange = ToolCall & { readonly id: string; readonly result?: Result };

export type ToolCall = { readonly tool: string; readonly input: Readonly<Record<string, unknown>> };

export type Result = { readonly text: string; readonly files: readonly HeardFile[] };

/** What the model says: a thought, words, calls, in this order. */
export type Said = {
  readonly think?: string;
  readonly say?: string;
  readonly calls?: readonly ToolCall[];
};
