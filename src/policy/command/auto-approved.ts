import type { Disk } from "../../world/disk.ts";
import type { CommandAnalysis } from "./analysis.ts";
import type { CommandDecision, CommandRules } from "./decide.ts";
import { readOnlyGitVariables } from "./repository/safe-git.ts";
import { filterTrustedSearchPath, defaultSearchPath } from "../shell/search-path.ts";

type CommandVariables = { readonly [name: string]: string };

/** Keeps which commands run without a question, and what these find in their environment. */
export type AutoApprovedCommands = {
  /** Notes how a command was judged. */
  readonly record: (text: string, judged: RecordedCommand, ruling: CommandRules) => void;
  /** The environment for a command that nobody was asked about; undefined for all others, which get the person's own. */
  readonly environmentFor: (text: string) => Promise<CommandVariables | undefined>;
  /** The folders where the program's own tools are found. */
  readonly searchPath: () => Promise<string>;
};

type RecordedCommand = Pick<CommandDecision, "decision"> & { readonly analysis: Pick<CommandAnalysis, "commands"> };

/**
 * Commands that run unasked find no programs in the workspace, and git in them runs nothing a repository names. In
 * yolo mode the person has agreed to everything beforehand, and commands run as the person's would.
 */
export const createAutoApprovedCommands = (
  disk: Disk,
  env: CommandVariables,
  roots: readonly string[],
): AutoApprovedCommands => {
  const noted = new Map<string, "reads" | "allowed">();
  let path: Promise<string> | undefined;
  const searchPath = (): Promise<string> =>
    (path ??= filterTrustedSearchPath(disk, env["PATH"] ?? defaultSearchPath, roots));
  return {
    record: (text, { decision, analysis }, { mode, isAllowListOnly: only }) => {
      if (only === true) return;
      noted.delete(text);
      if (decision !== "allow" || mode === "yolo") return;
      noted.set(text, analysis.commands.every(({ requiredWords: needs }) => needs === 0) ? "reads" : "allowed");
      const [oldest] = noted.keys();
      if (noted.size > maxCommands && oldest !== undefined) noted.delete(oldest);
    },
    environmentFor: async (text) => {
      const kind = noted.get(text);
      if (kind === undefined) return undefined;
      return { ...env, PATH: await searchPath(), ...(kind === "reads" && readOnlyGitVariables) };
    },
    searchPath,
  };
};

/** As many as can wait to be run at once, and more. */
const maxCommands = 10_000;
