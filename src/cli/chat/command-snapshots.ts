import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { lstat, mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { CommandChange, CommandSnapshots } from "../../tui/app/session/command-changes.ts";

/** Limits of a snapshot and of all that is stored for a folder; times in milliseconds. */
const limits = {
  fileBytes: 2 ** 20,
  bytes: 128 * 2 ** 20,
  files: 20_000,
  gitTime: 10_000,
  storedKilobytes: 512 * 1024,
  indexAge: 30 * 24 * 3_600_000,
};

/**
 * Snapshots of a folder around commands, by git plumbing in a repository of Parley's own: the user's index, HEAD, refs
 * and objects are never used, and neither are the filters, hooks and attributes of the project. Ignored and large files
 * are left out. Every session has an index; equal contents are stored once per folder.
 */
export const openCommandSnapshots = (options: {
  readonly home: string;
  readonly root: string;
  readonly session: string;
  readonly git: string | undefined;
}): CommandSnapshots => {
  const repository = new SnapshotRepository(options);
  let last: FolderState | undefined;
  let problem: string | undefined;
  let queue: Promise<unknown> = Promise.resolve();
  const capture = (): Promise<readonly CommandChange[]> => {
    const captured = queue.then(async () => {
      if (problem !== undefined) return [];
      try {
        const before = last;
        last = await repository.capture(before);
        return before === undefined ? [] : listChanges(before, last);
      } catch (error) {
        problem = error instanceof Error ? error.message : String(error);
        return [];
      }
    });
    queue = captured;
    return captured;
  };
  return { capture, read: (blob) => repository.read(blob), problem: () => problem };
};

/** The files of a folder: stored contents by path, and the state of files too large to store. */
type FolderState = { readonly blobs: ReadonlyMap<string, string>; readonly large: ReadonlyMap<string, string> };

const listChanges = (before: FolderState, after: FolderState): readonly CommandChange[] => [
  ...changedKeys(before.blobs, after.blobs).map((path) => {
    const [was, is] = [before.blobs.get(path), after.blobs.get(path)];
    return { path, ...(was === undefined ? {} : { before: was }), ...(is === undefined ? {} : { after: is }) };
  }),
  ...changedKeys(before.large, after.large).map((path) => ({ path, problem: "it is larger than 1 MB" })),
];

const changedKeys = (before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): readonly string[] =>
  [...new Set([...before.keys(), ...after.keys()])].filter((path) => before.get(path) !== after.get(path));

/** Git configuration that makes contents byte-exact and runs nothing. */
const safeConfig = [
  "core.bare=false",
  "core.autocrlf=false",
  "core.fileMode=true",
  "core.fsmonitor=false",
  "core.untrackedCache=false",
  "core.looseCompression=1",
  "gc.auto=0",
];

class SnapshotRepository {
  readonly #root: string;
  readonly #folder: string;
  readonly #git: string | undefined;
  readonly #index: string;
  #isReady = false;

  constructor({
    home,
    root,
    session,
    git,
  }: {
    readonly home: string;
    readonly root: string;
    readonly session: string;
    readonly git: string | undefined;
  }) {
    this.#root = root;
    this.#git = git;
    this.#folder = join(home, "snapshots", "folders", createHash("sha256").update(root).digest("hex").slice(0, 24));
    this.#index = join(this.#folder, `index-${session}`);
  }

  /** Stores what changed since the state before, and returns the state now. */
  async capture(before: FolderState | undefined): Promise<FolderState> {
    await this.#prepare();
    const listed = await this.#run(["ls-files", "-z", "-m", "-d", "-o", "--exclude-standard"]);
    const { small, gone, large } = await this.#measure(new Set(splitNul(listed)));
    if (before !== undefined && small.length + gone.length === 0) return { ...before, large };
    if (gone.length > 0) await this.#run(["update-index", "-z", "--force-remove", "--stdin"], joinNul(gone));
    if (small.length > 0) await this.#run(["update-index", "-z", "--add", "--stdin"], joinNul(small));
    return { blobs: parseIndex(await this.#run(["ls-files", "-s", "-z"])), large };
  }

  async read(blob: string): Promise<Uint8Array | undefined> {
    const [, oid] = /^([0-9a-f]{40,64})(?:\+x)?$/.exec(blob) ?? [];
    if (oid === undefined) return undefined;
    return this.#runForBytes(["cat-file", "blob", oid]).catch(() => undefined);
  }

  /** Separates changed files that are stored from those that are gone or too large, and checks the limits. */
  async #measure(paths: ReadonlySet<string>): Promise<{
    readonly small: readonly string[];
    readonly gone: readonly string[];
    readonly large: ReadonlyMap<string, string>;
  }> {
    if (paths.size > limits.files) throw new Error(`more than ${limits.files} files that git does not ignore`);
    const [small, gone]: [string[], string[]] = [[], []];
    const large = new Map<string, string>();
    let bytes = 0;
    for (const path of paths) {
      // A repository inside the folder is listed as a folder, and left alone.
      if (path.endsWith("/")) continue;
      const stat = await lstat(join(this.#root, path)).catch(() => undefined);
      if (stat === undefined || stat.isDirectory()) gone.push(path);
      else if (stat.size > limits.fileBytes) large.set(path, `${stat.size} ${stat.mtimeMs}`);
      else {
        small.push(path);
        bytes += stat.size;
      }
      if (bytes > limits.bytes) throw new Error(`more than ${limits.bytes / 2 ** 20} MB that git does not ignore`);
    }
    return { small, gone, large };
  }

  async #prepare(): Promise<void> {
    if (this.#isReady) return;
    if (this.#git === undefined) throw new Error("git is not installed");
    await this.#removeOld();
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    await this.#run(["init", "-q", "--bare", "--template=", this.#folder]);
    await mkdir(join(this.#folder, "info"), { recursive: true, mode: 0o700 });
    // It comes before the project's own attributes, so that contents are stored as they are.
    await writeFile(
      join(this.#folder, "info", "attributes"),
      "* -text -filter -ident -eol -working-tree-encoding -diff -merge\n",
      { mode: 0o600 },
    );
    this.#isReady = true;
  }

  /** Removes what is stored if it has grown too large, and the indexes of sessions that ended long ago. */
  async #removeOld(): Promise<void> {
    const names = await readdir(this.#folder).catch(() => []);
    if (names.length === 0) return;
    const [, kilobytes = "0"] = /^size: (\d+)$/m.exec(await this.#run(["count-objects", "-v"]).catch(() => "")) ?? [];
    if (Number(kilobytes) > limits.storedKilobytes) return rm(this.#folder, { recursive: true, force: true });
    for (const name of names.filter((each) => each.startsWith("index-"))) {
      const stat = await lstat(join(this.#folder, name)).catch(() => undefined);
      if (stat !== undefined && stat.mtimeMs < Date.now() - limits.indexAge)
        await rm(join(this.#folder, name), { force: true });
    }
  }

  async #run(args: readonly string[], input = ""): Promise<string> {
    return (await this.#runForBytes(args, input)).toString("utf8");
  }

  #runForBytes(args: readonly string[], input = ""): Promise<Buffer> {
    const config = [...safeConfig, `core.excludesFile=${join(this.#root, ".git", "info", "exclude")}`];
    const isInit = args[0] === "init";
    const env = {
      PATH: dirname(this.#git ?? ""),
      HOME: this.#folder,
      LC_ALL: "C",
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_CONFIG_GLOBAL: "/dev/null",
      GIT_ATTR_NOSYSTEM: "1",
      ...(isInit ? {} : { GIT_DIR: this.#folder, GIT_WORK_TREE: this.#root, GIT_INDEX_FILE: this.#index }),
    };
    const words = [...(isInit ? [] : config.flatMap((each) => ["-c", each])), ...args];
    return new Promise((resolve, reject) => {
      const child = execFile(
        this.#git ?? "git",
        words,
        {
          cwd: this.#root,
          env,
          encoding: "buffer",
          maxBuffer: 2 ** 26,
          timeout: limits.gitTime,
          killSignal: "SIGKILL",
        },
        (error, stdout, stderr) => {
          if (error === null) resolve(stdout);
          else reject(new Error(`git ${args[0] ?? ""} failed: ${firstLine(stderr.toString("utf8")) || error.message}`));
        },
      );
      child.stdin?.on("error", () => undefined);
      child.stdin?.end(input);
    });
  }
}

/** The regular files of an index: path and object, which ends in `+x` for an executable file. Links and other entries are not restored, so they are left out. */
const parseIndex = (text: string): ReadonlyMap<string, string> =>
  new Map(
    splitNul(text).flatMap((entry): readonly (readonly [string, string])[] => {
      const [, mode, oid = "", path = ""] = /^(100\d{3}) ([0-9a-f]+) \d\t(.*)$/s.exec(entry) ?? [];
      return path === "" ? [] : [[path, mode === "100755" ? `${oid}+x` : oid]];
    }),
  );

const splitNul = (text: string): readonly string[] => text.split("\0").filter((each) => each !== "");

const joinNul = (paths: readonly string[]): string => paths.map((path) => `${path}\0`).join("");

const firstLine = (text: string): string => text.split("\n")[0] ?? "";
