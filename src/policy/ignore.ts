import type { Ignore } from "ignore";
import type { Folder } from "../world/disk.ts";
import { release, walk, type Root } from "./workspace-walk.ts";

/** Which ignore files count: git's, and those kept for agents. */
export type IgnoreRules = { readonly git: boolean; readonly own: boolean };

/** Something in a root, by the names that lead to it. */
export type Named = { readonly root: Root; readonly names: readonly string[] };

/** What ignore files say of a workspace. */
export type Ignores = {
  /** The ignore file that keeps something out, relative to its root; undefined when none does. */
  readonly keeps: (what: Named & { readonly isFolder: boolean }, rules: IgnoreRules) => Promise<string | undefined>;
  /** The same for everything in a folder, by what the files say now. */
  readonly keepsIn: (folder: Named, rules: IgnoreRules) => Promise<Judge>;
};

/** Tells the ignore file that keeps a name in a folder out, or a path below it as far as the same files count. A link is judged by its own name. */
export type Judge = (name: string, isFolder: boolean) => string | undefined;

export type IgnoreOptions = {
  readonly roots: () => readonly Root[];
  /** The names of the files that are kept for agents. They stand in a root; git's may stand in any folder. */
  readonly own: readonly string[];
};

/**
 * Reads ignore files through the workspace's own handles, and again only when one has changed. Rules that
 * would take too long to check keep everything out that they might mean.
 */
export const openIgnores = ({ roots, own }: IgnoreOptions): Ignores => {
  const texts = new Map<string, Text>();
  const matchers = new Map<string, Matcher>();
  const keepsIn = async ({ root, names }: Named, rules: IgnoreRules): Promise<Judge> => {
    const sources = await sourcesFor({ root, names }, { rules, own, roots, texts });
    if (sources.length === 0 && !rules.git) return () => undefined;
    const matcher = await matcherFor(sources, rules, matchers);
    const folder = names.map((name) => `${name}/`).join("");
    return (name, isFolder) => {
      const path = `${folder}${name}`;
      return judge(matcher, isFolder ? `${path}/` : path, path.split("/").length);
    };
  };
  return {
    keepsIn,
    keeps: async ({ root, names, isFolder }, rules) => {
      const name = names.at(-1);
      return name === undefined
        ? undefined
        : (await keepsIn({ root, names: names.slice(0, -1) }, rules))(name, isFolder);
    },
  };
};

/** An ignore file that was read: where it stands in its root, and what it says. */
type Source = { readonly file: string; readonly folder: readonly string[]; readonly text: Text };
type Text = { readonly identity: string; readonly patterns: readonly string[]; readonly isCaseless: boolean };

type Reading = { readonly roots: () => readonly Root[]; readonly texts: Map<string, Text> };
type Wanted = Reading & { readonly rules: IgnoreRules; readonly own: readonly string[] };

/** The files that have a say in a folder, the weakest first. */
const sourcesFor = async ({ root, names }: Named, { rules, own, ...reading }: Wanted): Promise<readonly Source[]> => {
  const inRoot = (name: string): Promise<readonly Source[]> =>
    sourceIn({ folder: root.folder, names: [], name }, reading);
  const sources = await Promise.all([
    ...(rules.own ? own.map(inRoot) : []),
    ...(rules.git ? [excludesOf(root, reading), inRoot(".gitignore"), nestedOf({ root, names }, reading)] : []),
  ]);
  return sources.flat();
};

const sourceIn = async (
  { folder, names, name }: Where & { readonly names: readonly string[] },
  reading: Reading,
): Promise<readonly Source[]> => {
  const text = await textOf({ folder, name }, reading);
  return text === undefined ? [] : [{ file: [...names, name].join("/"), folder: names, text }];
};

/** Those in the folders below the root, as far down as there are folders. */
const nestedOf = async ({ root, names }: Named, reading: Reading): Promise<readonly Source[]> => {
  const sources: Source[] = [];
  let folder = root.folder;
  try {
    for (const [index, name] of names.entries()) {
      const next = await folder.folder(name).catch(() => undefined);
      if (next === undefined) break;
      await release({ root, folder });
      folder = next;
      sources.push(...(await sourceIn({ folder, names: names.slice(0, index + 1), name: ".gitignore" }, reading)));
    }
    return sources;
  } finally {
    await release({ root, folder });
  }
};

/** What a person excludes in their own clone. */
const excludesOf = async (root: Root, reading: Reading): Promise<readonly Source[]> => {
  const git = await root.folder.folder(".git").catch(() => undefined);
  const info = await git?.folder("info").catch(() => undefined);
  try {
    const text = info === undefined ? undefined : await textOf({ folder: info, name: "exclude" }, reading);
    return text === undefined ? [] : [{ file: ".git/info/exclude", folder: [], text }];
  } finally {
    await info?.close();
    await git?.close();
  }
};

type Where = { readonly folder: Folder; readonly name: string };

/** As much of an ignore file as is read; the longest known is a tenth of it. */
const mostBytes = 2 ** 18;

const textOf = async ({ folder, name }: Where, { roots, texts }: Reading): Promise<Text | undefined> => {
  const entry = await folder.look(name).catch(() => undefined);
  if (entry?.kind === "link") return linkedText({ folder, name }, { roots, texts });
  if (entry?.kind !== "file") return undefined;
  const key = `${folder.path}/${name}`;
  const known = texts.get(key);
  if (known?.identity === entry.identity) return known;
  const file = await folder.file(name).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const bytes = await file.read(0, mostBytes);
    // A disk that finds a name in capitals does not tell names apart by their case, so rules must not either.
    const shouted = await folder.look(name.toUpperCase());
    const text: Text = {
      identity: entry.identity,
      patterns: new TextDecoder().decode(bytes).split(/\r?\n/),
      isCaseless: shouted?.identity === entry.identity,
    };
    texts.set(key, text);
    return text;
  } finally {
    await file.close();
  }
};

/** An ignore file may be a link to another one in the workspace. */
const linkedText = async ({ folder, name }: Where, reading: Reading): Promise<Text | undefined> => {
  const spot = await walk(reading.roots(), `${folder.path}/${name}`).catch(() => undefined);
  if (spot === undefined) return undefined;
  try {
    if (spot.name === undefined || spot.entry?.kind !== "file") return undefined;
    return await textOf({ folder: spot.folder, name: spot.name }, reading);
  } finally {
    await release(spot);
  }
};

type Matcher = {
  readonly ignore: Ignore;
  /** How many patterns there are with no `**`, with one, with two, and so on. */
  readonly weights: readonly number[];
  uses: number;
};

/** The matcher remembers every path it was asked about, so it is made anew now and then. */
const mostUses = 50_000;
const mostMatchers = 500;

const matcherFor = async (
  sources: readonly Source[],
  { git }: IgnoreRules,
  matchers: Map<string, Matcher>,
): Promise<Matcher> => {
  const key = [git, ...sources.map(({ file, text }) => `${file} ${text.identity}`)].join("\n");
  const known = matchers.get(key);
  if (known !== undefined && (known.uses += 1) < mostUses) return known;
  const { default: ignore } = await import("ignore");
  const made = ignore({ ignorecase: sources.some(({ text }) => text.isCaseless), allowRelativePaths: true });
  const weights: number[] = [];
  if (git) made.add({ pattern: ".git", mark: "git" });
  for (const { file, folder, text } of sources)
    for (const line of text.patterns) {
      const pattern = patternBelow(line, folder);
      made.add({ pattern, mark: file });
      const weight = pattern.split("**").length - 1;
      weights[weight] = (weights[weight] ?? 0) + 1;
    }
  if (matchers.size >= mostMatchers) matchers.clear();
  const matcher: Matcher = { ignore: made, weights, uses: 0 };
  matchers.set(key, matcher);
  return matcher;
};

/** A pattern of an ignore file in a folder, as it would be written in the root. */
const patternBelow = (line: string, folder: readonly string[]): string => {
  if (folder.length === 0 || line.startsWith("#") || line.trim() === "") return line;
  const isNegative = line.startsWith("!");
  const pattern = (isNegative ? line.slice(1) : line).replace(/(?<!\\) +$/, "").replace(/^\\([!#])/, "$1");
  const isAnchored = pattern.slice(0, -1).includes("/");
  const base = folder.map((name) => name.replace(/[\\*?[\]!# ]/g, "\\$&")).join("/");
  return `${isNegative ? "!" : ""}/${base}/${isAnchored ? "" : "**/"}${pattern.replace(/^\//, "")}`;
};

/** About a hundredth of a second. */
const mostWork = 5_000_000;

const judge = ({ ignore, weights }: Matcher, path: string, depth: number): string | undefined => {
  // Every `**` may stand for any run of folders, and all that contain this one are checked too.
  const work = weights.reduce((sum, count, stars) => sum + count * depth ** (stars + 1), 0);
  if (work > mostWork) return "ignore files too long to check at this depth";
  const { rule } = ignore.test(path);
  return rule?.mark ?? rule?.pattern;
};
