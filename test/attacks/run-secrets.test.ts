import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { bin, ensureBuilt } from "../built.ts";

/* The user's keys, in a whole run of the packaged program. */

beforeAll(ensureBuilt);

let base: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "parley-secrets-")));
  mkdirSync(join(base, "work"));
  mkdirSync(join(base, "home"));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const secret = `canary-${process.pid}x${Date.now().toString(36)}-key`;

/** Runs commands, and returns everything that was printed and logged. */
const run = (...commands: readonly string[]): { readonly out: string; readonly debug: string } => {
  const script = join(base, "script.json");
  const calls = commands.map((command) => ({ call: { tool: "run_shell_command", input: { command } } }));
  writeFileSync(script, JSON.stringify({ replies: [...calls, { say: "Done." }] }));
  const debug = join(base, "debug.jsonl");
  const ran = spawnSync(
    process.execPath,
    [bin, "-p", "go", "-m", "offline", "--approval-mode", "yolo", "-o", "stream-json", "--debug", debug],
    {
      cwd: join(base, "work"),
      encoding: "utf8",
      env: {
        PATH: "/usr/local/bin:/usr/bin:/bin",
        HOME: join(base, "home"),
        ANTHROPIC_API_KEY: secret,
        PARLEY_OFFLINE_SCRIPT: script,
      },
    },
  );
  expect(ran.stderr).toBe("");
  return { out: ran.stdout, debug: readFileSync(debug, "utf8") };
};

const results = (out: string): readonly string[] =>
  out
    .split("\n")
    .filter((line) => line.includes('"tool_result"'))
    .map((line) => (JSON.parse(line) as { readonly output: string }).output);

describe("the user's key", () => {
  it.runIf(process.platform === "linux")("is in no environment that a command can read", () => {
    const half = secret.slice(0, 18);
    const { out } = run(`cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' | grep -c '${half}'; echo searched`);
    expect(results(out)[0]).toContain("Output: 0\nsearched");
  });

  it("is redacted in tool calls and results, in stream-json and in the debug log", () => {
    const { out, debug } = run(`echo 'x-api-key: abcdefgh12'`, `printf '%s-%s\\n' ${secret.slice(0, -4)} key`);
    expect(results(out).map((each) => /Output: (.*)/.exec(each)?.[1])).toEqual(["x-api-key: [secret]", "[secret]"]);
    for (const written of [out, debug]) {
      expect(written).not.toContain(secret);
      expect(written).not.toContain("abcdefgh12");
    }
  });
});
