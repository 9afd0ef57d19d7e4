import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { ensureBuilt, root } from "../built.ts";
import { appFixtures, type RunningApp } from "./app-fixture.ts";
import { itInAll } from "../support/tier.ts";

ensureBuilt();
const { on, started } = appFixtures();
const folder = fileURLToPath(new URL("screens/", import.meta.url));

/** The mark that turns, and how long the work has taken. Ctrl-B is offered once that is a while. */
const spinner = /^[\u2800-\u28ff] (.+) \(\d+s · Esc to cancel(?:, Ctrl-B: background)?\)$/gm;

/** Compares the screen with its golden file, as if no time had passed. */
const looksLike = async (app: RunningApp, name: string): Promise<void> =>
  expect(app.screenText().replaceAll(spinner, "⠋ $1 (0s · Esc to cancel)")).toMatchFileSnapshot(`${folder}${name}.txt`);

describe("the screen", () => {
  it("asks for trust", async () => {
    const { start } = await on({ isTrusted: false });
    const app = start();
    await app.waitForText("1 of 3");
    await looksLike(app, "trust");
    await app.quit();
  });

  it("shows the greeting, takes a prompt and shows an edit for approval", async () => {
    const [app] = await started({
      files: { "greeting.txt": "Hello world.\nHow are you?\n" },
      script: {
        rules: [
          {
            prompt: "friendlier",
            replies: [
              {
                think: "**Reading the greeting** It is short.",
                call: {
                  tool: "replace",
                  input: { file_path: "greeting.txt", old_string: "Hello world.", new_string: "Hello, dear world!" },
                },
              },
              { say: 'It is **friendlier** now:\n\n```ts\nconst greeting = "Hello, dear world!";\n```' },
            ],
          },
        ],
      },
    });
    await looksLike(app, "greeting");
    app.submit("make the greeting friendlier");
    await app.waitForQuestion();
    await looksLike(app, "approval");
    app.type("y");
    await app.waitForText("const greeting");
    await app.waitUntilIdle();
    await looksLike(app, "answer");
    app.type("/mo");
    await app.waitForText("› model");
    await looksLike(app, "completion");
    await app.quit();
  });

  it("shows parallel calls", async () => {
    const [app, { project }] = await started({
      args: ["--approval-mode", "yolo"],
      script: {
        rules: [
          {
            prompt: "everything",
            replies: [
              {
                say: "I look at all of it at once.",
                call: [
                  { tool: "list_directory", input: { path: "." } },
                  {
                    tool: "run_shell_command",
                    input: { command: "echo tests begin; until [ -e go ]; do sleep 0.05; done" },
                  },
                  {
                    tool: "run_shell_command",
                    input: { command: "echo lint begins; until [ -e go ]; do sleep 0.05; done" },
                  },
                ],
              },
              { say: "All is well." },
            ],
          },
        ],
      },
      files: { "a.ts": "", "b.ts": "" },
    });
    app.submit("check everything");
    await app.waitFor((rows) => rows.includes("  tests begin") && rows.includes("  lint begins"));
    await looksLike(app, "calls");
    app.submit(`!touch ${project}/go`);
    await app.waitForText("All is well.");
    await app.quit();
  });

  itInAll("fits a narrow terminal", async () => {
    const [app] = await started({ size: { columns: 40, rows: 20 } });
    app.submit('create notes.md with "milk"');
    await app.waitForQuestion();
    await app.waitForText("? write_file Write notes.md");
    await looksLike(app, "narrow");
    await app.quit();
  });

  it("is quoted in docs/terminal.md", () => {
    const page = readFileSync(`${root}docs/terminal.md`, "utf8");
    const screens = readdirSync(folder).map(
      (name) => [name, readFileSync(`${folder}${name}`, "utf8").trimEnd()] as const,
    );
    expect(
      screens.filter(([, screen]) => !page.includes(`\`\`\`text\n${screen}\n\`\`\``)).map(([name]) => name),
    ).toEqual([]);
    expect(screens.length).toBe(7);
  });
});
