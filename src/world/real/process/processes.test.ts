import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { RunningProcess } from "../../processes.ts";
import { createRealProcesses } from "./processes.ts";

const realProcesses = createRealProcesses();

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "processes-")));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const bash = (script: string, input?: string): Promise<RunningProcess> =>
  realProcesses.start({
    file: "/bin/bash",
    args: ["--norc", "-c", script],
    cwd: folder,
    env: { PATH: "/usr/bin:/bin", GREETING: "hello" },
    ...(input === undefined ? {} : { input }),
  });

/** The whole output of a program, and how it exited. */
const heard = async (running: RunningProcess): Promise<unknown> => {
  const said = { output: "", error: "" };
  for await (const { from, bytes } of running.output) said[from] += new TextDecoder().decode(bytes);
  return { ...said, ...(await running.exited) };
};
/** Reads until a text was printed. */
const until = async (running: RunningProcess, text: string): Promise<void> => {
  let said = "";
  for await (const { bytes } of running.output) {
    said += new TextDecoder().decode(bytes);
    if (said.includes(text)) return;
  }
};
const emptied = async (running: RunningProcess): Promise<readonly number[]> => {
  for (let turn = 0; turn < 10_000; turn++) {
    const left = await running.groupMembers();
    if (left.length === 0) return left;
  }
  return running.groupMembers();
};

describe("a program", () => {
  it("returns its output and exit status", async () => {
    const running = await bash('pwd; echo "$GREETING"; env | wc -l; echo no >&2; exit 3');

    expect(await heard(running)).toEqual({
      // Bash itself sets PWD, SHLVL and _.
      output: `${folder}\nhello\n5\n`,
      error: "no\n",
      code: 3,
      signal: undefined,
    });
  });

  it("gets its arguments unchanged, without a shell", async () => {
    const args = ["%s\\n", "$(echo x)", "a b", "*", "; ls"];
    const running = await realProcesses.start({ file: "/usr/bin/printf", args, cwd: folder, env: {} });

    expect(await heard(running)).toMatchObject({ output: "$(echo x)\na b\n*\n; ls\n", code: 0 });
  });

  it("reads the given input, or none", async () => {
    expect(await heard(await bash("cat", "given\n"))).toMatchObject({ output: "given\n", code: 0 });
    expect(await heard(await bash("cat"))).toMatchObject({ output: "", code: 0 });
    expect(await heard(await bash("exit 0", "x".repeat(10_000_000)))).toMatchObject({ code: 0 });
  });

  it("rejects if it cannot be started", async () => {
    const start = (file: string, where = folder): Promise<unknown> =>
      realProcesses.start({ file, args: [], cwd: where, env: {} });

    await expect(start("/nowhere/at/all")).rejects.toMatchObject({ code: "ENOENT" });
    await expect(start("/bin/bash", join(folder, "gone"))).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("exits separately from its background processes, which keep running", async () => {
    const running = await bash("(while read -r line; do :; done; echo late) < <(sleep 1000) & echo started; exit 4");
    const end = await heard(running);
    const left = await running.groupMembers();
    running.signal("SIGKILL");

    expect(end).toMatchObject({ output: "started\n", code: 4 });
    expect(left.length).toBeGreaterThan(0);
    expect(await emptied(running)).toEqual([]);
  });

  it("is killed with its whole process group", async () => {
    const running = await bash("sleep 1000 & (sleep 1000 | sleep 1000) & trap '' TERM; echo ready; wait; sleep 1000");
    await until(running, "ready");
    const before = await running.groupMembers();
    running.signal("SIGTERM");
    running.signal("SIGKILL");

    expect(before.length).toBeGreaterThan(1);
    expect(before).toContain(running.pid);
    expect(await running.exited).toEqual({ code: undefined, signal: "SIGKILL" });
    expect(await emptied(running)).toEqual([]);
  });

  it("may be signalled after it has exited", async () => {
    const running = await bash("exit 0");
    await heard(running);
    running.signal("SIGTERM");
    running.signal("SIGKILL");

    expect(await running.groupMembers()).toEqual([]);
  });

  it("blocks while its output is not read", async () => {
    const running = await bash("head -c 3000000 /dev/zero; touch done");
    const reader = running.output[Symbol.asyncIterator]();
    await reader.next();
    // Long enough for the rest to be written, if it were read.
    for (let turn = 0; turn < 10; turn++)
      expect(await heard(await realProcesses.start({ file: "/bin/ls", args: [], cwd: folder, env: {} }))).toMatchObject(
        {
          output: "",
        },
      );
    while ((await reader.next()).done !== true);

    expect(await running.exited).toEqual({ code: 0, signal: undefined });
  });

  it("is read to the end with bounded memory", async () => {
    const running = await bash("head -c 300000000 /dev/zero");
    let size = 0;
    let most = 0;
    const before = process.memoryUsage().arrayBuffers;
    for await (const { bytes } of running.output) {
      size += bytes.length;
      if (size % 16_777_216 < bytes.length) most = Math.max(most, process.memoryUsage().arrayBuffers - before);
    }

    expect(size).toBe(300_000_000);
    expect(most).toBeLessThan(64_000_000);
  });

  it("keeps running when its reader stops early", async () => {
    const running = await bash("echo one; head -c 5000000 /dev/zero; exit 7");
    for await (const { from } of running.output) if (from === "output") break;

    expect(await running.exited).toEqual({ code: 7, signal: undefined });
  });
});

describe("a search for a program", () => {
  const program = (path: string, mode = 0o755): void => {
    writeFileSync(path, "#!/bin/sh\n");
    chmodSync(path, mode);
  };

  it("finds the first executable, and never one in the current folder", async () => {
    for (const name of ["first", "second"]) mkdirSync(join(folder, name));
    program(join(folder, "first/tool"), 0o644);
    mkdirSync(join(folder, "first/other"));
    program(join(folder, "second/tool"));
    program(join(folder, "second/other"));
    symlinkSync(join(folder, "gone"), join(folder, "first/dangling"));
    const path = `${folder}/first::.:second:${folder}/second`;
    const find = (name: string, searchPath = path): Promise<string | undefined> => realProcesses.find(name, searchPath);

    expect(
      await Promise.all(
        ["tool", "other", "dangling", "nothing", "", "./tool", "../second/tool", "/bin/sh"].map((name) => find(name)),
      ),
    ).toEqual([
      join(folder, "second/tool"),
      join(folder, "second/other"),
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
    // This one could be started from the folder the tests run in.
    expect(await Promise.all(["", ".", ":", "node_modules/.bin"].map((where) => find("vitest", where)))).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });

  it("skips entries that are a file, a loop of links, a forbidden folder, or too long", async () => {
    mkdirSync(join(folder, "good"));
    mkdirSync(join(folder, "forbidden"));
    program(join(folder, "good/tool"));
    program(join(folder, "forbidden/tool"));
    chmodSync(join(folder, "forbidden"), 0);
    writeFileSync(join(folder, "file"), "");
    symlinkSync(join(folder, "loop"), join(folder, "loop"));
    symlinkSync(join(folder, "loop"), join(folder, "good/looped"));
    const bad = ["file", "file/below", "loop", "gone", "x".repeat(300), "forbidden\0"].map((name) =>
      join(folder, name),
    );
    const path = [...bad, join(folder, "good")].join(":");

    expect(await Promise.all(["tool", "looped"].map((name) => realProcesses.find(name, path)))).toEqual([
      join(folder, "good/tool"),
      undefined,
    ]);
    const forbidden = `${folder}/forbidden:${folder}/good`;
    const first = process.getuid?.() === 0 ? "forbidden" : "good";
    expect(await realProcesses.find("tool", forbidden)).toBe(join(folder, first, "tool"));
    chmodSync(join(folder, "forbidden"), 0o755);
  });
});
