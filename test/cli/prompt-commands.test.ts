import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { bin, ensureBuilt, type Ran } from "../built.ts";
import { openHookStage, type HookStage } from "../hooks/fixture.ts";
import { runCommand } from "../support/run-command.ts";

/* Custom commands and skills in a prompt without a terminal. */

let stage: HookStage;
beforeEach(async () => {
  stage = openHookStage({ otherwise: { say: "Done." } });
  await stage.trust();
});
afterEach(() => stage.remove());

const run = (prompt: string, ...args: readonly string[]): Promise<Ran> =>
  runCommand(["-p", prompt, ...args], {
    cwd: stage.work,
    env: { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: stage.base, PARLEY_HOME: stage.home },
  });

/** The texts of prompts in all sessions. */
const prompts = (): readonly string[] =>
  readdirSync(join(stage.home, "sessions"), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".jsonl"))
    .flatMap((path) => readFileSync(join(stage.home, "sessions", path), "utf8").split("\n"))
    .filter((line) => line.includes('"user"'))
    .flatMap((line) =>
      [...line.matchAll(/"text":("(?:[^"\\]|\\.)*")/g)].map(([, text]) => JSON.parse(text!) as string),
    );

describe("a prompt without a terminal", () => {
  it("that names a command of a Markdown or TOML file is replaced by the prompt of that file", async () => {
    stage.put("work/.claude/commands/look.md", "---\ndescription: Review\n---\nReview $1 with care: $ARGUMENTS");
    stage.put("work/.gemini/commands/team/plan.toml", 'prompt = "Plan this: {{args}}"');
    expect(await run("/look a.ts b.ts")).toMatchObject({ code: 0, out: "Done.\n" });
    expect(await run("/team:plan the move")).toMatchObject({ code: 0, out: "Done.\n" });
    expect(prompts().toSorted()).toEqual(["Plan this: the move", "Review a.ts with care: a.ts b.ts"]);
  });

  it("counts arguments from 1, and from 0 in the newer forms of Claude Code; an escaped place stays", async () => {
    stage.put("work/.claude/commands/one.md", "$1|$2|$9|$10|\\$1|$ARGUMENTS[1]|!`echo '\\$1' $ARGUMENTS[0]`");
    stage.put("work/.claude/commands/zero.md", "$0|$1|!`echo $1`");
    expect(await run('/one a "b c" $1', "-y")).toMatchObject({ code: 0 });
    expect(await run("/zero a b", "-y")).toMatchObject({ code: 0 });
    expect(prompts().toSorted()).toEqual(["a|b c||$10|$1|b c|\\$1 a", "a|b|b"]);
  });

  it("gets arguments by name: by place as in Claude Code, as NAME=value in prompts of Codex", async () => {
    const named = "---\ndescription: Moves\narguments: [from, to-file]\n---\n";
    stage.put("work/.claude/commands/move.md", `${named}$from -> $to-file, not $fromage: !\`printf %s $from\``);
    expect(await run("/move 'a;id' b", "-y")).toMatchObject({ code: 0 });
    stage.put("work/.agents/skills/tidy/SKILL.md", `---\nname: tidy\n${named.slice(4)}Tidy $to-file of $from.`);
    expect(await run("/tidy shed nails")).toMatchObject({ code: 0 });
    stage.put("work/.codex/prompts/draft.md", 'Draft $FILE as "$TITLE" for $FILE, costs $$. \\$HOME');
    expect(await run('/draft TITLE="A b" FILE=x.md')).toMatchObject({ code: 0 });
    const refused = await run("/draft TITLE=a");
    expect([refused.code, refused.err]).toEqual([expect.any(Number), expect.stringContaining("/draft needs FILE=...")]);
    expect(prompts().map((text) => text.split("\nThe skill's")[0])).toEqual(
      expect.arrayContaining([
        "'a;id' -> b, not $fromage: 'a;id'",
        '<skill name="tidy">\nTidy nails of shed.\n</skill>',
        'Draft x.md as "A b" for x.md, costs $$. \\$HOME',
      ]),
    );
    expect(prompts()).toHaveLength(3);
  });

  it("runs the lines of a code block that begins with ```!, as in Claude Code, if the rules allow them", async () => {
    const block = "```!\necho one\necho $1\n```";
    stage.put("work/.claude/commands/block.md", `Before\n${block}\n\n\`\`\`sh\nls\n\`\`\`\nafter`);
    expect(await run("/block 'a;b'", "-y")).toMatchObject({ code: 0 });
    stage.put("work/.claude/commands/made.md", "```!\ntouch made.txt\n```");
    expect((await run("/made")).err).toContain("Not run: touch made.txt.");
    expect(prompts()).toEqual(expect.arrayContaining(["Before\none\n'a;b'\n\n```sh\nls\n```\nafter"]));
    expect(readdirSync(stage.work)).toEqual([".claude"]);
  });

  it("is replaced by the packaged program, too", () => {
    ensureBuilt();
    stage.put("work/.claude/commands/look.md", "Look at $1.");
    const ran = spawnSync(process.execPath, [bin, "-p", "/look a.ts"], {
      cwd: stage.work,
      encoding: "utf8",
      env: { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: stage.base, PARLEY_HOME: stage.home },
    });
    expect(ran).toMatchObject({ status: 0, stdout: "Done.\n" });
    expect(prompts()).toEqual(["Look at a.ts."]);
  });

  it("that names a skill activates it", async () => {
    stage.put("work/.agents/skills/tidy/SKILL.md", "---\nname: tidy\ndescription: Tidies.\n---\nTidy $ARGUMENTS now.");
    expect(await run("/tidy the shed")).toMatchObject({ code: 0, out: "Done.\n" });
    expect(prompts().join("\n")).toContain('<skill name="tidy">\nTidy the shed now.\n</skill>');
  });

  it("runs a shell command in it only if the rules allow it", async () => {
    stage.put("work/.claude/commands/made.md", "Result: !`touch made.txt && echo made`");
    const refused = await run("/made");
    expect(refused).toMatchObject({ code: 0, out: "Done.\n" });
    expect(refused.err).toContain("Not run: touch made.txt && echo made.");
    expect(await run("/made", "-y", "--deny", "run_shell_command(touch)")).toMatchObject({ code: 0 });
    expect(readdirSync(stage.work)).toEqual([".claude"]);
    expect(await run("/made", "-y")).toMatchObject({ code: 0, out: "Done.\n" });
    const denied = "Result: (the command touch made.txt && echo made was not run)";
    expect(prompts().toSorted()).toEqual([denied, denied, "Result: made"]);
  });

  it("gets no permissions from a command", async () => {
    stage.put("work/.claude/commands/wide.md", "---\nallowed-tools: Bash\n---\nResult: !`touch made.txt`");
    expect((await run("/wide")).err).toContain("Not run: touch made.txt.");
    expect(readdirSync(stage.work)).toEqual([".claude"]);
  });

  it("ignores commands of a folder that is not trusted", async () => {
    stage.put("other/.claude/commands/look.md", "Do something else.");
    expect(await run("/look a", "--cwd", join(stage.base, "other"))).toMatchObject({ code: 0, out: "Done.\n" });
    expect(prompts()).toEqual(["/look a"]);
  });

  it("is sent as it is if it names no command", async () => {
    for (const prompt of ["/etc/hosts", "/tmp", "/unknown word", " /compact"]) await run(prompt);
    expect(prompts().toSorted()).toEqual([" /compact", "/etc/hosts", "/tmp", "/unknown word"]);
  });

  it("that names a command of the terminal UI is refused", async () => {
    const refused = await run("/compact");
    expect(refused).toMatchObject({ code: 2, out: "" });
    expect(refused.err).toContain("/compact is a command of the terminal UI, so nothing was sent.");
  });
});
