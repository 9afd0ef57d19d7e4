import { spawn, type ChildProcess } from "node:child_process";
import { delimiter, isAbsolute, join } from "node:path";
import { listLivingInGroup, signalGroup } from "./groups.ts";
import type { Processes, Program, RunningProcess } from "../../processes.ts";
import { withParentDeathWatch } from "./with-parent-death-watch.ts";
import { createParentDeathWatch, type ParentDeathWatch } from "./parent-death-watch.ts";
import { pinFolder } from "./pinned-folder.ts";
import { readOutput } from "./output.ts";
import { clearProcEnviron } from "./clear-environ.ts";
import { findExecutable } from "../sync-file-calls.ts";

/**
 * The programs of this machine. A program that left others behind has ended all the same: what these still write
 * is read and thrown away, so they neither wait nor break, and they do not keep us running.
 */
export const realProcesses: Processes = {
  start: (program) => start(program, deathWatch),
  find: (name, searchPath) => {
    const key = `${name}\0${searchPath}`;
    if (findCache.size === 0) setImmediate(() => findCache.clear());
    const known = findCache.get(key) ?? findOnSearchPath(name, searchPath);
    findCache.set(key, known);
    return known;
  },
};

/** One per process, as deaths are. */
const deathWatch = createParentDeathWatch();

/** What was looked for in this turn of the loop. The calls of a batch ask for the same programs, all at once. */
const findCache = new Map<string, Promise<string | undefined>>();

const start = async (program: Program, watching: ParentDeathWatch): Promise<RunningProcess> => {
  const { child, pid } = await spawnInFolder(program, watching);
  if (program.isInteractive !== true) writeInput(child, program.input);
  else child.stdin?.on("error", () => undefined);
  const { output, exited: ended } = readOutput(child);
  let isGone = false;
  return {
    pid,
    output,
    exited: ended,
    write: (bytes) => write(child, bytes),
    closeInput: () => void child.stdin?.end(),
    signal: (signal) => {
      // Once a group is gone its number may be somebody else's.
      if (!isGone) isGone = !signalGroup(pid, signal);
    },
    groupMembers: () => listLivingInGroup(pid),
  };
};

const spawnInFolder = async (
  program: Program,
  watching: ParentDeathWatch,
): Promise<{ child: ChildProcess; pid: number }> => {
  const {
    cwd: folder,
    env,
    input,
    isInteractive: companion,
    diesWithParent: endsWithUs,
    hasVerbatimArguments: isVerbatim = false,
  } = program;
  clearProcEnviron();
  const pinned = await pinFolder(folder);
  try {
    const { file, args } = companion === true ? withParentDeathWatch(program) : program;
    if (endsWithUs === true) watching.prepare();
    const child = spawn(file, args, {
      cwd: pinned.path,
      env: { ...env },
      detached: true,
      shell: false,
      windowsHide: true,
      windowsVerbatimArguments: isVerbatim,
      stdio: [
        input === undefined && companion !== true ? "ignore" : "pipe",
        "pipe",
        "pipe",
        ...(companion === true ? (["pipe"] as const) : []),
      ],
    });
    // At once, without waiting for the start to be confirmed: whatever runs is watched.
    if (endsWithUs === true && child.pid !== undefined) child.once("exit", watching.add(child.pid));
    const pid = waitForSpawn(child);
    // Where the system has no more file numbers (EMFILE), there are no pipes, whatever the type says.
    const tie = (child.stdio as ChildProcess["stdio"] | undefined)?.[3];
    tie?.on("error", () => undefined);
    child.once("exit", () => void tie?.destroy());
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

/** A program may end without reading what it was given; that is its own affair. */
const writeInput = ({ stdin }: ChildProcess, input: string | undefined): void => {
  stdin?.on("error", () => undefined);
  stdin?.end(input);
};

const write = (child: ChildProcess, bytes: Uint8Array): Promise<void> =>
  new Promise((resolve, reject) => {
    if (child.stdin?.writable !== true) return reject(new Error("Its input is closed."));
    child.stdin.write(bytes, (error) => (error ? reject(error) : resolve()));
  });

const findOnSearchPath = async (name: string, searchPath: string): Promise<string | undefined> => {
  if (name === "" || /[/\\\0]/.test(name)) return undefined;
  // An empty or relative entry means the current folder, where a project may have put anything.
  const folders = searchPath.split(delimiter).filter((folder) => isAbsolute(folder));
  const names = process.platform === "win32" ? [`${name}.exe`, `${name}.com`, name] : [name];
  return findExecutable(folders.flatMap((folder) => names.map((candidate) => join(folder, candidate))));
};
