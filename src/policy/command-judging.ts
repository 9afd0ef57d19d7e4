import { posix } from "node:path";
import type { Disk } from "../world/disk.ts";
import type { Processes } from "../world/processes.ts";
import type { Environment } from "../world/world.ts";
import { analyse } from "./command.ts";
import type { CommandAnalysis, CommandContext } from "./command-analysis.ts";
import { judgeCommand, type CommandJudgement, type CommandRuling } from "./command-judge.ts";
import { analyseCmd, judgeCmd, usesCmd } from "./command-windows.ts";
import { openReadCheck, type ReadableFiles } from "./command-reads.ts";
import { findRepository, kindAt } from "./command-repository.ts";
import { isInside } from "./paths.ts";
import type { Protection } from "./protected.ts";

/** What reading commands needs of the world. */
export type CommandWorld = {
  /** The system commands run on, as Node names it. */
  readonly platform?: string;
  readonly disk: Disk;
  readonly processes: Pick<Processes, "find">;
  /** Tells what may be read. */
  readonly files: ReadableFiles;
  /** The agent's own folder. */
  readonly own: string;
  /** Where the roots really are. */
  readonly roots: readonly string[];
  /** The person's home folder. */
  readonly home: string;
  /** What commands will find in their environment. */
  readonly env: Environment;
  /** What guards a path, all links followed, against being written. */
  readonly protection: (path: string) => Protection;
};

/** A judge of command lines that asks the real disk where paths and names lead. `folder` is where the line would run. */
export const openCommandJudge =
  (world: CommandWorld) =>
  async (
    { text, folder }: { readonly text: string; readonly folder: string },
    ruling: CommandRuling,
  ): Promise<CommandJudgement & { readonly analysis: CommandAnalysis }> => {
    if (usesCmd(world.platform ?? "")) {
      const analysis = analyseCmd(text, folder);
      return { ...judgeCmd(analysis, ruling), analysis };
    }
    const analysis = await analyse(text, commandContext(world, folder));
    return { ...judgeCommand(analysis, ruling), analysis };
  };

/** What a command line is read against, in a folder given by its absolute path. */
const commandContext = (world: CommandWorld, folder: string): CommandContext => {
  const { disk, processes, roots, home, env, files, own } = world;
  return {
    roots,
    folder,
    home,
    env,
    resolve: (name) => processes.find(name, env["PATH"] ?? ""),
    isInside: async (path) => {
      const end = await endOf(disk, path);
      return end !== undefined && roots.some((root) => isInside(end, root));
    },
    readFault: openReadCheck(files, own),
    canonical: async (path) => (await disk.canonical(path)) ?? path,
    protection: async (path) => {
      const spelled = world.protection(path);
      return spelled.level === "free" ? world.protection((await endOf(disk, path)) ?? path) : spelled;
    },
    repository: async (at) => findRepository(disk, (await disk.canonical(at)) ?? at),
  };
};

/** Where a path leads, or will once the rest of it is made; undefined where a link in it leads to nothing. */
const endOf = async (disk: Disk, path: string): Promise<string | undefined> => {
  for (let start = path, missing: readonly string[] = []; ; start = posix.dirname(start)) {
    const found = await disk.canonical(start);
    const [next] = missing;
    if (found !== undefined) {
      const isLink = next !== undefined && (await kindAt(disk, found, next)) !== undefined;
      return isLink ? undefined : posix.join(found, ...missing);
    }
    if (start === "/") return undefined;
    missing = [posix.basename(start), ...missing];
  }
};
