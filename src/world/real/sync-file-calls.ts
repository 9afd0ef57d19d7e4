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

/*
 * The system's calls for files, under the names they have in node:fs/promises. What the system answers from memory, as
 * it does nearly always, is asked for on the spot: a way through another thread takes twenty times as long as the answer.
 * Flushing, and moving many bytes, goes that way. Whoever asks much in a row lets others have their turn now and then.
 */

/** An open file or folder. Its number is -1 once it is closed. */
export class SyncFileHandle {
  #fd: number;
  /** What other threads do with it; a number that is let go may be given to another file at once. */
  #elsewhere: Promise<unknown> = Promise.resolve();

  constructor(fd: number) {
    this.#fd = fd;
  }

  get fd(): number {
    return this.#fd;
  }

  stat(): Promise<BigIntStats> {
    return inline(() => fstatSync(this.#open(), { bigint: true }));
  }

  /** Reads into a buffer; how many bytes came. */
  read(buffer: Uint8Array, offset: number, length: number, position: number): Promise<number> {
    return length > threadPoolThreshold
      ? this.#away((done) => readBytes(this.#open(), buffer, offset, length, position, done))
      : inline(() => readSync(this.#open(), buffer, offset, length, position));
  }

  /** Writes all bytes where the file stands. */
  async write(bytes: Uint8Array): Promise<void> {
    for (let written = 0; written < bytes.length;) {
      const [from, rest] = [written, bytes.length - written];
      written += await (rest > threadPoolThreshold
        ? this.#away<number>((done) => writeBytes(this.#open(), bytes, from, rest, null, done))
        : inline(() => writeSync(this.#open(), bytes, from, rest)));
    }
  }

  truncate(size: number): Promise<void> {
    return inline(() => ftruncateSync(this.#open(), size));
  }

  chmod(mode: number): Promise<void> {
    return inline(() => fchmodSync(this.#open(), mode));
  }

  /** Sets the modification time to now, to the microsecond. */
  touch(): Promise<void> {
    const now = (performance.timeOrigin + performance.now()) / 1000;
    return inline(() => futimesSync(this.#open(), now, now));
  }

  chown(user: number, group: number): Promise<void> {
    return inline(() => fchownSync(this.#open(), user, group));
  }

  datasync(): Promise<void> {
    return this.#away((done) => fdatasync(this.#open(), done));
  }

  sync(): Promise<void> {
    return this.#away((done) => fsync(this.#open(), done));
  }

  async close(): Promise<void> {
    const fd = this.#fd;
    if (fd < 0) return;
    this.#fd = -1;
    await this.#elsewhere;
    closeSync(fd);
  }

  #open(): number {
    if (this.#fd < 0) throw Object.assign(new Error("It was closed."), { code: "EBADF" });
    return this.#fd;
  }

  #away<Result = void>(call: (done: (error: Error | null, result: Result) => void) => void): Promise<Result> {
    const work = new Promise<Result>((resolve, reject) => {
      call((error, result) => (error === null ? resolve(result) : reject(error)));
    });
    this.#elsewhere = Promise.allSettled([this.#elsewhere, work]);
    return work;
  }
}

export const open = (path: string, flags: number, mode?: number): Promise<SyncFileHandle> =>
  inline(() => new SyncFileHandle(openSync(path, flags, mode)));

export const lstat = (path: string): Promise<BigIntStats> => inline(() => lstatSync(path, { bigint: true }));

/** The same, and undefined where there is nothing: what is thrown takes longer than the look. */
export const lstatIfExists = (path: string): Promise<BigIntStats | undefined> =>
  inline(() => lstatSync(path, { bigint: true, throwIfNoEntry: false }));

export const realpath = (path: string): Promise<string> => inline(() => realpathSync.native(path));

export const readlink = (path: string): Promise<string> => inline(() => readlinkSync(path));

export const readdir = (path: string): Promise<readonly Dirent[]> =>
  inline(() => readdirSync(path, { withFileTypes: true }));

/** The first of these that is a file we may run. */
export const findExecutable = (paths: readonly string[]): Promise<string | undefined> =>
  inline(() => paths.find(isExecutable));

/** A folder on the way that is a file, a loop of links or forbidden makes the look fail: nothing there can be run. */
const isExecutable = (path: string): boolean => {
  try {
    if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return false;
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

export const readText = (path: string): Promise<string> => inline(() => readFileSync(path, "utf8"));

export const mkdir = (path: string, mode?: number): Promise<void> => inline(() => mkdirSync(path, mode));

export const rmdir = (path: string): Promise<void> => inline(() => rmdirSync(path));

export const unlink = (path: string): Promise<void> => inline(() => unlinkSync(path));

export const rename = (from: string, to: string): Promise<void> => inline(() => renameSync(from, to));

/** The names in a folder, a few hundred at a time. */
export const openDirectory = (path: string): Promise<Dir> => inline(() => opendirSync(path, { bufferSize: 256 }));

export const readNextEntry = (folder: Dir): Promise<Dirent | null> => inline(() => folder.readSync());

/** Bytes that take longer to move than a thread takes to be asked. */
const threadPoolThreshold = 2 ** 18;

/** How long nobody else may have a turn, in milliseconds. */
const maxLoopTurn = 8;

const inline = async <Result>(call: () => Result): Promise<Result> => {
  if (turn.isLong()) await turn.next();
  return call();
};

/** The turn of the program's one loop that runs now, from the first question in it. */
const turn = (() => {
  let began: number | undefined;
  const isLong = (): boolean => {
    const at = now();
    if (began === undefined) {
      began = at;
      setImmediate(() => (began = undefined));
    }
    return at - began > maxLoopTurn;
  };
  return { isLong, next: () => new Promise<void>((resolve) => setImmediate(resolve)) };
})();

const now = (): number => {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
};
