import { readdirSync, readlinkSync } from "node:fs";

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
