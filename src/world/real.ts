import { homedir } from "node:os";
import { realDisk } from "./real-disk.ts";
import { realFiles } from "./real-files.ts";
import { realLife } from "./real-life.ts";
import { realNet } from "./real-net.ts";
import { realProcesses } from "./real-processes.ts";
import { sleepBy } from "./sleep.ts";
import type { Clock, World } from "./world.ts";

/** The world as it is. */
export const realWorld = (env: World["env"] = process.env): World => ({
  clock: realClock,
  random: Math.random,
  env,
  host: { platform: process.platform, arch: process.arch, home: homeFolder() },
  files: realFiles,
  net: realNet(env),
  disk: realDisk,
  processes: realProcesses,
  life: realLife,
});

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
  sleep: (ms, signal) => sleepBy(realClock, ms, signal),
};

/** A user without a home folder, as in some containers, is at home where everything begins. */
const homeFolder = (): string => {
  try {
    return homedir();
  } catch {
    return "/";
  }
};
