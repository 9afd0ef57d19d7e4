import { execFile, spawn } from "node:child_process";
import { join } from "node:path";
import type { SyncFileCalls } from "../sync-file-calls.ts";

/** Signals every process of a group. Returns false when none is left. */
export const signalGroup = (group: number, signal: NodeJS.Signals): boolean => {
  // 0 would be our own group, and 1 every process.
  if (group <= 1) return false;
  if (process.platform === "win32") return killTree(group);
  try {
    process.kill(-group, signal);
    return true;
  } catch (error) {
    return !(error instanceof Error && "code" in error && error.code === "ESRCH");
  }
};

/** Windows has no groups and no signals, but can end a process with all its descendants. */
const killTree = (pid: number): boolean => {
  const program = join(process.env["SystemRoot"] ?? "C:\\Windows", "System32", "taskkill.exe");
  spawn(program, ["/pid", `${pid}`, "/T", "/F"], { stdio: "ignore", windowsHide: true }).on("error", () => undefined);
  return true;
};

/** The processes of a group that still run, without zombies. */
export const listLivingInGroup = async (calls: SyncFileCalls, group: number): Promise<readonly number[]> => {
  if (process.platform === "win32" || !isGroupAlive(group)) return [];
  const all = (await listProcessesFromProc(calls)) ?? (await listProcessesFromPs());
  return all.filter((each) => each.group === group && !/^[ZX]/.test(each.state)).map(({ pid }) => pid);
};

/** Asking about one group is quick; listing all processes is not. */
const isGroupAlive = (group: number): boolean => {
  try {
    return process.kill(-group, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
};

type ProcessInfo = { readonly pid: number; readonly group: number; readonly state: string };

const listProcessesFromProc = async ({
  readdir,
  readText,
}: SyncFileCalls): Promise<readonly ProcessInfo[] | undefined> => {
  const names = await readdir("/proc").catch(() => []);
  const pids = names.flatMap(({ name }) => (/^\d+$/.test(name) ? [name] : []));
  if (pids.length === 0) return undefined;
  const processes = await Promise.all(
    pids.map(async (pid) => parseStat(await readText(`/proc/${pid}/stat`).catch(() => ""))),
  );
  return processes.filter((each) => each !== undefined);
};

/** Parses "pid (name) state parent group ...", where the name may contain spaces and brackets. */
const parseStat = (text: string): ProcessInfo | undefined => {
  const [state, , group] = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return state === undefined || group === undefined
    ? undefined
    : { pid: Number.parseInt(text, 10), group: Number(group), state };
};

const listProcessesFromPs = async (): Promise<readonly ProcessInfo[]> => {
  const text = await new Promise<string>((resolve) =>
    execFile("/bin/ps", ["-A", "-o", "pid=,pgid=,stat="], { env: {} }, (_, output) => resolve(output)),
  );
  return text.split("\n").flatMap((line) => {
    const [pid, group, state] = line.trim().split(/\s+/);
    return state === undefined ? [] : [{ pid: Number(pid), group: Number(group), state }];
  });
};
