import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { bin, ensureBuilt } from "../built.ts";
import { hostileTexts } from "./hostile.ts";
import { appFixtures, rule } from "./app-fixture.ts";

ensureBuilt();
const { on, started } = appFixtures();

describe("the terminal app", () => {
  it("writes no colours with NO_COLOR", async () => {
    const [app] = await started({ env: { NO_COLOR: "1" } });
    app.submit("which model are you?");
    await app.waitForText(/^I am /);
    await app.waitUntilIdle();
    await app.quit();
    // oxlint-disable-next-line no-control-regex
    expect(app.output()).not.toMatch(/\u001b\[[\d;]*[34]8?;5;|\u001b\[[\d;]*3[0-7]m/);
  });

  it.each([40, 80, 200])("fits into %i columns", async (columns) => {
    const [app] = await started({ size: { columns, rows: 24 }, args: ["--approval-mode", "auto_edit"] });
    app.submit('create a.txt with "a rather long line that does not fit into forty columns at all"');
    await app.waitForText(/I created/);
    await app.waitUntilIdle();
    app.submit("/help");
    await app.waitForText(/^Ctrl-Z/);
    await app.waitUntilIdle();
    expect(app.screen.scrollback().filter((row) => row.length > columns)).toEqual([]);
    expect(app.screen.cursor().row).toBe(app.screen.rows().length - 3);
    await app.quit();
  });

  it("is made narrower while it prints at rest without losing text", async () => {
    const [app] = await started({ size: { columns: 80, rows: 50 } });
    // The terminal is narrow already when it gets a frame for its old width, and the program learns of it later.
    app.screen.resize({ columns: 20, rows: 50 });
    app.submit("!printf 'first\\nsecond\\nthird\\n'");
    await app.waitFor((rows) => rows.includes("  third") && rows.at(-2) === rule(20));
    app.resize({ columns: 20, rows: 50 });
    await app.waitFor((rows) => rows.at(-1)?.endsWith(" default") === true);
    expect(app.screen.scrollback().filter((row) => /^ {2}(?:first|second|third)$/.test(row))).toEqual([
      "  first",
      "  second",
      "  third",
    ]);
    await app.quit();
  });

  it("is resized during a turn without losing text", async () => {
    const words = Array.from({ length: 400 }, (_, at) => `word${at}`);
    const waiting = { command: "echo begun; until [ -e go ]; do sleep 0.05; done" };
    const [app, { project }] = await started({
      args: ["--approval-mode", "yolo"],
      script: {
        rules: [
          {
            prompt: "go",
            replies: [
              { say: words.slice(0, 200).join(" "), call: { tool: "run_shell_command", input: waiting } },
              { say: words.slice(200).join(" ") },
            ],
          },
        ],
      },
    });
    app.submit("go");
    await app.waitForText("  begun");
    app.resize({ columns: 40, rows: 18 });
    await app.waitFor(
      (rows) => rows.length <= 18 && rows.at(-1)?.endsWith("yolo") === true && rows.at(-2) === rule(40),
    );
    app.resize({ columns: 100, rows: 30 });
    await app.waitFor((rows) => rows.at(-2) === rule(100));
    app.submit(`!touch ${project}/go`);
    await app.waitForText("word399");
    await app.waitUntilIdle();
    const seen = new Set(
      app.screen
        .scrollback()
        .join(" ")
        .match(/word\d+/g),
    );
    expect(words.filter((word) => !seen.has(word))).toEqual([]);
    expect(app.screen.rows().at(-3)).toBe("> Ask for something, / for commands, ? for keys");
    await app.quit();
  });

  it("prints a question taller than the screen, so that all of it can be read", async () => {
    const lines = Array.from({ length: 60 }, (_, at) => `line ${at}`).join("\n");
    const [app] = await started({
      size: { columns: 80, rows: 16 },
      script: {
        rules: [
          {
            prompt: "go",
            replies: [
              { call: { tool: "write_file", input: { file_path: "a.txt", content: lines } } },
              { say: "Well." },
            ],
          },
        ],
      },
    });
    app.submit("go");
    await app.waitForText("Shown in full above.");
    const everything = app.screen.scrollback();
    expect(
      Array.from({ length: 60 }, (_, at) => `line ${at}`).filter(
        (line) => !everything.some((row) => row.endsWith(`+ ${line}`)),
      ),
    ).toEqual([]);
    app.type("y");
    await app.waitForText("Well.");
    await app.quit();
  });

  it("restores the terminal while suspended, and continues afterwards", async () => {
    const { start } = await on();
    const app = start({ isInShell: true });
    await app.waitForText(/ · \d+% of \d/);
    app.type("a draft");
    await app.waitForText("> a draft");
    app.type("\u001a");
    await app.waitFor((rows) => rows.at(-1) === "$");
    app.type("echo in the shell\r");
    await app.waitFor((rows) => rows.includes("in the shell"));
    app.type("fg\r");
    await app.waitFor((rows) => rows.at(-3) === "> a draft");
    app.type("!");
    await app.waitForText("> a draft!");
    app.type("\u0003/quit\r");
    await app.waitFor((rows) => rows.at(-1) === "$");
    app.type("exit\r");
    expect((await app.ended).code).toBe(0);
  });

  it("sanitizes hostile text of models and tools", async () => {
    const [app, { project }] = await started({
      size: { columns: 80, rows: 40 },
      files: { "evil.txt": `${hostileTexts.join("\n\n").replaceAll("\u0000", "")}\n` },
      args: ["--approval-mode", "yolo"],
      script: {
        rules: hostileTexts.map(shortened).map((text, at) => ({
          prompt: `hostile ${at}.`,
          replies: [
            {
              think: text,
              say: text,
              call: { tool: "run_shell_command", input: { command: `cat evil.txt #${text.replaceAll("\n", " ")}` } },
            },
            { say: `Said ${at}. ${text}` },
          ],
        })),
      },
    });
    for (const at of hostileTexts.keys()) {
      app.submit(`hostile ${at}.`);
      await app.waitForText(`Said ${at}.`);
      await app.waitUntilIdle();
    }
    expect(readFileSync(join(project, "evil.txt"), "utf8")).toContain(hostileTexts[0]);
    const ours = ["osc 11 ?"];
    expect([app.screen.effects(), app.screen.replies().replaceAll("\u001b", "ESC")]).toEqual([
      ours,
      expect.stringMatching(/^(?:ESC\[\?1;2c)?$/),
    ]);
    expect(await app.quit()).toBe(0);
    expect(app.output()).not.toMatch(
      // oxlint-disable-next-line no-control-regex
      /\u001b\](?!11;\?|8;;\u001b)|\u001b[P^X]|\u001b_(?!Gi=31,)|\u001bc|\u001b\[[23]J|[\u0080-\u009f\u202e]/,
    );
  });

  it("never takes pasted text for an answer or for keys", async () => {
    const [app] = await started();
    app.type("\u001b[200~first\u001b[201\u001b[201~");
    await app.waitForText("first");
    app.type("\u0003");
    await app.waitUntilIdle();
    app.submit('create a.txt with "hello"');
    await app.waitForText("╭─ Create a.txt?");
    app.type("\u001b[200~y\r\u001b[201~");
    app.type("\u001b[B");
    await app.waitForText("› y Yes");
    app.type("\u001b");
    await app.waitForText("Cancelled.");
    await app.quit();
  });
});

describe("in tmux", () => {
  const tmux = spawnSync("tmux", ["-V"]).status === 0;

  it.skipIf(!tmux)("the title of the pane stays as it was", async () => {
    const { project, home } = await on();
    const socket = join(home, "tmux");
    const run = (...args: readonly string[]): string =>
      spawnSync("tmux", ["-S", socket, ...args], { encoding: "utf8", env: { ...process.env, HOME: home } }).stdout;
    run("-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24", "sh");
    try {
      run("select-pane", "-T", "as before");
      run(
        "send-keys",
        "-l",
        `HOME='${home}' '${process.execPath}' '${bin}' --cwd '${project}'; tmux wait-for -S ended`,
      );
      run("send-keys", "Enter");
      while (!run("capture-pane", "-p").includes("? for keys")) await setTimeout(50);
      run("send-keys", "-l", "/quit");
      run("send-keys", "Enter");
      run("wait-for", "ended");
      expect(run("display-message", "-p", "#{pane_title}").trim()).toBe("as before");
    } finally {
      run("kill-server");
    }
  });

  it.each([
    {
      name: "tmux",
      env: { TERM: "tmux-256color", TMUX: "/tmp/tmux-1/default,1,0", KITTY_WINDOW_ID: "1" },
      asks: false,
    },
    { name: "screen", env: { TERM: "screen", STY: "1.pts-0", KITTY_WINDOW_ID: "1" }, asks: false },
    { name: "xterm", env: { TERM: "xterm-256color" }, asks: false },
    { name: "kitty", env: { TERM: "xterm-kitty", KITTY_WINDOW_ID: "1" }, asks: true },
  ])("and elsewhere, only terminals that answer are asked about images: $name", async ({ env, asks }) => {
    const [app] = await started({ env });
    await app.quit();
    expect(app.output().includes("\u001b_G")).toBe(asks);
  });
});

describe("for a screen reader", () => {
  it("reads no padding, no long rules, and no typed line twice", async () => {
    const { start } = await on({
      args: ["--screen-reader", "--approval-mode", "auto_edit"],
      files: { "a.txt": "one\n" },
      script: {
        rules: [
          {
            prompt: "change it",
            replies: [
              { call: { tool: "replace", input: { file_path: "a.txt", old_string: "one", new_string: "two" } } },
              { say: "Before.\n\n---\n\nAfter." },
            ],
          },
        ],
      },
    });
    const app = start();
    await app.waitForText("run /login");
    app.type("change it\r");
    await app.waitForText("Ready.");
    const lines = app.output().split("\r\n");
    expect(lines.filter((each) => each !== each.trimEnd() || each.length > 200)).toEqual([]);
    expect(lines.filter((each) => /change it|^---|^1 [+-]/.test(each))).toEqual([
      "change it",
      "1 - one",
      "1 + two",
      "---",
    ]);
    app.type("/quit\r");
    expect((await app.ended).code).toBe(0);
  });

  it("reads at most ten entries of a list, and finds others by a part of their name", async () => {
    const { start } = await on({ args: ["--screen-reader"], env: { ANTHROPIC_API_KEY: "k", OPENAI_API_KEY: "k" } });
    const app = start();
    await app.waitForText(/claude|gpt/);
    const before = app.output().length;
    app.type("/model\r");
    await app.waitForText("a part of a name");
    const listed = app
      .output()
      .slice(before)
      .split("\r\n")
      .filter((each) => /^\d+\. /.test(each));
    expect(listed.length).toBe(10);
    app.type("haiku\r");
    await app.waitForText(/^1\. .*haiku/);
    app.type("\r/quit\r");
    expect((await app.ended).code).toBe(0);
  });

  it("everything is printed once, in order, and answers are typed as lines", async () => {
    const { start, read } = await on({ args: ["--screen-reader"] });
    const app = start();
    await app.waitForText("run /login");
    app.type('create a.txt with "hello"\r');
    await app.waitForText("Type a letter and Enter.");
    app.type("\r");
    await app.waitFor((rows) => rows.filter((row) => row === "Type a letter and Enter.").length === 2);
    app.type("y\r");
    await app.waitForText("Ready.");
    expect(read("a.txt")).toBe("hello");
    app.type("/approval\r");
    await app.waitForText("3. auto_edit: also edits without asking");
    app.type("3\r");
    await app.waitForText("auto_edit: also edits without asking; asks for commands");
    app.type("/quit\r");
    expect((await app.ended).code).toBe(0);
    // oxlint-disable-next-line no-control-regex
    expect(app.output()).not.toMatch(/\u001b/);
  });

  it("a line typed when a question arrived is a message, not an answer", async () => {
    const { start, read } = await on({ args: ["--screen-reader"] });
    const app = start();
    await app.waitForText("run /login");
    app.type('create a.txt with "hello"\ry\ryes please\r');
    await app.waitForText("Type a letter and Enter.");
    expect(() => read("a.txt")).toThrow("ENOENT");
    app.type("n\r");
    await app.waitForText("Ready.");
    app.type("/quit\r");
    expect((await app.ended).code).toBe(0);
    expect(() => read("a.txt")).toThrow("ENOENT");
  });

  it("Ctrl-C cancels, and quits the second time", async () => {
    const { start } = await on({
      args: ["--screen-reader", "--approval-mode", "yolo"],
      script: {
        rules: [{ prompt: "go", replies: [{ call: { tool: "run_shell_command", input: { command: "sleep 600" } } }] }],
      },
    });
    const app = start();
    await app.waitForText("run /login");
    app.type("go\r");
    await app.waitForText("Running run_shell_command: sleep 600");
    app.type("\u0003");
    await app.waitForText("Cancelled.");
    await app.waitForText("Ready.");
    app.type("\u0003");
    await app.waitForText("Press Ctrl-C again to quit.");
    app.type("\u0003");
    expect((await app.ended).code).toBe(0);
  });
});

/** Long repetitions are for tools: a model that repeats itself is stopped. */
const shortened = (text: string): string => (text.length > 150 ? text.slice(0, 60) : text);
