/**
 * The file system by handles. Nothing here follows a symbolic link: a path is walked one name at a time, and a name is
 * a single component, never `..`, `.`, empty, or with a slash or NUL in it (that throws). So the object behind a handle
 * cannot be swapped.
 */
export type Disk = {
  /** The canonical form of an absolute path with all links resolved; undefined if it does not exist. */
  readonly canonicalPath: (path: string) => Promise<string | undefined>;
  /** Opens a folder by its canonical path. */
  readonly openFolder: (path: string) => Promise<Folder>;
  /**
   * All names in a folder with their kinds, by its canonical path and without keeping a handle: for scanning many
   * folders. Rejects what is not a folder (ENOTDIR, ELOOP) and a folder with too many names (E2BIG).
   */
  readonly listNames: (path: string) => Promise<readonly { readonly name: string; readonly kind: EntryKind }[]>;
  /**
   * Reads the first bytes of a regular file by its canonical path, without keeping a handle: for scanning many small
   * files. Undefined if there is no regular file, or a link is in the path. A file that still has the `known` identity
   * is not read.
   */
  readonly readHead: (path: string, options: ReadHeadOptions) => Promise<FileHead | undefined>;
  /** The identities of regular files by their canonical paths, in one step: for many that were read before. */
  readonly listIdentities: (paths: readonly string[]) => Promise<readonly (FileIdentity | undefined)[]>;
};

/** How much of a file to read, and the identity it had when it was last read. */
export type ReadHeadOptions = { readonly maxBytes: number; readonly known?: FileIdentity };

/** The first bytes of a file, or "unchanged". */
export type FileHead = { readonly identity: FileIdentity; readonly bytes: Uint8Array | "unchanged" };

/** An open folder, to be closed by the caller. Errors are `DiskError`. */
export type Folder = {
  readonly path: string;
  /** Stats the folder itself. */
  readonly statSelf: () => Promise<DiskEntry>;
  /** Stats the entry under a name, without following a link; undefined if there is none. */
  readonly stat: (name: string) => Promise<DiskEntry | undefined>;
  /** Opens the folder under a name. Rejects links and everything else. */
  readonly openFolder: (name: string) => Promise<Folder>;
  /**
   * Opens the regular file under a name for reading. Rejects links, pipes, sockets and devices, and never blocks on
   * one.
   */
  readonly openFile: (name: string) => Promise<FileHandle>;
  /** The target of a link, as written. */
  readonly readLink: (name: string) => Promise<string>;
  /** All names with their kinds, in the system's order. */
  readonly list: () => AsyncIterable<{ readonly name: string; readonly kind: EntryKind }>;
  /** Creates a folder; does nothing if it exists. */
  readonly makeFolder: (name: string, mode?: number) => Promise<void>;
  /**
   * Writes a file atomically: a temporary file beside it, flushed, then renamed over it. A link there is replaced, not
   * followed. Keeps the mode of the file before.
   */
  readonly writeFile: (name: string, bytes: Uint8Array, mode?: number) => Promise<FileIdentity>;
  /**
   * Writes a file atomically if the entry still has this identity, or is "absent"; otherwise rejects with ESTALE
   * (compare and swap). The comparison and the rename happen under a lock that every process writing this way respects.
   */
  readonly replaceFile: (name: string, bytes: Uint8Array, was: FileIdentity) => Promise<FileIdentity>;
  /** Removes a file, a link or an empty folder; does nothing if there is none. */
  readonly remove: (name: string) => Promise<void>;
  /** Renames an entry inside this folder. Rejects a name that exists (EEXIST). */
  readonly rename: (name: string, to: string) => Promise<void>;
  /**
   * Opens the regular file under a name for appending. Creates it, readable by its owner alone, if it does not exist.
   */
  readonly openAppend: (name: string) => Promise<AppendHandle>;
  /** Resolves once the names created and removed here so far would survive a power loss (fsync). */
  readonly flush: () => Promise<void>;
  /** Waits for pending operations, then closes the handle. */
  readonly close: () => Promise<void>;
};

/** An open regular file, to be closed by the caller. */
export type FileHandle = {
  readonly stat: () => Promise<DiskEntry>;
  /** Reads up to `length` bytes from offset `at`; fewer only at the end of the file. */
  readonly read: (at: number, length: number) => Promise<Uint8Array>;
  readonly close: () => Promise<void>;
};

/** A regular file open for appending. Appended bytes survive the process at once, and a power loss after `flush`. */
export type AppendHandle = FileHandle & {
  /** Appends all bytes. One that fails may have written some of them. */
  readonly append: (bytes: Uint8Array) => Promise<void>;
  readonly flush: () => Promise<void>;
  /** Truncates the file to this size. */
  readonly truncate: (size: number) => Promise<void>;
};

export type EntryKind = "file" | "folder" | "link" | "other";

/** The result of a stat. Times are milliseconds since 1970. */
export type DiskEntry = {
  readonly kind: EntryKind;
  readonly size: number;
  readonly modified: number;
  readonly mode: number;
  /** Whether it belongs to the user this process runs as. Always true on Windows. */
  readonly isOwn: boolean;
  readonly identity: FileIdentity;
};

/**
 * Distinguishes one file from another and a changed file from its earlier version: device, inode, size, ctime and
 * mtime.
 */
export type FileIdentity = string;

/**
 * A failed file operation. `code` is the system's, such as ENOENT, EACCES, ENOSPC, ENOTDIR, EISDIR. ELOOP: a link where
 * none is allowed, or an entry swapped during use; ENXIO: a pipe, socket or device; EINVAL: an invalid name.
 */
export class DiskError extends Error {
  readonly code: string;

  constructor(code: string, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}
