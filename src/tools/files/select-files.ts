import { expandBraces } from "../search/expand-braces.ts";
import type { Capabilities, WorkspaceFiles, ResolvedPath } from "../capabilities.ts";
import { toIgnoreFilter, type IgnoreParameters } from "./ignore-options.ts";
import { requireRelative, isGlob, createGlobMatcher, splitGlob } from "../search/glob-pattern.ts";
import { ToolFailure } from "../tool.ts";

const maxFiles = 1000;

/** Files that hardly ever belong in a conversation. */
const defaultExcludes = [
  "**/{node_modules,.git,.hg,.svn,bower_components,__pycache__,.venv,venv,dist,build,coverage,out,target,.next,.cache}/**",
  "**/*.{lock,min.js,min.css,map,pyc,pyo,class,o,a,so,dll,dylib,exe,bin,obj,jar,war,zip,gz,tgz,bz2,xz,7z,rar,tar,iso,woff,woff2,ttf,otf,eot}",
  "**/{package-lock.json,.DS_Store,.env,.env.*}",
];

/** The parameters that select files. */
export type FileSelection = {
  readonly paths: readonly string[];
  readonly include?: readonly string[] | undefined;
  readonly exclude?: readonly string[] | undefined;
  readonly recursive?: boolean | undefined;
  readonly useDefaultExcludes?: boolean | undefined;
  readonly file_filtering_options?: IgnoreParameters | undefined;
};

/** A file to read, by its absolute path, and whether it was requested by its name or extension. */
export type SelectedFile = { readonly path: string; readonly isNamed: boolean };

/** The folder of a pattern before its first wildcard; a plain path stays the same. */
export const pathBeforeWildcard = (pattern: string): string =>
  isGlob(pattern) ? splitGlob(pattern).folder || "." : pattern;

/**
 * Selects files: first those named, then the matches of patterns and folders, by path. Throws for a path outside the
 * workspace.
 */
export const selectFiles = async (
  asked: FileSelection,
  capabilities: Capabilities,
): Promise<{ readonly files: readonly SelectedFile[]; readonly cut: boolean }> => {
  const all = new Map<string, SelectedFile>();
  const patterns: FolderPattern[] = [];
  for (const path of [...asked.paths, ...(asked.include ?? [])]) {
    const found = await resolveSelection(path, asked, capabilities.files);
    if ("pattern" in found) patterns.push(found);
    else all.set(found.path, { path: found.path, isNamed: true });
  }
  const found = await Promise.all(groupByFolder(patterns).map((group) => searchFolder(group, asked, capabilities)));
  const matched = found.flatMap(({ files }) => files).toSorted((one, other) => (one.path < other.path ? -1 : 1));
  for (const file of matched) if (!all.has(file.path)) all.set(file.path, file);
  return {
    files: [...all.values()].slice(0, maxFiles),
    cut: all.size > maxFiles || found.some(({ cut }) => cut),
  };
};

/** A pattern below a folder. */
type FolderPattern = { readonly folder: ResolvedPath; readonly pattern: string };

const resolveSelection = async (
  path: string,
  { recursive = true }: FileSelection,
  files: WorkspaceFiles,
): Promise<FolderPattern | ResolvedPath> => {
  const isWild = isGlob(path) && (await files.resolve(path).catch(() => undefined))?.kind !== "file";
  const folder = await files.resolve(isWild ? pathBeforeWildcard(path) : path);
  if (isWild) return { folder, pattern: requireRelative(splitGlob(path).rest) };
  if (folder.kind === "folder") return { folder, pattern: recursive ? "**" : "*" };
  if (folder.kind === "absent") throw new ToolFailure("file_not_found", `File not found: ${path}.`);
  return folder;
};

const groupByFolder = (patterns: readonly FolderPattern[]): readonly (readonly FolderPattern[])[] => {
  const paths = new Set(patterns.map(({ folder }) => folder.path));
  return [...paths].map((path) => patterns.filter(({ folder }) => folder.path === path));
};

const anyCase = { caseSensitive: false } as const;

const searchFolder = async (
  group: readonly FolderPattern[],
  { exclude = [], useDefaultExcludes = true, file_filtering_options }: FileSelection,
  { files, search, signal }: Capabilities,
): Promise<{ readonly files: readonly SelectedFile[]; readonly cut: boolean }> => {
  const resolved = group[0]?.folder;
  if (resolved?.kind !== "folder") return { files: [], cut: false };
  const fits = group.map(({ pattern }) => ({ isFit: createGlobMatcher(pattern, anyCase), pattern }));
  const unwanted = [...exclude, ...(useDefaultExcludes ? defaultExcludes : [])].map((pattern) =>
    createGlobMatcher(pattern, anyCase),
  );
  const above = pathInRoot(resolved.path, files.roots);
  const { paths, cut } = await search.files(resolved.path, {
    rules: toIgnoreFilter(file_filtering_options),
    most: maxFiles,
    signal,
    wanted: (path) => fits.some(({ isFit }) => isFit(path)) && !unwanted.some((isFit) => isFit(`${above}${path}`)),
  });
  const isNamed = (path: string): boolean =>
    fits.some(({ isFit, pattern }) => namesExtension(pattern, path) && isFit(path));
  return { files: paths.map((path) => ({ path: `${resolved.path}/${path}`, isNamed: isNamed(path) })), cut };
};

/** Excludes apply from the root of the workspace. */
const pathInRoot = (path: string, roots: readonly string[]): string => {
  const root = roots.find((each) => path.startsWith(`${each}/`));
  return root === undefined ? "" : `${path.slice(root.length + 1)}/`;
};

/** Whether a pattern spells out the extension of the file. */
const namesExtension = (pattern: string, path: string): boolean => {
  const ending = /\.[^./]+$/.exec(path)?.[0].toLowerCase();
  return ending !== undefined && expandBraces(pattern).some((each) => each.toLowerCase().endsWith(ending));
};
