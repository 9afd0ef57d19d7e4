import type { Disk } from "../world/disk.ts";
import type { CommandAnalysis } from "./command-analysis.ts";
import type { CommandJudgement, CommandRuling } from "./command-judge.ts";
import { readOnlyGit } from "./git.ts";
import { trustedSearchPath, usualSearchPath } from "./search-path.ts";

type Variables = { readonly [name: string]: string };

/** Keeps which commands run without a question, and what these find in their environment. */
export type UnaskedCommands = {
  /** Notes how a command was judged. */
  readonly note: (text: string, judged: Judged, ruling: CommandRuling) => void;
  /** The environment for a command that nobody was asked about; undefined for all others, which get the person's own. */
  readonly environment: (text: string) => Promise<Variables | undefined>;
  /** The folders where the program's own tools are found. */
  readonly searchPath: () => Promise<string>;
};

type Judged = Pick<CommandJudgement, "decision"> & { readonly analysis: Pick<CommandAnalysis, "commands"> };

/**
 * Commands that run unasked find no programs in the workspace, and git in them runs nothing a repository names. In
 * yolo mode the person has agreed to everything beforehand, and commands run as the person's would.
 */
export const openUnasked = (disk: Disk, env: Variables, roots: readonly string[]): UnaskedCommands => {
  const noted = new Map<string, "reads" | "allowed">();
  let path: Promise<string> | undefined;
  const searchPath = (): Promise<string> => (path ??= trustedSearchPath(disk, env["PATH"] ?? usualSearchPath, roots));
  return {
    note: (text, { decision, analysis }, { mode, only }) => {
      if (only === true) return;
      noted.delete(text);
      if (decision !== "allow" || mode === "yolo") return;
      noted.set(text, analysis.commands.every(({ needs }) => needs === 0) ? "reads" : "allowed");
      const [oldest] = noted.keys();
      if (noted.size > most && oldest !== undefined) noted.delete(oldest);
    },
    environment: async (text) => {
      const kind = noted.get(text);
      if (kind === undefined) return undefined;
      return { ...env, PATH: await searchPath(), ...(kind === "reads" && readOnlyGit) };
    },
    searchPath,
  };
};

/** As many as can wait to be run at once, and more. */
const most = 10_000;
