import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { join } from "node:path";
import { openAttackFixture, type AttackFixture, type AttackOptions } from "./fixture.ts";
import { sampleCases } from "../support/tier.ts";

/* Which commands an "always allow" answer covers, from the model's first call to its second. */

let fixture: AttackFixture;

beforeAll(() => {
  fixture = openAttackFixture();
  fixture.put("package.json", '{"scripts":{"test":"true","build":"true"}}');
  fixture.put("build/a", "a");
  fixture.put("x.sh", "true\n");
});

afterAll(() => fixture.close());

/** The verdict about the second line, once the first was always allowed. */
const afterAlways = async (first: string, second: string): Promise<string> => {
  const answers: string[] = [];
  const session = await fixture.open({
    answer: ({ always }) => {
      const isFirst = answers.length === 0;
      answers.push(JSON.stringify(always));
      if (!isFirst) return { type: "refuse" };
      return always.some(({ type }) => type === "command")
        ? { type: "always", rule: "command", scope: "session" }
        : { type: "once" };
    },
  });
  await session.call("run_shell_command", { command: first });
  if (answers.length !== 1) return `the first was asked about ${answers.length} times`;
  return (await session.call("run_shell_command", { command: second })).verdict;
};

describe("an always-allow answer", () => {
  it.each(
    sampleCases(
      [
        ["rm -rf build/x", "rm -rf src"],
        ["rm -rf build/x", "rm -rf build/x src"],
        ["rm build/x", "rm x.sh"],
        ["mv build/x build/y", "mv x.sh build/z"],
        ["mv build/x build/y", "mv build/x build/y x.sh"],
        ["cp x.sh build/b", "cp build/b x.sh"],
        ["dd if=x.sh of=build/c", "dd if=x.sh of=package.json"],
        ["chmod 644 x.sh", "chmod 777 x.sh"],
        ["chmod +x x.sh", "chmod +x build/a"],
        ["node -e 1", "node -e 2"],
        ["python3 -c 1", "python3 -c 2"],
        ["sh -c true", "sh -c false"],
        ["sh x.sh", "sh x.sh y"],
        ["npx --no tool", "npx --no other"],
        ["env true", "env false"],
        ["xargs true", "xargs rm"],
        ["curl http://127.0.0.1:9/a", "curl http://127.0.0.1:9/b"],
        ["find build -exec true ;", "find . -exec rm ;"],
        ["find build -name none -delete", "find . -delete"],
        ["tar cf build/x.tar x.sh", "tar cf package.json x.sh"],
        ["npm run build", "npm run test"],
        ["npm install", "npm install other"],
        ["git reset", "git reset --hard"],
        ["git checkout", "git checkout -- ."],
        ["tee build/t", "tee package.json"],
        ["kill 999999", "kill 1"],
      ],
      3,
    ),
  )("for %j does not cover %j", async (first, second) => {
    expect(await afterAlways(first, second)).toBe("ask");
  });

  it.each(
    sampleCases(
      [
        ["rm -rf build/x", "rm -rf build/x"],
        ["node -e 1", "node -e 1"],
        ["npm test", "npm test 2>&1 | tail -5"],
        ["npm test 2>&1 | tail -5", "npm test"],
        ["cd build && npm test 2>/dev/null", "CI=1 npm test"],
        ["touch build/a", "touch build/b"],
        ["make -n", "make -n 2>&1 | head -1"],
      ],
      2,
    ),
  )("for %j covers %j", async (first, second) => {
    expect(await afterAlways(first, second)).not.toBe("ask");
  });
});

describe("an always-allow answer for this project", () => {
  const forProject = (rule: "command" | "edits") => () => ({ type: "always", rule, scope: "project" }) as const;
  const run = (command: string, options: AttackOptions = {}) => fixture.run("run_shell_command", { command }, options);

  it("holds in later sessions of this folder only, and not against a deny rule", async () => {
    const first = await fixture.open({ answer: forProject("command") });
    expect((await first.call("run_shell_command", { command: "touch build/p" })).verdict).toBe("ask");
    expect(first.events.filter(({ type }) => type === "permission-added")).toEqual([
      { type: "permission-added", rules: ["run_shell_command(touch)"], scope: "project" },
    ]);
    expect((await run("touch build/q")).verdict).toBe("allow");
    expect((await run("touch build/q; rm build/q")).verdict).toBe("ask");
    expect((await run("touch build/q > build/r")).verdict).toBe("ask");
    const deny = [{ type: "command", words: ["touch"] }] as const;
    expect((await run("touch build/q", { rules: { settings: { deny } } })).verdict).toBe("deny");
    expect((await run("touch build/q", { mode: "plan" })).verdict).toBe("deny");
    expect((await run("touch build/q", { trusted: false })).verdict).toBe("ask");
    fixture.folder("build/sub");
    const below = await run("touch x", { roots: [join(fixture.root, "build")] });
    expect(below.verdict).toBe("ask");
  });

  it("covers a command that destroys data word for word, also in later sessions", async () => {
    await run("rm -rf build/y", { answer: forProject("command") });
    expect((await run("rm -rf build/y")).verdict).toBe("allow");
    expect((await run("rm -rf build/y src")).verdict).toBe("ask");
    expect((await run("rm -rf build/z")).verdict).toBe("ask");
  });

  it("covers every edit of the workspace, and nothing protected", async () => {
    const write = (file_path: string, options: AttackOptions = {}) =>
      fixture.run("write_file", { file_path, content: "x\n" }, options);
    await write("build/one.txt", { answer: forProject("edits") });
    expect((await write("build/two.txt")).verdict).toBe("allow");
    expect(
      (await fixture.run("replace", { file_path: "build/two.txt", old_string: "x", new_string: "y" })).verdict,
    ).toBe("allow");
    expect((await write(".envrc")).verdict).toBe("ask");
    expect((await run("touch2 build/x")).verdict).toBe("ask");
  });

  it("is not offered where no rule can cover the command, its text would not say it, or the folder is untrusted", async () => {
    const offered = async (command: string, options: AttackOptions = {}) =>
      (await run(command, options)).approvals[0]?.always.map(({ type, scopes }) => [type, ...scopes]);
    expect(await offered("mkdir build/new")).toEqual([["command", "session", "project"]]);
    expect(await offered("mkdir build/new", { trusted: false })).toEqual([["command", "session"]]);
    expect(await offered("rm 'build/my file'")).toEqual([["command", "session"]]);
    expect(await offered("mkdir $(cat x.sh)")).toEqual([]);
  });
});
