import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ensureBuilt } from "../built.ts";
import { isRunning, untilGone } from "../support/processes.ts";
import { appFixtures } from "./app-fixture.ts";

ensureBuilt();
const { started, on } = appFixtures();

const todos = (...statuses: readonly string[]) => ({
  tool: "write_todos",
  input: {
    todos: ["Read it", "Change it"].map((description, at) => ({ description, status: statuses[at] ?? "pending" })),
  },
});

/** Writes its process id, and runs until it is stopped or the file `go` exists. */
const untilGo = "echo $$ > pid; echo started; until [ -e go ]; do sleep 0.05; done; echo ended";

const pidIn = async (project: string): Promise<number> => {
  const file = join(project, "pid");
  while (!existsSync(file) || readFileSync(file, "utf8") === "") await new Promise((resolve) => setImmediate(resolve));
  return Number(readFileSync(file, "utf8"));
};

const ctrlB = "\u0002";

describe("the to-do list", () => {
  it("is shown above the input, updated in place, resumed, and gone when all is done", async () => {
    const [app, fixture] = await started({
      script: {
        rules: [
          { prompt: "begin", replies: [{ call: todos("in_progress") }, { say: "Begun." }] },
          { prompt: "finish", replies: [{ call: todos("completed", "completed") }, { say: "Finished." }] },
        ],
      },
    });
    app.submit("begin");
    await app.waitForText("Begun.");
    await app.waitUntilIdle();
    const panel = ["To do  0 of 2 done", "  ◐ Read it", "  ○ Change it"];
    expect(app.screen.rows().slice(-7, -4)).toEqual(panel);
    expect(app.screen.rows()).toContain("✓ write_todos 0 of 2 done: Read it");
    await app.quit();
    const again = fixture.start({ args: ["-c"] });
    await again.waitForText("  ○ Change it");
    again.submit("finish");
    await again.waitForText("Finished.");
    await again.waitUntilIdle();
    expect(again.screen.rows().filter((row) => row.startsWith("To do"))).toEqual([]);
    expect(again.screen.rows()).toContain("✓ write_todos 2 of 2 done");
    await again.quit();
  });
});

describe("a question of the model", () => {
  const ask = {
    call: {
      tool: "ask_user",
      input: {
        questions: [
          { question: "Which database?", header: "Database", options: [{ label: "SQLite" }, { label: "PostgreSQL" }] },
          { question: "What name?" },
        ],
      },
    },
  };

  it("is picked or typed, one after the other, and the answers reach the model", async () => {
    const [app] = await started({ script: { rules: [{ prompt: "ask", replies: [ask, { say: "I see." }] }] } });
    app.submit("ask me");
    await app.waitForText(/^╰/);
    expect(app.screen.rows().slice(-9, -1)).toEqual([
      `╭─ Database 1 of 2 ${"─".repeat(60)}╮`,
      ...[
        "Which database?",
        "",
        "› 1 SQLite",
        "  2 PostgreSQL",
        "  Type another answer",
        "Enter: answer · Esc: don't answer",
      ].map((text) => `│ ${text.padEnd(76)} │`),
      `╰${"─".repeat(78)}╯`,
    ]);
    app.type("2");
    await app.waitForText("The model asks 2 of 2");
    app.type("Parley\r");
    await app.waitForText("I see.");
    await app.waitUntilIdle();
    expect(app.screenText()).toContain(
      ["  Which database?", "  Answer: PostgreSQL", "", "  What name?", "  Answer: Parley"].join("\n"),
    );
    await app.quit();
  });

  it("takes no key that was typed before it was shown as its answer", async () => {
    const [app] = await started({ script: { rules: [{ prompt: "ask", replies: [ask, { say: "I see." }] }] } });
    app.type("ask me\r1 ");
    await app.waitForText("A question opens when you stop typing.");
    expect(app.screen.rows()).toContain("> 1");
    app.type("\u0007");
    await app.waitForText("Which database?");
    app.type("\u001b");
    await app.waitForText("I see.");
    expect(app.screenText()).toContain("Not answered");
    await app.quit();
  });
});

describe("background work", () => {
  const run = (input: Readonly<Record<string, unknown>>) => ({
    rules: [{ prompt: "run", replies: [{ call: { tool: "run_shell_command", input } }, { say: "Going on." }] }],
  });

  it("Ctrl-B moves a running command there, /tasks shows and stops it, and its end is shown", async () => {
    const [app, { project }] = await started({ script: run({ command: untilGo }), args: ["--yolo"] });
    app.submit("run it");
    await app.waitForText("  started");
    await app.waitForText("Ctrl-B: background");
    app.type(ctrlB);
    await app.waitForText("Going on.");
    await app.waitUntilIdle();
    const rows = app.screen.rows();
    expect(rows).toContain("  Runs in the background as bg-1 (/tasks)");
    expect(rows.at(-5)).toMatch(/^◐ Background: bg-1 echo \$\$ > pid; echo started; until/);
    app.submit("/tasks");
    await app.waitForText("1 of 1");
    app.type("\r");
    await app.waitForText("Stop it");
    app.type("\r");
    await app.waitForText(/^bg-1  running, \d+s  echo /);
    app.submit("/tasks stop bg-1");
    await app.waitForText("Background task bg-1 ended (stopped)");
    expect(isRunning(await pidIn(project))).toBe(false);
    await app.quit();
  });

  it("a command that ends while nothing else happens says so, and quitting stops those that run", async () => {
    const [app, { project }] = await started({
      script: run({ command: untilGo, background: true }),
      args: ["--yolo"],
    });
    app.submit("run it");
    await app.waitForText("Going on.");
    await app.waitUntilIdle();
    writeFileSync(join(project, "go"), "");
    await app.waitForText("Background task bg-1 ended (done): echo $$ > pid");
    await app.quit();
  });

  it("a subagent that ends while nothing else happens calls the person, and says how the model gets its answer", async () => {
    const [app, { project }] = await started({
      script: {
        rules: [
          {
            prompt: "delegate",
            replies: [
              { call: { tool: "task", input: { prompt: "look around", description: "look", background: true } } },
              { say: "It looks." },
            ],
          },
          {
            prompt: "look around",
            replies: [{ call: { tool: "run_shell_command", input: { command: untilGo } } }, { say: "Three files." }],
          },
          { prompt: "continue", replies: [{ say: "I have read it." }] },
        ],
      },
      args: ["--yolo"],
      env: { TERM_PROGRAM: "iTerm.app" },
    });
    app.submit("delegate");
    await app.waitForText("It looks.");
    await app.waitUntilIdle();
    app.type("\u001b[O");
    writeFileSync(join(project, "go"), "");
    await app.waitForText(/^Background task bg-1 ended/);
    await app.waitForText('Its answer goes to the model with your next message, such as "continue".');
    expect(app.output()).toContain("\u001b]9;Parley: A background task ended\u0007");
    await app.quit();
  });

  it.each(["quit", "kill"])("nothing survives the program: %s", async (how) => {
    const fixture = await on({ script: run({ command: untilGo, background: true }), args: ["--yolo"] });
    const app = fixture.start();
    await app.waitForText(/ · \d+% of \d/);
    app.submit("run it");
    await app.waitForText("Going on.");
    const pid = await pidIn(fixture.project);
    expect(isRunning(pid)).toBe(true);
    if (how === "quit") await app.quit();
    else app.kill("SIGKILL");
    await app.ended;
    await untilGone(pid);
  });

  it("Ctrl-B moves the cursor while no command runs", async () => {
    const [app] = await started();
    app.type(`ac${ctrlB}b`);
    await app.waitForText("> abc");
    await app.quit();
  });
});

describe("/compare", () => {
  const script = {
    rules: [
      {
        prompt: "What is it?",
        model: "script",
        replies: [
          { call: { tool: "run_shell_command", input: { command: "touch made" } } },
          { say: "A **small** one." },
        ],
      },
      { prompt: "What is it?", model: "parley", replies: [{ say: "A large one, at some length. ".repeat(6) }] },
      { prompt: "And now?", model: "script", replies: [{ say: "Still small." }] },
    ],
  };

  it("shows answers side by side, continues with the chosen one, and keeps the other as a session", async () => {
    const [app, { project }] = await started({ script, size: { columns: 100, rows: 40 } });
    app.submit("/compare offline/script offline/parley What is it?");
    await app.waitForText("Continue with which answer?");
    const rows = app.screen.rows();
    expect(rows).toContain(
      "Comparing offline/script, offline/parley. Only read-only tools run in this turn; other calls are",
    );
    const top = rows.findIndex((row) => /^offline\/script +│ offline\/parley$/.test(row));
    expect(rows.slice(top + 3, top + 6)).toEqual([
      "⊘ refused: run_shell_command touch made          │ A large one, at some length. A large one, at",
      "A small one.                                     │ some length. A large one, at some length. A",
      "                                                 │ large one, at some length. A large one, at some",
    ]);
    expect(rows[top + 1]).toMatch(/^\d+\.\d s · \d+ in, \d+ out · .* │ \d+\.\d s · \d+ in, \d+ out · /);
    expect(existsSync(join(project, "made"))).toBe(false);
    app.type("\r");
    await app.waitForText("Continuing with offline/script. Kept as sessions: offline/parley: /resume");
    app.submit("And now?");
    await app.waitForText("Still small.");
    await app.quit();
  });

  it("takes short names, and asks the last prompt again from before its answer", async () => {
    const [app] = await started({ script, size: { columns: 100, rows: 40 } });
    app.submit("What is it?");
    await app.waitForText("A large one, at some length.");
    await app.waitUntilIdle();
    app.submit("/compare offline/script,offline");
    await app.waitForText("Continue with which answer?");
    const rows = app.screen.rows();
    expect(rows.some((row) => /^offline\/script +│ offline\/parley$/.test(row))).toBe(true);
    expect(rows.some((row) => row.startsWith("A small one. "))).toBe(true);
    app.type("\r");
    await app.waitForText("Continuing with offline/script.");
    expect(app.screen.scrollback().filter((row) => row === "> What is it?").length).toBe(2);
    await app.quit();
  });

  it("shows them one below the other where there is no room, and stays if none is chosen", async () => {
    const [app] = await started({ script, size: { columns: 60, rows: 40 } });
    app.submit("/compare offline/script offline/parley What is it?");
    await app.waitForText("Continue with which answer?");
    const rows = app.screen.rows();
    expect(rows.findIndex((row) => row === "offline/script")).toBeLessThan(
      rows.findIndex((row) => row === "offline/parley"),
    );
    app.type("\u001b");
    await app.waitForText("Kept as sessions: offline/script: /resume");
    const names = ["offline/a,offline/b,offline/c,offline/d", "offline,offline"];
    for (const [index, each] of names.entries()) {
      app.submit(`/compare ${each} What is it?`);
      const warned = await app.waitFor(
        (all) => all.filter((row) => row.startsWith("Name two or three different models")).length === index + 1,
      );
      expect(warned.filter((row) => row.startsWith("Comparing "))).toHaveLength(1);
    }
    await app.quit();
  });
});
