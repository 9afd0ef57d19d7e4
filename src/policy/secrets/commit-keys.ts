import { createHash } from "node:crypto";
import { posix } from "node:path";
import type { Disk } from "../../world/disk.ts";
import type { Processes } from "../../world/processes.ts";
import type { Clock } from "../../world/world.ts";
import type { CommandAnalysis } from "../command/analysis.ts";
import { commandName } from "../command/effects/unwrap.ts";
import { findRepository } from "../command/repository/find.ts";
import { sourceText } from "../command/parse/word.ts";
import { parseGitInvocation, type GitInvocation } from "./git-invocation.ts";
import {
  parseConfigKeys,
  listConfigKeysCall,
  safeGitCall,
  type GitLocation,
  type GitQuery,
  type SafeGitCall,
} from "../command/repository/safe-git.ts";
import { quotePath } from "../workspace/paths.ts";
import type { Redactor } from "./redact.ts";

/** Why a commit is asked about. Found: a key was seen, and every mode asks. Otherwise it could not be searched. */
export type CommitFinding = { readonly reason: string; readonly hasKey: boolean };

/** Searches what git would take into a commit for keys. */
export type CommitKeyScanner = {
  readonly scan: (analysis: CommandAnalysis) => Promise<CommitFinding | undefined>;
  /** Notes that the person approved the lines found in this command: they are not asked about again. */
  readonly accept: (text: string) => void;
};

export type CommitScanWorld = {
  readonly disk: Disk;
  readonly processes: Pick<Processes, "start" | "find">;
  readonly clock: Clock;
  readonly redactor: Pick<Redactor, "containsSecret">;
  /** The folders where git is looked for. */
  readonly searchPath: () => Promise<string>;
};

/** Starts with no line approved. */
export const createCommitKeyScanner = (world: CommitScanWorld): CommitKeyScanner => {
  const accepted = new Set<string>();
  const found = new Map<string, readonly string[]>();
  return {
    scan: async (analysis) => {
      found.delete(analysis.text);
      const search = new KeyScan(world.redactor.containsSecret, accepted);
      let stopped: ScanStoppedError | undefined;
      for (const [folder, invocation] of listInvocations(analysis))
        try {
          await scanInvocation(world, search, folder, invocation);
        } catch (error) {
          if (!(error instanceof ScanStoppedError)) throw error;
          stopped = error;
        }
      const finding = search.finding();
      if (finding !== undefined) found.set(analysis.text, search.digests());
      if (finding !== undefined || stopped === undefined) return finding;
      return { hasKey: false, reason: `${stopped.message} It could not be searched for keys.` };
    },
    accept: (text) => {
      for (const digest of found.get(text) ?? []) accepted.add(digest);
    },
  };
};

/** Every git command of a line that adds or commits, with each folder it may run in. */
const listInvocations = ({ runs, folder }: CommandAnalysis): readonly (readonly [string, GitInvocation])[] => {
  const folders = new Set([folder]);
  return runs.flatMap((run): readonly (readonly [string, GitInvocation])[] => {
    const words = run.map(sourceText);
    if (/^(?:cd|pushd)$/.test(commandName(run) ?? "") && words[1] !== undefined)
      for (const each of [...folders].slice(0, maxFolders)) folders.add(posix.resolve(each, words[1]));
    const invocation = commandName(run) === "git" ? parseGitInvocation(words) : undefined;
    return invocation === undefined
      ? []
      : [...folders].slice(0, maxFolders).map((each) => [posix.resolve(each, invocation.folder), invocation] as const);
  });
};

const maxFolders = 8;

const scanInvocation = async (
  world: CommitScanWorld,
  search: KeyScan,
  folder: string,
  { staged, changed, untracked, ignored, paths }: GitInvocation,
): Promise<void> => {
  const at = await world.disk.canonicalPath(folder).catch(() => undefined);
  const root = at === undefined ? undefined : (await findRepository(world.disk, at)).root;
  if (at === undefined || root === undefined) return;
  const place = { folder: root, searchPath: await world.searchPath() };
  const keys = parseConfigKeys(await runGit(world, at, listConfigKeysCall(place)));
  // Without a path, everything in the repository is meant, wherever git runs.
  const from = paths.length === 0 ? root : at;
  const ask = (question: GitQuery): Promise<string> => runGit(world, from, safeGitCall(question, place, keys));
  if (staged) search.addDiff(await ask({ command: "diff", options: ["--cached", ...plainDiff] }));
  if (changed) search.addDiff(await ask({ command: "diff", options: plainDiff, paths }));
  if (!untracked) return;
  const options = ["--others", "-z", "--full-name", ...(ignored ? [] : ["--exclude-standard"])];
  const names = (await ask({ command: "ls-files", options, paths })).split("\0").filter((name) => name !== "");
  for (const name of names) search.addFile(name, await readFileText(world.disk, place, name, search.remainingBytes()));
};

const plainDiff = ["-U0", "--no-color", "--no-renames", "--src-prefix=a/", "--dst-prefix=b/"];

/** What stops a search. Its message is a sentence. */
class ScanStoppedError extends Error {}

/** More than an honest commit holds in text; searching as much takes less than a second. */
const maxBytes = 2 * 2 ** 20;

/** Milliseconds git may take. */
const gitTimeoutMs = 20_000;

const runGit = async (
  { processes, clock }: CommitScanWorld,
  folder: string,
  { args, env }: SafeGitCall,
): Promise<string> => {
  const file = await processes.find("git", env["PATH"] ?? "");
  if (file === undefined) return "";
  const running = await processes.start({ file, args, env, cwd: folder, diesWithParent: true });
  const over = new AbortController();
  let stopped: string | undefined;
  const stop = (why: string): void => {
    stopped ??= why;
    running.signal("SIGKILL");
  };
  clock.sleep(gitTimeoutMs, over.signal).then(
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
      if (size > maxBytes) stop("This would commit more than 2 MB of text.");
    }
    const { code } = await running.exited;
    if (stopped !== undefined) throw new ScanStoppedError(stopped);
    if (code !== 0) throw new ScanStoppedError("git does not say what this would commit.");
    return Buffer.concat(pieces).toString();
  } finally {
    over.abort();
  }
};

/** The text of a file of a repository; empty where it is none. Links are not followed: git keeps only where they lead. */
const readFileText = async (disk: Disk, { folder: root }: GitLocation, name: string, most: number): Promise<string> => {
  const path = posix.join(root, name);
  const folder = await disk.openFolder(posix.dirname(path)).catch(() => undefined);
  try {
    if ((await folder?.stat(posix.basename(path)))?.kind !== "file") return "";
    const file = await folder?.openFile(posix.basename(path));
    if (file === undefined) return "";
    try {
      const { size } = await file.stat();
      const start = Buffer.from(await file.read(0, Math.min(size, 8000)));
      if (start.includes(0)) return "";
      if (size > most) throw new ScanStoppedError("This would commit more than 2 MB of text.");
      return Buffer.from(await file.read(0, size)).toString();
    } finally {
      await file.close();
    }
  } finally {
    await folder?.close();
  }
};

/** Collects the lines that would be added, and finds those with keys. */
class KeyScan {
  readonly #finds: (text: string) => boolean;
  readonly #accepted: ReadonlySet<string>;
  readonly #found = new Map<string, string[]>();
  #left = maxBytes;

  constructor(finds: (text: string) => boolean, accepted: ReadonlySet<string>) {
    this.#finds = finds;
    this.#accepted = accepted;
  }

  /** How many bytes may still be searched. */
  remainingBytes(): number {
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
    if (this.#left < 0) throw new ScanStoppedError("This would commit more than 2 MB of text.");
    if (!this.#finds(text)) return;
    const lines = text.split("\n").filter((line) => this.#finds(line) && looksLikeValue(line));
    const digests = lines.map((line) => digestLine(name, line)).filter((digest) => !this.#accepted.has(digest));
    if (digests.length > 0) this.#found.set(name, [...(this.#found.get(name) ?? []), ...digests]);
  }

  digests(): readonly string[] {
    return [...this.#found.values()].flat();
  }

  finding(): CommitFinding | undefined {
    const names = [...this.#found.keys()];
    if (names.length === 0) return undefined;
    const some = names.slice(0, 5).map((name) => (/^[\w./@+-]+$/.test(name) ? name : quotePath(name)));
    const more = names.length > some.length ? ` and ${names.length - some.length} more files` : "";
    const verb = names.length === 1 ? "holds" : "hold";
    return {
      hasKey: true,
      reason: `${some.join(", ")}${more} ${verb} what looks like a key, and this would put it into a commit.`,
    };
  }
}

const digestLine = (name: string, line: string): string =>
  createHash("sha256").update(`${name}\0${line}`).digest("hex");

/** Whether a line holds a value, and not only code that handles one: `authorization: options.token` has no digit. */
const looksLikeValue = (line: string): boolean =>
  /PRIVATE KEY/.test(line) ||
  (line.match(/[\w+/=~!@#%^&*-]{8,}/g) ?? []).some((word) => /\d/.test(word) && /[A-Za-z]/.test(word));
