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

/** An open file or folder. Its descriptor is -1 once it is closed. */
export class SyncFileHandle {
  #fd: number;
  /** Calls still running in the thread pool; a closed descriptor number may be reused at once. */
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

  /** Reads into a buffer and returns the number of bytes read. */
  read(buffer: Uint8Array, offset: number, length: number, position: number): Promise<number> {
    return length > threadPoolThreshold
      ? this.#away((done) => readBytes(this.#open(), buffer, offset, length, position, done))
      : inline(() => readSync(this.#open(), buffer, offset, length, position));
  }

  /** Writes all bytes at the current position. */
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
    if (this.#fd < 0) throw Object.assign(new Error("The file handle is closed."), { code: "EBADF" });
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

/** Like `lstat`, but undefined where there is no entry: throwing takes longer than the call. */
export const lstatIfExists = (path: string): Promise<BigIntStats | undefined> =>
  inline(() => lstatSync(path, { bigint: true, throwIfNoEntry: false }));

export const realpath = (path: string): Promise<string> => inline(() => realpathSync.native(path));

export const readlink = (path: string): Promise<string> => inline(() => readlinkSync(path));

export const readdir = (path: string): Promise<readonly Dirent[]> =>
  inline(() => readdirSync(path, { withFileTypes: true }));

/** The first of these that is an executable file. */
export const findExecutable = (paths: readonly string[]): Promise<string | undefined> =>
  inline(() => paths.find(isExecutable));

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

export const readText = (path: string): Promise<string> => inline(() => readFileSync(path, "utf8"));

export const mkdir = (path: string, mode?: number): Promise<void> => inline(() => mkdirSync(path, mode));

export const rmdir = (path: string): Promise<void> => inline(() => rmdirSync(path));

export const unlink = (path: string): Promise<void> => inline(() => unlinkSync(path));

export const rename = (from: string, to: string): Promise<void> => inline(() => renameSync(from, to));

/** Opens a folder to list its names, a few hundred at a time. */
export const openDirectory = (path: string): Promise<Dir> => inline(() => opendirSync(path, { bufferSize: 256 }));

export const readNextEntry = (folder: Dir): Promise<Dirent | null> => inline(() => folder.readSync());

/** Bytes from which a transfer takes longer than a round trip through the thread pool. */
const threadPoolThreshold = 2 ** 18;

const maxLoopTurn = 8;

const inline = async <Result>(call: () => Result): Promise<Result> => {
  if (turn.isLong()) await turn.next();
  return call();
};

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
