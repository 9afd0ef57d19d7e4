/* Fills the code cache of a program that was just built, so that its first start here is as fast as the later ones. */
import { spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Runs the program once for most of its kinds of use, with the cache in dist/code-cache. */
export const fillCodeCache = async (dist) => {
  const cache = join(dist, "code-cache");
  await rm(cache, { recursive: true, force: true });
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(tmpdir(), "parley-build-"));
  const env = { ...process.env, PARLEY_CODE_CACHE: cache, PARLEY_HOME: join(folder, "home") };
  const program = join(dist, "parley.cjs");
  const run = (...words) =>
    new Promise((resolve) => {
      const child = spawn(process.execPath, [program, ...words], { cwd: folder, env, stdio: "ignore" });
      child.on("error", resolve);
      child.on("exit", resolve);
    });
  await mkdir(join(folder, ".git"));
  await writeFile(join(folder, ".gitignore"), "ignored\n");
  await run("trust");
  await run("mcp", "add", "own", "--", process.execPath, program, "mcp", "serve");
  await run("mcp", "test");
  await run("mcp", "remove", "own");
  for (const task of ["list the files", "read the file .gitignore", "run the command: echo done"])
    await run("-p", task, "-m", "offline", "--approval-mode", "yolo");
  await runInTerminal(program, { cwd: folder, env }).catch(() => undefined);
  await rm(folder, { recursive: true, force: true });
};

/** Types a task into the terminal UI, where a pseudo-terminal can be had, and quits once it is done. */
const runInTerminal = async (program, { cwd, env }) => {
  const { spawn: open } = await import("@lydell/node-pty");
  const size = { cols: 80, rows: 24 };
  const child = open(process.execPath, [program, "-m", "offline"], { ...size, cwd, env: { ...env, TERM: "xterm" } });
  const ended = new Promise((resolve) => child.onExit(resolve));
  const timeout = setTimeout(() => child.kill(), 10_000);
  let output = "";
  let step = 0;
  const steps = [
    [/ or \/help/, "list the files\r"],
    [/\.gitignore[^]*\.gitignore/, "/quit\r"],
  ];
  child.onData((text) => {
    output += text;
    const [expected, answer] = steps[step] ?? [];
    if (expected === undefined || !expected.test(output)) return;
    step += 1;
    output = "";
    child.write(answer);
  });
  await ended;
  clearTimeout(timeout);
};
