import type { Environment } from "../../world/world.ts";
import type { CommandWords } from "./effects/nested.ts";
import type { FolderReading } from "./read-check.ts";
import type { ControlOperator } from "./parse/plain.ts";
import type { FoundRepository } from "./repository/find.ts";
import type { Protection } from "../workspace/protected-paths.ts";

/** The environment a command line is analyzed in. Folders and roots are canonical. */
export type CommandContext = {
  readonly roots: readonly string[];
  readonly folder: string;
  readonly home: string;
  /** The environment variables of the command. */
  readonly env: Environment;
  /** Finds a program on the search path. */
  readonly findProgram: (name: string) => Promise<string | undefined>;
  /** Whether an absolute path leads into the workspace, all links followed. A missing path counts by where it would be created. */
  readonly isInside: (path: string) => Promise<boolean>;
  /** The reason a command may not read an absolute path without approval; undefined where it may. */
  readonly checkRead: (path: string, reading: FolderReading) => Promise<string | undefined>;
  /** Follows all links of an absolute path; returns the path itself if it does not exist. */
  readonly canonical: (path: string) => Promise<string>;
  /** Whether writing to a path is free, needs approval, or is denied. */
  readonly protection: (path: string) => Promise<Protection>;
  /** Finds the repository git would use in a folder. */
  readonly findRepository: (folder: string) => Promise<FoundRepository>;
};

/** The result of analyzing a command line: everything an approval shows and permission rules are matched against. */
export type CommandAnalysis = {
  readonly text: string;
  readonly folder: string;
  /** Plain: literal words joined by `&&`, `||`, `|`, `;` and newlines. Opaque: anything else; approval covers the whole line. */
  readonly shape: "plain" | "opaque";
  /** Why it is opaque, as a verb phrase: "contains a redirection". */
  readonly reason: string;
  /** Its commands in order; empty if it is opaque. */
  readonly commands: readonly SimpleCommand[];
  /** The programs it is seen to run, by name and file. */
  readonly programs: readonly CommandProgram[];
  /** The rules that would allow it next time; empty if no rule can. */
  readonly suggestedRules: readonly (readonly string[])[];
  /** Every command it might run, wrappers (`sudo`, `env`, `bash -c`) unwrapped. */
  readonly runs: readonly CommandWords[];
  /** Whether it might run commands that are not in its text. */
  readonly mayRunUnseen: boolean;
  /** Parts of it that could not be parsed. */
  readonly unparsedTexts: readonly string[];
  /** Why the commands it runs cannot be determined; undefined if they can. */
  readonly unclearReason: string | undefined;
  /** The files it is known to write. */
  readonly writes: readonly CommandWrite[];
  /** The absolute paths that its arguments might name. */
  readonly operandPaths: readonly string[];
  readonly readsOutside: boolean;
  readonly writesOutside: boolean;
  /** Why no mode and no rule allows it; undefined if nothing of the kind was found. */
  readonly alwaysDeniedReason: string | undefined;
};

/** One command of a plain line. `requiredWords` is how many of its words a rule must contain; undefined if no rule can allow it. */
export type SimpleCommand = {
  readonly words: readonly string[];
  readonly operator: ControlOperator;
  readonly binary: ResolvedBinary;
  readonly requiredWords: number | undefined;
  readonly reason: string;
  /** The suggested rule that would allow it. */
  readonly rule: readonly string[] | undefined;
  /** Whether it runs what another command of the line downloads. */
  readonly runsDownload?: true;
};

/** The program a command name resolves to. */
export type ResolvedBinary =
  | { readonly kind: "builtin" }
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "unknown" };

export type CommandProgram = { readonly name: string; readonly binary: ResolvedBinary };

/**
 * A file a command line writes. Denied: it controls the agent, and no mode writes it.
 * Protected: every mode asks. Free: inside the workspace.
 */
export type CommandWrite = {
  readonly path: string;
  readonly place: "free" | "outside" | "protected" | "denied";
  readonly reason: string;
};
