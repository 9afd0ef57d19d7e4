import { spawn, type ChildProcess } from "node:child_process";
import { delimiter, isAbsolute, join } from "node:path";
import { listLivingInGroup, signalGroup } from "./groups.ts";
import type { Processes, Program, RunningProcess } from "../../processes.ts";
import { withParentDeathWatch } from "./with-parent-death-watch.ts";
import { createParentDeathWatch, type ParentDeathWatch } from "./parent-death-watch.ts";
import { pinFolder } from "./pinned-folder.ts";
import { readOutput } from "./output.ts";
import { clearProcEnviron } from "./clear-environ.ts";
import { createSyncFileCalls, type SyncFileCalls } from "../sync-file-calls.ts";

/**
 * Starts the programs of this machine. A program counts as exited even if its descendants still run: their output is
 * read and discarded, so that they neither block nor fail, and they do not keep this process alive.
 */
export const createRealProcesses = (calls: SyncFileCalls = createSyncFileCalls()): Processes => {
  const context: StartContext = { calls, deathWatch: createParentDeathWatch() };
  /** Lookups of the current turn of the event loop: the calls of a batch look for the same programs at the same time. */
  const findCache = new Map<string, Promise<string | undefined>>();
  let isEnvironCleared = false;
  const clearEnviron = (): void => {
    if (!isEnvironCleared) clearProcEnviron();
    isEnvironCleared = true;
  };
  return {
    start: (program) => {
      clearEnviron();
      return start(program, context);
    },
    prepare: async () => {
      clearEnviron();
      await import("node:child_process");
    },
    find: (name, searchPath) => {
      const key = `${name}\0${searchPath}`;
      if (findCache.size === 0) setImmediate(() => findCache.clear());
      const known = findCache.get(key) ?? findOnSearchPath(calls, name, searchPath);
      findCache.set(key, known);
      return known;
    },
  };
};

type StartContext = { readonly calls: SyncFileCalls; readonly deathWatch: ParentDeathWatch };

const start = async (program: Program, context: StartContext): Promise<RunningProcess> => {
  const { child, pid } = await spawnInFolder(program, context);
  if (program.isInteractive !== true) writeInput(child, program.input);
  else child.stdin?.on("error", () => undefined);
  const { output, exited } = readOutput(child);
  let isGone = false;
  return {
    pid,
    output,
    exited,
    write: (bytes) => write(child, bytes),
    closeInput: () => void child.stdin?.end(),
    signal: (signal) => {
      // Once a group is gone its id may be reused.
      if (!isGone) isGone = !signalGroup(pid, signal);
    },
    groupMembers: () => listLivingInGroup(context.calls, pid),
  };
};

const spawnInFolder = async (
  program: Program,
  { calls, deathWatch }: StartContext,
): Promise<{ child: ChildProcess; pid: number }> => {
  const { cwd, env, input, isInteractive, diesWithParent, hasVerbatimArguments = false } = program;
  const pinned = await pinFolder(calls, cwd);
  try {
    const { file, args } = isInteractive === true ? withParentDeathWatch(program) : program;
    if (diesWithParent === true) deathWatch.prepare();
    const child = spawn(file, args, {
      cwd: pinned.path,
      env: { ...env },
      detached: true,
      shell: false,
      windowsHide: true,
      windowsVerbatimArguments: hasVerbatimArguments,
      stdio: [
        input === undefined && isInteractive !== true ? "ignore" : "pipe",
        "pipe",
        "pipe",
        ...(isInteractive === true ? (["pipe"] as const) : []),
      ],
    });
    // At once, without waiting for the spawn event: every started process is watched.
    if (diesWithParent === true && child.pid !== undefined) child.once("exit", deathWatch.add(child.pid));
    const pid = waitForSpawn(child);
    // Despite the type there are no pipes when the process is out of file descriptors (EMFILE).
    const deathWatchPipe = (child.stdio as ChildProcess["stdio"] | undefined)?.[3];
    deathWatchPipe?.on("error", () => undefined);
    child.once("exit", () => void deathWatchPipe?.destroy());
    return { child, pid: await pid };
  } finally {
    pinned.release();
  }
};

const waitForSpawn = (child: ChildProcess): Promise<number> =>
  new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("spawn", () => {
      child.off("error", reject);
      child.on("error", () => undefined);
      resolve(child.pid ?? 0);
    });
  });

/** A program may exit without reading its input; that is not an error. */
const writeInput = ({ stdin }: ChildProcess, input: string | undefined): void => {
  stdin?.on("error", () => undefined);
  stdin?.end(input);
};

const write = (child: ChildProcess, bytes: Uint8Array): Promise<void> =>
  new Promise((resolve, reject) => {
    if (child.stdin?.writable !== true) return reject(new Error("The program's stdin is closed."));
    child.stdin.write(bytes, (error) => (error ? reject(error) : resolve()));
  });

const findOnSearchPath = async (
  { findExecutable }: SyncFileCalls,
  name: string,
  searchPath: string,
): Promise<string | undefined> => {
  if (name === "" || /[/\\\0]/.test(name)) return undefined;
  // An empty or relative entry means the current folder, where a project could have put anything.
  const folders = searchPath.split(delimiter).filter((folder) => isAbsolute(folder));
  const names = process.platform === "win32" ? [`${name}.exe`, `${name}.com`, name] : [name];
  return findExecutable(folders.flatMap((folder) => names.map((candidate) => join(folder, candidate))));
};
