import type { FileSearch } from "../../tools/capabilities.ts";
import { basename, dirname } from "node:path";
import type { Disk } from "../../world/disk.ts";
import type { Processes } from "../../world/processes.ts";
import type { Clock } from "../../world/world.ts";
import { PolicyError } from "../error.ts";
import { quotePath } from "../workspace/paths.ts";
import { explainDiskError } from "../workspace/disk-errors.ts";
import type { Workspace } from "../workspace/open.ts";

/** The part of the world that a search needs. */
export type SearchWorld = {
  readonly disk: Disk;
  readonly processes: Processes;
  readonly clock: Clock;
  /** Finds the absolute path of ripgrep; without it, files are searched in this process. */
  readonly ripgrep: () => Promise<string | undefined>;
  /** The environment variables of ripgrep. */
  readonly env: () => { readonly [name: string]: string };
  readonly files: Pick<Workspace, "roots" | "ignored" | "ignoring" | "ignoreFiles">;
};

/** Which ignore files count. */
type SearchIgnores = { readonly git: boolean; readonly own: boolean };

export type SearchMatch = { readonly path: string; readonly line: number; readonly text: string };
/**
 * Opens the search service. It uses no shell, follows no links, and neither the project nor the environment can
 * configure ripgrep. A folder that git ignores is searched if it is named explicitly; files excluded from models never are.
 */
export const openSearch = (world: SearchWorld): FileSearch => ({
  files: (folder, find) =>
    withExplainedErrors(folder, async () => {
      const scope = { folder, ...(await chooseIgnores(world, folder, find.rules)) };
      return withRipgrep(world, async (ripgrep) =>
        ripgrep === undefined
          ? (await import("./javascript.ts")).findFilesInJavaScript(world, scope, find)
          : (await import("./ripgrep.ts")).findFilesWithRipgrep(world, ripgrep, scope, find),
      );
    }),
  text: (path, grep) =>
    withExplainedErrors(path, async () => {
      const scope = {
        ...(await splitFile(world.disk, path)),
        ...(await chooseIgnores(world, path, { git: true, own: true })),
      };
      return withRipgrep(world, async (ripgrep) =>
        ripgrep === undefined
          ? (await import("./javascript.ts")).searchTextInJavaScript(world, scope, grep)
          : (await import("./ripgrep.ts")).searchTextWithRipgrep(world, ripgrep, scope, grep),
      );
    }),
});

const withExplainedErrors = async <Result>(path: string, work: () => Promise<Result>): Promise<Result> => {
  try {
    return await work();
  } catch (error) {
    throw explainDiskError(error, path, "read");
  }
};

/** Ripgrep is missing, or not built for this platform. */
export class RipgrepUnavailableError extends Error {}

/** Runs the work with ripgrep, or without it if it cannot be started. */
const withRipgrep = async <Result>(
  { ripgrep }: SearchWorld,
  work: (ripgrep: string | undefined) => Promise<Result>,
): Promise<Result> => {
  try {
    return await work(await ripgrep());
  } catch (error) {
    if (error instanceof RipgrepUnavailableError) return work(undefined);
    throw error;
  }
};

/** Where to search, and which ignore files apply. */
export type SearchScope = {
  readonly folder: string;
  /** Set to search only this file of the folder. */
  readonly name?: string | undefined;
  readonly rules: SearchIgnores;
};

/** Longer lines are truncated. */
export const maxLineLength = 2000;

/** The largest number of characters of all matches together. */
export const maxMatchCharacters: number = 2 ** 22;

/** Compares by path, then by line. */
export const compareMatches = (one: SearchMatch, other: SearchMatch): number =>
  one.path === other.path ? one.line - other.line : one.path < other.path ? -1 : 1;

const chooseIgnores = async (
  { files }: SearchWorld,
  path: string,
  rules: SearchIgnores,
): Promise<Pick<SearchScope, "rules">> => {
  const ignoreFile = await files.ignored(path, { git: false, own: true });
  if (ignoreFile !== undefined)
    throw new PolicyError("policy_violation", `${quotePath(path)} is excluded from models by ${ignoreFile}.`);
  const appliesGitIgnore = rules.git && (await files.ignored(path, { git: true, own: false })) === undefined;
  return { rules: { git: appliesGitIgnore, own: true } };
};

/** Splits the path of a file into its folder and name; a folder stays whole. */
const splitFile = async (disk: Disk, path: string): Promise<Pick<SearchScope, "folder" | "name">> => {
  if (dirname(path) === path) return { folder: path };
  const parent = await disk.openFolder(dirname(path));
  try {
    const entry = await parent.stat(basename(path));
    return entry?.kind === "file" ? { folder: dirname(path), name: basename(path) } : { folder: path };
  } finally {
    await parent.close();
  }
};
