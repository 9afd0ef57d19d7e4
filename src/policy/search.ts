import { basename, dirname } from "node:path";
import type { Disk } from "../world/disk.ts";
import type { Processes } from "../world/processes.ts";
import type { Clock } from "../world/world.ts";
import { PolicyError } from "./error.ts";
import { shown } from "./paths.ts";
import { explained } from "./workspace-errors.ts";
import type { Workspace } from "./workspace.ts";

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
type Rules = { readonly git: boolean; readonly own: boolean };

/** Which files are wanted. */
export type Find = {
  readonly rules: Rules;
  readonly wanted: (path: string) => boolean;
  readonly names?: Names;
  readonly most: number;
  readonly signal: AbortSignal;
};

/** A glob pattern that the names of all wanted files fit, so that others need not be looked at. */
export type Names = { readonly pattern: string; readonly caseSensitive: boolean };

export type Found = { readonly paths: readonly string[]; readonly cut: boolean };

/** What text is wanted, in which files. */
export type Grep = {
  readonly pattern: string;
  readonly wanted?: (path: string) => boolean;
  readonly names?: Names;
  readonly most: number;
  readonly signal: AbortSignal;
};

export type Match = { readonly path: string; readonly line: number; readonly text: string };
export type Matches = { readonly matches: readonly Match[]; readonly cut: boolean };

/** Finds files and text. Paths are canonical, inside the workspace. */
export type SearchService = {
  /** Files below a folder, the latest changed first. */
  readonly files: (folder: string, find: Find) => Promise<Found>;
  /** Lines below a folder, or in one file, by path and line. */
  readonly text: (path: string, grep: Grep) => Promise<Matches>;
};

/**
 * The search service. No shell stands between, no link is followed, and neither the project nor the environment
 * can configure the program that searches. Who names a folder that git ignores wants it searched all the same;
 * what is kept from models stays so.
 */
export const openSearch = (world: SearchWorld): SearchService => ({
  files: (folder, find) =>
    explaining(folder, async () => {
      const place = { folder, ...(await judged(world, folder, find.rules)) };
      return quickly(world, async (ripgrep) =>
        ripgrep === undefined
          ? (await import("./search-slowly.ts")).findSlowly(world, place, find)
          : (await import("./search-quickly.ts")).findQuickly(world, ripgrep, place, find),
      );
    }),
  text: (path, grep) =>
    explaining(path, async () => {
      const place = { ...(await split(world.disk, path)), ...(await judged(world, path, { git: true, own: true })) };
      return quickly(world, async (ripgrep) =>
        ripgrep === undefined
          ? (await import("./search-slowly.ts")).grepSlowly(world, place, grep)
          : (await import("./search-quickly.ts")).grepQuickly(world, ripgrep, place, grep),
      );
    }),
});

const explaining = async <Result>(path: string, work: () => Promise<Result>): Promise<Result> => {
  try {
    return await work();
  } catch (error) {
    throw explained(error, path, "read");
  }
};

/** Ripgrep is not where it should be, or not for this machine. */
export class RipgrepMissing extends Error {}

/** With ripgrep, or without where it cannot be started. */
const quickly = async <Result>(
  { ripgrep }: SearchWorld,
  work: (ripgrep: string | undefined) => Promise<Result>,
): Promise<Result> => {
  try {
    return await work(await ripgrep());
  } catch (error) {
    if (error instanceof RipgrepMissing) return work(undefined);
    throw error;
  }
};

/** Where to search, by which rules. */
export type SearchPlace = {
  readonly folder: string;
  /** Set where it is one file of the folder. */
  readonly name?: string | undefined;
  readonly rules: Rules;
};

/** Longer lines are of no use to anyone who reads them. */
export const longestText = 2000;

/** Characters of matches, beyond which nobody reads. */
export const mostCharacters: number = 2 ** 22;

/** By path, then by line. */
export const byPlace = (one: Match, other: Match): number =>
  one.path === other.path ? one.line - other.line : one.path < other.path ? -1 : 1;

const judged = async ({ files }: SearchWorld, path: string, rules: Rules): Promise<Pick<SearchPlace, "rules">> => {
  const kept = await files.ignored(path, { git: false, own: true });
  if (kept !== undefined) throw new PolicyError("policy_violation", `${shown(path)} is kept from models by ${kept}.`);
  const isOpen = rules.git && (await files.ignored(path, { git: true, own: false })) === undefined;
  return { rules: { git: isOpen, own: true } };
};

/** A file is searched from the folder it stands in. */
const split = async (disk: Disk, path: string): Promise<Pick<SearchPlace, "folder" | "name">> => {
  if (dirname(path) === path) return { folder: path };
  const parent = await disk.open(dirname(path));
  try {
    const entry = await parent.look(basename(path));
    return entry?.kind === "file" ? { folder: dirname(path), name: basename(path) } : { folder: path };
  } finally {
    await parent.close();
  }
};
