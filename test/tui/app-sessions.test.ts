import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { everyKey } from "../support/exchange.ts";
import { storyWriters } from "../support/foreign/writers.ts";
import { isRunning } from "../support/processes.ts";
import { environmentFor, serveSimulators, type ServedSimulators } from "../support/serve-simulators.ts";
import { ensureBuilt } from "../built.ts";
import { appFixtures } from "./app-fixture.ts";

ensureBuilt();
const { on, started } = appFixtures();

/** A red image of two by one pixels. */
const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAIAAAABCAIAAAB7QOjdAAAAD0lEQVR4nGP4z8DAwPAfAAUAAf/8Q1SWAAAAAElFTkSuQmCC",
  "base64",
);

describe("sessions in the terminal app", () => {
  it("resume after the terminal was lost during a call", async () => {
    const [app, { start, project }] = await started({
      args: ["--approval-mode", "yolo"],
      script: {
        rules: [
          { prompt: "still", replies: [{ say: "It was interrupted, I see." }] },
          {
            prompt: "go",
            replies: [
              { say: "I begin.", call: { tool: "run_shell_command", input: { command: "mkdir begun; sleep 600" } } },
            ],
          },
        ],
      },
    });
    app.submit("go");
    await app.waitFor(() => existsSync(join(project, "begun")));
    app.kill("SIGHUP");
    await app.ended;
    const again = start({ args: ["--continue", "--approval-mode", "yolo"] });
    const rows = await again.waitForText(/⊘ run_shell_command/);
    expect(rows.filter((row) => row === "> go" || row === "I begin." || row.startsWith("⊘"))).toEqual([
      "> go",
      "I begin.",
      "⊘ run_shell_command mkdir begun; sleep 600",
    ]);
    again.submit("still there?");
    await again.waitForText("It was interrupted, I see.");
    await again.quit();
  });

  it.each([
    ["the terminal is closed", 129],
    ["SIGHUP", 129],
    ["SIGTERM", 143],
  ] as const)("cancel, record and release locks on %s", async (how, code) => {
    const command = "echo $$ > pid; sleep 600";
    const [app, { project, home }] = await started({
      args: ["--approval-mode", "yolo"],
      script: {
        rules: [
          { prompt: "go", replies: [{ say: "I begin.", call: { tool: "run_shell_command", input: { command } } }] },
        ],
      },
    });
    app.submit("go");
    await app.waitFor(() => existsSync(join(project, "pid")) && readFileSync(join(project, "pid"), "utf8") !== "");
    if (how === "the terminal is closed") app.close();
    else app.kill(how);
    expect(await app.ended).toEqual({ code, signal: 0 });
    const pid = Number(readFileSync(join(project, "pid"), "utf8"));
    const sessions = join(home, ".parley/sessions");
    const folder = join(sessions, readdirSync(sessions)[0] ?? "");
    const logs = readdirSync(folder).filter((name) => name.endsWith(".jsonl"));
    const log = logs.map((name) => readFileSync(join(folder, name), "utf8")).join("");
    expect([isRunning(pid), readdirSync(join(folder, "locks"))]).toEqual([false, []]);
    expect(log).toContain("The user cancelled this call while it ran.");
  });

  it("end on SIGTERM while the trust question is open", async () => {
    const app = (await on({ isTrusted: false })).start();
    await app.waitForText("Trust this folder?");
    app.kill("SIGTERM");
    expect(await app.ended).toEqual({ code: 143, signal: 0 });
  });

  it("are resumed from a list", async () => {
    const [app, { start }] = await started();
    app.submit("which model are you?");
    await app.waitForText(/^I am /);
    await app.waitUntilIdle();
    await app.quit();
    const again = start();
    await again.waitForText(/ · \d+% of /);
    again.submit("/resume");
    await again.waitForText("› which model are you?");
    again.type("\r");
    await again.waitFor((rows) => rows.includes("> which model are you?"));
    await again.quit();
  });

  it("of another agent are listed with their source, imported and opened with their model", async () => {
    const [app, { home, project }] = await started();
    const story = {
      turns: [{ prompt: "Where is the lantern?", steps: [{ text: "It is on the shelf.", calls: [] }] }],
    };
    const files = storyWriters.claude?.write(story, project) ?? {};
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(home, path)), { recursive: true });
      writeFileSync(join(home, path), text);
    }
    app.submit("/resume");
    await app.waitForText(/› Where is the lantern\?.*Claude Code/);
    app.type("\r");
    await app.waitForText("Imported from Claude Code.");
    await app.waitForText("It is on the shelf.");
    await app.waitForText(/^anthropic\/claude-sonnet-5 · \d+% of /);
    await app.waitUntilIdle();
    await app.quit();
    for (const [path, text] of Object.entries(files)) expect(readFileSync(join(home, path), "utf8")).toBe(text);
  });

  it("are rewound with their files to before a message, leaving files changed since alone", async () => {
    const [app, { read, project }] = await started({
      files: { "a.txt": "one\n", "b.txt": "one\n" },
      args: ["--approval-mode", "auto_edit"],
    });
    app.submit("replace one with two in a.txt");
    await app.waitForText("I replaced");
    app.submit("replace two with three in a.txt");
    await app.waitFor((rows) => rows.filter((row) => row.startsWith("I replaced")).length === 2);
    app.submit("replace one with two in b.txt");
    await app.waitFor((rows) => rows.filter((row) => row.startsWith("I replaced")).length === 3);
    appendFileSync(join(project, "b.txt"), "mine\n");
    app.submit("/rewind");
    await app.waitForText("› replace one with two in b.txt");
    app.type("\u001b[B");
    await app.waitForText("› replace two with three in a.txt  2 edits since");
    app.type("\r");
    await app.waitForText("› Conversation and files");
    app.type("\r");
    await app.waitForText("Continuing in a new session");
    const everything = app.screen.scrollback().join("\n");
    expect(everything).toContain("b.txt (it was changed");
    expect([read("a.txt"), read("b.txt")]).toEqual(["two\n", "two\nmine\n"]);
    // The prompt is back in the input.
    await app.waitForText("> replace two with three in a.txt");
    app.type("\u0015");
    await app.waitUntilIdle();
    app.submit("/rewind");
    await app.waitForText("1 of 1");
    expect(app.screen.rows().slice(-4, -1)).toEqual([
      "Rewind to before which message?",
      "› replace one with two in a.txt  1 edit since",
      "  1 of 1",
    ]);
    app.type("\u001b");
    await app.waitUntilIdle();
    app.submit("/undo");
    await app.waitFor(() => app.screen.scrollback().filter((row) => /^Restored .*a\.txt\.$/.test(row)).length === 2);
    expect(read("a.txt")).toBe("one\n");
    await app.quit();
  });

  it("are rewound with the files that commands changed, created and removed", async () => {
    const command = "sed -i s/one/two/ a.txt; rm b.txt; mkdir sub; echo new > sub/c.txt; printf '\\377' > d.bin";
    const [app, { project, read }] = await started({
      files: { "a.txt": "one\r\n", "b.txt": "kept\n", "d.bin": "\0" },
      args: ["--approval-mode", "yolo"],
      script: {
        rules: [
          {
            prompt: "go",
            replies: [{ call: { tool: "run_shell_command", input: { command } } }, { say: "It is done." }],
          },
        ],
      },
    });
    app.submit("go");
    await app.waitForText("It is done.");
    await app.waitUntilIdle();
    expect([read("a.txt"), existsSync(join(project, "b.txt"))]).toEqual(["two\r\n", false]);
    app.submit("/rewind");
    await app.waitForText("› go  4 edits since");
    app.type("\r");
    await app.waitForText("› Conversation and files");
    app.type("\r");
    await app.waitForText("Continuing in a new session");
    expect([read("a.txt"), read("b.txt"), read("d.bin"), existsSync(join(project, "sub/c.txt"))]).toEqual([
      "one\r\n",
      "kept\n",
      "\0",
      false,
    ]);
    await app.quit();
  });

  it("lose a created file when its edit is undone", async () => {
    const [app, { project }] = await started({ args: ["--approval-mode", "auto_edit"] });
    app.submit('create a.txt with "hello"');
    await app.waitForText("I created a.txt");
    app.submit("/undo");
    await app.waitForText("a.txt (it did not exist before).");
    expect(existsSync(join(project, "a.txt"))).toBe(false);
    await app.quit();
  });

  it.each([
    ["a command", "/clear\rgo\r"],
    ["two commands", "/clear\r/clear\rgo\r"],
    ["a command that is loaded first", "/trust\r/clear\rgo\r"],
  ])("answer a prompt typed right after %s that opens another, and ask there", async (_, keys) => {
    const [app, { project }] = await started({
      script: {
        rules: [
          {
            prompt: "go",
            replies: [
              { call: { tool: "run_shell_command", input: { command: "mkdir begun" } } },
              { say: "It is there." },
            ],
          },
        ],
      },
    });
    app.type(keys);
    await app.waitForQuestion();
    expect(app.screen.rows().join("\n")).toContain("mkdir begun");
    app.type("y");
    await app.waitForText("It is there.");
    expect(existsSync(join(project, "begun"))).toBe(true);
    await app.waitUntilIdle();
    expect(await app.quit()).toBe(0);
  });

  it("keep the input history", async () => {
    const [app, { start }] = await started();
    app.submit("which model are you?");
    await app.waitUntilIdle();
    await app.quit();
    const again = start();
    await again.waitForText(/ · \d+% of /);
    again.type("\u001b[A");
    await again.waitForText("> /quit");
    again.type("\u001b[A");
    await again.waitForText("> which model are you?");
    await again.quit();
  });
});

describe("switching the model", () => {
  let served: ServedSimulators;
  beforeAll(async () => {
    served = await serveSimulators({
      script: {
        rules: [
          { prompt: "and now", replies: [{ say: "I have read the past." }] },
          {
            prompt: "look",
            replies: [
              { think: "A picture.", call: { tool: "read_file", input: { absolute_path: "logo.png" } } },
              { say: "It is red." },
            ],
          },
        ],
      },
    });
  });
  afterAll(() => served.close());

  it("shows the switch check, with an image in the history, and continues there", async () => {
    const { start } = await on({
      files: { "logo.png": png },
      env: { ...everyKey, ...environmentFor(served.bases) },
      args: ["--model", "anthropic/claude-sonnet-5"],
      size: { columns: 100, rows: 40 },
    });
    const app = start();
    await app.waitForText("anthropic/claude-sonnet-5 · ");
    app.submit("look at logo.png");
    await app.waitForText("It is red.");
    expect(app.screen.rows()).toContain("  image/png, 72 bytes, 2 × 1 pixels");
    app.submit("/model groq/openai/gpt-oss-120b");
    await app.waitForText("Switch to groq/openai/gpt-oss-120b?");
    const rows = app.screen.rows();
    expect(rows.slice(rows.indexOf("groq/openai/gpt-oss-120b"), -1)).toEqual([
      "groq/openai/gpt-oss-120b",
      "",
      "• It fits: about 3k of 131k tokens.",
      "• About 3k tokens are not cached: $0.0005 for the next request.",
      "• Media it cannot take (replaced by a text):",
      "  • image file-9b8d57fe (image/png) is replaced by a description: this model does not take image",
      "    here.",
      "• Thinking that would be left out:",
      "  • Thinking of another model is left out.",
      "• 1 more change to fit its API; see /explain groq/openai/gpt-oss-120b.",
      "",
      "Switch to groq/openai/gpt-oss-120b?",
      "› Yes, from the next request",
      "  No, stay",
      "  1 of 2",
    ]);
    app.type("\r");
    await app.waitForText("groq/openai/gpt-oss-120b · ");
    app.submit("and now?");
    await app.waitForText("I have read the past.");
    expect(served.simulators["groq"]?.log.map(({ status }) => status)).toEqual([200]);
    app.submit("/explain");
    await app.waitForText("Last request, to groq/openai/gpt-oss-120b: 1 call");
    expect(app.screen.rows().some((row) => row.includes("media-stub"))).toBe(true);
    await app.quit();
  });
});
