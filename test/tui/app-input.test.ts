import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ensureBuilt } from "../built.ts";
import { appFixtures, rule } from "./app-fixture.ts";

ensureBuilt();
const { on, started } = appFixtures();

describe("the input", () => {
  it("rewinds with Escape twice, and puts the chosen message back", async () => {
    const [app] = await started();
    app.submit("which model are you?");
    await app.waitForText(/^I am /);
    await app.waitUntilIdle();
    app.type("\u001b\u001b");
    await app.waitForText("Rewind to before which message?");
    await app.waitForText("1 of 1");
    app.type("\r");
    await app.waitForText("Continuing in a new session");
    await app.waitFor((rows) => rows.at(-3) === "> which model are you?");
    await app.quit();
  });

  it("adds a line after # to memory, for this project or for all, and asks which", async () => {
    const [app, { read, home }] = await started({ files: { "AGENTS.md": "# Rules\n\nBe brief.\n" } });
    app.submit("#Use tabs.");
    await app.waitForText('Remember "Use tabs." where?');
    await app.waitForText("1 of 3");
    app.type("\u001b");
    await app.waitFor((rows) => rows.at(-3) === "> #Use tabs.");
    app.type("\r");
    await app.waitForText("1 of 3");
    app.type("\u001b[B\r");
    await app.waitForText("Saved to AGENTS.md.");
    expect(read("AGENTS.md")).toBe("# Rules\n\nBe brief.\n\n## Parley Added Memories\n- Use tabs.\n");
    app.submit("# Speak plainly.");
    await app.waitForText("1 of 3");
    app.type("\r");
    await app.waitForText("Used from the next session.");
    await app.waitUntilIdle();
    await app.quit();
    const parley = join(home, ".parley");
    const saved = readdirSync(parley).filter((name) => name.endsWith(".md"));
    expect(saved.map((name) => readFileSync(join(parley, name), "utf8"))).toEqual([
      "## Parley Added Memories\n- Speak plainly.\n",
    ]);
  });

  it("keeps prompts for later sessions of the project, in a file only the user can read", async () => {
    const [app, { start, home }] = await started();
    app.submit("which model are you?");
    await app.waitForText(/^I am /);
    await app.waitUntilIdle();
    await app.quit();
    const folder = join(home, ".parley/history");
    const [file = ""] = readdirSync(folder);
    expect(statSync(join(folder, file)).mode & 0o777).toBe(0o600);
    const again = start();
    await again.waitForText(/ · \d+% of \d/);
    again.type("\u0010\u0010");
    await again.waitFor((rows) => rows.at(-3) === "> which model are you?");
    await again.quit();
  });

  it("shows all thinking with Alt-T or the setting ui.thinking", async () => {
    const script = {
      rules: [{ prompt: "go", replies: [{ think: "**Reading** First line.\n\nSecond line.", say: "Done." }] }],
    };
    const [app] = await started({ script });
    app.submit("go");
    await app.waitForText("Done.");
    await app.waitUntilIdle();
    expect(app.screen.rows().filter((row) => /First|Second|✻/.test(row))).toEqual(["✻ Reading"]);
    app.type("\u001bt");
    await app.waitForText("Thinking is shown in full.");
    app.submit("go");
    await app.waitForText("Second line.");
    await app.waitUntilIdle();
    await app.quit();
    const fixture = await on({ script });
    writeFileSync(join(fixture.home, ".parley/settings.json"), JSON.stringify({ ui: { thinking: "full" } }));
    const set = fixture.start();
    await set.waitUntilIdle();
    set.submit("go");
    await set.waitForText("Second line.");
    await set.quit();
  });

  it("calls the person about a question when the terminal has no focus, and not with ui.notifications off", async () => {
    const ask = async (isCalled: boolean): Promise<string> => {
      const fixture = await on({ env: { TERM_PROGRAM: "iTerm.app" } });
      const settings = isCalled ? {} : { ui: { notifications: "off" } };
      writeFileSync(join(fixture.home, ".parley/settings.json"), JSON.stringify(settings));
      const app = fixture.start();
      await app.waitForText(/ · \d+% of \d/);
      app.type("\u001b[O");
      app.submit('create a.txt with "hello"');
      await app.waitForText("Edit first");
      if (isCalled) await app.waitFor(() => app.output().includes("\u001b[22;2t"));
      app.type("\u001b[I");
      app.type("\u001b");
      await app.waitForText("Cancelled.");
      await app.quit();
      return app.output();
    };
    const called = await ask(true);
    expect(called).toContain("\u001b]9;Parley: Waiting for you: Write a.txt\u0007");
    expect(called.indexOf("\u001b[23;2t")).toBeGreaterThan(called.indexOf("\u001b[22;2t"));
    expect(await ask(false)).not.toContain("\u001b]9;");
  });

  it("restores the window title if it is ended while a question waits", async () => {
    const fixture = await on();
    const app = fixture.start();
    await app.waitForText(/ · \d+% of \d/);
    app.type("\u001b[O");
    app.submit('create a.txt with "hello"');
    await app.waitFor(() => app.output().includes("\u001b]2;Parley: Waiting for you: Write a.txt\u0007"));
    app.kill("SIGTERM");
    expect((await app.ended).code).toBe(143);
    expect(app.output().lastIndexOf("\u001b[23;2t")).toBeGreaterThan(app.output().indexOf("\u001b[22;2t"));
  });

  it("has vim keys with ui.vim, and shows the mode in its frame", async () => {
    const fixture = await on();
    writeFileSync(join(fixture.home, ".parley/settings.json"), JSON.stringify({ ui: { vim: true } }));
    const app = fixture.start();
    await app.waitForText(/ · \d+% of \d/);
    app.type("one two three");
    await app.waitForText("> one two three");
    app.type("\u001b");
    await app.waitForText(/─ NORMAL ──$/);
    app.type("bd");
    await app.waitForText(/─ NORMAL d ──$/);
    app.type("b0ixy ");
    await app.waitFor((rows) => rows.at(-3) === "> xy one three" && rows.at(-4) === rule(80));
    await app.quit();
  });

  it("takes key bindings from keys.json, and reports what it cannot use", async () => {
    const fixture = await on();
    writeFileSync(
      join(fixture.home, ".parley/keys.json"),
      JSON.stringify({ "ctrl+t": "newline", "ctrl+k": null, "alt+q": "fly" }, undefined, 2),
    );
    const app = fixture.start();
    await app.waitForText('keys.json: line 4: Unknown action "fly" for "alt+q".');
    await app.waitForText('"delete-to-line-end" has no key any more');
    await app.waitForText(/ · \d+% of \d/);
    app.type("one\u0014two\u0001\u000b");
    await app.waitFor((rows) => rows.at(-4) === "> one" && rows.at(-3) === "  two");
    await app.quit();
  });

  it("takes key bindings for lists, questions and everything else, and shows them", async () => {
    const command = "seq 1 9";
    const fixture = await on({
      args: ["--approval-mode", "yolo"],
      script: {
        rules: [
          {
            prompt: "count",
            replies: [{ call: { tool: "run_shell_command", input: { command } } }, { say: "Counted." }],
          },
          {
            prompt: "ask",
            replies: [
              {
                call: {
                  tool: "ask_user",
                  input: { questions: [{ question: "Which?", options: [{ label: "Red" }, { label: "Blue" }] }] },
                },
              },
              { say: "Thanks." },
            ],
          },
        ],
      },
    });
    writeFileSync(
      join(fixture.home, ".parley/keys.json"),
      '{ "ctrl+t": ["list-down", "question-down"], "f2": "approval-mode", "f3": "expand", "ctrl+o": null, "f4": "show-keys" }',
    );
    const app = fixture.start();
    await app.waitForText(/ · \d+% of \d/);
    app.submit("count");
    await app.waitForText("… 4 earlier lines (F3 to expand)");
    await app.waitForText("Counted.");
    await app.waitUntilIdle();
    app.type("\u000f\u001bOR");
    await app.waitFor(() => app.screen.scrollback().filter((row) => row === "  9").length === 2);
    app.submit("/approval");
    await app.waitForText("› yolo");
    app.type("\u0014\u0014\u0014");
    await app.waitForText("› auto_edit");
    app.type("\r");
    await app.waitForText(/ auto_edit$/);
    app.type("\u001bOQ");
    await app.waitForText(/ plan$/);
    app.type("\u001bOS");
    await app.waitForText(/F3 +expand collapsed output/);
    await app.waitForText(/F2 +next approval mode/);
    app.type("\u001b");
    await app.waitUntilIdle();
    app.submit("ask");
    await app.waitForQuestion();
    app.type("\u0014");
    await app.waitForText("› 2 Blue");
    app.type("\r");
    await app.waitForText("Thanks.");
    await app.quit();
  });

  it("says once that the command of the user's status line failed, and shows the usual one", async () => {
    const fixture = await on({});
    writeFileSync(join(fixture.home, ".parley/settings.json"), JSON.stringify({ ui: { statusLine: "exit 3" } }));
    const app = fixture.start();
    await app.waitForText("The command of the setting ui.statusLine failed: exit code 3.");
    app.submit("which model are you?");
    await app.waitForText(/^I am /);
    const rows = await app.waitUntilIdle();
    expect(rows.filter((row) => row.startsWith("The command of the setting"))).toHaveLength(1);
    expect(rows.at(-1)).toMatch(/^offline\/parley · .*default$/);
    await app.quit();
  });

  it("shows the status line of the user's command, sanitized, without keys in its environment, never a project's", async () => {
    const fixture = await on({ env: { MY_API_KEY: "sk-123" }, files: { ".parley/settings.json": "{}" } });
    const command = `printf '\\033]2;x\\007mine '; grep -o '"model":"[^"]*"'; echo "\${MY_API_KEY-none}" > '${fixture.home}/seen'`;
    writeFileSync(join(fixture.home, ".parley/settings.json"), JSON.stringify({ ui: { statusLine: command } }));
    const app = fixture.start();
    await app.waitFor((rows) => rows.at(-1) === `${'mine "model":"offline/parley"'.padEnd(73)}default`);
    await app.quit();
    expect(readFileSync(join(fixture.home, "seen"), "utf8")).toBe("none\n");
    expect(app.screen.effects()).not.toContain("title x");
    const project = await on({
      files: { ".parley/settings.json": JSON.stringify({ ui: { statusLine: "echo bad" } }) },
    });
    const other = project.start();
    await other.waitForText(/ · \d+% of \d/);
    await other.quit();
    expect(other.output()).not.toContain("bad ");
  });
});
