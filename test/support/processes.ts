import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** Whether the system has the list of processes that `processesIn` reads. */
export const canListProcesses: boolean = process.platform === "linux";

/**
 * Lists the processes whose current folder is this one or below it. A temporary folder belongs to one test, so that
 * none sees the processes of another run of the same tests. Zombies have no folder and are not listed.
 */
export const processesIn = (folder: string): readonly string[] =>
  readdirSync("/proc").filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    const current = readCurrentFolder(pid);
    return current === folder || current.startsWith(`${folder}/`);
  });

const readCurrentFolder = (pid: string): string => {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return "";
  }
};

/** Whether a process runs. A zombie does not: where nothing reaps orphans, it keeps its id for ever. */
export const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  if (process.platform !== "linux") return true;
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
};

/** Resolves once none of the processes runs. */
export const untilGone = async (...pids: readonly number[]): Promise<void> => {
  while (pids.some(isRunning)) await new Promise((resolve) => setTimeout(resolve, 20));
};
