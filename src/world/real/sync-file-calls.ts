import {
  accessSync,
  constants,
  statSync,
  closeSync,
  fchmodSync,
  fchownSync,
  fdatasync,
  futimesSync,
  fstatSync,
  fsync,
  ftruncateSync,
  lstatSync,
  mkdirSync,
  openSync,
  opendirSync,
  read as readBytes,
  readFileSync,
  readSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmdirSync,
  unlinkSync,
  write as writeBytes,
  writeSync,
  type BigIntStats,
  type Dir,
  type Dirent,
} from "node:fs";

/**
 * File calls that run synchronously on the main thread, under the names of node:fs/promises. The kernel answers nearly
 * all of them from memory, in less time than a round trip through the thread pool takes: measured on two busy cores, an
 * lstat took 7 to 12 microseconds this way and 24 to 26 through a warm thread pool, and these round trips were most of
 * the time of a start and of a step. So they block on purpose, not at start-up only. Flushes and transfers of many bytes
 * use the thread pool, and a long run of calls yields to the event loop (`maxLoopTurn`).
 */
export type SyncFileCalls = {
  readonly open: (path: string, flags: number, mode?: number) => Promise<SyncFileHandle>;
  readonly lstat: (path: string) => Promise<BigIntStats>;
  /** Like `lstat`, but undefined where there is no entry: throwing takes longer than the call. */
  readonly lstatIfExists: (path: string) => Promise<BigIntStats | undefined>;
  /** The entries at many paths; undefined where there is none, or it cannot be read. */
  readonly lstatAll: (paths: readonly string[]) => Promise<readonly (BigIntStats | undefined)[]>;
  readonly realpath: (path: string) => Promise<string>;
  readonly readlink: (path: string) => Promise<string>;
  readonly readdir: (path: string) => Promise<readonly Dirent[]>;
  /** The first of these that is an executable file. */
  readonly findExecutable: (paths: readonly string[]) => Promise<string | undefined>;
  readonly readText: (path: string) => Promise<string>;
  readonly mkdir: (path: string, mode?: number) => Promise<void>;
  readonly rmdir: (path: string) => Promise<void>;
  readonly unlink: (path: string) => Promise<void>;
  readonly rename: (from: string, to: string) => Promise<void>;
  /** Opens a folder to list its names, a few hundred at a time. */
  readonly openDirectory: (path: string) => Promise<Dir>;
  readonly readNextEntry: (folder: Dir) => Promise<Dirent | null>;
};

/** Creates the calls of one world; its objects share the time they may block. */
export const createSyncFileCalls = (): SyncFileCalls => {
  const inline = createInlineRunner();
  return {
    open: (path, flags, mode) => inline(() => new SyncFileHandle(openSync(path, flags, mode), inline)),
    lstat: (path) => inline(() => lstatSync(path, { bigint: true })),
    lstatIfExists: (path) => inline(() => lstatSync(path, { bigint: true, throwIfNoEntry: false })),
    lstatAll: async (paths) => {
      const found: (BigIntStats | undefined)[] = [];
      for (let at = 0; at < paths.length; at += lstatBatch)
        found.push(...(await inline(() => paths.slice(at, at + lstatBatch).map(lstatOrNothing))));
      return found;
    },
    realpath: (path) => inline(() => realpathSync.native(path)),
    readlink: (path) => inline(() => readlinkSync(path)),
    readdir: (path) => inline(() => readdirSync(path, { withFileTypes: true })),
    findExecutable: (paths) => inline(() => paths.find(isExecutable)),
    readText: (path) => inline(() => readFileSync(path, "utf8")),
    mkdir: (path, mode) => inline(() => mkdirSync(path, mode)),
    rmdir: (path) => inline(() => rmdirSync(path)),
    unlink: (path) => inline(() => unlinkSync(path)),
    rename: (from, to) => inline(() => renameSync(from, to)),
    openDirectory: (path) => inline(() => opendirSync(path, { bufferSize: 256 })),
    readNextEntry: (folder) => inline(() => folder.readSync()),
  };
};

/** Runs a call on the main thread. */
type RunInline = <Result>(call: () => Result) => Promise<Result>;

/** Milliseconds that calls may block one turn of the event loop; then the next one waits for the following turn. */
const maxLoopTurn = 8;

const createInlineRunner = (): RunInline => {
  let turnStart: number | undefined;
  const isTurnOver = (): boolean => {
    const now = monotonicNow();
    if (turnStart === undefined) {
      turnStart = now;
      setImmediate(() => (turnStart = undefined));
    }
    return now - turnStart > maxLoopTurn;
  };
  return async (call) => {
    if (isTurnOver()) await new Promise<void>((resolve) => setImmediate(resolve));
    return call();
  };
};

const monotonicNow = (): number => {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
};

/** Entries that are looked at before the event loop may get a turn. */
const lstatBatch = 100;

const lstatOrNothing = (path: string): BigIntStats | undefined => {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false });
  } catch {
    return undefined;
  }
};

/** A path through a file, a loop of links or a forbidden folder makes stat throw: nothing there can be executed. */
const isExecutable = (path: string): boolean => {
  try {
    if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return false;
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

/** Bytes from which a transfer takes longer than a round trip through the thread pool. */
const threadPoolThreshold = 2 ** 18;

/** An open file or folder. Its descriptor is -1 once it is closed. */
export class SyncFileHandle {
  #fd: number;
  readonly #inline: RunInline;
  /** Calls still running in the thread pool; a closed descriptor number may be reused at once. */
  #pending: Promise<unknown> = Promise.resolve();

  constructor(fd: number, inline: RunInline) {
    this.#fd = fd;
    this.#inline = inline;
  }

  get fd(): number {
    return this.#fd;
  }

  stat(): Promise<BigIntStats> {
    return this.#inline(() => fstatSync(this.#open(), { bigint: true }));
  }

  /** Reads into a buffer and returns the number of bytes read. */
  read(buffer: Uint8Array, offset: number, length: number, position: number): Promise<number> {
    return length > threadPoolThreshold
      ? this.#threadPool((done) => readBytes(this.#open(), buffer, offset, length, position, done))
      : this.#inline(() => readSync(this.#open(), buffer, offset, length, position));
  }

  /** Writes all bytes at the current position. */
  async write(bytes: Uint8Array): Promise<void> {
    for (let written = 0; written < bytes.length;) {
      const [from, rest] = [written, bytes.length - written];
      written += await (rest > threadPoolThreshold
        ? this.#threadPool<number>((done) => writeBytes(this.#open(), bytes, from, rest, null, done))
        : this.#inline(() => writeSync(this.#open(), bytes, from, rest)));
    }
  }

  truncate(size: number): Promise<void> {
    return this.#inline(() => ftruncateSync(this.#open(), size));
  }

  chmod(mode: number): Promise<void> {
    return this.#inline(() => fchmodSync(this.#open(), mode));
  }

  /**
   * Sets the modification time to now, less at most a millisecond: that of two writes always differs. Node's `performance` has
   * microseconds, but loading it takes a millisecond of every start.
   */
  touch(): Promise<void> {
    const now = (Date.now() - 1 + Number(process.hrtime.bigint() % 1_000_000n) / 1_000_000) / 1000;
    return this.#inline(() => futimesSync(this.#open(), now, now));
  }

  chown(user: number, group: number): Promise<void> {
    return this.#inline(() => fchownSync(this.#open(), user, group));
  }

  datasync(): Promise<void> {
    return this.#threadPool((done) => fdatasync(this.#open(), done));
  }

  sync(): Promise<void> {
    return this.#threadPool((done) => fsync(this.#open(), done));
  }

  async close(): Promise<void> {
    const fd = this.#fd;
    if (fd < 0) return;
    this.#fd = -1;
    await this.#pending;
    closeSync(fd);
  }

  #open(): number {
    if (this.#fd < 0) throw Object.assign(new Error("The file handle is closed."), { code: "EBADF" });
    return this.#fd;
  }

  #threadPool<Result = void>(call: (done: (error: Error | null, result: Result) => void) => void): Promise<Result> {
    const work = new Promise<Result>((resolve, reject) => {
      call((error, result) => (error === null ? resolve(result) : reject(error)));
    });
    this.#pending = Promise.allSettled([this.#pending, work]);
    return work;
  }
}
