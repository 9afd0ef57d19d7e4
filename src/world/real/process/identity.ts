import { execFile } from "node:child_process";
import type { ProcessIdentity } from "../../process-identity.ts";
import type { SyncFileCalls } from "../sync-file-calls.ts";

/** Identifies the processes of this machine. */
export const createRealProcessIdentity = (calls: SyncFileCalls): ProcessIdentity => ({
  current: async () => (await identifyProcess(calls, process.pid)) ?? `${process.pid}-unknown`,
  isAlive: async (identity) => {
    const pid = Number.parseInt(identity, 10);
    return pid > 0 && (await identifyProcess(calls, pid)) === identity;
  },
  isOwnProcess: (pid) => Number.isSafeInteger(pid) && pid > 0 && maySignal(pid),
});

/**
 * The identity of a process; undefined when it does not run.
 *
 * @internal Exported for its tests.
 */
export const identifyProcess = async (calls: SyncFileCalls, pid: number): Promise<string | undefined> => {
  const start = await processStart(calls, pid);
  return start === undefined ? undefined : `${pid}-${start}`;
};

/** When a process started, in the system's own format; undefined when it does not run. */
const processStart = async (calls: SyncFileCalls, pid: number): Promise<string | undefined> => {
  switch (process.platform) {
    case "linux":
      return processStartFromProc(calls, pid);
    case "win32":
      return processExists(pid) ? "running" : undefined;
    default:
      return processExists(pid) ? processStartFromPs(pid) : undefined;
  }
};

/** Linux counts start times in ticks since boot, so the identity includes the boot id. */
const processStartFromProc = async ({ readText }: SyncFileCalls, pid: number): Promise<string | undefined> => {
  const stat = await readText(`/proc/${pid}/stat`).catch(() => undefined);
  if (stat === undefined) return undefined;
  // "pid (name) state ...", where the name may contain spaces and brackets; the start time is the twentieth field from
  // the state on.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  if (fields[0] === "Z" || fields[0] === "X") return undefined;
  const boot = await readText("/proc/sys/kernel/random/boot_id").catch(() => "");
  return `${boot.slice(0, 8)}-${fields[19] ?? ""}`;
};

const processStartFromPs = (pid: number): Promise<string | undefined> =>
  new Promise((resolve) =>
    execFile("/bin/ps", ["-o", "lstart=", "-p", `${pid}`], { env: { LC_ALL: "C" } }, (_, output) =>
      resolve(output.trim() === "" ? undefined : output.trim().replaceAll(/[^A-Za-z0-9]+/g, "-")),
    ),
  );

/** Signal 0 is only checked, never sent. Fails for a process that does not run, or that belongs to another user. */
const maySignal = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

/** EPERM means that the process exists and belongs to another user. */
const processExists = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
};
