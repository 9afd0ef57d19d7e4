import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { ensureBuilt } from "../built.ts";
import { appFixtures, type RunningApp } from "./app-fixture.ts";

ensureBuilt();
const { on, started } = appFixtures();
const folder = fileURLToPath(new URL("approvals/", import.meta.url));

const shell = (command: string) => ({ tool: "run_shell_command", input: { command } });
const scripted = (...commands: readonly string[]) => ({
  rules: commands.map((command, at) => ({ prompt: `go ${at}`, replies: [{ call: shell(command) }, { say: "Done." }] })),
});

/** Waits until a question has been on the screen long enough for Enter to answer it. */
const whileRead = (app: RunningApp) => app.waitForText(/Waiting for you \([2-9]s/);

/** Refuses the open question without a reason. */
const refuse = async (app: RunningApp): Promise<void> => {
  app.type("n");
  await app.waitForText("n No: ");
  app.type("\r");
};

describe("an approval", () => {
  it("is given by Enter for an ordinary edit, and refused by it for what destroys data", async () => {
    const [app, { project, read }] = await started({
      script: {
        rules: [
          {
            prompt: "write",
            replies: [{ call: { tool: "write_file", input: { file_path: "a.txt", content: "a" } } }, { say: "Done." }],
          },
          { prompt: "delete", replies: [{ call: shell("rm a.txt") }, { say: "It stays." }] },
        ],
      },
    });
    app.submit("write");
    await app.waitForText("› y Yes");
    await whileRead(app);
    app.type("\r");
    await app.waitForText("Done.");
    await app.waitUntilIdle();
    expect(read("a.txt")).toBe("a");
    app.submit("delete");
    await app.waitForText("› n No");
    await whileRead(app);
    app.type("\r");
    await app.waitForText("It stays.");
    expect(app.screen.rows()).toContain("  Refused.");
    expect(existsSync(join(project, "a.txt"))).toBe(true);
    await app.quit();
  });

  it.each(["SIGHUP", "SIGKILL"])(
    "is asked for again after the program was ended by %s, and given then",
    async (signal) => {
      const fixture = await on({ script: scripted("mkdir one") });
      const first = fixture.start();
      await first.waitForText(/offline\/parley · \d+%/);
      first.submit("go 0");
      await first.waitForText("Run this command?");
      first.kill(signal);
      await first.ended;
      expect(existsSync(join(fixture.project, "one"))).toBe(false);

      const second = fixture.start({ args: ["-c"] });
      await second.waitForText("run_shell_command has not run: it still awaits approval");
      await second.waitForText("Run this command?");
      await whileRead(second);
      second.type("y");
      await second.waitForText("Done.");
      await second.waitUntilIdle();
      expect(existsSync(join(fixture.project, "one"))).toBe(true);
      await second.quit();
    },
  );

  it("for this project holds in the next session, is listed, and is taken back with /permissions", async () => {
    const fixture = await on({ script: scripted("mkdir one", "mkdir two", "mkdir three") });
    const first = fixture.start();
    await first.waitForText(/offline\/parley · \d+%/);
    first.submit("go 0");
    await first.waitForText('p Yes, and don\'t ask again for "mkdir" in this project');
    first.type("p");
    await first.waitForText("Allowed in this project: run_shell_command(mkdir).");
    await first.waitForText("Done.");
    await first.waitUntilIdle();
    await first.quit();
    const second = fixture.start();
    await second.waitForText(/offline\/parley · \d+%/);
    second.submit("go 1");
    await second.waitForText("Done.");
    await second.waitUntilIdle();
    expect(readdirSync(fixture.project).toSorted()).toEqual(["one", "two"]);
    second.submit("/permissions");
    await second.waitForText("allow run_shell_command(mkdir) (this project)");
    await second.waitForText("› Keep all");
    second.type("\u001b[B\r");
    await second.waitForText("Removed: allow run_shell_command(mkdir) (this project).");
    second.submit("go 2");
    await second.waitForText("╭─ Run this command?");
    await refuse(second);
    await second.waitUntilIdle();
    expect(existsSync(join(fixture.project, "three"))).toBe(false);
    await second.quit();
  });

  it("can be prepared with /permissions allow", async () => {
    const [app, { project }] = await started({ script: scripted("mkdir one") });
    app.submit("/permissions allow Bsh(mkdir:*)");
    await app.waitForText('Unknown rule "Bsh(mkdir:*)". Did you mean Bash(mkdir:*)?');
    app.submit("/permissions allow run_shell_command(mkdir)");
    await app.waitForText("› This session");
    app.type("\r");
    await app.waitForText("Allowed this session: run_shell_command(mkdir).");
    app.submit("go 0");
    await app.waitForText("Done.");
    expect(existsSync(join(project, "one"))).toBe(true);
    await app.quit();
  });

  it.each([40, 80, 120])("looks well at %i columns", async (columns) => {
    const content = "export const add = (one: number, other: number): number => one + other;\n";
    const [app] = await started({
      size: { columns, rows: 30 },
      files: { "src/math.js": "export const add = (one, other) => one - other;\n" },
      script: {
        rules: [
          {
            prompt: "fix",
            replies: [
              { call: { tool: "write_file", input: { file_path: "src/math.js", content } } },
              { say: "Done with fix." },
            ],
          },
          {
            prompt: "clean",
            replies: [{ call: shell("rm -rf build && npm test > log.txt") }, { say: "Done with clean." }],
          },
          { prompt: "test", replies: [{ call: shell("cd src && npm test") }, { say: "Done with test." }] },
        ],
      },
    });
    for (const [prompt, key] of [
      ["fix", "y"],
      ["clean", "n"],
      ["test", "n"],
    ] as const) {
      app.submit(prompt);
      await app.waitForQuestion();
      const rows = app.screenText().split("\n");
      const top = rows.findIndex((row) => row.startsWith("╭"));
      const frame = rows.slice(top, rows.findIndex((row) => row.startsWith("╰")) + 1);
      await expect(`${frame.join("\n")}\n`).toMatchFileSnapshot(`${folder}${prompt}-${columns}.txt`);
      if (key === "y") app.type(key);
      else await refuse(app);
      await app.waitForText(`Done with ${prompt}.`);
      await app.waitUntilIdle();
    }
    await app.quit();
  });
});

describe("plan mode", () => {
  it("shows the plan, and after its approval works in the chosen mode", async () => {
    const [app, { read }] = await started({
      args: ["--approval-mode", "plan"],
      script: {
        rules: [
          {
            prompt: "plan it",
            replies: [
              { call: { tool: "present_plan", input: { plan: "# The plan\n\n- write *a.txt*" } } },
              { call: { tool: "write_file", input: { file_path: "a.txt", content: "a" } } },
              { say: "Written." },
            ],
          },
        ],
      },
    });
    app.submit("plan it");
    await app.waitForText("• write a.txt");
    await app.waitForText("Yes, and edit without asking");
    await app.waitForText(/ plan$/);
    app.type("2");
    await app.waitForText("Written.");
    await app.waitForText(/ auto_edit$/);
    expect(read("a.txt")).toBe("a");
    await app.quit();
  });
});

describe("the screen", () => {
  it("prints a diff that is taller than the screen once", async () => {
    const content = Array.from({ length: 40 }, (_, at) => `line ${at}`).join("\n");
    const [app] = await started({
      size: { columns: 80, rows: 20 },
      script: {
        rules: [
          {
            prompt: "write",
            replies: [{ call: { tool: "write_file", input: { file_path: "a.txt", content } } }, { say: "Done." }],
          },
        ],
      },
    });
    app.submit("write");
    await app.waitForText("Shown in full above.");
    app.type("y");
    await app.waitForText("Done.");
    await app.waitUntilIdle();
    const all = app.screen.scrollback();
    expect(all.filter((row) => row.includes("+ line 7")).length).toBe(1);
    expect(all.filter((row) => row.includes("The diff is shown above.")).length).toBe(1);
    await app.quit();
  });

  it("keeps what was said after a list of many options closes", async () => {
    const [app] = await started({
      size: { columns: 80, rows: 24 },
      script: { rules: [{ prompt: "hi", replies: [{ say: "Hello to you." }] }] },
    });
    app.submit("hi");
    await app.waitForText("Hello to you.");
    await app.waitUntilIdle();
    app.submit("/model");
    await app.waitForText("Which model?");
    app.type("\u001b");
    await app.waitFor((rows) => !rows.some((row) => row.includes("Which model?")));
    expect(app.screen.rows()).toContain("Hello to you.");
    await app.quit();
  });

  it("answers a yes-or-no question by y and n", async () => {
    const { start } = await on({ isTrusted: false });
    const app = start();
    await app.waitForText("1 of 3");
    app.type("\r");
    await app.waitForText("Not trusted.");
    app.submit("/trust");
    await app.waitForText("› No");
    app.type("y");
    await app.waitForText("Trusted.");
    await app.quit();
  });

  it("shows the end of a finished command, and names the key that shows all", async () => {
    const [app] = await started({ args: ["--approval-mode", "yolo"], script: scripted("seq 1 40") });
    app.submit("go 0");
    await app.waitForText("Done.");
    await app.waitUntilIdle();
    const rows = app.screen.rows();
    expect(rows.slice(rows.indexOf("  … 35 earlier lines (Ctrl-O to expand)")).slice(0, 6)).toEqual([
      "  … 35 earlier lines (Ctrl-O to expand)",
      ...[36, 37, 38, 39, 40].map((each) => `  ${each}`),
    ]);
    app.type("\u000f");
    await app.waitFor(() => app.screen.scrollback().includes("  1"));
    await app.quit();
  });

  it("shows the approval mode at 40 columns", async () => {
    const [app] = await started({ size: { columns: 40, rows: 20 } });
    app.submit("hello");
    await app.waitUntilIdle();
    await app.waitForText(/^offline\/parley.* default$/);
    await app.quit();
  });
});
