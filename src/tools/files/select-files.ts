import { expandBraces } from "../search/expand-braces.ts";
import type { Capabilities, WorkspaceFiles, ResolvedPath } from "../capabilities.ts";
import { toIgnoreFilter, type IgnoreParameters } from "./ignore-options.ts";
import { requireRelative, isGlob, createGlobMatcher, splitGlob } from "../search/glob-pattern.ts";
import { ToolFailure } from "../tool.ts";

const maxFiles = 1000;

/** What hardly ever belongs in a conversation. */
const defaultExcludes = [
  "**/{node_modules,.git,.hg,.svn,bower_components,__pycache__,.venv,venv,dist,build,coverage,out,target,.next,.cache}/**",
  "**/*.{lock,min.js,min.css,map,pyc,pyo,class,o,a,so,dll,dylib,exe,bin,obj,jar,war,zip,gz,tgz,bz2,xz,7z,rar,tar,iso,woff,woff2,ttf,otf,eot}",
  "**/{package-lock.json,.DS_Store,.env,.env.*}",
];

/** Which files somebody asked for. */
export type FileSelection = {
  readonly paths: readonly string[];
  readonly include?: readonly string[] | undefined;
  readonly exclude?: readonly string[] | undefined;
  readonly recursive?: boolean | undefined;
  readonly useDefaultExcludes?: boolean | undefined;
  readonly file_filtering_options?: IgnoreParameters | undefined;
};

/** A file to read, by its absolute path, and whether it was asked for by its name or its ending. */
export type SelectedFile = { readonly path: string; readonly isNamed: boolean };

/** Where a path or pattern leads before its first wild card. */
export const pathBeforeWildcard = (pattern: string): string =>
  isGlob(pattern) ? splitGlob(pattern).folder || "." : pattern;

/** Finds the files: those named first, then those that patterns and folders mean, by path. What leads out of the workspace throws. */
export const selectFiles = async (
  asked: FileSelection,
  can: Capabilities,
): Promise<{ readonly files: readonly SelectedFile[]; readonly cut: boolean }> => {
  const all = new Map<string, SelectedFile>();
  const patterns: FolderPattern[] = [];
  for (const path of [...asked.paths, ...(asked.include ?? [])]) {
    const found = await resolveSelection(path, asked, can.files);
    if ("pattern" in found) patterns.push(found);
    else all.set(found.path, { path: found.path, isNamed: true });
  }
  const found = await Promise.all(groupByFolder(patterns).map((group) => searchFolder(group, asked, can)));
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
  if (folder.kind === "absent") throw new ToolFailure("file_not_found", `There is no file ${path}.`);
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
  const place = group[0]?.folder;
  if (place?.kind !== "folder") return { files: [], cut: false };
  const fits = group.map(({ pattern }) => ({ isFit: createGlobMatcher(pattern, anyCase), pattern }));
  const unwanted = [...exclude, ...(useDefaultExcludes ? defaultExcludes : [])].map((pattern) =>
    createGlobMatcher(pattern, anyCase),
  );
  const above = pathInRoot(place.path, files.roots);
  const { paths, cut } = await search.files(place.path, {
    rules: toIgnoreFilter(file_filtering_options),
    most: maxFiles,
    signal,
    wanted: (path) => fits.some(({ isFit }) => isFit(path)) && !unwanted.some((isFit) => isFit(`${above}${path}`)),
  });
  const isNamed = (path: string): boolean =>
    fits.some(({ isFit, pattern }) => namesExtension(pattern, path) && isFit(path));
  return { files: paths.map((path) => ({ path: `${place.path}/${path}`, isNamed: isNamed(path) })), cut };
};

/** Excludes are meant from the root of the workspace on. */
const pathInRoot = (path: string, roots: readonly string[]): string => {
  const root = roots.find((each) => path.startsWith(`${each}/`));
  return root === undefined ? "" : `${path.slice(root.length + 1)}/`;
};

/** Whether a pattern spells out how the file's name ends. */
const namesExtension = (pattern: string, path: string): boolean => {
  const ending = /\.[^./]+$/.exec(path)?.[0].toLowerCase();
  return ending !== undefined && expandBraces(pattern).some((each) => each.toLowerCase().endsWith(ending));
};
