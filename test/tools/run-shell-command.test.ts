import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runShellCommand } from "../../src/tools/run-shell-command.ts";
import { createSyncFileCalls } from "../../src/world/real/sync-file-calls.ts";
import { listLivingInGroup } from "../../src/world/real/process/groups.ts";
import { openWorkbench, type WorkbenchCallOptions, type Workbench } from "../support/workbench.ts";

const calls = createSyncFileCalls();

let bench: Workbench;
beforeEach(async () => {
  bench = await openWorkbench();
});
afterEach(() => bench.close());

const run = (command: string, more = {}, options?: WorkbenchCallOptions): Promise<string> =>
  bench.callText(runShellCommand, { command, ...more }, options);
const lineOf = (said: string, label: string): string =>
  new RegExp(
    `^${label}: ([^]*?)(?=\\n(?:Output|Error|Exit Code|Signal|Background PIDs|Process Group PGID): |$(?![^]))`,
    "m",
  ).exec(said)?.[1] ?? "";
const outputOf = async (command: string, more = {}): Promise<string> => lineOf(await run(command, more), "Output");
const groupOf = (said: string): number => Number(lineOf(said, "Process Group PGID"));

/** Runs a command until it prints something, then cancels it. */
const cancelled = async (command: string): Promise<string> => {
  const stop = new AbortController();
  return run(command, {}, { signal: stop.signal, report: () => stop.abort(new Error("stopped")) });
};

describe("run_shell_command", () => {
  it("answers in eight labelled lines", async () => {
    const result = await bench.call(runShellCommand, { command: "echo one; echo two >&2", description: "counts" });
    const [part] = result.content;
    const said = part?.type === "text" ? part.text : "";
    expect(said).toBe(
      [
        "Command: echo one; echo two >&2",
        "Directory: (root)",
        "Output: one\ntwo",
        "Error: (none)",
        "Exit Code: 0",
        "Signal: (none)",
        "Background PIDs: (none)",
        `Process Group PGID: ${groupOf(said)}`,
      ].join("\n"),
    );
    expect(groupOf(said)).toBeGreaterThan(1);
    expect(result).toEqual({
      content: [{ type: "text", text: said }],
      display: { type: "text", text: "one\ntwo" },
    });
  });

  it.each([
    ["exit 3", "(empty)", "3", "(none)", "Exit code 3, no output"],
    ["true", "(empty)", "0", "(none)", "Done, no output"],
    ["kill -9 $$", "(empty)", "(none)", "SIGKILL", "Terminated by SIGKILL"],
    [
      "no-such-program",
      expect.stringContaining("no-such-program: command not found"),
      "127",
      "(none)",
      expect.any(String),
    ],
    ["if", expect.stringContaining("syntax error"), "2", "(none)", expect.any(String)],
  ])("tells how `%s` ended", async (command, output, code, signal, shown) => {
    const { content, display, error } = await bench.call(runShellCommand, { command });
    const said = content.map((part) => (part.type === "text" ? part.text : "")).join("");
    expect([lineOf(said, "Output"), lineOf(said, "Exit Code"), lineOf(said, "Signal")]).toEqual([output, code, signal]);
    expect(display).toEqual({ type: "text", text: shown });
    expect(error).toBeUndefined();
  });

  it.each(["directory", "dir_path"])("runs in the folder named by %s", async (name) => {
    bench.folder("sub/deep");
    const said = await run("pwd", { [name]: "sub/deep" });
    expect([lineOf(said, "Directory"), lineOf(said, "Output")]).toEqual(["sub/deep", "{WS}/sub/deep"]);
  });

  it.each([
    ["/", "path_not_in_workspace"],
    ["..", "path_not_in_workspace"],
    ["none", "file_not_found"],
    ["f", "path_is_not_a_directory"],
  ])("runs nothing in the folder %s", async (directory, type) => {
    bench.put("f", "");
    const input = { command: `touch ${join(bench.root, "canary")}`, directory };
    expect((await bench.failure(runShellCommand, input)).type).toBe(type);
    expect(existsSync(join(bench.root, "canary"))).toBe(false);
  });

  it("reads no start-up files, has no input, and waits for no prompt", async () => {
    bench.put("../home/.bashrc", "echo started\n");
    expect(await outputOf('cat; echo "[$-]"; git config --get user.name; echo $PAGER')).toMatch(/^\[hBc\]\ncat$/);
  });

  it("tells of processes left in the background, which go on", async () => {
    const said = await run("sleep 300 & echo $!");
    const pid = Number(lineOf(said, "Output"));
    expect(lineOf(said, "Background PIDs")).toBe(`${pid}`);
    expect(await listLivingInGroup(calls, groupOf(said))).toEqual([pid]);
    process.kill(-groupOf(said), "SIGKILL");
  });

  it("does not wait for output of what is left in the background", async () => {
    const said = await run("(sleep 300; echo late) & echo now");
    expect(lineOf(said, "Output")).toBe("now");
    process.kill(-groupOf(said), "SIGKILL");
  });

  it("shows output while it comes", async () => {
    const told: string[] = [];
    await run(
      "echo one; read -t 0.3 < <(sleep 5); printf '\\033[31mtwo\\033[0m'",
      {},
      { report: (text) => told.push(text) },
    );
    expect(told[0]).toBe("one\n");
    expect(told.join("")).toBe("one\ntwo");
  });

  it.each([
    ["colours", "printf '\\033[31mred\\033[0m'", "red"],
    ["titles", "printf 'a\\033]0;title\\007b'", "ab"],
    ["carriage returns", "printf 'a\\r\\nb\\rc'", "a\nb\nc"],
    ["letters split in two writes", "printf '\\xc3'; sleep 0.05; printf '\\xa4'", "ä"],
    ["bytes that are no letters", "printf 'a\\xffb'", "a\ufffdb"],
    ["blank lines at the end", "printf '  a\\n\\n\\n'", "  a"],
    ["a NUL far from the beginning", "head -c 5000 /dev/zero | tr '\\0' x; printf 'a\\0b'", `${"x".repeat(5000)}a␀b`],
    ["binary output", "head -c 100 /dev/zero", "(binary output, 100 bytes, not shown)"],
  ])("gives plain text: %s", async (_, command, output) => {
    expect(await outputOf(command)).toBe(output);
  });

  it("bounds long output, and keeps all of it in a file", async () => {
    const said = await run("seq 100000");
    const output = lineOf(said, "Output");
    expect(output.length).toBeLessThan(40_500);
    expect(output).toMatch(/^1\n2\n3\n/);
    expect(output).toMatch(/99999\n100000$/);
    const [, left, file] =
      /\[(\d+) characters omitted\. The stored output is in \{KEPT\}(\S+\.txt);/.exec(output) ?? [];
    expect(Number(left)).toBe(588_894 - 40_000);
    const { files } = bench.capabilities();
    const kept = new TextDecoder().decode(await files.bytes(`${bench.scratch}${file}`, 2 ** 20));
    expect(kept.split("\n")).toHaveLength(100_000);
  });

  it("keeps both ends of output that is longer still", async () => {
    const output = await outputOf("seq 1000000");
    expect(output).toMatch(/^1\n2\n/);
    expect(output).toMatch(/\n1000000$/);
    const lost = 6_888_896 - 2 ** 21;
    expect(output).toContain(
      `[${6_888_895 - 40_000} characters omitted. ${lost} bytes of them were not stored. The stored output is in `,
    );
    const file = /\{KEPT\}(\S+\.txt);/.exec(output)?.[1] ?? "";
    const kept = new TextDecoder().decode(await bench.capabilities().files.bytes(`${bench.scratch}${file}`, 2 ** 22));
    expect(kept).toContain(`\n\n[${6_888_896 - 2 ** 21} bytes of output omitted]\n\n`);
    expect(kept.endsWith("\n999999\n1000000")).toBe(true);
  });

  it.each([
    ["that prints without end", "yes"],
    ["that prints noise without end", "cat /dev/urandom"],
    ["that does not listen", "trap '' TERM; echo ready; sleep 300"],
    [
      "with children that do not listen",
      "(trap '' TERM; sleep 301) & (trap '' TERM INT HUP; exec sleep 302) & echo ready; wait",
    ],
    ["whose children print without end and do not listen", "(trap '' TERM; exec yes) & wait"],
  ])("ends a command %s, with everything it started", async (_, command) => {
    const said = await cancelled(command);
    expect(lineOf(said, "Error")).toBe("The command was cancelled and stopped with all its child processes.");
    expect(lineOf(said, "Background PIDs")).toBe("(none)");
    expect(await listLivingInGroup(calls, groupOf(said))).toEqual([]);
    expect(said.length).toBeLessThan(42_000);
  });

  it("ends a command politely where it listens", async () => {
    // Only the shell itself runs: it would sometimes report a child ended by the same signal.
    const said = await cancelled("trap 'echo bye; exit 7' TERM; echo ready; while :; do :; done");
    expect(lineOf(said, "Output")).toBe("ready\nbye");
    expect(lineOf(said, "Exit Code")).toBe("7");
  });

  it("ends a command that takes too long", async () => {
    const quick = await openWorkbench({ commandTimeLimit: 100 });
    const { content, display, error } = await quick.call(runShellCommand, { command: "echo so far; sleep 300" });
    const said = content.map((part) => (part.type === "text" ? part.text : "")).join("");
    const message = "The command timed out and was stopped with all its child processes.";
    expect([lineOf(said, "Output"), lineOf(said, "Error")]).toEqual(["so far", message]);
    expect(display).toEqual({ type: "text", text: "so far" });
    expect(error).toEqual({ type: "timeout", message });
    expect(await listLivingInGroup(calls, groupOf(said))).toEqual([]);
    await quick.close();
  });

  it("starts nothing that was cancelled before", async () => {
    const signal = AbortSignal.abort(new Error("stopped"));
    await expect(run("touch canary", {}, { signal })).rejects.toThrow("stopped");
    expect(existsSync(join(bench.root, "canary"))).toBe(false);
  });

  it.each([
    ["a NUL", "echo a\0; touch canary", "policy_violation"],
    ["nothing", "", "invalid_tool_params"],
    ["more than the system takes", `: ${"x".repeat(200_000)}`, "shell_execute_error"],
  ])("refuses %s", async (_, command, type) => {
    expect((await bench.failure(runShellCommand, { command })).type).toBe(type);
    expect(existsSync(join(bench.root, "canary"))).toBe(false);
  });

  it("is titled by its command and what it is for", () => {
    const title = (input: object): string => runShellCommand.title(input as never);
    expect(title({ command: "ls" })).toBe("ls");
    expect(title({ command: "ls", description: "looks" })).toBe("ls (looks)");
    expect(runShellCommand.touches({ command: "ls", directory: "d" } as never)).toEqual({
      command: { text: "ls", folder: "d" },
    });
  });
});
