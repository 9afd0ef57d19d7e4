import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readHooks } from "../../src/extensions/hooks/read-hooks.ts";
import { hooksFor, openHookStage, type HookStage } from "../hooks/fixture.ts";
import type { Ran } from "../built.ts";
import { runCommand } from "../support/run-command.ts";

let stage: HookStage;
beforeEach(() => (stage = openHookStage({})));
afterEach(() => stage.remove());

const parley = (...args: readonly string[]): Promise<Ran> =>
  runCommand(["hooks", ...args], {
    cwd: stage.work,
    env: { PATH: process.env["PATH"] ?? "", HOME: stage.base, PARLEY_HOME: stage.home },
  });

describe("parley hooks", () => {
  it("lists hooks with their source, and those of the project until they are allowed", async () => {
    stage.settings({ hooks: hooksFor("Stop", "notify") });
    stage.put(
      "work/.parley/settings.json",
      JSON.stringify({ hooks: hooksFor("PreToolUse", "sh check.sh", {}, "Bash") }),
    );
    expect((await parley("list")).out).toBe(
      "Stop        *     user     runs         notify\nPreToolUse  Bash  project  not trusted  sh check.sh\n",
    );
    expect(await parley("allow", "--yes")).toMatchObject({
      code: 1,
      err: expect.stringContaining("not trusted") as string,
    });
    await stage.trust();
    expect((await parley("list")).out).toContain("needs consent");
    expect((await parley("allow")).err).toContain("Cannot ask without a terminal. Use --yes");
    expect(await parley("allow", "--yes")).toMatchObject({
      code: 0,
      err: `PreToolUse, .parley/settings.json:\n  [{"matcher": "Bash", "hooks": [{"type": "command", "command": "sh check.sh"}]}]\nAllowed. You are asked again when they, or files they name, change.\n`,
    });
    expect((await parley("list")).out).toContain("PreToolUse  Bash  project  runs  sh check.sh");
    await parley("deny");
    expect((await parley("list")).out).toContain("denied");
  });

  it("runs the hooks of an event without a model", async () => {
    stage.settings({ hooks: hooksFor("PreToolUse", "grep -q push && { echo No. >&2; exit 2; }; exit 0", {}, "Bash") });
    const input = '{"command":"git push"}';
    const ran = await parley("test", "PreToolUse", "--tool", "run_shell_command", "--input", input);
    expect([
      ran.code,
      ran.out.includes('"tool_name":"Bash","tool_input":{"command":"git push"}'),
      ran.out.split("\n").at(-2),
    ]).toEqual([0, true, "decision: deny (No.)"]);
    expect((await parley("test", "PreToolUse", "--tool", "Read")).out).toBe("No hook matches PreToolUse.\n");
    expect(await parley("test", "PreTool")).toMatchObject({ code: 2 });
    expect(await parley("test", "PreToolUse")).toMatchObject({ code: 2 });
  });

  it("imports hooks of another agent, says what it leaves out, and takes the import back", async () => {
    const file = join(stage.home, "settings.json");
    const before = readFileSync(file, "utf8");
    stage.put(
      ".gemini/settings.json",
      JSON.stringify({
        hooks: {
          BeforeTool: [{ matcher: "write_file", hooks: [{ type: "command", command: "guard", timeout: 500 }] }],
          BeforeModel: [{ hooks: [{ type: "command", command: "x" }] }],
        },
      }),
    );
    expect(await parley("import", "claude")).toMatchObject({
      code: 1,
      err: expect.stringContaining("No hooks of claude") as string,
    });
    expect(await parley("import", "gemini")).toMatchObject({ code: 1 });
    expect(readFileSync(file, "utf8")).toBe(before);
    const ran = await parley("import", "gemini", "--yes");
    expect([ran.code, ran.err.includes("  PreToolUse write_file: guard\n  not taken: BeforeModel.")]).toEqual([
      0,
      true,
    ]);
    expect((await parley("list")).out).toBe("PreToolUse  write_file  user  runs  guard\n");
    expect((await parley("import", "gemini", "--yes")).err).toContain("Nothing to add.");
    expect((await parley("undo")).code).toBe(0);
    expect([readFileSync(file, "utf8"), existsSync(join(stage.home, "hooks-import-backup.json"))]).toEqual([
      before,
      false,
    ]);
    expect(await parley("undo")).toMatchObject({ code: 1 });
  });
});

describe("docs/hooks.md", () => {
  const text = readFileSync(new URL("../../docs/hooks.md", import.meta.url), "utf8");

  it("shows settings that are valid, and a script that does what it says", async () => {
    const [, settings = ""] = /```json\n([\s\S]*?)```/.exec(text) ?? [];
    const { hooks } = JSON.parse(settings) as { readonly hooks: object };
    expect(readHooks([{ source: { type: "user" }, file: "", settings: hooks }]).problems).toEqual([]);
    const [, script = ""] = /```sh\n(#!\/bin\/sh\n[\s\S]*?)```/.exec(text) ?? [];
    const path = stage.put("no-push.sh", script);
    stage.settings({ hooks: hooksFor("PreToolUse", `sh '${path}'`, {}, "Bash") });
    const decide = async (command: string): Promise<string | undefined> =>
      (await parley("test", "PreToolUse", "--tool", "Bash", "--input", JSON.stringify({ command }))).out
        .split("\n")
        .at(-2);
    expect([await decide("git push"), await decide("git status")]).toEqual([
      "decision: deny (Pushing is left to the user.)",
      "decision: none",
    ]);
  });
});
