import { basename, dirname, join } from "node:path";
import type { FindOptions, FindResult, GrepOptions, GrepResult, NamePattern } from "../../tools/capabilities.ts";
import type { Processes, Program, RunningProcess } from "../../world/processes.ts";
import { PolicyError } from "../error.ts";
import type { IgnoreTest } from "../workspace/ignore.ts";
import {
  compareMatches,
  maxLineLength,
  maxMatchCharacters,
  RipgrepUnavailableError,
  type SearchMatch,
  type SearchScope,
  type SearchWorld,
} from "./open.ts";

/** Finds files with ripgrep, which sorts them by modification time itself. */
export const findFilesWithRipgrep = async (
  world: SearchWorld,
  ripgrep: string,
  scope: SearchScope,
  { wanted, names, most: maxResults, signal }: FindOptions,
): Promise<FindResult> => {
  const findIgnoreFile = await world.files.ignoring(scope.folder, { git: false, own: true });
  const paths: string[] = [];
  const args = ["--files", "--sortr=modified", ...nameArguments(names)];
  const isTruncated = await runRipgrep(world, { ripgrep, place: scope, args, signal }, (text) => {
    const end = text.lastIndexOf("\0");
    for (const path of end === -1 ? [] : text.slice(0, end).split("\0")) {
      if (!wanted(path) || findIgnoreFile(path, false) !== undefined) continue;
      if (paths.length === maxResults) return undefined;
      paths.push(path);
    }
    return text.slice(end + 1);
  });
  const isVisible = await createVisibilityTest(world, scope, paths);
  return { paths: paths.filter(isVisible), cut: isTruncated };
};

/**
 * Creates the test whether ignore files for agents in the folders below leave a path visible. Each folder that has a
 * result is looked at once.
 */
const createVisibilityTest = async (
  { files }: SearchWorld,
  { folder }: SearchScope,
  paths: readonly string[],
): Promise<(path: string) => boolean> => {
  const folders = [...new Set(paths.map((path) => dirname(path)))];
  const tests = new Map<string, IgnoreTest>();
  for (const each of folders)
    if (each !== ".") tests.set(each, await files.ignoring(join(folder, each), { git: false, own: true }));
  return (path) => tests.get(dirname(path))?.(basename(path), false) === undefined;
};

/** Searches text with ripgrep. */
export const searchTextWithRipgrep = async (
  world: SearchWorld,
  ripgrep: string,
  scope: SearchScope,
  { pattern, wanted = () => true, names, most: maxResults, signal }: GrepOptions,
): Promise<GrepResult> => {
  const findIgnoreFile = await world.files.ignoring(scope.folder, { git: false, own: true });
  const reader = new RipgrepOutputReader(
    (path) => wanted(path) && findIgnoreFile(path, false) === undefined,
    maxResults,
  );
  const args = [
    "--line-number",
    "--no-heading",
    "--with-filename",
    "--ignore-case",
    "--crlf",
    `--max-columns=${4 * maxLineLength + 192}`,
    "--max-columns-preview",
    ...nameArguments(names),
    `--regexp=${pattern}`,
    "--",
    `./${scope.name ?? ""}`,
  ];
  const isTruncated = await runRipgrep(world, { ripgrep, place: scope, args, signal }, (text) => reader.read(text));
  const matches = reader.matches();
  const isVisible = await createVisibilityTest(
    world,
    scope,
    matches.map(({ path }) => path),
  );
  return { matches: matches.filter(({ path }) => isVisible(path)), cut: isTruncated };
};

/** Filters files by name where the pattern means the same to ripgrep. A type keeps ignore files in force; a glob would override them. */
const nameArguments = (names: NamePattern | undefined): readonly string[] => {
  if (names === undefined || !isSimpleGlob(names.pattern)) return [];
  const pattern = names.caseSensitive
    ? names.pattern
    : names.pattern.replaceAll(/[a-z]/gi, (letter) => `[${letter.toLowerCase()}${letter.toUpperCase()}]`);
  return [`--type-add=wanted:${pattern}`, "--type=wanted"];
};

const isSimpleGlob = (names: string): boolean =>
  !names.includes("**") && /^[\w.*?-]*(\{[\w.*?-]+(,[\w.*?-]+)+\}[\w.*?-]*)*$/.test(names);

/** Parses ripgrep's output: path, NUL, line number, colon, text, line feed. */
class RipgrepOutputReader {
  readonly #isWanted: (path: string) => boolean;
  readonly #maxResults: number;
  readonly #matches: SearchMatch[] = [];
  readonly #binaryFiles = new Set<string>();
  #path: string | undefined;
  #isPathWanted = false;
  #characters = 0;

  constructor(isWanted: (path: string) => boolean, maxResults: number) {
    this.#isWanted = isWanted;
    this.#maxResults = maxResults;
  }

  /** Consumes complete matches and returns the rest; undefined when there are enough. */
  read(text: string): string | undefined {
    let at = 0;
    for (;;) {
      const nul = text.indexOf("\0", at);
      const end = nul === -1 ? -1 : text.indexOf("\n", nul);
      if (end === -1) return text.slice(at);
      this.#enterFile(text.slice(at, nul));
      if (this.#isPathWanted && !this.#takeMatch(text.slice(nul + 1, end))) return undefined;
      at = end + 1;
    }
  }

  matches(): readonly SearchMatch[] {
    return this.#matches.filter(({ path }) => !this.#binaryFiles.has(path)).toSorted(compareMatches);
  }

  /** Between matches ripgrep reports files that turned out to be binary. */
  #enterFile(printed: string): void {
    let path = printed;
    for (let notice = binaryNotice.exec(path); notice !== null; notice = binaryNotice.exec(path)) {
      this.#binaryFiles.add(stripDotSlash(notice[1] ?? ""));
      path = path.slice(notice[0].length);
    }
    path = stripDotSlash(path);
    if (path === this.#path) return;
    this.#path = path;
    this.#isPathWanted = this.#isWanted(path);
  }

  #takeMatch(match: string): boolean {
    if (this.#matches.length === this.#maxResults || this.#characters > maxMatchCharacters) return false;
    const colon = match.indexOf(":");
    if (colon === -1) return true;
    const text = match.slice(colon + 1, colon + 2 + maxLineLength).replace(/\r$/, "");
    this.#characters += text.length;
    this.#matches.push({ path: this.#path ?? "", line: Number(match.slice(0, colon)), text });
    return true;
  }
}

const binaryNotice = /^([^\0]*?): (?:WARNING: stopped searching binary file after match|binary file matches) [^\n]*\n/;

const stripDotSlash = (path: string): string => (path.startsWith("./") ? path.slice(2) : path);

/** Arguments of every search: no configuration files, and no `.git` folders. */
const fixedArguments = [
  "--no-config",
  "--no-messages",
  "--hidden",
  "--no-require-git",
  "--no-ignore-global",
  "--no-ignore-dot",
  "--null",
  "--color=never",
  "--glob=!**/.git",
];

/** Arguments for the ignore files. Those for agents are applied again afterwards; here they only save work. */
const ignoreArguments = async ({ files }: SearchWorld, { folder, rules }: SearchScope): Promise<readonly string[]> => {
  const isRoot = files.roots.includes(folder);
  const own = isRoot ? await files.ignoreFiles() : [];
  return [
    ...(rules.git ? [] : ["--no-ignore-vcs"]),
    // Git ignore files above the workspace do not apply; those between its root and the folder do.
    ...(isRoot ? ["--no-ignore-parent"] : []),
    ...own.filter((file) => file.startsWith(`${folder}/`)).map((file) => `--ignore-file=${file}`),
  ];
};

type RipgrepJob = {
  readonly ripgrep: string;
  readonly place: SearchScope;
  readonly args: readonly string[];
  readonly signal: AbortSignal;
};

/**
 * Runs ripgrep and passes its output to `take` as it arrives, together with the rest `take` returned before. `take`
 * returns undefined when it has enough. Resolves with whether it had enough.
 */
const runRipgrep = async (
  world: SearchWorld,
  { ripgrep, place: scope, args, signal }: RipgrepJob,
  take: (text: string) => string | undefined,
): Promise<boolean> => {
  const { processes, env } = world;
  const all = [...fixedArguments, ...(await ignoreArguments(world, scope)), ...args];
  signal.throwIfAborted();
  const running = await startRipgrep(processes, { file: ripgrep, args: all, cwd: scope.folder, env: env() });
  const stop = (): void => running.signal("SIGKILL");
  signal.addEventListener("abort", stop, { once: true });
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let rest: string | undefined = "";
  let errorOutput = "";
  try {
    for await (const { from, bytes } of running.output) {
      if (from === "error") errorOutput += errorOutput.length < 2000 ? Buffer.from(bytes).toString() : "";
      else if (rest !== undefined) rest = take(rest + decoder.decode(bytes, { stream: true }));
      if (rest === undefined) stop();
    }
    const { code } = await running.exited;
    signal.throwIfAborted();
    if (code === 2 && rest !== undefined && errorOutput !== "") throw searchError(errorOutput);
    // The rest may still report that a file is binary.
    if (rest !== undefined && rest !== "") take(`${rest}\0\n`);
    return rest === undefined;
  } finally {
    signal.removeEventListener("abort", stop);
  }
};

const startRipgrep = async (processes: Processes, program: Program): Promise<RunningProcess> => {
  try {
    return await processes.start(program);
  } catch (error) {
    if (error instanceof Error && "syscall" in error && String(error.syscall).startsWith("spawn"))
      throw new RipgrepUnavailableError("ripgrep cannot be started", { cause: error });
    throw error;
  }
};

const searchError = (errorOutput: string): PolicyError =>
  new PolicyError(
    "grep_execution_error",
    `The search failed: ${errorOutput.replace(/^rg: /, "").trim()}\nEscape literal characters with a backslash: \\( \\[ \\{.`,
  );
