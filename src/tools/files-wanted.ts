import { alternatives } from "./pattern-braces.ts";
import type { Capabilities, Files, Place } from "./capabilities.ts";
import { rulesOf, type Filtering } from "./filtering.ts";
import { fromHere, isPattern, matcher, splitPattern } from "./pattern.ts";
import { ToolFailure } from "./tool.ts";

const mostFiles = 1000;

/** What hardly ever belongs in a conversation. */
const usualExcludes = [
  "**/{node_modules,.git,.hg,.svn,bower_components,__pycache__,.venv,venv,dist,build,coverage,out,target,.next,.cache}/**",
  "**/*.{lock,min.js,min.css,map,pyc,pyo,class,o,a,so,dll,dylib,exe,bin,obj,jar,war,zip,gz,tgz,bz2,xz,7z,rar,tar,iso,woff,woff2,ttf,otf,eot}",
  "**/{package-lock.json,.DS_Store,.env,.env.*}",
];

/** Which files somebody asked for. */
export type Asked = {
  readonly paths: readonly string[];
  readonly include?: readonly string[] | undefined;
  readonly exclude?: readonly string[] | undefined;
  readonly recursive?: boolean | undefined;
  readonly useDefaultExcludes?: boolean | undefined;
  readonly file_filtering_options?: Filtering | undefined;
};

/** A file to read, by its absolute path, and whether it was asked for by its name or its ending. */
export type Wanted = { readonly path: string; readonly isNamed: boolean };

/** Where a path or pattern leads before its first wild card. */
export const startOf = (pattern: string): string =>
  isPattern(pattern) ? splitPattern(pattern).folder || "." : pattern;

/** Finds the files: those named first, then those that patterns and folders mean, by path. What leads out of the workspace throws. */
export const filesWanted = async (
  asked: Asked,
  can: Capabilities,
): Promise<{ readonly files: readonly Wanted[]; readonly cut: boolean }> => {
  const all = new Map<string, Wanted>();
  const patterns: Pattern[] = [];
  for (const path of [...asked.paths, ...(asked.include ?? [])]) {
    const found = await placeFor(path, asked, can.files);
    if ("pattern" in found) patterns.push(found);
    else all.set(found.path, { path: found.path, isNamed: true });
  }
  const found = await Promise.all(byFolder(patterns).map((group) => search(group, asked, can)));
  const matched = found.flatMap(({ files }) => files).toSorted((one, other) => (one.path < other.path ? -1 : 1));
  for (const file of matched) if (!all.has(file.path)) all.set(file.path, file);
  return {
    files: [...all.values()].slice(0, mostFiles),
    cut: all.size > mostFiles || found.some(({ cut }) => cut),
  };
};

/** A pattern below a folder. */
type Pattern = { readonly folder: Place; readonly pattern: string };

const placeFor = async (path: string, { recursive = true }: Asked, files: Files): Promise<Pattern | Place> => {
  const isWild = isPattern(path) && (await files.resolve(path).catch(() => undefined))?.kind !== "file";
  const folder = await files.resolve(isWild ? startOf(path) : path);
  if (isWild) return { folder, pattern: fromHere(splitPattern(path).rest) };
  if (folder.kind === "folder") return { folder, pattern: recursive ? "**" : "*" };
  if (folder.kind === "absent") throw new ToolFailure("file_not_found", `There is no file ${path}.`);
  return folder;
};

const byFolder = (patterns: readonly Pattern[]): readonly (readonly Pattern[])[] => {
  const paths = new Set(patterns.map(({ folder }) => folder.path));
  return [...paths].map((path) => patterns.filter(({ folder }) => folder.path === path));
};

const anyCase = { caseSensitive: false } as const;

const search = async (
  group: readonly Pattern[],
  { exclude = [], useDefaultExcludes = true, file_filtering_options }: Asked,
  { files, search, signal }: Capabilities,
): Promise<{ readonly files: readonly Wanted[]; readonly cut: boolean }> => {
  const place = group[0]?.folder;
  if (place?.kind !== "folder") return { files: [], cut: false };
  const fits = group.map(({ pattern }) => ({ isFit: matcher(pattern, anyCase), pattern }));
  const unwanted = [...exclude, ...(useDefaultExcludes ? usualExcludes : [])].map((pattern) =>
    matcher(pattern, anyCase),
  );
  const above = pathInRoot(place.path, files.roots);
  const { paths, cut } = await search.files(place.path, {
    rules: rulesOf(file_filtering_options),
    most: mostFiles,
    signal,
    wanted: (path) => fits.some(({ isFit }) => isFit(path)) && !unwanted.some((isFit) => isFit(`${above}${path}`)),
  });
  const isNamed = (path: string): boolean =>
    fits.some(({ isFit, pattern }) => namesEnding(pattern, path) && isFit(path));
  return { files: paths.map((path) => ({ path: `${place.path}/${path}`, isNamed: isNamed(path) })), cut };
};

/** Excludes are meant from the root of the workspace on. */
const pathInRoot = (path: string, roots: readonly string[]): string => {
  const root = roots.find((each) => path.startsWith(`${each}/`));
  return root === undefined ? "" : `${path.slice(root.length + 1)}/`;
};

/** Whether a pattern spells out how the file's name ends. */
const namesEnding = (pattern: string, path: string): boolean => {
  const ending = /\.[^./]+$/.exec(path)?.[0].toLowerCase();
  return ending !== undefined && alternatives(pattern).some((each) => each.toLowerCase().endsWith(ending));
};
