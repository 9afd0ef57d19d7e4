import { basename, dirname } from "node:path";
import type { Disk } from "../../world/disk.ts";
import type { Processes } from "../../world/processes.ts";
import type { Clock } from "../../world/world.ts";
import { PolicyError } from "../error.ts";
import { quotePath } from "../workspace/paths.ts";
import { explainDiskError } from "../workspace/disk-errors.ts";
import type { Workspace } from "../workspace/open.ts";

/** What a search needs of the world. */
export type SearchWorld = {
  readonly disk: Disk;
  readonly processes: Processes;
  readonly clock: Clock;
  /** Finds the absolute path of our own ripgrep; without it, files are searched one by one in this process. */
  readonly ripgrep: () => Promise<string | undefined>;
  readonly env: { readonly [name: string]: string };
  readonly files: Pick<Workspace, "roots" | "ignored" | "ignoring" | "ignoreFiles">;
};

/** Which ignore files count. */
type SearchIgnores = { readonly git: boolean; readonly own: boolean };

/** Which files are wanted. */
export type FindFilesOptions = {
  readonly rules: SearchIgnores;
  readonly wanted: (path: string) => boolean;
  readonly names?: FileNamePattern;
  readonly most: number;
  readonly signal: AbortSignal;
};

/** A glob pattern that the names of all wanted files fit, so that others need not be looked at. */
export type FileNamePattern = { readonly pattern: string; readonly caseSensitive: boolean };

export type FindFilesResult = { readonly paths: readonly string[]; readonly cut: boolean };

/** What text is wanted, in which files. */
export type SearchTextOptions = {
  readonly pattern: string;
  readonly wanted?: (path: string) => boolean;
  readonly names?: FileNamePattern;
  readonly most: number;
  readonly signal: AbortSignal;
};

export type SearchMatch = { readonly path: string; readonly line: number; readonly text: string };
export type SearchTextResult = { readonly matches: readonly SearchMatch[]; readonly cut: boolean };

/** Finds files and text. Paths are canonical, inside the workspace. */
export type SearchService = {
  /** Files below a folder, the latest changed first. */
  readonly files: (folder: string, find: FindFilesOptions) => Promise<FindFilesResult>;
  /** Lines below a folder, or in one file, by path and line. */
  readonly text: (path: string, grep: SearchTextOptions) => Promise<SearchTextResult>;
};

/**
 * The search service. No shell stands between, no link is followed, and neither the project nor the environment
 * can configure the program that searches. Who names a folder that git ignores wants it searched all the same;
 * what is kept from models stays so.
 */
export const openSearch = (world: SearchWorld): SearchService => ({
  files: (folder, find) =>
    withExplainedErrors(folder, async () => {
      const place = { folder, ...(await chooseIgnores(world, folder, find.rules)) };
      return withRipgrep(world, async (ripgrep) =>
        ripgrep === undefined
          ? (await import("./javascript.ts")).findFilesInJavaScript(world, place, find)
          : (await import("./ripgrep.ts")).findFilesWithRipgrep(world, ripgrep, place, find),
      );
    }),
  text: (path, grep) =>
    withExplainedErrors(path, async () => {
      const place = {
        ...(await splitFile(world.disk, path)),
        ...(await chooseIgnores(world, path, { git: true, own: true })),
      };
      return withRipgrep(world, async (ripgrep) =>
        ripgrep === undefined
          ? (await import("./javascript.ts")).searchTextInJavaScript(world, place, grep)
          : (await import("./ripgrep.ts")).searchTextWithRipgrep(world, ripgrep, place, grep),
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

/** Ripgrep is not where it should be, or not for this machine. */
export class RipgrepUnavailableError extends Error {}

/** With ripgrep, or without where it cannot be started. */
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

/** Where to search, by which rules. */
export type SearchScope = {
  readonly folder: string;
  /** Set where it is one file of the folder. */
  readonly name?: string | undefined;
  readonly rules: SearchIgnores;
};

/** Longer lines are of no use to anyone who reads them. */
export const maxLineLength = 2000;

/** Characters of matches, beyond which nobody reads. */
export const maxMatchCharacters: number = 2 ** 22;

/** By path, then by line. */
export const compareMatches = (one: SearchMatch, other: SearchMatch): number =>
  one.path === other.path ? one.line - other.line : one.path < other.path ? -1 : 1;

const chooseIgnores = async (
  { files }: SearchWorld,
  path: string,
  rules: SearchIgnores,
): Promise<Pick<SearchScope, "rules">> => {
  const kept = await files.ignored(path, { git: false, own: true });
  if (kept !== undefined)
    throw new PolicyError("policy_violation", `${quotePath(path)} is kept from models by ${kept}.`);
  const isOpen = rules.git && (await files.ignored(path, { git: true, own: false })) === undefined;
  return { rules: { git: isOpen, own: true } };
};

/** A file is searched from the folder it stands in. */
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
