/**
 * The file system by handles. Nothing here follows a symbolic link: a path is
 * walked one name at a time, and a name is a single component, never `..`, `.`,
 * empty, or with a slash or NUL in it (that throws). So what a handle stands
 * for cannot be swapped underneath whoever holds it.
 */
export type Disk = {
  /** The canonical form of an absolute path, all links followed; undefined when there is nothing. */
  readonly canonicalPath: (path: string) => Promise<string | undefined>;
  /** Opens a folder by its canonical path. */
  readonly openFolder: (path: string) => Promise<Folder>;
  /**
   * All names in a folder with their kinds, by its canonical path and without a handle: for looking around in many
   * folders at once. Refuses what is no folder (ENOTDIR, ELOOP) and one with a great many names (E2BIG).
   */
  readonly listNames: (path: string) => Promise<readonly { readonly name: string; readonly kind: EntryKind }[]>;
};

/** An open folder. Close it. Errors are `DiskError`. */
export type Folder = {
  readonly path: string;
  /** The folder itself. */
  readonly statSelf: () => Promise<DiskEntry>;
  /** What stands under a name; undefined when nothing does. */
  readonly stat: (name: string) => Promise<DiskEntry | undefined>;
  /** The folder under a name. Refuses links and everything else. */
  readonly openFolder: (name: string) => Promise<Folder>;
  /** The regular file under a name, for reading. Refuses links, pipes, sockets and devices, and never waits for one. */
  readonly openFile: (name: string) => Promise<FileHandle>;
  /** Where a link points, as written. */
  readonly readLink: (name: string) => Promise<string>;
  /** All names with their kinds, as the system gives them. */
  readonly list: () => AsyncIterable<{ readonly name: string; readonly kind: EntryKind }>;
  /** Makes a folder; fine if it is there already. */
  readonly makeFolder: (name: string, mode?: number) => Promise<void>;
  /**
   * Puts bytes under a name as a whole: a temporary file beside it, flushed, then
   * renamed over it. A link there is replaced, not followed. Keeps the mode of what was there.
   */
  readonly writeFile: (name: string, bytes: Uint8Array, mode?: number) => Promise<FileIdentity>;
  /**
   * The same, if what stands there still has this identity, or is "absent"; otherwise rejects with ESTALE. The look and the
   * rename are under a lock that every process sees which writes this way, and nothing but the system's own time is between them.
   */
  readonly replaceFile: (name: string, bytes: Uint8Array, was: FileIdentity) => Promise<FileIdentity>;
  /** Removes a file, a link or an empty folder; fine if there is nothing. */
  readonly remove: (name: string) => Promise<void>;
  /** Renames an entry inside this folder. Refuses a name that is taken (EEXIST). */
  readonly rename: (name: string, to: string) => Promise<void>;
  /** The regular file under a name, to be written on at its end. Makes one, for its owner alone, if there is none. */
  readonly openAppend: (name: string) => Promise<AppendHandle>;
  /** Resolves when the names made and removed here so far would survive a power loss. */
  readonly flush: () => Promise<void>;
  /** Waits for what is under way, then lets go. */
  readonly close: () => Promise<void>;
};

/** An open regular file. Close it. */
export type FileHandle = {
  readonly stat: () => Promise<DiskEntry>;
  /** Up to `length` bytes from `at`; fewer only at the end. */
  readonly read: (at: number, length: number) => Promise<Uint8Array>;
  readonly close: () => Promise<void>;
};

/** An open regular file that grows. What was appended survives the program at once, and a power loss after `flush`. */
export type AppendHandle = FileHandle & {
  /** Writes all bytes at the end. One that fails may have written some of them. */
  readonly append: (bytes: Uint8Array) => Promise<void>;
  readonly flush: () => Promise<void>;
  /** Cuts the file off at this size. */
  readonly truncate: (size: number) => Promise<void>;
};

export type EntryKind = "file" | "folder" | "link" | "other";

/** What stands under a name. Times are milliseconds since 1970. */
export type DiskEntry = {
  readonly kind: EntryKind;
  readonly size: number;
  readonly modified: number;
  readonly mode: number;
  readonly identity: FileIdentity;
};

/** Tells one file from another, and a changed one from what it was: device, inode, size and time of change. */
type FileIdentity = string;

/**
 * A file operation that failed. `code` is the system's, such as ENOENT, EACCES, ENOSPC, ENOTDIR, EISDIR. ELOOP is a
 * link where none may be, or something swapped while it was used; ENXIO a pipe, socket or device; EINVAL a name that is none.
 */
export class DiskError extends Error {
  readonly code: string;

  constructor(code: string, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}
