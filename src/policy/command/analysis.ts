import type { Environment } from "../../world/world.ts";
import type { CommandWords } from "./effects/nested.ts";
import type { FolderReading } from "./read-check.ts";
import type { ControlOperator } from "./parse/plain.ts";
import type { FoundRepository } from "./repository/find.ts";
import type { Protection } from "../workspace/protected-paths.ts";

/** What a command line is read against. Folders and roots are canonical. */
export type CommandContext = {
  readonly roots: readonly string[];
  readonly folder: string;
  readonly home: string;
  /** What the command will run with. */
  readonly env: Environment;
  /** The program a name stands for on the search path. */
  readonly findProgram: (name: string) => Promise<string | undefined>;
  /** Whether an absolute path leads into the workspace, all links followed. What is not there counts by where it would be. */
  readonly isInside: (path: string) => Promise<boolean>;
  /** Why a command may not read an absolute path unasked; undefined where it may. */
  readonly checkRead: (path: string, reading: FolderReading) => Promise<string | undefined>;
  /** Where an absolute path leads, all links followed; the path itself where nothing is there. */
  readonly canonical: (path: string) => Promise<string>;
  /** Whether writing to a path is free, asked about, or refused. */
  readonly protection: (path: string) => Promise<Protection>;
  /** What git would find from a folder. */
  readonly findRepository: (folder: string) => Promise<FoundRepository>;
};

/** What a command line would do: everything a person should see, and everything rules are held against. */
export type CommandAnalysis = {
  readonly text: string;
  readonly folder: string;
  /** Plain: literal words joined by `&&`, `||`, `|`, `;` and newlines. Opaque: anything else, to be asked about whole. */
  readonly shape: "plain" | "opaque";
  /** Why it is opaque. */
  readonly reason: string;
  /** Its commands in order; none where it is opaque. */
  readonly commands: readonly SimpleCommand[];
  /** The names of everything it is seen to run, and what they stand for. */
  readonly programs: readonly CommandProgram[];
  /** The rules that would allow it next time; none where no rule can. */
  readonly suggestedRules: readonly (readonly string[])[];
  /** Everything it might run, wrappers opened. */
  readonly runs: readonly CommandWords[];
  /** Whether it might run what cannot be seen. */
  readonly mayRunUnseen: boolean;
  /** Texts in it that could not be read. */
  readonly unparsedTexts: readonly string[];
  /** Why it cannot be told which commands it runs; undefined where it can. */
  readonly unclearReason: string | undefined;
  /** The files it is seen to write. */
  readonly writes: readonly CommandWrite[];
  readonly readsOutside: boolean;
  readonly writesOutside: boolean;
  /** Why it must not run in any mode. */
  readonly alwaysDeniedReason: string | undefined;
};

/** One command of a plain line. `needs` is how many of its words a rule must spell out; undefined where no rule can allow it. */
export type SimpleCommand = {
  readonly words: readonly string[];
  readonly operator: ControlOperator;
  readonly binary: ResolvedBinary;
  readonly requiredWords: number | undefined;
  readonly reason: string;
  /** The rule that would allow it. */
  readonly rule: readonly string[] | undefined;
};

/** What a name stands for. */
export type ResolvedBinary =
  | { readonly kind: "builtin" }
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "unknown" };

export type CommandProgram = { readonly name: string; readonly binary: ResolvedBinary };

/**
 * A file a line is seen to write. Kept: it governs the agent and no mode writes
 * it. Guarded: every mode asks. Free: in the workspace.
 */
export type CommandWrite = {
  readonly path: string;
  readonly place: "free" | "outside" | "guarded" | "kept";
  readonly reason: string;
};
