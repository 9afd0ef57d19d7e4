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

/** Why a commit needs approval. `hasKey`: a key was found, and every mode asks. Otherwise it could not be scanned. */
export type CommitFinding = { readonly reason: string; readonly hasKey: boolean };

/** Scans the content that git would commit for keys. */
export type CommitKeyScanner = {
  readonly scan: (analysis: CommandAnalysis) => Promise<CommitFinding | undefined>;
  /** Records that the user approved the lines found for this command: they are not asked about again. */
  readonly accept: (text: string) => void;
};

export type CommitScanWorld = {
  readonly disk: Disk;
  readonly processes: Pick<Processes, "start" | "find">;
  readonly clock: Clock;
  readonly redactor: Pick<Redactor, "containsSecret">;
  /** The search path to find git with. */
  readonly searchPath: () => Promise<string>;
};

/** Creates a scanner with no approved lines. */
export const createCommitKeyScanner = (world: CommitScanWorld): CommitKeyScanner => {
  const accepted = new Set<string>();
  const found = new Map<string, readonly string[]>();
  return {
    scan: async (analysis) => {
      found.delete(analysis.text);
      const scan = new KeyScan(world.redactor.containsSecret, accepted);
      let stopReason: ScanStoppedError | undefined;
      for (const [folder, invocation] of listInvocations(analysis))
        try {
          await scanInvocation(world, scan, folder, invocation);
        } catch (error) {
          if (!(error instanceof ScanStoppedError)) throw error;
          stopReason = error;
        }
      const finding = scan.finding();
      if (finding !== undefined) found.set(analysis.text, scan.digests());
      if (finding !== undefined || stopReason === undefined) return finding;
      return { hasKey: false, reason: `${stopReason.message} It was not scanned for keys.` };
    },
    accept: (text) => {
      for (const digest of found.get(text) ?? []) accepted.add(digest);
    },
  };
};

/** Lists the git commands of a line that add or commit, with each folder they may run in. */
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
  scan: KeyScan,
  folder: string,
  { staged, changed, untracked, ignored, paths }: GitInvocation,
): Promise<void> => {
  const at = await world.disk.canonicalPath(folder).catch(() => undefined);
  const root = at === undefined ? undefined : (await findRepository(world.disk, at)).root;
  if (at === undefined || root === undefined) return;
  const location = { folder: root, searchPath: await world.searchPath() };
  const keys = parseConfigKeys(await runGit(world, at, listConfigKeysCall(location)));
  // Without a path, git means the whole repository, whichever folder it runs in.
  const from = paths.length === 0 ? root : at;
  const query = (query: GitQuery): Promise<string> => runGit(world, from, safeGitCall(query, location, keys));
  if (staged) scan.addDiff(await query({ command: "diff", options: ["--cached", ...plainDiff] }));
  if (changed) scan.addDiff(await query({ command: "diff", options: plainDiff, paths }));
  if (!untracked) return;
  const options = ["--others", "-z", "--full-name", ...(ignored ? [] : ["--exclude-standard"])];
  const names = (await query({ command: "ls-files", options, paths })).split("\0").filter((name) => name !== "");
  for (const name of names) scan.addFile(name, await readFileText(world.disk, location, name, scan.remainingBytes()));
};

const plainDiff = ["-U0", "--no-color", "--no-renames", "--src-prefix=a/", "--dst-prefix=b/"];

/** Stops a scan. Its message is a sentence. */
class ScanStoppedError extends Error {}

/** More text than an ordinary commit has; scanning as much takes less than a second. */
const maxBytes = 2 * 2 ** 20;

/** The time limit for git. */
const gitTimeoutMs = 20_000;

const runGit = async (
  { processes, clock }: CommitScanWorld,
  cwd: string,
  { args, env }: SafeGitCall,
): Promise<string> => {
  const file = await processes.find("git", env["PATH"] ?? "");
  if (file === undefined) return "";
  const running = await processes.start({ file, args, env, cwd, diesWithParent: true });
  const finished = new AbortController();
  let stopReason: string | undefined;
  const stop = (reason: string): void => {
    stopReason ??= reason;
    running.signal("SIGKILL");
  };
  clock.sleep(gitTimeoutMs, finished.signal).then(
    () => stop("git took too long to list what this would commit."),
    () => undefined,
  );
  try {
    const pieces: Buffer[] = [];
    let size = 0;
    for await (const { from, bytes } of running.output) {
      if (from === "error" || stopReason !== undefined) continue;
      pieces.push(Buffer.from(bytes));
      size += bytes.length;
      if (size > maxBytes) stop("This would commit more than 2 MB of text.");
    }
    const { code } = await running.exited;
    if (stopReason !== undefined) throw new ScanStoppedError(stopReason);
    if (code !== 0) throw new ScanStoppedError("git failed to list what this would commit.");
    return Buffer.concat(pieces).toString();
  } finally {
    finished.abort();
  }
};

/** Reads a text file of a repository; empty for other kinds. Links are not followed: git stores only their targets. */
const readFileText = async (
  disk: Disk,
  { folder: root }: GitLocation,
  name: string,
  maxFileBytes: number,
): Promise<string> => {
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
      if (size > maxFileBytes) throw new ScanStoppedError("This would commit more than 2 MB of text.");
      return Buffer.from(await file.read(0, size)).toString();
    } finally {
      await file.close();
    }
  } finally {
    await folder?.close();
  }
};

/** Collects the lines that would be added and finds those with keys. */
class KeyScan {
  readonly #containsSecret: (text: string) => boolean;
  readonly #accepted: ReadonlySet<string>;
  readonly #found = new Map<string, string[]>();
  #remainingBytes = maxBytes;

  constructor(containsSecret: (text: string) => boolean, accepted: ReadonlySet<string>) {
    this.#containsSecret = containsSecret;
    this.#accepted = accepted;
  }

  /** How many bytes may still be scanned. */
  remainingBytes(): number {
    return this.#remainingBytes;
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
    this.#remainingBytes -= Buffer.byteLength(text);
    if (this.#remainingBytes < 0) throw new ScanStoppedError("This would commit more than 2 MB of text.");
    if (!this.#containsSecret(text)) return;
    const lines = text.split("\n").filter((line) => this.#containsSecret(line) && looksLikeValue(line));
    const digests = lines.map((line) => digestLine(name, line)).filter((digest) => !this.#accepted.has(digest));
    if (digests.length > 0) this.#found.set(name, [...(this.#found.get(name) ?? []), ...digests]);
  }

  digests(): readonly string[] {
    return [...this.#found.values()].flat();
  }

  finding(): CommitFinding | undefined {
    const names = [...this.#found.keys()];
    if (names.length === 0) return undefined;
    const shownNames = names.slice(0, 5).map((name) => (/^[\w./@+-]+$/.test(name) ? name : quotePath(name)));
    const more = names.length > shownNames.length ? ` and ${names.length - shownNames.length} more files` : "";
    const verb = names.length === 1 ? "contains" : "contain";
    return {
      hasKey: true,
      reason: `${shownNames.join(", ")}${more} ${verb} what looks like a key, and this would commit it.`,
    };
  }
}

const digestLine = (name: string, line: string): string =>
  createHash("sha256").update(`${name}\0${line}`).digest("hex");

/** Whether a line has a literal value, not only code that handles one: `authorization: options.token` has no digit. */
const looksLikeValue = (line: string): boolean =>
  /PRIVATE KEY/.test(line) ||
  (line.match(/[\w+/=~!@#%^&*-]{8,}/g) ?? []).some((word) => /\d/.test(word) && /[A-Za-z]/.test(word));
