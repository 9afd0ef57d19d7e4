import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runCommand } from "./support/run-command.ts";
import type { Ran } from "./built.ts";

/* Parley's folders as a person sees them, with commands of the program on a real disk. */

let base: string;
let home: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "parley-home-")));
  home = join(base, "home");
  mkdirSync(join(home, "project"), { recursive: true });
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const xdg = (): Readonly<Record<string, string>> => ({
  XDG_CONFIG_HOME: join(home, "etc/config"),
  XDG_DATA_HOME: join(home, "etc/data"),
  XDG_STATE_HOME: join(home, "etc/state"),
  XDG_CACHE_HOME: join(home, "etc/cache"),
});
const run = (args: readonly string[], env = xdg(), cwd = join(home, "project")): Promise<Ran> =>
  runCommand(args, { cwd, env: { PATH: process.env["PATH"], HOME: home, PARLEY_CODE_CACHE: "0", ...env } });
const put = (path: string, text: string): string => {
  mkdirSync(dirname(join(home, path)), { recursive: true });
  writeFileSync(join(home, path), text);
  return join(home, path);
};
const listFiles = (folder: string): readonly string[] =>
  readdirSync(join(home, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(home.length + 1))
    .toSorted();

describe("a new home with XDG folders", () => {
  it("has settings, trust and keys in one, sessions in another, and no ~/.parley", async () => {
    const script = put("../script.json", JSON.stringify({ replies: [{ say: "Hello." }] }));
    expect((await run(["config", "set", "model", "offline"])).code).toBe(0);
    expect((await run(["config", "set", "offline.script", script])).code).toBe(0);
    expect((await run(["trust"])).code).toBe(0);
    expect(await run(["-p", "Hi"])).toMatchObject({ code: 0, out: "Hello.\n" });
    expect((await run(["sessions", "list"])).out).toContain("Hi");
    const files = listFiles("etc");
    expect(files).toContain("etc/config/parley/settings.json");
    expect(files.some((path) => path.startsWith("etc/config/parley/trust/"))).toBe(true);
    expect(files.some((path) => /^etc\/data\/parley\/sessions\/.*\.jsonl$/.test(path))).toBe(true);
    expect(files.filter((path) => /sessions/.test(path) && !path.startsWith("etc/data/parley/"))).toEqual([]);
    expect(existsSync(join(home, ".parley"))).toBe(false);
    expect(statSync(join(home, "etc/config/parley")).mode & 0o777).toBe(0o700);
    expect(statSync(join(home, "etc/data/parley")).mode & 0o777).toBe(0o700);
  });

  it("is shown by doctor", async () => {
    expect((await run(["doctor", "--offline", "--provider", "offline"])).out).toContain(
      [
        "Settings and tokens: ~/etc/config/parley",
        "Sessions and plugins: ~/etc/data/parley",
        "History: ~/etc/state/parley",
        "Caches: ~/etc/cache/parley",
        "",
      ].join("\n"),
    );
  });

  it("leaves an existing ~/.parley in use", async () => {
    put(".parley/settings.json", "{}");
    expect((await run(["config", "set", "limits.spend", "5"])).code).toBe(0);
    expect(JSON.parse(readFileSync(join(home, ".parley/settings.json"), "utf8"))).toEqual({ limits: { spend: 5 } });
    expect(existsSync(join(home, "etc"))).toBe(false);
  });
});

describe("a tool in a workspace that holds all of Parley's folders", () => {
  const own = ["config/parley/trust/x.json", "data/parley/sessions/x", "state/parley/history/x", "cache/parley/x"].map(
    (path) => `etc/${path}`,
  );
  const call = (tool: string, input: object) => ({ call: { tool, input } });

  it("can neither read nor change, list nor search one of them, in any mode", async () => {
    for (const path of own) put(path, '{"secret":"canary"}');
    put("etc/beside.txt", "canary beside");
    const calls = own.flatMap((path) => [
      call("read_file", { file_path: join(home, path) }),
      call("write_file", { file_path: join(home, path), content: "evil" }),
      call("replace", { file_path: join(home, path), old_string: "canary", new_string: "evil" }),
      call("list_directory", { path: dirname(join(home, path)) }),
      call("run_shell_command", { command: `echo evil > ${join(home, path)}` }),
    ]);
    const searches = [
      call("search_file_content", { pattern: "canary", path: home }),
      call("glob", { pattern: "**/*" }),
    ];
    const script = put("../script.json", JSON.stringify({ replies: [...calls, ...searches, { say: "Done." }] }));
    put("etc/config/parley/settings.json", JSON.stringify({ model: "offline", offline: { script }, secret: "canary" }));
    const before = own.map((path) => readFileSync(join(home, path), "utf8"));
    const ran = await run(
      ["-p", "go", "--approval-mode", "yolo", "-o", "stream-json", "--max-turns", "100"],
      xdg(),
      home,
    );
    const results = ran.out.split("\n").filter((line) => line.includes('"tool_result"'));
    expect(results).toHaveLength(calls.length + searches.length);
    const texts = results
      .slice(0, calls.length)
      .filter((line) => line.includes('"secret') || line.includes("canary\\"));
    expect(texts).toEqual([]);
    expect(own.map((path) => readFileSync(join(home, path), "utf8"))).toEqual(before);
    const [search = "", glob = ""] = results.slice(-2);
    expect(search).toContain("beside.txt");
    expect(search + glob).not.toContain("etc/config/parley");
    expect(search + glob).not.toContain("etc/data/parley");
    expect(search + glob).not.toContain("etc/state/parley");
    expect(search + glob).not.toContain("etc/cache/parley");
  });

  it("reads none of them with a command that needs no approval elsewhere", async () => {
    for (const path of own) put(path, "canary");
    const commands = [...own.map((path) => `cat ${join(home, path)}`), `grep -r canary ${join(home, "etc")}`];
    const replies = [...commands.map((command) => call("run_shell_command", { command })), { say: "Done." }];
    const script = put("../script.json", JSON.stringify({ replies }));
    put("etc/config/parley/settings.json", JSON.stringify({ model: "offline", offline: { script } }));
    expect((await run(["trust"], xdg(), home)).code).toBe(0);
    const ran = await run(["-p", "go", "-o", "stream-json", "--max-turns", "100"], xdg(), home);
    const results = ran.out.split("\n").filter((line) => line.includes('"tool_result"'));
    expect(results).toHaveLength(commands.length);
    expect(results.filter((line) => line.includes("Output: canary"))).toEqual([]);
  });
});
