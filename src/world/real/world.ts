import { homedir } from "node:os";
import { createRealDisk } from "./disk/disk.ts";
import { createRealPrivateFiles } from "./private-files.ts";
import { createRealProcessIdentity } from "./process/identity.ts";
import { createRealNet } from "./net.ts";
import { createRealProcesses } from "./process/processes.ts";
import { createSyncFileCalls } from "./sync-file-calls.ts";
import { sleepWithClock } from "../sleep.ts";
import type { Clock, World } from "../world.ts";

/** Creates the real world: this machine's clock, files, network and processes. */
export const realWorld = (env: World["env"] = process.env): World => {
  const calls = createSyncFileCalls();
  return {
    clock: realClock,
    random: Math.random,
    env,
    host: { platform: process.platform, arch: process.arch, home: findHomeFolder() },
    files: createRealPrivateFiles(calls),
    net: createRealNet(env),
    disk: createRealDisk(calls),
    processes: createRealProcesses(calls),
    processIdentity: createRealProcessIdentity(calls),
  };
};

const realClock: Clock = {
  now: Date.now,
  // `performance` would have to be loaded first.
  elapsed: () => {
    const [seconds, nanoseconds] = process.hrtime();
    return seconds * 1000 + nanoseconds / 1e6;
  },
  after: (ms, work) => {
    const timer = setTimeout(work, ms);
    return () => clearTimeout(timer);
  },
  sleep: (ms, signal) => sleepWithClock(realClock, ms, signal),
};

/** A user without a home folder, as in some containers, gets the root folder. */
const findHomeFolder = (): string => {
  try {
    return homedir();
  } catch {
    return "/";
  }
};
