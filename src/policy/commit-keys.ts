import { createHash } from "node:crypto";
import { posix } from "node:path";
import type { Disk } from "../world/disk.ts";
import type { Processes } from "../world/processes.ts";
import type { Clock } from "../world/world.ts";
import type { CommandAnalysis } from "./command-analysis.ts";
import { nameOf } from "./command-open.ts";
import { findRepository } from "./command-repository.ts";
import { spelled } from "./command-word.ts";
import { gitInvocation, type GitInvocation } from "./commit-invocation.ts";
import { gitKeys, listGitKeys, safeGit, type GitPlace, type GitQuestion, type SafeGit } from "./git.ts";
import { shown } from "./paths.ts";
import type { Redactor } from "./redact.ts";

/** Why a commit is asked about. Found: a key was seen, and every mode asks. Otherwise it could not be searched. */
export type CommitFinding = { readonly reason: string; readonly isFound: boolean };

/** Searches what git would take into a commit for keys. */
export type CommitKeys = {
  readonly check: (analysis: CommandAnalysis) => Promise<CommitFinding | undefined>;
  /** Notes that the person approved the lines found in this command: they are not asked about again. */
  readonly accept: (text: string) => void;
};

export type CommitWorld = {
  readonly disk: Disk;
  readonly processes: Pick<Processes, "start" | "find">;
  readonly clock: Clock;
  readonly redactor: Pick<Redactor, "finds">;
  /** The folders where git is looked for. */
  readonly searchPath: () => Promise<string>;
};

/** Starts with no line approved. */
export const openCommitKeys = (world: CommitWorld): CommitKeys => {
  const accepted = new Set<string>();
  const found = new Map<string, readonly string[]>();
  return {
    check: async (analysis) => {
      found.delete(analysis.text);
      const search = new KeySearch(world.redactor.finds, accepted);
      let stopped: SearchStopped | undefined;
      for (const [folder, invocation] of invocationsIn(analysis))
        try {
          await searchInvocation(world, search, folder, invocation);
        } catch (error) {
          if (!(error instanceof SearchStopped)) throw error;
          stopped = error;
        }
      const finding = search.finding();
      if (finding !== undefined) found.set(analysis.text, search.digests());
      if (finding !== undefined || stopped === undefined) return finding;
      return { isFound: false, reason: `${stopped.message} It could not be searched for keys.` };
    },
    accept: (text) => {
      for (const digest of found.get(text) ?? []) accepted.add(digest);
    },
  };
};

/** Every git command of a line that adds or commits, with each folder it may run in. */
const invocationsIn = ({ runs, folder }: CommandAnalysis): readonly (readonly [string, GitInvocation])[] => {
  const folders = new Set([folder]);
  return runs.flatMap((run): readonly (readonly [string, GitInvocation])[] => {
    const words = run.map(spelled);
    if (/^(?:cd|pushd)$/.test(nameOf(run) ?? "") && words[1] !== undefined)
      for (const each of [...folders].slice(0, mostFolders)) folders.add(posix.resolve(each, words[1]));
    const invocation = nameOf(run) === "git" ? gitInvocation(words) : undefined;
    return invocation === undefined
      ? []
      : [...folders].slice(0, mostFolders).map((each) => [posix.resolve(each, invocation.folder), invocation] as const);
  });
};

const mostFolders = 8;

const searchInvocation = async (
  world: CommitWorld,
  search: KeySearch,
  folder: string,
  { staged, changed, untracked, ignored, paths }: GitInvocation,
): Promise<void> => {
  const at = await world.disk.canonical(folder).catch(() => undefined);
  const root = at === undefined ? undefined : (await findRepository(world.disk, at)).root;
  if (at === undefined || root === undefined) return;
  const place = { folder: root, searchPath: await world.searchPath() };
  const keys = gitKeys(await answer(world, at, listGitKeys(place)));
  // Without a path, everything in the repository is meant, wherever git runs.
  const from = paths.length === 0 ? root : at;
  const ask = (question: GitQuestion): Promise<string> => answer(world, from, safeGit(question, place, keys));
  if (staged) search.addDiff(await ask({ command: "diff", options: ["--cached", ...plainDiff] }));
  if (changed) search.addDiff(await ask({ command: "diff", options: plainDiff, paths }));
  if (!untracked) return;
  const options = ["--others", "-z", "--full-name", ...(ignored ? [] : ["--exclude-standard"])];
  const names = (await ask({ command: "ls-files", options, paths })).split("\0").filter((name) => name !== "");
  for (const name of names) search.addFile(name, await textAt(world.disk, place, name, search.left()));
};

const plainDiff = ["-U0", "--no-color", "--no-renames", "--src-prefix=a/", "--dst-prefix=b/"];

/** What stops a search. Its message is a sentence. */
class SearchStopped extends Error {}

/** More than an honest commit holds in text; searching as much takes less than a second. */
const mostBytes = 2 * 2 ** 20;

/** Milliseconds git may take. */
const longest = 20_000;

const answer = async ({ processes, clock }: CommitWorld, folder: string, { args, env }: SafeGit): Promise<string> => {
  const file = await processes.find("git", env["PATH"] ?? "");
  if (file === undefined) return "";
  const running = await processes.start({ file, args, env, folder, endsWithUs: true });
  const over = new AbortController();
  let stopped: string | undefined;
  const stop = (why: string): void => {
    stopped ??= why;
    running.signal("SIGKILL");
  };
  clock.sleep(longest, over.signal).then(
    () => stop("git takes too long to say what this would commit."),
    () => undefined,
  );
  try {
    const pieces: Buffer[] = [];
    let size = 0;
    for await (const { from, bytes } of running.output) {
      if (from === "error" || stopped !== undefined) continue;
      pieces.push(Buffer.from(bytes));
      size += bytes.length;
      if (size > mostBytes) stop("This would commit more than 2 MB of text.");
    }
    const { code } = await running.ended;
    if (stopped !== undefined) throw new SearchStopped(stopped);
    if (code !== 0) throw new SearchStopped("git does not say what this would commit.");
    return Buffer.concat(pieces).toString();
  } finally {
    over.abort();
  }
};

/** The text of a file of a repository; empty where it is none. Links are not followed: git keeps only where they lead. */
const textAt = async (disk: Disk, { folder: root }: GitPlace, name: string, most: number): Promise<string> => {
  const path = posix.join(root, name);
  const folder = await disk.open(posix.dirname(path)).catch(() => undefined);
  try {
    if ((await folder?.look(posix.basename(path)))?.kind !== "file") return "";
    const file = await folder?.file(posix.basename(path));
    if (file === undefined) return "";
    try {
      const { size } = await file.look();
      const start = Buffer.from(await file.read(0, Math.min(size, 8000)));
      if (start.includes(0)) return "";
      if (size > most) throw new SearchStopped("This would commit more than 2 MB of text.");
      return Buffer.from(await file.read(0, size)).toString();
    } finally {
      await file.close();
    }
  } finally {
    await folder?.close();
  }
};

/** Collects the lines that would be added, and finds those with keys. */
class KeySearch {
  readonly #finds: (text: string) => boolean;
  readonly #accepted: ReadonlySet<string>;
  readonly #found = new Map<string, string[]>();
  #left = mostBytes;

  constructor(finds: (text: string) => boolean, accepted: ReadonlySet<string>) {
    this.#finds = finds;
    this.#accepted = accepted;
  }

  /** How many bytes may still be searched. */
  left(): number {
    return this.#left;
  }

  addDiff(diff: string): void {
    for (const part of diff.split(/^diff --git /m).slice(1)) {
      const header = /^\+\+\+ (.*)$/m.exec(part);
      if (header === null) continue;
      const name = (header[1] ?? "").replace(/^"?b\//, "").replace(/"?\t?$/, "");
      const added = part.slice(header.index + header[0].length).match(/^\+.*$/gm) ?? [];
      this.addFile(name, added.map((line) => line.slice(1)).join("\n"));
    }
  }

  addFile(name: string, text: string): void {
    this.#left -= Buffer.byteLength(text);
    if (this.#left < 0) throw new SearchStopped("This would commit more than 2 MB of text.");
    if (!this.#finds(text)) return;
    const lines = text.split("\n").filter((line) => this.#finds(line) && isLikely(line));
    const digests = lines.map((line) => digestOf(name, line)).filter((digest) => !this.#accepted.has(digest));
    if (digests.length > 0) this.#found.set(name, [...(this.#found.get(name) ?? []), ...digests]);
  }

  digests(): readonly string[] {
    return [...this.#found.values()].flat();
  }

  finding(): CommitFinding | undefined {
    const names = [...this.#found.keys()];
    if (names.length === 0) return undefined;
    const some = names.slice(0, 5).map((name) => (/^[\w./@+-]+$/.test(name) ? name : shown(name)));
    const more = names.length > some.length ? ` and ${names.length - some.length} more files` : "";
    const verb = names.length === 1 ? "holds" : "hold";
    return {
      isFound: true,
      reason: `${some.join(", ")}${more} ${verb} what looks like a key, and this would put it into a commit.`,
    };
  }
}

const digestOf = (name: string, line: string): string => createHash("sha256").update(`${name}\0${line}`).digest("hex");

/** Whether a line holds a value, and not only code that handles one: `authorization: options.token` has no digit. */
const isLikely = (line: string): boolean =>
  /PRIVATE KEY/.test(line) ||
  (line.match(/[\w+/=~!@#%^&*-]{8,}/g) ?? []).some((word) => /\d/.test(word) && /[A-Za-z]/.test(word));
