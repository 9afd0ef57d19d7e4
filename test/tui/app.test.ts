import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ensureBuilt } from "../built.ts";
import { stages } from "./app-stage.ts";

ensureBuilt();
const { on, started } = stages();

const shell = (command: string) => ({ tool: "run_shell_command", input: { command } });

describe("the interface", () => {
  it("shows what was found, takes a message, asks before it writes, and tells what was done", async () => {
    const [app, { read, project }] = await started();
    expect(app.screen.rows()).toEqual([
      `Parley  ${project}`,
      "No API key found, so the built-in demo model answers: it uses the tools, but it",
      "is no language model.",
      "Set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, or see /doctor.",
      "",
      "> Ask for something, or /help",
      "offline/parley · 2% of 128k · default",
    ]);
    app.submit('create a.txt with "hello"');
    // The last line of the question: a terminal may get a frame in pieces.
    await app.sees("e Edit it first");
    expect(app.picture().split("\n").slice(8, -2)).toEqual([
      "? write_file Write a.txt",
      "⠋ Waiting for you (0s · Esc to cancel)",
      "The model asks",
      "/home/you/project/a.txt (new)",
      "1 + hello",
      "  No newline at end of file",
      "! write_file changes files.",
      "› n No  (Tab to say why)",
      "  y Yes, this once",
      "  a Yes, and always for write_file",
      "  e Edit it first",
    ]);
    expect(existsSync(join(project, "a.txt"))).toBe(false);
    app.type("y");
    await app.sees("I created a.txt");
    await app.idle();
    expect(read("a.txt")).toBe("hello");
    expect(await app.quit()).toBe(0);
  });

  it("refuses with Enter alone, and hands the model the reason that was typed", async () => {
    const [app, { project }] = await started();
    app.submit('create a.txt with "hello"');
    await app.sees("The model asks");
    app.type("\r");
    await app.sees("⊘ write_file");
    await app.idle();
    app.submit('create b.txt with "hello"');
    await app.sees("The model asks");
    app.type("n");
    await app.sees(/n No:$/);
    app.type("not in this folder");
    await app.sees("n No: not in this folder");
    app.type("\r");
    await app.sees(/^ {2}.*not in this folder/);
    await app.idle();
    expect(readdirSync(project)).toEqual([]);
    await app.quit();
  });

  it("asks no more for what was allowed for always", async () => {
    const [app, { read }] = await started();
    app.submit('create a.txt with "one"');
    await app.sees("The model asks");
    app.type("a");
    await app.sees("I created a.txt");
    app.submit('create b.txt with "two"');
    await app.sees("I created b.txt");
    expect([read("a.txt"), read("b.txt")]).toEqual(["one", "two"]);
    await app.quit();
  });

  it("has the person edit a proposal in their own editor, and asks about that again", async () => {
    const made = await on({ env: { EDITOR: "sed -i s/hello/goodbye/" } });
    const app = made.start();
    await app.sees("offline/parley · 2%");
    app.submit('create a.txt with "hello"');
    await app.sees("e Edit it first");
    app.type("e");
    await app.sees("1 + goodbye");
    app.type("y");
    await app.sees("✓ write_file");
    await app.idle();
    expect(made.read("a.txt")).toBe("goodbye");
    await app.quit();
  });

  it("runs calls side by side, shows them in order, and asks about them one after the other", async () => {
    const [app] = await started({
      script: {
        rules: [
          {
            asked: "go",
            replies: [
              { call: [shell("mkdir one; sleep 0.2; echo slow"), shell("mkdir two; echo second")] },
              { say: "Both are done." },
            ],
          },
        ],
      },
    });
    app.submit("go");
    await app.sees("The model asks (1 more waits)");
    app.type("y");
    await app.sees(/The model asks$/);
    app.type("y");
    await app.sees("Both are done.");
    await app.idle();
    const rows = app.picture().trimEnd().split("\n");
    const from = rows.indexOf("> go");
    expect(rows.slice(from, -2)).toEqual([
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
  ])("ends a batch in the middle with %s, and goes on talking", async (_, key) => {
    const [app] = await started({
      args: ["--approval-mode", "yolo"],
      script: {
        rules: [
          { asked: "still", replies: [{ say: "I am here." }] },
          {
            asked: "go",
            replies: [{ call: [shell("echo quick"), shell("echo begun; sleep 600")] }, { say: "Never said." }],
          },
        ],
      },
    });
    app.submit("go");
    await app.sees("  begun");
    app.type(key);
    await app.sees("Cancelled.");
    await app.idle();
    app.submit("still there?");
    await app.sees("I am here.");
    const rows = app.screen.everything();
    expect(rows.filter((row) => /^[✓✗⊘◐○]/.test(row)).map((row) => row.replace(/ \d+s$/, ""))).toEqual([
      "✓ run_shell_command echo quick",
      "⊘ run_shell_command echo begun; sleep 600",
    ]);
    expect(rows).not.toContain("Never said.");
    await app.quit();
  });

  it("delivers what is typed while tools run, after them", async () => {
    const [app, { project }] = await started({
      args: ["--approval-mode", "yolo"],
      script: {
        rules: [
          { asked: "also say more", replies: [{ say: "I heard more." }] },
          {
            asked: "go",
            replies: [{ call: shell("until [ -e flag ]; do sleep 0.05; done") }, { say: "Nothing was heard." }],
          },
        ],
      },
    });
    app.submit("go");
    await app.sees("◐ run_shell_command");
    app.submit("also say more");
    await app.sees("It will be heard after the calls under way.");
    app.submit(`!touch ${project}/flag`);
    await app.sees("I heard more.");
    expect(app.screen.everything()).not.toContain("Nothing was heard.");
    await app.quit();
  });

  it("runs a line in the shell, shows what it prints, and tells the model with the next message", async () => {
    const [app] = await started({
      script: {
        rules: [
          {
            asked: "/I ran this in the shell myself: echo marked.*It printed:\\nmarked/s",
            replies: [{ say: "I know." }],
          },
        ],
      },
    });
    app.submit("!echo marked");
    await app.sees("✓ ! echo marked");
    app.submit("what did I do?");
    await app.sees("I know.");
    await app.quit();
  });

  it("leaves on the second Ctrl-C, and takes back what was typed on the first", async () => {
    const [app] = await started();
    app.type("a draft");
    await app.sees("> a draft");
    app.type("\u0003");
    await app.idle();
    app.type("\u0003");
    await app.sees("Press Ctrl-C again to leave.");
    app.type("\u0003");
    expect((await app.ended).code).toBe(0);
  });

  it("leaves no session behind in which nothing was said", async () => {
    const [app, { home }] = await started();
    await app.quit();
    const folder = join(home, ".parley", "sessions");
    const kept = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".jsonl"));
    expect(kept).toEqual([]);
  });
});
