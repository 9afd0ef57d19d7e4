import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openAgent } from "../../src/api/agent.ts";
import { realWorld } from "../../src/api/index.ts";
import type { AgentSession } from "../../src/agent/open-agent.ts";
import { findCommands } from "../../src/tui/app/commands/custom/custom-commands.ts";
import { openProgramStage, type ProgramStage } from "../support/agent-program.ts";

/* Files that a command or a prompt names with @, and command files that are written to do harm. */

let stage: ProgramStage;
let session: AgentSession;
beforeEach(async () => {
  stage = await openProgramStage(["anthropic"]);
});
afterEach(async () => {
  await session?.close();
  await stage.close();
});

const put = (path: string, text: string): string => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
};

/** All text that a prompt would send, and the messages for the person. */
const attach = async (prompt: string): Promise<string> => {
  session = await openAgent({
    folder: stage.project,
    home: join(stage.home, ".parley"),
    model: "anthropic",
    world: realWorld(stage.env),
  });
  const { parts, messages } = await session.attach(prompt, new AbortController().signal);
  return JSON.stringify([parts, messages]);
};

describe("a file that a prompt names", () => {
  it.each([
    ["A001 by a path out of the workspace", "@../secret.txt"],
    ["A002 by a path that goes in and out", "@sub/../../secret.txt"],
    ["A003 by an absolute path", () => `@${join(stage.home, "..", "secret.txt")}`],
    ["A004 by a quoted path out of the workspace", '@"../secret.txt"'],
    ["A005 by an escaped path", "@..\\/secret.txt"],
    ["A006 through a link", "@link.txt"],
    ["A007 through a linked folder", "@linked/secret.txt"],
    ["A008 in the home folder", "@~/.ssh/id_rsa"],
    ["A009 of the ignore file", "@ignored.txt"],
  ])("%s is not attached", async (_, prompt) => {
    put(join(stage.project, "sub/a.txt"), "inside");
    put(join(stage.project, "..", "secret.txt"), "CANARY");
    put(join(stage.home, ".ssh/id_rsa"), "CANARY");
    put(join(stage.project, ".geminiignore"), "ignored.txt\n");
    put(join(stage.project, "ignored.txt"), "CANARY");
    symlinkSync("../secret.txt", join(stage.project, "link.txt"));
    symlinkSync("..", join(stage.project, "linked"));
    expect(await attach(`Look at ${typeof prompt === "string" ? prompt : prompt()}`)).not.toContain("CANARY");
  });

  it("A010 is attached where it is inside (control)", async () => {
    put(join(stage.project, "sub/a.txt"), "inside");
    expect(await attach("Look at @sub/a.txt")).toContain("inside");
  });

  it("A011 of two gigabytes does not fill the prompt", async () => {
    truncateSync(put(join(stage.project, "huge.txt"), "x"), 2 ** 31);
    expect((await attach("Look at @huge.txt")).length).toBeLessThan(1_000_000);
  });
});

describe("a command file", () => {
  const find = (): ReturnType<typeof findCommands> =>
    findCommands({ disk: realWorld().disk, home: join(stage.home, ".parley"), userHome: stage.home });
  const toml = (name: string, text: string): string => put(join(stage.home, ".gemini/commands", `${name}.toml`), text);

  it("A020 in TOML with a prototype, wrong types, deep nesting or too many bytes is left out, and the others work", async () => {
    toml("good", 'prompt = "Hello {{args}}"');
    toml("proto", '__proto__.prompt = "x"\nconstructor.prompt = "y"');
    toml("types", "prompt = 5");
    toml("list", 'prompt = ["a"]');
    toml("deep", `prompt = ${"[".repeat(50_000)}`);
    toml("broken", 'prompt = "x');
    toml("huge", `prompt = "${"x".repeat(2_000_000)}"`);
    const { commands, problems } = await find();
    expect(commands.map(({ name }) => name)).toEqual(["good"]);
    expect(problems).toHaveLength(6);
    expect(({} as { prompt?: unknown }).prompt).toBeUndefined();
  });

  it("A021 cannot act on the terminal by its name or description", async () => {
    toml("good", 'prompt = "x"\ndescription = "a\\u001b[2Jb"');
    put(join(stage.home, ".claude/commands", "a\u001b[2Jb.md"), "x");
    const { out } = await stage.run(["commands", "list"]);
    expect(out).not.toContain("\u001b");
  });

  it("A022 behind a link is not read", async () => {
    put(join(stage.project, "evil.toml"), 'prompt = "x"');
    mkdirSync(join(stage.home, ".gemini/commands"), { recursive: true });
    symlinkSync(join(stage.project, "evil.toml"), join(stage.home, ".gemini/commands/evil.toml"));
    expect((await find()).commands).toEqual([]);
  });
});
