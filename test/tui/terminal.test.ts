import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildScript, runInTerminal, type TerminalProcess } from "./terminal.ts";
import { hostileTexts } from "./hostile.ts";
import { itInAll } from "../support/tier.ts";

/** Lines that stream; a screen that kept them all would need more memory than the program gets. */
const lineCount = 100_000;

let script: Awaited<ReturnType<typeof buildScript>>;
beforeAll(async () => {
  script = await buildScript("tui-demo");
});
afterAll(() => script.remove());

const started = async (options: Parameters<typeof runInTerminal>[1] = {}): Promise<TerminalProcess> => {
  const running = runInTerminal(script.path, options);
  await running.waitFor((rows) => rows.includes("ready"));
  return running;
};

/** Types a command and, as a key of its own, Enter. */
const submit = async (running: TerminalProcess, command: string): Promise<void> => {
  running.type(command);
  await running.waitFor((rows) => rows.some((row) => row.replace(/^> /, "").endsWith(command.slice(-12))));
  running.type("\r");
};

const quit = async (running: TerminalProcess): Promise<number> => {
  running.type("\u0003quit\r");
  return (await running.ended).code;
};

describe("in a real terminal", () => {
  it("typed text appears where it is typed", async () => {
    const running = await started();
    running.type("hé日😀\u001b[13;2usecond");
    await running.waitFor((rows) => rows.includes("  second"));
    expect([running.screen.rows().length, running.screen.cursor()]).toEqual([3, { row: 1, column: 8 }]);
    expect(await quit(running)).toBe(0);
    expect(running.screen.rows().at(-1)).toBe("ready");
    expect(running.screen.cursor().column).toBe(0);
  });

  itInAll("Markdown streams into the scrollback, block by block", async () => {
    const running = await started();
    await submit(running, String.raw`say "# Title\n\nSome **bold"`);
    await running.waitFor((rows) => rows.includes("Some **bold"));
    await submit(running, String.raw`say "** text\n\n${"```"}ts\nlet a = 1;\n"`);
    await running.waitFor((rows) => rows.includes("  let a = 1;"));
    await submit(running, "end");
    await running.waitFor((rows) => rows[5] === ">");
    expect(running.screen.rows()).toEqual(["Title", "", "Some bold text", "", "  let a = 1;", ">", "ready"]);
    expect([running.screen.cell(2, 5), running.screen.cell(2, 0).isBold]).toEqual([
      { chars: "b", isBold: true, colour: -1 },
      false,
    ]);
    await quit(running);
  });

  itInAll("very many lines stream in little memory, and keys are handled meanwhile", async () => {
    const running = await started({ node: ["--max-old-space-size=40"] });
    await submit(running, `lines ${lineCount}`);
    await running.waitFor((rows) => rows.some((row) => /^line \d{4,} /.test(row)));
    running.type("?");
    const rows = await running.waitFor((each) => each.some((row) => row.startsWith("heard at ")));
    const heardAt = Number(rows.find((row) => row.startsWith("heard at "))?.slice(9));
    expect(heardAt).toBeGreaterThan(0);
    expect(heardAt).toBeLessThan(lineCount);
    await running.waitFor((each) => each.includes(`printed ${lineCount}`));
    const everything = running.screen.scrollback();
    expect([everything.length, everything[0]?.slice(0, 8), everything.slice(-3)]).toEqual([
      2 * lineCount + 2,
      "line 0 x",
      ["x".repeat(51), "> ?", `printed ${lineCount}`],
    ]);
    await quit(running);
  });

  it("a resize during streaming leaves a correct screen", async () => {
    const running = await started({ size: { columns: 60, rows: 12 } });
    await submit(
      running,
      String.raw`say "First paragraph.\n\nThis is an open paragraph that is rather long and still grows"`,
    );
    await running.waitFor((rows) => rows.includes("grows"));
    running.resize({ columns: 30, rows: 12 });
    await running.waitFor((rows) => rows.includes("This is an open paragraph that"));
    await submit(running, String.raw`say " and grows."`);
    await running.waitFor((rows) => rows.some((row) => row.endsWith("and grows.")));
    running.resize({ columns: 70, rows: 9 });
    await running.waitFor((rows) => rows.some((row) => row.startsWith("This is an open paragraph that is")));
    await submit(running, "end");
    await running.waitFor((rows) => rows.at(-2) === ">" && rows.at(-3) === "grows.");
    expect(running.screen.scrollback()).toEqual([
      "First paragraph.",
      "",
      "This is an open paragraph that is rather long and still grows and",
      "grows.",
      ">",
      "ready",
    ]);
    await quit(running);
  });

  it("hostile text changes nothing outside its own cells, character by character", async () => {
    const running = await started({ size: { columns: 60, rows: 24 } });
    const path = join(dirname(script.path), "hostile.json");
    writeFileSync(path, JSON.stringify(hostileTexts));
    await submit(running, `hostile ${path}`);
    const rows = await running.waitFor((each) => each.includes("hostile over"));
    expect(rows.slice(-2)).toEqual([">", "ready"]);
    expect([running.screen.effects(), running.screen.replies()]).toEqual([[], ""]);
    expect(running.screen.cursor()).toEqual({ row: rows.length - 2, column: 2 });
    expect(await quit(running)).toBe(0);
    expect(running.output().replaceAll("\u001b", "ESC")).not.toMatch(acting);
  });

  it("terminal replies are never typed", async () => {
    const running = await started();
    await submit(running, "ask");
    await running.waitFor((rows) => rows.includes("reply attributes"));
    expect(running.screen.rows()).toEqual([">", "reply attributes"]);
    await quit(running);
  });

  it.each([
    ["ends", "quit", 0],
    ["crashes", "crash", 1],
  ])("the terminal is restored when the program %s", async (_, command, code) => {
    const running = await started();
    await submit(running, command);
    expect((await running.ended).code).toBe(code);
    expect(modesLeft(running.output())).toEqual([]);
  });

  it.each([
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ])("the terminal is restored after %s", async (signal, code) => {
    const running = await started();
    running.kill(signal);
    expect((await running.ended).code).toBe(code);
    expect(modesLeft(running.output())).toEqual([]);
  });

  it("the terminal is restored while the program is suspended, and taken again", async () => {
    const shell = runInTerminal(script.path, { isInShell: true });
    await shell.waitFor((rows) => rows.includes("ready"));
    shell.type("draft");
    await shell.waitFor((rows) => rows.includes("> draft"));
    shell.type("\u001a");
    await shell.waitFor((rows) => rows.at(-1) === "$");
    expect(modesLeft(shell.output().replaceAll("\u001b[?2004h$", "$"))).toEqual([]);
    shell.type("echo typed in the shell\r");
    await shell.waitFor((rows) => rows.includes("typed in the shell"));
    shell.type("fg\r");
    const rows = await shell.waitFor((each) => each.filter((row) => row === "> draft").length === 2);
    expect([rows.slice(-2), shell.screen.cursor()]).toEqual([
      ["> draft", "ready"],
      { row: rows.length - 2, column: 7 },
    ]);
    shell.type("!");
    await shell.waitFor((each) => each.includes("> draft!"));
    shell.type("\u0003quit\r");
    await shell.waitFor((each) => each.at(-1) === "$");
    shell.type("exit\r");
    expect((await shell.ended).code).toBe(0);
  });
});

/** Modes that were changed and not restored. */
const modesLeft = (output: string): readonly string[] => {
  const usual: Readonly<Record<string, string>> = { "7": "h", "25": "h" };
  const now = new Map<string, string>();
  for (const [, mode = "", how = ""] of output.matchAll(/\[\?(\d+)([hl])/g)) now.set(mode, how);
  const pushed = output.split("[>1u").length - output.split("[<u").length;
  return [
    ...[...now].flatMap(([mode, how]) => ((usual[mode] ?? "l") === how ? [] : [`?${mode}${how}`])),
    ...(pushed > 0 ? ["keyboard"] : []),
  ];
};

/** Sequences that are neither cursor movement, colour nor one of our modes. */
const acting = /ESC\](?!8;;ESC)|ESC[P_^X]|ESCc|ESC\[[23]J|[\u0080-\u009f\u202e]/;
