import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { canary, openAttackFixture, type AttackFixture } from "./fixture.ts";
import { itInAll } from "../support/tier.ts";

/* Read-only commands on files that the file tools would not read: links out, ignored files, the agent's own folder. */

let fixture: AttackFixture;

beforeAll(() => {
  fixture = openAttackFixture();
  fixture.put("a/one", "1\n");
  fixture.put("b/one", "2\n");
  fixture.put("c/x", "x\n");
  fixture.put("plain/f", "f\n");
  fixture.link("b/key", join(fixture.home, ".ssh/id_rsa"));
  fixture.put("a/key", "none\n");
  fixture.put("key", "none\n");
  fixture.put("secret.env", `TOKEN=${canary}\n`);
  fixture.link("alias.env", "secret.env");
  fixture.put("private/deep/notes.txt", `${canary}\n`);
  fixture.put(".parleyignore", "secret.env\nprivate/\n");
  fixture.put("own/settings.json", `{"x":"${canary}"}`);
  mkdirSync(join(fixture.root, "own", "sessions"));
});

afterAll(() => fixture.close());

const run = (command: string) =>
  fixture.run("run_shell_command", { command }, { mode: "plan", home: join(fixture.root, "own") });

describe("a read-only command", () => {
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
  ])("needs approval where the file tools would refuse: %s", async (command) => {
    const result = await run(command);
    expect({ verdict: result.verdict, hasCanary: result.text.includes(canary) }).toEqual({
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
  ])("runs without approval where they would not: %s", async (command) => {
    expect((await run(command)).verdict).toBe("allow");
  });
});

describe("a folder with too many files to check", () => {
  itInAll("needs approval if something in it may be excluded from models", async () => {
    for (let at = 0; at < 5100; at += 1) fixture.put(`many/${at}`, "");
    expect((await run("grep -r x many")).verdict).toBe("deny");
  });
});
