/** One thing a person wants, as far as a sentence tells. */
export type Intent =
  | { readonly type: "list"; readonly path: string }
  | { readonly type: "read"; readonly path: string; readonly lines?: LineRange; readonly as?: ReadAspect }
  /** Many files at once, by patterns. */
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
  /** Text at the end of a file that is there. */
  | { readonly type: "append"; readonly path: string; readonly content: string }
  | { readonly type: "edit"; readonly path: string; readonly old: string; readonly fresh: string }
  | { readonly type: "fetch"; readonly prompt: string }
  | { readonly type: "web"; readonly query: string }
  | { readonly type: "remember"; readonly fact: string }
  /** A tool by its name, for those the sentences know nothing of. */
  | { readonly type: "use"; readonly tool: string; readonly input: Readonly<Record<string, unknown>> }
  /** What this project is. */
  | { readonly type: "survey" }
  | { readonly type: SmallTalkType }
  | { readonly type: "unknown"; readonly text: string };

/** What can be answered without doing anything. */
export type SmallTalkType =
  | "greet"
  | "thank"
  | "identity"
  | "abilities"
  | "continue"
  | "again"
  | "explain"
  | "attached";

/** What of a file is told: its gist, what it looks like, or how much of something it has. */
type ReadAspect = "gist" | "look" | Countable;

/** What a text can be counted in. */
export type Countable = "lines" | "words" | "characters";

/** Lines counted from 0; `from` is negative for lines at the end. */
export type LineRange = { readonly from: number; readonly count?: number };

/** A wish and whether it was said to come after the one before. */
export type IntentStep = { readonly intent: Intent; readonly isLater: boolean };
