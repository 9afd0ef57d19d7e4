import type { Processes, Program, RunningProcess } from "../../world/processes.ts";
import { PolicyError } from "../error.ts";
import {
  compareMatches,
  maxLineLength,
  maxMatchCharacters,
  RipgrepUnavailableError,
  type FindFilesOptions,
  type FindFilesResult,
  type SearchTextOptions,
  type SearchMatch,
  type SearchTextResult,
  type FileNamePattern,
  type SearchScope,
  type SearchWorld,
} from "./open.ts";

/** Finds files with ripgrep, which looks at their age itself. */
export const findFilesWithRipgrep = async (
  world: SearchWorld,
  ripgrep: string,
  place: SearchScope,
  { wanted, names, most, signal }: FindFilesOptions,
): Promise<FindFilesResult> => {
  const isKept = await world.files.ignoring(place.folder, { git: false, own: true });
  const paths: string[] = [];
  const args = ["--files", "--sortr=modified", ...nameArguments(names)];
  const isEnough = await runRipgrep(world, { ripgrep, place, args, signal }, (text) => {
    const end = text.lastIndexOf("\0");
    for (const path of end === -1 ? [] : text.slice(0, end).split("\0")) {
      if (!wanted(path) || isKept(path, false) !== undefined) continue;
      if (paths.length === most) return undefined;
      paths.push(path);
    }
    return text.slice(end + 1);
  });
  return { paths, cut: isEnough };
};

/** Finds text with ripgrep. */
export const searchTextWithRipgrep = async (
  world: SearchWorld,
  ripgrep: string,
  place: SearchScope,
  { pattern, wanted = () => true, names, most, signal }: SearchTextOptions,
): Promise<SearchTextResult> => {
  const isKept = await world.files.ignoring(place.folder, { git: false, own: true });
  const reader = new RipgrepOutputReader((path) => wanted(path) && isKept(path, false) === undefined, most);
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
    `./${place.name ?? ""}`,
  ];
  const isEnough = await runRipgrep(world, { ripgrep, place, args, signal }, (text) => reader.read(text));
  return { matches: reader.matches(), cut: isEnough };
};

/** Leaves out files by their names, where the pattern means the same to everyone. A type leaves ignore files in force; a glob would overrule them. */
const nameArguments = (names: FileNamePattern | undefined): readonly string[] => {
  if (names === undefined || !isSimpleGlob(names.pattern)) return [];
  const pattern = names.caseSensitive
    ? names.pattern
    : names.pattern.replaceAll(/[a-z]/gi, (letter) => `[${letter.toLowerCase()}${letter.toUpperCase()}]`);
  return [`--type-add=wanted:${pattern}`, "--type=wanted"];
};

const isSimpleGlob = (names: string): boolean =>
  !names.includes("**") && /^[\w.*?-]*(\{[\w.*?-]+(,[\w.*?-]+)+\}[\w.*?-]*)*$/.test(names);

/** Reads what ripgrep prints: path, NUL, line number, colon, text, line feed. */
class RipgrepOutputReader {
  readonly #isWanted: (path: string) => boolean;
  readonly #most: number;
  readonly #found: SearchMatch[] = [];
  readonly #binary = new Set<string>();
  #path: string | undefined;
  #isTaken = false;
  #characters = 0;

  constructor(isWanted: (path: string) => boolean, most: number) {
    this.#isWanted = isWanted;
    this.#most = most;
  }

  /** Takes whole matches and gives back the rest; undefined when there are enough. */
  read(text: string): string | undefined {
    let at = 0;
    for (;;) {
      const nul = text.indexOf("\0", at);
      const end = nul === -1 ? -1 : text.indexOf("\n", nul);
      if (end === -1) return text.slice(at);
      this.#enter(text.slice(at, nul));
      if (this.#isTaken && !this.#take(text.slice(nul + 1, end))) return undefined;
      at = end + 1;
    }
  }

  matches(): readonly SearchMatch[] {
    return this.#found.filter(({ path }) => !this.#binary.has(path)).toSorted(compareMatches);
  }

  /** Between matches ripgrep says of some files that they turned out to be binary. */
  #enter(said: string): void {
    let path = said;
    for (let notice = binaryNotice.exec(path); notice !== null; notice = binaryNotice.exec(path)) {
      this.#binary.add(stripDotSlash(notice[1] ?? ""));
      path = path.slice(notice[0].length);
    }
    path = stripDotSlash(path);
    if (path === this.#path) return;
    this.#path = path;
    this.#isTaken = this.#isWanted(path);
  }

  #take(match: string): boolean {
    if (this.#found.length === this.#most || this.#characters > maxMatchCharacters) return false;
    const colon = match.indexOf(":");
    if (colon === -1) return true;
    const text = match.slice(colon + 1, colon + 2 + maxLineLength).replace(/\r$/, "");
    this.#characters += text.length;
    this.#found.push({ path: this.#path ?? "", line: Number(match.slice(0, colon)), text });
    return true;
  }
}

const binaryNotice = /^([^\0]*?): (?:WARNING: stopped searching binary file after match|binary file matches) [^\n]*\n/;

const stripDotSlash = (path: string): string => (path.startsWith("./") ? path.slice(2) : path);

/** The same for every search: what others configured does not count, and git's own files are nobody's business. */
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

/** The ignore files that count. Those kept for agents are counted afterwards too; here they only save work. */
const ignoreArguments = async ({ files }: SearchWorld, { folder, rules }: SearchScope): Promise<readonly string[]> => {
  const isRoot = files.roots.includes(folder);
  const own = isRoot ? await files.ignoreFiles() : [];
  return [
    ...(rules.git ? [] : ["--no-ignore-vcs"]),
    // Git's files above the workspace are none of it; those between its root and the folder are.
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
 * Runs ripgrep and hands over its output as it comes, each time together with what was not taken before. `take`
 * answers undefined when it has enough. Tells whether it had.
 */
const runRipgrep = async (
  world: SearchWorld,
  { ripgrep, place, args, signal }: RipgrepJob,
  take: (text: string) => string | undefined,
): Promise<boolean> => {
  const { processes, env } = world;
  const all = [...fixedArguments, ...(await ignoreArguments(world, place)), ...args];
  signal.throwIfAborted();
  const running = await startRipgrep(processes, { file: ripgrep, args: all, cwd: place.folder, env });
  const stop = (): void => running.signal("SIGKILL");
  signal.addEventListener("abort", stop, { once: true });
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let rest: string | undefined = "";
  let complaint = "";
  try {
    for await (const { from, bytes } of running.output) {
      if (from === "error") complaint += complaint.length < 2000 ? Buffer.from(bytes).toString() : "";
      else if (rest !== undefined) rest = take(rest + decoder.decode(bytes, { stream: true }));
      if (rest === undefined) stop();
    }
    const { code } = await running.exited;
    signal.throwIfAborted();
    if (code === 2 && rest !== undefined && complaint !== "") throw searchError(complaint);
    // What is left may still say that a file is binary.
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

const searchError = (complaint: string): PolicyError =>
  new PolicyError(
    "grep_execution_error",
    `The search failed: ${complaint.replace(/^rg: /, "").trim()}\nSigns that are meant as such are written with a backslash: \\( \\[ \\{.`,
  );
