import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ensureBuilt } from "../built.ts";
import { appFixtures, rule } from "./app-fixture.ts";
import { itInAll } from "../support/tier.ts";

ensureBuilt();
const { on, started } = appFixtures();

const shell = (command: string) => ({ tool: "run_shell_command", input: { command } });

describe("the terminal app", () => {
  it("shows the greeting, takes a prompt, asks before it writes, and reports the result", async () => {
    const [app, { read, project }] = await started();
    expect(app.screen.rows()).toEqual([
      `Parley  ${project}`,
      "No API key found. Using the built-in demo model: it runs tools, but is not a",
      "language model.",
      "Set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, or run /login.",
      "",
      rule(80),
      "> Ask for something, / for commands, ? for keys",
      rule(80),
      `${"offline/parley · 3% of 128k".padEnd(73)}default`,
    ]);
    app.submit('create a.txt with "hello"');
    await app.waitForQuestion();
    expect(app.screenText().split("\n").slice(8, -2)).toEqual([
      "? write_file Write a.txt",
      "⠋ Waiting for you (0s · Esc to cancel)",
      "╭─ Create a.txt? ──────────────────────────────────────────────────────────────╮",
      "│ 1 + hello                                                                    │",
      "│   No newline at end of file                                                  │",
      "│ write_file changes files. Rule that allows it: edits                         │",
      "│ › y Yes                                                                      │",
      "│   a Yes, and don't ask again for edits this session                          │",
      "│   p Yes, and don't ask again for edits in this project                       │",
      "│   e Edit first                                                               │",
      "│   n No  (Tab to add a reason)                                                │",
      "╰──────────────────────────────────────────────────────────────────────────────╯",
    ]);
    expect(existsSync(join(project, "a.txt"))).toBe(false);
    app.type("y");
    await app.waitForText("I created a.txt");
    await app.waitUntilIdle();
    expect(read("a.txt")).toBe("hello");
    expect(await app.quit()).toBe(0);
  });

  itInAll("sends the typed reason of a refusal to the model", async () => {
    const [app, { project }] = await started();
    app.submit('create b.txt with "hello"');
    await app.waitForText("╭─ Create b.txt?");
    app.type("n");
    await app.waitForText("n No: ");
    app.type("not in this folder");
    await app.waitForText("n No: not in this folder");
    app.type("\r");
    await app.waitForText(/^ {2}.*not in this folder/);
    await app.waitUntilIdle();
    expect(readdirSync(project)).toEqual([]);
    await app.quit();
  });

  itInAll('stops asking after "don\'t ask again"', async () => {
    const [app, { read }] = await started();
    app.submit('create a.txt with "one"');
    await app.waitForText("╭─ Create a.txt?");
    app.type("a");
    await app.waitForText("I created a.txt");
    app.submit('create b.txt with "two"');
    await app.waitForText("I created b.txt");
    expect([read("a.txt"), read("b.txt")]).toEqual(["one", "two"]);
    await app.quit();
  });

  itInAll("opens a proposed edit in the user's editor, and asks again", async () => {
    const made = await on({ env: { EDITOR: "sed -i s/hello/goodbye/" } });
    const app = made.start();
    await app.waitForText(/offline\/parley · \d+%/);
    app.submit('create a.txt with "hello"');
    await app.waitForText("e Edit first");
    app.type("e");
    await app.waitForText("1 + goodbye");
    app.type("y");
    await app.waitForText("✓ write_file");
    await app.waitUntilIdle();
    expect(made.read("a.txt")).toBe("goodbye");
    await app.quit();
  });

  itInAll("runs calls in parallel, shows them in order, and asks about one at a time", async () => {
    const [app] = await started({
      script: {
        rules: [
          {
            prompt: "go",
            replies: [
              { call: [shell("mkdir one; sleep 0.2; echo slow"), shell("mkdir two; echo second")] },
              { say: "Both are done." },
            ],
          },
        ],
      },
    });
    app.submit("go");
    await app.waitForText("╰─ 1 more waiting");
    app.type("y");
    await app.waitForText(/^╰─+╯$/);
    app.type("y");
    await app.waitForText("Both are done.");
    await app.waitUntilIdle();
    const rows = app.screenText().trimEnd().split("\n");
    const from = rows.indexOf("> go");
    expect(rows.slice(from, -4)).toEqual([
      "> go",
      "",
      "✓ run_shell_command mkdir one; sleep 0.2; echo slow",
      "  slow",
      "",
      "✓ run_shell_command mkdir two; echo second",
      "  second",
      "",
      "Both are done.",
      "",
    ]);
    await app.quit();
  });

  it.each([
    ["Esc", "\u001b"],
    ["Ctrl-C", "\u0003"],
  ])("cancels a batch with %s, and takes the next prompt", async (_, key) => {
    const [app] = await started({
      args: ["--approval-mode", "yolo"],
      script: {
        rules: [
          { prompt: "still", replies: [{ say: "I am here." }] },
          {
            prompt: "go",
            replies: [{ call: [shell("echo quick"), shell("echo begun; sleep 600")] }, { say: "Never said." }],
          },
        ],
      },
    });
    app.submit("go");
    await app.waitForText("  begun");
    await app.waitForText("✓ run_shell_command echo quick");
    app.type(key);
    await app.waitForText("Cancelled.");
    await app.waitUntilIdle();
    app.submit("still there?");
    await app.waitForText("I am here.");
    const rows = app.screen.scrollback();
    expect(rows.filter((row) => /^[✓✗⊘◐○]/.test(row)).map((row) => row.replace(/ \d+s$/, ""))).toEqual([
      "✓ run_shell_command echo quick",
      "⊘ run_shell_command echo begun; sleep 600",
    ]);
    expect(rows).not.toContain("Never said.");
    await app.quit();
  });

  /** A turn that waits for the file `flag`, and knows whether another message came before or after its end. */
  const waitingTurn = {
    args: ["--approval-mode", "yolo"],
    script: {
      rules: [
        { prompt: "also say more", replies: [{ say: "I heard more." }] },
        { prompt: "and then this", replies: [{ say: "I heard this." }] },
        {
          prompt: "go",
          replies: [{ call: shell("until [ -e flag ]; do sleep 0.05; done") }, { say: "Nothing was heard." }],
        },
      ],
    },
  };

  it("shows a message typed while tools run above the input, and sends it after the step", async () => {
    const [app, { project }] = await started(waitingTurn);
    app.submit("go");
    await app.waitForText("◐ run_shell_command");
    app.submit("also say more");
    await app.waitForText("↳ also say more  (sent after this step; Up to edit)");
    expect(app.screen.rows().filter((row) => row.startsWith("> also"))).toEqual([]);
    app.submit(`!touch ${project}/flag`);
    await app.waitForText("I heard more.");
    await app.waitUntilIdle();
    // A command that took a second or more shows how long.
    const rows = app.screen.scrollback().map((row) => row.replace(/(?<=; done) \d+s$/, ""));
    expect(rows.filter((row) => /also say more|Nothing was heard|run_shell_command|I heard more/.test(row))).toEqual([
      "✓ run_shell_command until [ -e flag ]; do sleep 0.05; done",
      "> also say more",
      "I heard more.",
    ]);
    await app.quit();
  });

  itInAll("sends a message queued with Tab after the turn", async () => {
    const [app, { project }] = await started(waitingTurn);
    app.submit("go");
    await app.waitForText("◐ run_shell_command");
    app.type("and then this\t");
    await app.waitForText("↳ and then this  (sent after this turn; Up to edit)");
    app.submit(`!touch ${project}/flag`);
    await app.waitForText("I heard this.");
    await app.waitUntilIdle();
    expect(app.screen.scrollback().filter((row) => /and then|was heard|I heard/.test(row))).toEqual([
      "Nothing was heard.",
      "> and then this",
      "I heard this.",
    ]);
    await app.quit();
  });

  itInAll("takes a queued message back with Up, and sends it only when it is submitted again", async () => {
    const [app, { project }] = await started(waitingTurn);
    app.submit("go");
    await app.waitForText("◐ run_shell_command");
    app.submit("also say more");
    await app.waitForText(/^↳ also say more/);
    app.submit("and then this");
    await app.waitForText(/^↳ and then this/);
    app.type("\u001b[A");
    await app.waitFor((rows) => rows.includes("> and then this") && !rows.some((row) => row.startsWith("↳ and")));
    app.type("\u0015\u001b[A");
    await app.waitFor((rows) => rows.includes("> also say more") && !rows.some((row) => row.startsWith("↳")));
    app.type("\u0015");
    app.submit(`!touch ${project}/flag`);
    await app.waitForText("Nothing was heard.");
    await app.waitUntilIdle();
    expect(app.screen.scrollback().filter((row) => row.startsWith("I heard"))).toEqual([]);
    await app.quit();
  });

  itInAll("puts queued messages back into the input when the turn is cancelled, and sends none unasked", async () => {
    const [app] = await started(waitingTurn);
    app.submit("go");
    await app.waitForText("◐ run_shell_command");
    app.submit("also say more");
    app.type("and then this\t");
    await app.waitForText(/^↳ and then this/);
    app.type("my draft\u001b");
    await app.waitFor((rows) => rows.includes("Cancelled.") && rows.includes("> also say more"));
    expect(app.screen.rows().slice(-7, -2)).toEqual(["> also say more", "", "  and then this", "", "  my draft"]);
    app.type("\u0003");
    await app.waitUntilIdle();
    app.submit("something else");
    await app.waitForText("Nothing was heard.");
    await app.waitUntilIdle();
    expect(app.screen.scrollback().filter((row) => row.startsWith("I heard"))).toEqual([]);
    await app.quit();
  });

  itInAll(
    "keeps a large paste as a placeholder on the screen and in the history, and shows it on request",
    async () => {
      const [app] = await started({
        script: {
          rules: [{ prompt: "/line 1\nline 2\n(.|\n)*line 500\n see/", replies: [{ say: "All of it came." }] }],
        },
      });
      const pasted = Array.from({ length: 500 }, (_, at) => `line ${at + 1}\n`).join("");
      app.type(`\u001b[200~${pasted}\u001b[201~`);
      await app.waitForText("> [pasted 500 lines #1]");
      app.submit(" see");
      await app.waitForText("All of it came.");
      await app.waitUntilIdle();
      expect(app.screen.scrollback().filter((row) => /^> .*see$|^line/.test(row))).toEqual([
        "> [pasted 500 lines #1] see",
      ]);
      app.type("\u001b[A");
      await app.waitFor((rows) => rows.at(-3) === "> [pasted 500 lines #1] see");
      app.type("\u000f");
      await app.waitForText(/^ {2}line 500$/);
      app.type("\u0003");
      await app.waitUntilIdle();
      app.type("\u000f");
      await app.waitForText(/^line 500$/);
      await app.quit();
    },
  );

  itInAll("runs a shell command, shows its output, and adds it to the next prompt", async () => {
    const [app] = await started({
      script: {
        rules: [
          {
            prompt: "/I ran this in the shell myself: echo marked.*It printed:\\nmarked/s",
            replies: [{ say: "I know." }],
          },
        ],
      },
    });
    app.submit("!echo marked");
    await app.waitForText("✓ ! echo marked");
    app.submit("what did I do?");
    await app.waitForText("I know.");
    await app.quit();
  });

  it("quits on the second Ctrl-C, and clears the input on the first", async () => {
    const [app] = await started();
    app.type("a draft");
    await app.waitForText("> a draft");
    app.type("\u0003");
    await app.waitUntilIdle();
    app.type("\u0003");
    await app.waitForText("Press Ctrl-C again to quit.");
    app.type("\u0003");
    expect((await app.ended).code).toBe(0);
  });

  it("leaves no unused session behind", async () => {
    const [app, { home }] = await started();
    await app.quit();
    const folder = join(home, ".parley", "sessions");
    const kept = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".jsonl"));
    expect(kept).toEqual([]);
  });
});
