import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { ensureBuilt } from "../built.ts";
import { appFixtures, normalizeScreen, type RunningApp } from "./app-fixture.ts";

/*
 * The screens of a session of the packaged program in a pseudo-terminal, in every look and width. Update them with
 * `npx vitest run test/tui/app-captures.test.ts --update`, and read what changed: one file for each look and width.
 */

ensureBuilt();
const { on } = appFixtures();
const folder = fileURLToPath(new URL("captures/", import.meta.url));

/** CI installs it; elsewhere the captures in it are reported as skipped. */
const hasTmux = existsSync("/usr/bin/tmux") || existsSync("/usr/local/bin/tmux");

type Look = {
  readonly name: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly isInTmux?: boolean;
  /** Whether the styles are part of the capture. */
  readonly isStyled?: boolean;
};

const looks: readonly Look[] = [
  { name: "dark", env: { COLORTERM: "truecolor" }, isStyled: true },
  { name: "light", env: { COLORTERM: "truecolor", COLORFGBG: "0;15" }, isStyled: true },
  { name: "no-color", env: { NO_COLOR: "1" }, isStyled: true },
  ...(hasTmux ? [{ name: "tmux", env: { COLORTERM: "truecolor" }, isInTmux: true }] : []),
];

/** A program that runs until a file appears. */
const check = `console.log("12 tests begin");
const timer = setInterval(() => {
  if (!require("node:fs").existsSync("go")) return;
  clearInterval(timer);
  console.log("12 tests passed");
}, 20);
`;

const script = {
  rules: [
    {
      prompt: "friendlier",
      replies: [
        {
          say: "I will change one line.",
          call: {
            tool: "replace",
            input: { file_path: "src/greeting.ts", old_string: '"Hello"', new_string: '"Hello, dear world"' },
          },
        },
        { say: "It is **friendlier** now: see `src/greeting.ts`." },
      ],
    },
    {
      prompt: "tests",
      replies: [
        // Short enough for 40 columns with the seconds a busy machine adds, which are normalized.
        { call: { tool: "run_shell_command", input: { command: "node check.js" } } },
        { say: "All 12 tests pass." },
      ],
    },
    { prompt: "fail", replies: [{ error: { status: 400, message: "the request has no messages" } }] },
  ],
};

const files = {
  "src/greeting.ts": 'export const greet = (): string => "Hello";\n',
  "AGENTS.md": "Be brief.\n",
  "check.js": check,
};

describe.each([40, 80, 120])("screens of %i columns", (columns) => {
  it.each(looks)("$name", async ({ name, env = {}, isInTmux = false, isStyled = false }) => {
    const { start, project } = await on({ files, script, size: { columns, rows: 44 }, env, isInTmux });
    const app = start();
    const captures: string[] = [];
    const capture = async (title: string, prompt = "Parley"): Promise<void> => {
      // tmux passes a frame on in pieces.
      await app.waitFor(
        (rows) =>
          rows.at(-1)?.endsWith(" default") === true &&
          rows.every((row) => !/^─+$/.test(row) || row.length === columns),
      );
      const rows = isStyled ? app.screen.styledRows() : app.screen.rows();
      const start = rows.findLastIndex((row) => row.includes(prompt));
      captures.push(`=== ${title}\n${normalize(rows.slice(Math.max(0, start)).join("\n"), project)}\n`);
    };
    await app.waitForText(/ · \d+% of \d/);
    await capture("start");
    app.submit("make the greeting friendlier");
    await app.waitForQuestion();
    await capture("an edit to approve", "make the");
    app.type("y");
    await app.waitForText("friendlier now");
    await app.waitUntilIdle();
    await capture("a finished turn with a diff", "make the");
    app.submit("run the tests");
    await app.waitForQuestion();
    await capture("a command to approve", "run the tests");
    app.type("y");
    await app.waitForText(/^ +12 tests begin/);
    await app.waitForText("Esc to cancel, Ctrl-B");
    await capture("a running command", "run the tests");
    writeFileSync(join(project, "go"), "");
    await app.waitForText("All 12 tests pass.");
    await app.waitUntilIdle();
    await capture("a finished command", "run the tests");
    app.submit("/model");
    await app.waitForText(/1 of \d+/);
    await capture("the list of models", "/model");
    app.type("\u001b");
    await app.waitUntilIdle();
    app.submit("fail, please");
    await app.waitForText("no messages");
    await app.waitUntilIdle();
    await capture("an error", "fail, please");
    app.submit("/help");
    await app.waitForText(/^Ctrl-Z/);
    await app.waitUntilIdle();
    await capture("help", "/help");
    await app.quit();
    await expect(captures.join("\n")).toMatchFileSnapshot(`${folder}${name}-${columns}.txt`);
  });

  it("screen-reader", async () => {
    const { start, project } = await on({ files, script, size: { columns, rows: 44 }, args: ["--screen-reader"] });
    const app = start();
    const say = async (text: string, until: string): Promise<void> => {
      const before = count(app, until);
      app.submit(text);
      await app.waitFor(() => count(app, until) > before);
    };
    await app.waitForText("run /login");
    await say("make the greeting friendlier", "Type a letter and Enter.");
    await say("y", "Ready.");
    await say("run the tests", "Type a letter and Enter.");
    // The command is reported while it runs.
    await say("y", "  12 tests begin");
    writeFileSync(join(project, "go"), "");
    await app.waitForText("All 12 tests pass.");
    await app.waitFor(() => count(app, "Ready.") > 1);
    // The question below a list is the last of its lines: the terminal would echo the next answer before it.
    await say("/model", "Type a number and Enter");
    await say("opus-4-8", "Type a number and Enter");
    await say("", "Cancelled");
    await say("fail, please", "Ready.");
    app.submit("/quit");
    await app.ended;
    const text = app.screen
      .scrollback()
      .map((row) => row.trimEnd())
      .join("\n");
    await expect(`${normalize(text, project)}\n`).toMatchFileSnapshot(`${folder}screen-reader-${columns}.txt`);
  });
});

/** Replaces the session id, which may be wrapped, and the seconds of a call, also behind a style. */
const normalize = (text: string, project: string): string =>
  normalizeScreen(text, project)
    .replaceAll(/parley -r (?:\w\n?){10}/g, "parley -r SESSION\n")
    .replaceAll(/\(\d+s · Esc to cancel, Ctrl-B.*$/gm, "(0s · Esc to cancel, Ctrl-B: background)")
    .replaceAll(/, after \d+s:$/gm, ", after 2s:")
    .replaceAll(/(?:\[#[\da-f]{6}\])? \d+s$/gm, "");

const count = (app: RunningApp, text: string): number =>
  app.screen.scrollback().filter((row) => row.includes(text)).length;
