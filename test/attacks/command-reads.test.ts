import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { canary, openAttackFixture, type AttackFixture } from "./fixture.ts";

/* Commands that only read, pointed at what the file tools would not read: links out, ignored files, the agent's own. */

let stage: AttackFixture;

beforeAll(() => {
  stage = openAttackFixture();
  stage.put("a/one", "1\n");
  stage.put("b/one", "2\n");
  stage.put("c/x", "x\n");
  stage.put("plain/f", "f\n");
  stage.link("b/key", join(stage.home, ".ssh/id_rsa"));
  stage.put("a/key", "none\n");
  stage.put("key", "none\n");
  stage.put("secret.env", `TOKEN=${canary}\n`);
  stage.link("alias.env", "secret.env");
  stage.put("private/deep/notes.txt", `${canary}\n`);
  stage.put(".parleyignore", "secret.env\nprivate/\n");
  stage.put("own/settings.json", `{"x":"${canary}"}`);
  mkdirSync(join(stage.root, "own", "sessions"));
});

afterAll(() => stage.close());

const run = (command: string) =>
  stage.run("run_shell_command", { command }, { mode: "plan", home: join(stage.root, "own") });

describe("a command that only reads", () => {
  it.each([
    "diff a b",
    "diff key b",
    "diff b key",
    "diff -u a/ b/",
    "cat b/key",
    "cat < b/key",
    "sort b/key",
    "head -c 20 b/key",
    "cat secret.env",
    "cat ./secret.env",
    "cat plain/../secret.env",
    "cat alias.env",
    "cat < secret.env",
    "head secret.env",
    "tail -n 3 secret.env",
    "wc secret.env",
    "sort secret.env",
    "grep TOKEN secret.env",
    "grep -r TOKEN .",
    "grep -r TOKEN",
    "grep --recursive TOKEN .",
    "grep -d recurse TOKEN .",
    "grep --directories=recurse TOKEN .",
    "rg TOKEN",
    "rg -uu TOKEN .",
    "rg TOKEN private",
    "sed -n p secret.env",
    "cut -c 1-50 secret.env",
    "cat private/deep/notes.txt",
    "cd private && cat deep/notes.txt",
    "cd private/deep && cat notes.txt",
    "ls private",
    "diff secret.env plain/f",
    "cmp secret.env plain/f",
    "comm secret.env plain/f",
    "git show HEAD:secret.env",
    "git diff -- secret.env",
    "cat own/settings.json",
    "ls own",
    "grep -r x own",
    "cd own && cat settings.json",
    "head own/settings.json",
  ])("is not run unasked where the file tools would refuse: %s", async (command) => {
    const told = await run(command);
    expect({ verdict: told.verdict, hasCanary: told.text.includes(canary) }).toEqual({
      verdict: "deny",
      hasCanary: false,
    });
  });

  it.each([
    "ls",
    "diff a c",
    "diff a/one b/one",
    "cat plain/f",
    "grep -r f plain",
    "cat plain/f | grep f",
    "cd plain && cat f",
    "find . -name f",
    "cat absent",
  ])("runs unasked where they would not: %s", async (command) => {
    expect((await run(command)).verdict).toBe("allow");
  });
});

describe("a folder with more than can be checked", () => {
  it("is asked about where something in it may be kept from models", async () => {
    for (let at = 0; at < 5100; at += 1) stage.put(`many/${at}`, "");
    expect((await run("grep -r x many")).verdict).toBe("deny");
  });
});
