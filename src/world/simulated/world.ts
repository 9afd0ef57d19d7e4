import type { ProcessIdentity } from "../process-identity.ts";
import { NetError, type HttpRequest, type HttpResponse, type Net } from "../net.ts";
import type { Processes } from "../processes.ts";
import { sleepWithClock } from "../sleep.ts";
import { simulatedDisk, type SimulatedDisk } from "./disk.ts";
import type { Clock, Environment, PrivateFiles, World } from "../world.ts";

/** Options of a simulated world. */
export type SimulatedOptions = {
  readonly seed?: number;
  readonly env?: Environment;
  /** Answers requests; without it, no host can be reached. */
  readonly answer?: (request: HttpRequest, signal?: AbortSignal) => Promise<HttpResponse>;
  /** Starts programs; without it, none can be started. */
  readonly processes?: Processes;
  /** The time at the start, in milliseconds since 1970. */
  readonly start?: number;
  /** The disk to use; by default an empty one. */
  readonly disk?: SimulatedDisk;
  /** The identity of this process; a world on a disk that another world used needs one of its own. */
  readonly identity?: string;
};

/** A world in memory. Its clock stops until `run` advances it from one timer to the next. */
export type SimulatedWorld = World & {
  /** Advances time, timer by timer, until the work is done. */
  readonly run: <Result>(work: Promise<Result>) => Promise<Result>;
  /** Shifts the wall clock without advancing time. */
  readonly shiftWallClock: (ms: number) => void;
  /** The text of all private files, by path. */
  readonly stored: ReadonlyMap<string, string>;
  readonly disk: SimulatedDisk;
};

/** Creates a world that runs the same way every time. */
export const simulatedWorld = ({
  seed = 1,
  env = {},
  answer: respond,
  processes = noProcesses,
  start = 0,
  disk,
  identity = "1-0",
}: SimulatedOptions = {}): SimulatedWorld => {
  const time = new VirtualClock(start);
  const stored = new Map<string, string>();
  return {
    clock: time.clock,
    random: seededRandom(seed),
    env,
    host: { platform: "simulated", arch: "none", home: "/home/someone" },
    files: filesInMemory(stored),
    net:
      respond === undefined
        ? noNetwork
        : {
            send: async (request, signal) => {
              await request.ready;
              signal?.throwIfAborted();
              return respond(request, signal);
            },
          },
    disk: disk ?? simulatedDisk({ now: time.clock.now }),
    processes,
    processIdentity: singleProcess(identity),
    run: (work) => time.run(work),
    shiftWallClock: (ms) => time.jump(ms),
    stored,
  };
};

type VirtualTimer = { readonly at: number; readonly order: number; readonly wake: () => void };

class VirtualClock {
  #elapsed = 0;
  #offset: number;
  #order = 0;
  readonly #sleepers = new Set<VirtualTimer>();

  constructor(start: number) {
    this.#offset = start;
  }

  readonly clock: Clock = {
    now: () => this.#elapsed + this.#offset,
    elapsed: () => this.#elapsed,
    after: (ms, work) => {
      const wake = (): void => {
        this.#sleepers.delete(sleeper);
        work();
      };
      const sleeper: VirtualTimer = { at: this.#elapsed + Math.max(0, ms), order: this.#order++, wake };
      this.#sleepers.add(sleeper);
      return () => void this.#sleepers.delete(sleeper);
    },
    sleep: (ms, signal) => sleepWithClock(this.clock, ms, signal),
  };

  jump(ms: number): void {
    this.#offset += ms;
  }

  async run<Result>(work: Promise<Result>): Promise<Result> {
    let done = false;
    const settled = work.finally(() => (done = true));
    settled.catch(() => undefined);
    while (!done) {
      await drainEventLoop();
      if (done) break;
      const next = this.#next();
      if (next === undefined) continue;
      this.#elapsed = Math.max(this.#elapsed, next.at);
      next.wake();
    }
    return settled;
  }

  #next(): VirtualTimer | undefined {
    let first: VirtualTimer | undefined;
    for (const sleeper of this.#sleepers)
      if (first === undefined || sleeper.at < first.at || (sleeper.at === first.at && sleeper.order < first.order))
        first = sleeper;
    return first;
  }
}

/** Runs everything that can run now: all microtasks, and what they schedule. */
const drainEventLoop = async (): Promise<void> => {
  for (let round = 0; round < 3; round++) await new Promise((resolve) => setImmediate(resolve));
};

const noNetwork: Net = {
  send: ({ url }) => Promise.reject(new NetError("connect", `No host answers at ${new URL(url).host}.`)),
};

const noProcesses: Processes = {
  start: ({ file }) => Promise.reject(new Error(`${file} cannot be started here.`)),
  find: async () => undefined,
};

const singleProcess = (me: string): ProcessIdentity => ({
  current: async () => me,
  isAlive: async (who) => who === me,
  isOwnProcess: (pid) => me.startsWith(`${pid}-`),
});

const filesInMemory = (stored: Map<string, string>): PrivateFiles => ({
  read: async (path) => stored.get(path),
  writePrivate: async (path, text) => void stored.set(path, text),
  remove: async (path) => void stored.delete(path),
});

/** Mulberry32: a small and fast generator with the same sequence on every machine. */
const seededRandom = (seed: number): (() => number) => {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};
