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
import type { NamedFile } from "../gate/request.ts";
import type { Protection } from "../workspace/protected-paths.ts";

/** The part of the world that analyzing commands needs. */
export type CommandWorld = {
  /** The operating system, as Node names it. */
  readonly platform?: string;
  readonly disk: Disk;
  readonly processes: Pick<Processes, "find">;
  /** The workspace, which knows the files that may be read. */
  readonly files: ReadableFiles;
  /** The agent's own folders. */
  readonly ownFolders: readonly string[];
  /** The canonical paths of the workspace roots. */
  readonly roots: readonly string[];
  /** The user's home folder. */
  readonly home: string;
  /** The environment variables of commands. */
  readonly env: Environment;
  /** How a path, all links followed, is protected against writing. */
  readonly protection: (path: string) => Protection;
};

/** Creates a judge of command lines that resolves paths and program names on the disk. `folder` is the working folder. */
export const createCommandJudge =
  (world: CommandWorld) =>
  async (
    { text, folder }: { readonly text: string; readonly folder: string },
    rules: CommandRules,
  ): Promise<CommandDecision & { readonly analysis: CommandAnalysis; readonly files?: readonly NamedFile[] }> => {
    if (usesCmd(world.platform ?? "")) {
      const analysis = analyzeCmd(text, folder);
      return { ...decideCmd(analysis, rules), analysis };
    }
    const analysis = await analyzeCommand(text, createCommandContext(world, folder));
    const decision = { ...decideCommand(analysis, rules), analysis };
    return rules.findsFiles === true ? { ...decision, files: await findNamedFiles(analysis, world) } : decision;
  };

/** The files a command names, as written and with links followed. */
const findNamedFiles = async (
  { operandPaths, writes }: CommandAnalysis,
  { disk, roots }: CommandWorld,
): Promise<readonly NamedFile[]> => {
  const written = new Set(writes.map(({ path }) => path));
  const named = [...new Set([...operandPaths, ...written])].map(async (path) => {
    const paths = new Set([path, (await resolveFuturePath(disk, path)) ?? path]);
    const access = written.has(path) ? "edit" : "read";
    return [...paths].map((each): NamedFile => ({ path: each, shown: showPath(each, roots), access }));
  });
  return (await Promise.all(named)).flat();
};

/** A path relative to its workspace folder; outside of all, as it is. */
const showPath = (path: string, roots: readonly string[]): string => {
  const root = roots.find((each) => isInside(path, each));
  return root === undefined ? path : posix.relative(root, path);
};

/** Creates the context to analyze a command line in, for a folder given by its absolute path. */
const createCommandContext = (world: CommandWorld, folder: string): CommandContext => {
  const { disk, processes, roots, home, env, files, ownFolders } = world;
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
    checkRead: createReadCheck(files, ownFolders),
    canonical: async (path) => (await disk.canonicalPath(path)) ?? path,
    protection: async (path) => {
      const asWritten = world.protection(path);
      return asWritten.level === "free" ? world.protection((await resolveFuturePath(disk, path)) ?? path) : asWritten;
    },
    findRepository: async (at) => findRepository(disk, (await disk.canonicalPath(at)) ?? at),
  };
};

/** Follows a path's links, also where its last parts do not exist yet; undefined if a link is broken. */
const resolveFuturePath = async (disk: Disk, path: string): Promise<string | undefined> => {
  for (let start = path, missingNames: readonly string[] = []; ; start = posix.dirname(start)) {
    const found = await disk.canonicalPath(start);
    const [next] = missingNames;
    if (found !== undefined) {
      const isLink = next !== undefined && (await readEntryKind(disk, found, next)) !== undefined;
      return isLink ? undefined : posix.join(found, ...missingNames);
    }
    if (start === "/") return undefined;
    missingNames = [posix.basename(start), ...missingNames];
  }
};
