import type { Disk } from "./disk.ts";
import type { ProcessIdentity } from "./process-identity.ts";
import type { Net } from "./net.ts";
import type { Processes } from "./processes.ts";

/**
 * The injected operating system: the only access to anything outside the program. Code that runs in a simulated world
 * can be replayed.
 */
export type World = {
  readonly clock: Clock;
  /** A number from 0 up to, not including, 1. */
  readonly random: () => number;
  readonly env: Environment;
  readonly host: HostInfo;
  readonly files: PrivateFiles;
  readonly net: Net;
  readonly disk: Disk;
  readonly processes: Processes;
  readonly processIdentity: ProcessIdentity;
};

/** Time in milliseconds. `now` is the wall clock and may jump; `elapsed` is monotonic. */
export type Clock = {
  readonly now: () => number;
  readonly elapsed: () => number;
  /** Runs `work` after `ms`; returns a function that cancels it. */
  readonly after: (ms: number, work: () => void) => () => void;
  /** Resolves after `ms`; rejects with the signal's reason as soon as it is aborted. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
};

/** The environment variables. */
export type Environment = { readonly [name: string]: string | undefined };

/** The machine, with Node's names. */
export type HostInfo = {
  readonly platform: string;
  readonly arch: string;
  /** The home folder of who runs this. */ readonly home: string;
};

/** Small files with settings and secrets. Paths are absolute. */
export type PrivateFiles = {
  /** The text of a file, or undefined when it does not exist. */
  readonly read: (path: string) => Promise<string | undefined>;
  /** Replaces a file atomically, readable by its owner alone, in a folder that is too. */
  readonly writePrivate: (path: string, text: string) => Promise<void>;
  readonly remove: (path: string) => Promise<void>;
};
