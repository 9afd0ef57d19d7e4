/** One thing the user wants, as recognized in a sentence. */
export type Intent =
  | { readonly type: "list"; readonly path: string }
  | { readonly type: "read"; readonly path: string; readonly lines?: LineRange; readonly as?: ReadAspect }
  /** Many files at once, by globs. */
  | { readonly type: "read-many"; readonly patterns: readonly string[] }
  | { readonly type: "find"; readonly pattern: string; readonly path?: string; readonly as?: "count" }
  | {
      readonly type: "search";
      /** A regular expression. */
      readonly pattern: string;
      readonly path?: string;
      readonly include?: string;
      readonly as?: "count";
    }
  | { readonly type: "size"; readonly path: string }
  | { readonly type: "run"; readonly command: string }
  | { readonly type: "write"; readonly path: string; readonly content: string }
  /** Appends text to an existing file. */
  | { readonly type: "append"; readonly path: string; readonly content: string }
  | { readonly type: "edit"; readonly path: string; readonly old: string; readonly fresh: string }
  | { readonly type: "fetch"; readonly prompt: string }
  | { readonly type: "web"; readonly query: string }
  | { readonly type: "remember"; readonly fact: string }
  /** Calls a tool by name, for tools without phrases. */
  | { readonly type: "use"; readonly tool: string; readonly input: Readonly<Record<string, unknown>> }
  /** An overview of the project. */
  | { readonly type: "survey" }
  | { readonly type: SmallTalkType }
  | { readonly type: "unknown"; readonly text: string };

/** Intents that are answered without a tool. */
export type SmallTalkType =
  | "greet"
  | "thank"
  | "identity"
  | "abilities"
  | "continue"
  | "again"
  | "explain"
  | "attached";

/** How a file is reported: as a summary, as an image, or as a count. */
type ReadAspect = "summary" | "image" | Countable;

/** Units a text can be counted in. */
export type Countable = "lines" | "words" | "characters";

/** Lines counted from 0; a negative `from` counts from the end. */
export type LineRange = { readonly from: number; readonly count?: number };

/** An intent, and whether it comes after the one before. */
export type IntentStep = { readonly intent: Intent; readonly isLater: boolean };
