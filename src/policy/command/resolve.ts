import { posix } from "node:path";
import type { Disk } from "../../world/disk.ts";
import type { Processes } from "../../world/processes.ts";
import type { Environment } from "../../world/world.ts";
import { analyzeCommand } from "./analyze.ts";
import type { CommandAnalysis, CommandContext } from "./analysis.ts";
import { decideCommand, type CommandDecision, type CommandRules } from "./decide.ts";
import { analyzeCmd, decideCmd, usesCmd } from "./windows.ts";
import { createReadCheck, type ReadableFiles } from "./read-check.ts";
import { findRepository, readEntryKind } from "./repository/find.ts";
import { isInside } from "../workspace/paths.ts";
import type { Protection } from "../workspace/protected-paths.ts";

/** What reading commands needs of the world. */
export type CommandWorld = {
  /** The system commands run on, as Node names it. */
  readonly platform?: string;
  readonly disk: Disk;
  readonly processes: Pick<Processes, "find">;
  /** Tells what may be read. */
  readonly files: ReadableFiles;
  /** The agent's own folder. */
  readonly agentHome: string;
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
export const createCommandJudge =
  (world: CommandWorld) =>
  async (
    { text, folder }: { readonly text: string; readonly folder: string },
    ruling: CommandRules,
  ): Promise<CommandDecision & { readonly analysis: CommandAnalysis }> => {
    if (usesCmd(world.platform ?? "")) {
      const analysis = analyzeCmd(text, folder);
      return { ...decideCmd(analysis, ruling), analysis };
    }
    const analysis = await analyzeCommand(text, createCommandContext(world, folder));
    return { ...decideCommand(analysis, ruling), analysis };
  };

/** What a command line is read against, in a folder given by its absolute path. */
const createCommandContext = (world: CommandWorld, folder: string): CommandContext => {
  const { disk, processes, roots, home, env, files, agentHome: own } = world;
  return {
    roots,
    folder,
    home,
    env,
    findProgram: (name) => processes.find(name, env["PATH"] ?? ""),
    isInside: async (path) => {
      const end = await resolveFuturePath(disk, path);
      return end !== undefined && roots.some((root) => isInside(end, root));
    },
    checkRead: createReadCheck(files, own),
    canonical: async (path) => (await disk.canonicalPath(path)) ?? path,
    protection: async (path) => {
      const spelled = world.protection(path);
      return spelled.level === "free" ? world.protection((await resolveFuturePath(disk, path)) ?? path) : spelled;
    },
    findRepository: async (at) => findRepository(disk, (await disk.canonicalPath(at)) ?? at),
  };
};

/** Where a path leads, or will once the rest of it is made; undefined where a link in it leads to nothing. */
const resolveFuturePath = async (disk: Disk, path: string): Promise<string | undefined> => {
  for (let start = path, missing: readonly string[] = []; ; start = posix.dirname(start)) {
    const found = await disk.canonicalPath(start);
    const [next] = missing;
    if (found !== undefined) {
      const isLink = next !== undefined && (await readEntryKind(disk, found, next)) !== undefined;
      return isLink ? undefined : posix.join(found, ...missing);
    }
    if (start === "/") return undefined;
    missing = [posix.basename(start), ...missing];
  }
};
