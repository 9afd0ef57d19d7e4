import { spawn, type ChildProcess } from "node:child_process";
import { delimiter, isAbsolute, join } from "node:path";
import { aliveInGroup, signalGroup } from "./process-groups.ts";
import type { Processes, Program, Running } from "./processes.ts";
import { asCompanion } from "./companion.ts";
import { parentDeathWatch, type ParentDeathWatch } from "./parent-death-watch.ts";
import { pinFolder } from "./pinned-folder.ts";
import { readOutput } from "./process-output.ts";
import { blankOwnEnvironment } from "./own-environment.ts";
import { firstProgram } from "./system.ts";

/**
 * The programs of this machine. A program that left others behind has ended all the same: what these still write
 * is read and thrown away, so they neither wait nor break, and they do not keep us running.
 */
export const realProcesses: Processes = {
  start: (program) => start(program, watch),
  find: (name, searchPath) => {
    const key = `${name}\0${searchPath}`;
    if (found.size === 0) setImmediate(() => found.clear());
    const known = found.get(key) ?? find(name, searchPath);
    found.set(key, known);
    return known;
  },
};

/** One per process, as deaths are. */
const watch = parentDeathWatch();

/** What was looked for in this turn of the loop. The calls of a batch ask for the same programs, all at once. */
const found = new Map<string, Promise<string | undefined>>();

const start = async (program: Program, watching: ParentDeathWatch): Promise<Running> => {
  const { child, pid } = await startIn(program, watching);
  if (program.companion !== true) give(child, program.input);
  else child.stdin?.on("error", () => undefined);
  const { output, ended } = readOutput(child);
  let isGone = false;
  return {
    pid,
    output,
    ended,
    write: (bytes) => write(child, bytes),
    endInput: () => void child.stdin?.end(),
    signal: (signal) => {
      // Once a group is gone its number may be somebody else's.
      if (!isGone) isGone = !signalGroup(pid, signal);
    },
    group: () => aliveInGroup(pid),
  };
};

const startIn = async (program: Program, watching: ParentDeathWatch): Promise<{ child: ChildProcess; pid: number }> => {
  const { folder, env, input, companion, endsWithUs, isVerbatim = false } = program;
  blankOwnEnvironment();
  const pinned = await pinFolder(folder);
  try {
    const { file, args } = companion === true ? asCompanion(program) : program;
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
    const pid = started(child);
    // Where the system has no more file numbers (EMFILE), there are no pipes, whatever the type says.
    const tie = (child.stdio as ChildProcess["stdio"] | undefined)?.[3];
    tie?.on("error", () => undefined);
    child.once("exit", () => void tie?.destroy());
    return { child, pid: await pid };
  } finally {
    pinned.release();
  }
};

const started = (child: ChildProcess): Promise<number> =>
  new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("spawn", () => {
      child.off("error", reject);
      child.on("error", () => undefined);
      resolve(child.pid ?? 0);
    });
  });

/** A program may end without reading what it was given; that is its own affair. */
const give = ({ stdin }: ChildProcess, input: string | undefined): void => {
  stdin?.on("error", () => undefined);
  stdin?.end(input);
};

const write = (child: ChildProcess, bytes: Uint8Array): Promise<void> =>
  new Promise((resolve, reject) => {
    if (child.stdin?.writable !== true) return reject(new Error("Its input is closed."));
    child.stdin.write(bytes, (error) => (error ? reject(error) : resolve()));
  });

const find = async (name: string, searchPath: string): Promise<string | undefined> => {
  if (name === "" || /[/\\\0]/.test(name)) return undefined;
  // An empty or relative entry means the current folder, where a project may have put anything.
  const folders = searchPath.split(delimiter).filter((folder) => isAbsolute(folder));
  const names = process.platform === "win32" ? [`${name}.exe`, `${name}.com`, name] : [name];
  return firstProgram(folders.flatMap((folder) => names.map((candidate) => join(folder, candidate))));
};
