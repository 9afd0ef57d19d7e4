import type { Disk } from "./disk.ts";
import type { ProcessIdentity } from "./process-identity.ts";
import type { Net } from "./net.ts";
import type { Processes } from "./processes.ts";

/** The only door to everything outside the program. Whoever holds a simulated one runs in a world that can be replayed. */
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

/** Time. `now` is what people call the time and may jump; `elapsed` only ever grows. Both count milliseconds. */
export type Clock = {
  readonly now: () => number;
  readonly elapsed: () => number;
  /** Does something after `ms`; answers how to leave it undone. */
  readonly after: (ms: number, work: () => void) => () => void;
  /** Resolves after `ms`; rejects with the signal's reason as soon as it is aborted. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
};

/** The environment's variables. */
export type Environment = { readonly [name: string]: string | undefined };

/** The machine, as Node names it. */
export type HostInfo = {
  readonly platform: string;
  readonly arch: string;
  /** The home folder of who runs this. */ readonly home: string;
};

/** Small files with settings and secrets. Paths are absolute. */
export type PrivateFiles = {
  /** The text of a file, or undefined when there is none. */
  readonly read: (path: string) => Promise<string | undefined>;
  /** Replaces a file as a whole, readable by its owner alone, in a folder that is. */
  readonly writePrivate: (path: string, text: string) => Promise<void>;
  readonly remove: (path: string) => Promise<void>;
};
