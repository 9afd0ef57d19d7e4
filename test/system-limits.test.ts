import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { bin, ensureBuilt } from "./built.ts";

let base: string;
beforeAll(ensureBuilt);
beforeEach(() => void (base = realpathSync(mkdtempSync(join(tmpdir(), "parley-limits-")))));
afterEach(() => rmSync(base, { recursive: true, force: true }));

it("a command that cannot be started for want of file descriptors fails, and nothing crashes", () => {
  const program = fileURLToPath(new URL("./support/no-file-numbers.ts", import.meta.url));
  const command = `ulimit -n 120; exec ${process.execPath} --import tsx ${program}`;
  expect(execFileSync("/bin/bash", ["-c", command], { encoding: "utf8" })).toBe("EMFILE\n");
});

it("a deleted current folder is reported in one sentence", () => {
  const script = `mkdir gone && cd gone && rmdir ../gone && exec ${process.execPath} ${bin} -m offline -p "hello" < /dev/null`;
  const ran = spawnSync("/bin/bash", ["-c", script], {
    cwd: base,
    env: { HOME: base, PATH: "/usr/bin:/bin" },
    encoding: "utf8",
  });
  expect([ran.status, ran.stderr]).toEqual([
    2,
    "parley: The current folder no longer exists. Change to another one, or use --cwd.\n",
  ]);
});

// Only root can become a user without an entry in the user database.
it.runIf(process.getuid?.() === 0)("a user without a home folder can work", () => {
  chmodSync(base, 0o777);
  const env = { PARLEY_HOME: join(base, "own"), PATH: "/usr/bin:/bin" };
  const words = [bin, "-m", "offline", "-p", "which model are you?"];
  const ran = spawnSync(process.execPath, words, { cwd: base, env, uid: 64_321, gid: 64_321, encoding: "utf8" });
  expect([ran.status, ran.stderr]).toEqual([0, ""]);
});
