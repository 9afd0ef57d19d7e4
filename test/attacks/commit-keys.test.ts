import { execFileSync } from "node:child_process";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parsePermissionRule, type PermissionRule } from "../../src/policy/gate/permission-rules.ts";
import { openAttackFixture, type AttackSession, type AttackFixture, type AttackOptions } from "./fixture.ts";
import { sampleCases } from "../support/tier.ts";

/* Keys in the content of a commit, in a real repository. */

const key = `sk-ant-${"a1B2c3D4".repeat(5)}`;

let fixture: AttackFixture;

beforeEach(() => {
  fixture = openAttackFixture();
  fixture.put("a.txt", "one\n");
  git("init", "-q");
  git("config", "user.name", "someone");
  git("config", "user.email", "someone@example.com");
  git("add", "a.txt");
  git("commit", "-qm", "first");
});

afterEach(() => fixture.close());

const git = (...args: readonly string[]): string =>
  execFileSync("git", ["-C", fixture.root, ...args], { encoding: "utf8" });

const rules = ["git add", "git commit", "git -C"]
  .map((words) => parsePermissionRule(`run_shell_command(${words})`))
  .filter((rule): rule is PermissionRule => rule !== undefined);

const open = (options: AttackOptions = {}): Promise<AttackSession> =>
  fixture.open({ mode: "default", rules: { commandLine: { allow: rules } }, ...options });
const run = (session: AttackSession, command: string) => session.call("run_shell_command", { command });

const why = (name: string): string => `${name} contains what looks like a key, and this would commit it.`;

describe("a commit that contains a key", () => {
  it.each(
    sampleCases(
      [
        ["git commit -m second", () => git("add", ".")],
        ["git commit -qm second", () => git("add", ".")],
        ["git add settings.js", () => undefined],
        ["git add .", () => undefined],
        ["git add -A", () => undefined],
        ["git stage settings.js", () => undefined],
        ["git add -f settings.js", () => fixture.put(".gitignore", "settings.js\n")],
        ["cd sub && git add ..", () => fixture.folder("sub")],
        ["cd sub && git add -A", () => fixture.folder("sub")],
      ],
      3,
    ),
  )("needs approval, and the key is not shown: %s", async (command, prepare) => {
    fixture.put("settings.js", `const one = 1;\nconst key = "${key}";\n`);
    prepare();
    const result = await run(await open(), command);
    expect([
      result.verdict,
      result.approvals[0]?.reason.includes(why("settings.js")),
      result.approvals[0]?.always,
    ]).toEqual(["ask", true, []]);
    expect(JSON.stringify(result.approvals)).not.toContain(key);
  });

  it.each(
    sampleCases(["git commit -am second", "git commit -m second a.txt", "git commit -a -m second", "git add -u"], 3),
  )("is asked about where a file that git knows was changed: %s", async (command) => {
    fixture.put("a.txt", `one\n${key}\n`);
    expect((await run(await open(), command)).approvals.map(({ reason }) => reason)).toEqual([why("a.txt")]);
  });

  it("is found for private keys, and in files with unusual names", async () => {
    fixture.put("my key.pem", "-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----\n");
    expect((await run(await open(), "git add .")).approvals.map(({ reason }) => reason)).toEqual([why('"my key.pem"')]);
  });

  it("needs approval in yolo mode, and is denied without a terminal", async () => {
    fixture.put("settings.js", `const key = "${key}";\n`);
    const asked = await run(await open({ mode: "yolo" }), "git add . && git commit -m second");
    const refused = await run(await open({ mode: "yolo", interactive: false }), "git add . ; git commit -m second");
    expect([asked.verdict, refused.verdict, refused.text.includes(why("settings.js"))]).toEqual(["ask", "deny", true]);
    expect(git("log", "--format=%s")).toBe("first\n");
  });

  it("is asked about once", async () => {
    fixture.put("settings.js", `const key = "${key}";\n`);
    const session = await open({ answer: () => ({ type: "once" }) });
    const verdicts = [await run(session, "git add ."), await run(session, "git commit -m second")];
    expect(verdicts.map(({ verdict }) => verdict)).toEqual(["ask", "allow"]);
    expect(git("log", "--format=%s")).toBe("second\nfirst\n");
  });

  it.each(
    sampleCases(
      [
        ["a key that is taken out", () => git("rm", "-q", "--cached", "a.txt"), "git commit -m second"],
        ["a key in a file that is not named", () => fixture.put("b.txt", "two\n"), "git add b.txt"],
        ["a key in an ignored file", () => fixture.put(".gitignore", "other.txt\n"), "git add -A"],
      ],
      2,
    ),
  )("is not found in %s", async (_, prepare, command) => {
    fixture.put("other.txt", `${key}\n`);
    prepare();
    expect((await run(await open(), command)).verdict).toBe("allow");
  });

  it("is not found in code that handles keys", async () => {
    fixture.put(
      "code.ts",
      [
        "const headers = { authorization: options.token, cookie: string };",
        'const password = readPassword("password");',
        "const token = await getToken(account);",
      ].join("\n"),
    );
    expect((await run(await open(), "git add .")).verdict).toBe("allow");
  });

  it("needs approval if it is too large to scan, except in yolo mode", async () => {
    fixture.put("large.txt", "a line without anything of note\n".repeat(80_000));
    const result = await run(await open(), "git add .");
    expect(result.approvals.map(({ reason }) => reason)).toEqual([
      "This would commit more than 2 MB of text. It was not scanned for keys.",
    ]);
    expect((await run(await open({ mode: "yolo" }), "git add .")).verdict).toBe("allow");
  });

  it("is scanned without running a program that the repository names", async () => {
    fixture.put("a.txt", "two\n");
    fixture.put(".gitattributes", "* filter=evil diff=evil\n");
    git("config", "filter.evil.clean", `touch ${fixture.mark}; cat`);
    git("config", "diff.evil.textconv", `touch ${fixture.mark}; cat`);
    git("config", "core.fsmonitor", `touch ${fixture.mark}`);
    await run(await open(), "git add .");
    expect(fixture.hasMark()).toBe(false);
  });
});
