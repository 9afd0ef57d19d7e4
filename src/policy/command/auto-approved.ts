import type { Disk } from "../../world/disk.ts";
import type { CommandAnalysis } from "./analysis.ts";
import type { CommandDecision, CommandRules } from "./decide.ts";
import { readOnlyGitVariables } from "./repository/safe-git.ts";
import { filterTrustedSearchPath, defaultSearchPath } from "../shell/search-path.ts";

type CommandVariables = { readonly [name: string]: string };

/** Records the commands that run without approval, and gives them a restricted environment. */
export type AutoApprovedCommands = {
  /** Records the decision about a command. */
  readonly record: (text: string, judged: RecordedCommand, ruling: CommandRules) => void;
  /** The environment of a command that runs without approval; undefined for others, which get the user's own. */
  readonly environmentFor: (text: string) => Promise<CommandVariables | undefined>;
  /** Whether a command that was judged only reads, whatever mode allowed it. */
  readonly isReadOnly: (text: string) => boolean;
  /** The search path for Parley's own programs. */
  readonly searchPath: () => Promise<string>;
};

type RecordedCommand = Pick<CommandDecision, "decision"> & {
  readonly analysis: Pick<CommandAnalysis, "commands" | "shape">;
};

/**
 * Commands that run without approval find no programs in the workspace, and git runs nothing a repository names. In
 * yolo mode the user has approved everything beforehand, so commands get the user's environment.
 */
export const createAutoApprovedCommands = (
  disk: Disk,
  env: CommandVariables,
  roots: readonly string[],
): AutoApprovedCommands => {
  const recorded = new Map<string, "reads" | "allowed">();
  const readOnly = new Set<string>();
  let path: Promise<string> | undefined;
  const searchPath = (): Promise<string> =>
    (path ??= filterTrustedSearchPath(disk, env["PATH"] ?? defaultSearchPath, roots));
  return {
    record: (text, { decision, analysis }, { mode, isAllowListOnly }) => {
      if (isAllowListOnly === true) return;
      recorded.delete(text);
      const reads = analysis.commands.every(({ requiredWords }) => requiredWords === 0);
      if (reads && analysis.shape === "plain" && readOnly.size < maxCommands) readOnly.add(text);
      else readOnly.delete(text);
      if (decision !== "allow" || mode === "yolo") return;
      recorded.set(text, reads ? "reads" : "allowed");
      const [oldest] = recorded.keys();
      if (recorded.size > maxCommands && oldest !== undefined) recorded.delete(oldest);
    },
    environmentFor: async (text) => {
      const kind = recorded.get(text);
      if (kind === undefined) return undefined;
      return { ...env, PATH: await searchPath(), ...(kind === "reads" && readOnlyGitVariables) };
    },
    isReadOnly: (text) => readOnly.has(text),
    searchPath,
  };
};

/** More than the number of commands that can be pending at once. */
const maxCommands = 10_000;
