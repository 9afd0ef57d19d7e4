import type { IgnoreFilter } from "../../tools/capabilities.ts";
import type { Ignore } from "ignore";
import type { Folder } from "../../world/disk.ts";
import { releaseWalk, walkPath, type WorkspaceRoot } from "./walk.ts";

/** A path by its root and the names below it. */
export type RootedPath = { readonly root: WorkspaceRoot; readonly names: readonly string[] };

/** The ignore files of a workspace. */
export type IgnoreFiles = {
  /** The ignore file that excludes a path, relative to its root; undefined if none does. */
  readonly findIgnoreFile: (
    what: RootedPath & { readonly isFolder: boolean },
    rules: IgnoreFilter,
  ) => Promise<string | undefined>;
  /** The same for all entries of a folder, by the current content of the ignore files. */
  readonly openFolder: (folder: RootedPath, rules: IgnoreFilter) => Promise<IgnoreTest>;
};

/** Returns the ignore file that excludes a name in a folder, or a path below it as far as the same files apply. A link is matched by its own name. */
export type IgnoreTest = (name: string, isFolder: boolean) => string | undefined;

export type IgnoreFilesOptions = {
  readonly roots: () => readonly WorkspaceRoot[];
  /** The names of the ignore files for agents. Like git's, they are read from a root and the folders below it. */
  readonly own: readonly string[];
  /** Patterns that count in every root besides those files: of the user's deny rules. */
  readonly hidden?: readonly string[];
};

/**
 * Reads ignore files through the workspace's own handles, and again only when one has changed. Patterns that would
 * take too long to match exclude everything they might match.
 */
export const openIgnoreFiles = ({ roots, own: agentFiles, hidden = [] }: IgnoreFilesOptions): IgnoreFiles => {
  const texts = new Map<string, IgnorePatterns>();
  const matchers = new Map<string, PatternMatcher>();
  const openFolder = async ({ root, names }: RootedPath, rules: IgnoreFilter): Promise<IgnoreTest> => {
    const sources = [
      ...(await loadIgnoreFiles({ root, names }, { rules, own: agentFiles, roots, texts })),
      ...(hidden.length > 0 && rules.own ? [hiddenFiles(hidden)] : []),
    ];
    if (sources.length === 0 && !rules.git) return () => undefined;
    const matcher = await getMatcher(sources, rules, matchers);
    const folder = names.map((name) => `${name}/`).join("");
    return (name, isFolder) => {
      const path = `${folder}${name}`;
      return matchPath(matcher, isFolder ? `${path}/` : path, path.split("/").length);
    };
  };
  return {
    openFolder,
    findIgnoreFile: async ({ root, names, isFolder }, rules) => {
      const name = names.at(-1);
      return name === undefined
        ? undefined
        : (await openFolder({ root, names: names.slice(0, -1) }, rules))(name, isFolder);
    },
  };
};

/** A loaded ignore file: its path in the root, and its patterns. */
type LoadedIgnoreFile = { readonly file: string; readonly folder: readonly string[]; readonly text: IgnorePatterns };
type IgnorePatterns = { readonly identity: string; readonly patterns: readonly string[]; readonly isCaseless: boolean };

/** The patterns of deny rules as an ignore file. Those after them could only exclude more. */
const hiddenFiles = (patterns: readonly string[]): LoadedIgnoreFile => ({
  file: "your deny rules",
  folder: [],
  text: { identity: `deny rules ${JSON.stringify(patterns)}`, patterns, isCaseless: true },
});

type IgnoreReadContext = {
  readonly roots: () => readonly WorkspaceRoot[];
  readonly texts: Map<string, IgnorePatterns>;
};
type IgnoreQuery = IgnoreReadContext & { readonly rules: IgnoreFilter; readonly own: readonly string[] };

/** Loads the ignore files that apply to a folder, lowest precedence first. */
const loadIgnoreFiles = async (
  { root, names }: RootedPath,
  { rules, own: agentFiles, ...reading }: IgnoreQuery,
): Promise<readonly LoadedIgnoreFile[]> => {
  const inRoot = (name: string): Promise<readonly LoadedIgnoreFile[]> =>
    loadIgnoreFile({ folder: root.folder, names: [], name }, reading);
  const nested = (files: readonly string[]): Promise<readonly LoadedIgnoreFile[]> =>
    loadNestedFiles({ root, names }, files, reading);
  // What git includes again stays hidden from models.
  const sources = await Promise.all([
    ...(rules.git ? [loadGitExcludes(root, reading), inRoot(".gitignore"), nested([".gitignore"])] : []),
    ...(rules.own ? [...agentFiles.map(inRoot), nested(agentFiles)] : []),
  ]);
  return sources.flat();
};

const loadIgnoreFile = async (
  { folder, names, name }: FolderEntry & { readonly names: readonly string[] },
  reading: IgnoreReadContext,
): Promise<readonly LoadedIgnoreFile[]> => {
  const text = await readPatterns({ folder, name }, reading);
  return text === undefined ? [] : [{ file: [...names, name].join("/"), folder: names, text }];
};

/** Loads those in the folders below the root. */
const loadNestedFiles = async (
  { root, names }: RootedPath,
  files: readonly string[],
  reading: IgnoreReadContext,
): Promise<readonly LoadedIgnoreFile[]> => {
  const sources: LoadedIgnoreFile[] = [];
  let folder = root.folder;
  try {
    for (const [index, name] of names.entries()) {
      const next = await folder.openFolder(name).catch(() => undefined);
      if (next === undefined) break;
      await releaseWalk({ root, folder });
      folder = next;
      for (const file of files)
        sources.push(...(await loadIgnoreFile({ folder, names: names.slice(0, index + 1), name: file }, reading)));
    }
    return sources;
  } finally {
    await releaseWalk({ root, folder });
  }
};

/** Loads `.git/info/exclude`, the user's own patterns of a clone. */
const loadGitExcludes = async (
  root: WorkspaceRoot,
  reading: IgnoreReadContext,
): Promise<readonly LoadedIgnoreFile[]> => {
  const git = await root.folder.openFolder(".git").catch(() => undefined);
  const info = await git?.openFolder("info").catch(() => undefined);
  try {
    const text = info === undefined ? undefined : await readPatterns({ folder: info, name: "exclude" }, reading);
    return text === undefined ? [] : [{ file: ".git/info/exclude", folder: [], text }];
  } finally {
    await info?.close();
    await git?.close();
  }
};

type FolderEntry = { readonly folder: Folder; readonly name: string };

/** How much of an ignore file is read; the longest known is a tenth of it. */
const maxBytes = 2 ** 18;

const readPatterns = async (
  { folder, name }: FolderEntry,
  { roots, texts }: IgnoreReadContext,
): Promise<IgnorePatterns | undefined> => {
  const entry = await folder.stat(name).catch(() => undefined);
  if (entry?.kind === "link") return readLinkedPatterns({ folder, name }, { roots, texts });
  if (entry?.kind !== "file") return undefined;
  const key = `${folder.path}/${name}`;
  const known = texts.get(key);
  if (known?.identity === entry.identity) return known;
  const file = await folder.openFile(name).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const bytes = await file.read(0, maxBytes);
    // A disk that finds a name in upper case ignores case, so patterns must ignore it too.
    const upperCaseEntry = await folder.stat(name.toUpperCase());
    const text: IgnorePatterns = {
      identity: entry.identity,
      patterns: new TextDecoder().decode(bytes).split(/\r?\n/),
      isCaseless: upperCaseEntry?.identity === entry.identity,
    };
    texts.set(key, text);
    return text;
  } finally {
    await file.close();
  }
};

/** An ignore file may be a link to another one in the workspace. */
const readLinkedPatterns = async (
  { folder, name }: FolderEntry,
  reading: IgnoreReadContext,
): Promise<IgnorePatterns | undefined> => {
  const walk = await walkPath(reading.roots(), `${folder.path}/${name}`).catch(() => undefined);
  if (walk === undefined) return undefined;
  try {
    if (walk.name === undefined || walk.entry?.kind !== "file") return undefined;
    return await readPatterns({ folder: walk.folder, name: walk.name }, reading);
  } finally {
    await releaseWalk(walk);
  }
};

type PatternMatcher = {
  readonly ignore: Ignore;
  /** The number of patterns with no `**`, with one, with two, and so on. */
  readonly weights: readonly number[];
  uses: number;
};

/** The matcher caches every path it was asked about, so it is recreated from time to time. */
const maxUses = 50_000;
const maxMatchers = 500;

const getMatcher = async (
  sources: readonly LoadedIgnoreFile[],
  { git }: IgnoreFilter,
  matchers: Map<string, PatternMatcher>,
): Promise<PatternMatcher> => {
  const key = [git, ...sources.map(({ file, text }) => `${file} ${text.identity}`)].join("\n");
  const known = matchers.get(key);
  if (known !== undefined && (known.uses += 1) < maxUses) return known;
  const { default: ignore } = await import("ignore");
  const matcherRules = ignore({ ignorecase: sources.some(({ text }) => text.isCaseless), allowRelativePaths: true });
  const weights: number[] = [];
  if (git) matcherRules.add({ pattern: ".git", mark: "git" });
  for (const { file, folder, text } of sources)
    for (const line of text.patterns) {
      const pattern = anchorPattern(line, folder);
      matcherRules.add({ pattern, mark: file });
      const weight = pattern.split("**").length - 1;
      weights[weight] = (weights[weight] ?? 0) + 1;
    }
  if (matchers.size >= maxMatchers) matchers.clear();
  const matcher: PatternMatcher = { ignore: matcherRules, weights, uses: 0 };
  matchers.set(key, matcher);
  return matcher;
};

/** Rewrites a pattern of an ignore file in a folder as it would be written in the root. */
const anchorPattern = (line: string, folder: readonly string[]): string => {
  if (folder.length === 0 || line.startsWith("#") || line.trim() === "") return line;
  const isNegative = line.startsWith("!");
  const pattern = (isNegative ? line.slice(1) : line).replace(/(?<!\\) +$/, "").replace(/^\\([!#])/, "$1");
  const isAnchored = pattern.slice(0, -1).includes("/");
  const base = folder.map((name) => name.replace(/[\\*?[\]!# ]/g, "\\$&")).join("/");
  return `${isNegative ? "!" : ""}/${base}/${isAnchored ? "" : "**/"}${pattern.replace(/^\//, "")}`;
};

/** Takes about 10 ms. */
const maxWork = 5_000_000;

const matchPath = ({ ignore, weights }: PatternMatcher, path: string, depth: number): string | undefined => {
  // Every `**` may match any number of folders, and all parent folders are checked too.
  const work = weights.reduce((sum, count, stars) => sum + count * depth ** (stars + 1), 0);
  if (work > maxWork) return "ignore files that are too long to check at this depth";
  const { rule } = ignore.test(path);
  return rule?.mark ?? rule?.pattern;
};
