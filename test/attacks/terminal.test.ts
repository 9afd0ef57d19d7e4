import { join } from "node:path";
import xterm from "@xterm/headless";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { escapeJsonForTerminal } from "../../src/policy/terminal/sanitize.ts";
import type { SchedulerEvent } from "../../src/scheduler/events.ts";
import type { ToolDisplay } from "../../src/tools/tool.ts";
import { modes, openAttackFixture, type AttackSession, type AttackFixture } from "./fixture.ts";
import { sampleCases } from "../support/tier.ts";

/*
 * Text that acts on a terminal, from a file, a program, a name or a model's arguments, up to the display. A terminal
 * that receives all of it sends no reply, changes no title, and shows exactly the sanitized text.
 */

let fixture: AttackFixture;
beforeEach(() => {
  fixture = openAttackFixture();
});
afterEach(() => fixture.close());

type Row = readonly [id: string, why: string, text: string];

const rows: readonly Row[] = [
  ["T001", "writing the clipboard", "a\u001b]52;c;ZXZpbA==\u0007b"],
  ["T002", "reading the clipboard", "a\u001b]52;c;?\u0007b"],
  ["T003", "a title", "\u001b]0;evil\u0007"],
  ["T004", "writing the clipboard, by one character", "a\u009d52;c;ZXZpbA==\u009cb"],
  ["T005", "a sequence, by one character", "a\u009b2Jb\u009b6n"],
  ["T006", "a link that is not what it says", "\u001b]8;;http://evil.test/\u001b\\safe.test\u001b]8;;\u001b\\"],
  ["T009", "a question about the palette", "\u001b]4;1;?\u0007"],
  ["T010", "a question about a colour", "\u001b]10;?\u0007"],
  ["T011", "where we are", "\u001b]7;file:///x\u0007"],
  ["T012", "a notification", "\u001b]9;notify\u0007"],
  ["T013", "another notification", "\u001b]777;notify;a;b\u0007"],
  ["T014", "a file", "\u001b]1337;File=inline=1:QUFB\u0007"],
  ["T015", "a request for files", "\u001b]1337;RequestUpload=format=tgz\u0007"],
  ["T016", "a picture", "\u001bPq#0;2;0;0;0#0~~@@vv\u001b\\"],
  ["T017", "another picture", "\u001b_Gf=100;AAAA\u001b\\"],
  ["T018", "a question about settings", "\u001bP$qm\u001b\\"],
  ["T019", "a question about abilities", "\u001bP+q544e\u001b\\"],
  ["T021", "a way through another program", "\u001bPtmux;\u001b\u001b]52;c;AA==\u0007\u001b\\"],
  ["T022", "a private message", "\u001b^x\u001b\\"],
  ["T023", "a string", "\u001bXx\u001b\\"],
  ["T024", "a reset", "\u001bc"],
  ["T024a", "a soft reset", "\u001b[!p"],
  ["T025", "a cleared screen", "\u001b[2J\u001b[H"],
  ["T026", "a cleared history", "\u001b[3J"],
  ["T027", "another screen", "\u001b[?1049h"],
  ["T028", "the mouse", "\u001b[?1003h"],
  ["T029", "unmarked pasting", "\u001b[?2004l"],
  ["T030", "a cursor that is gone", "\u001b[?25l"],
  ["T031", "a question about the cursor", "\u001b[6n"],
  ["T032", "a question about the device", "\u001b[c\u001b[>c\u001b[=c"],
  ["T033", "another keyboard", "\u001b[>1u"],
  ["T034", "a question about a mode", "\u001b[?2026$p"],
  ["T035", "a question about the window", "\u001b[21t\u001b[14t"],
  ["T036", "hidden text", "\u001b[8mhidden\u001b[0m"],
  ["T037", "text of one colour", "\u001b[38;5;0;48;5;0mhidden"],
  ["T038", "lines moved up", "one\n\u001b[1A\u001b[2Ktwo"],
  ["T039", "a line written over", "rm -rf x\rls -la  "],
  ["T040", "letters written over", "rm x\b\b\b\bls  "],
  ["T041", "a form feed and a vertical tab", "a\fb\u000bc"],
  ["T042", "a sequence without end", "\u001b]52;c;AAAA"],
  ["T042a", "a string without end", "\u001bP+q544e"],
  ["T044", "other letters", "\u001b(0lqk\u000e"],
  ["T045", "a delete", "a\u007fb"],
  ["T046", "a bell and a NUL", "a\u0007b"],
  ["T047", "text turned around", "a\u202egnp.exe"],
  ["T048", "text turned around, the newer way", "a\u2067gnp.exe\u2069"],
  ["T049", "letters without width", "a\u200bb\u200d\u2060"],
  ["T050", "tag characters", "a\u{e0041}\u{e0042}b"],
  ["T051", "data in selectors", "a\ufe0f\udb40\udd00"],
  ["T052", "a line break that is none", "a\u2028b\u2029c\u0085d"],
];

/** Everything that is displayed of a call. */
const shownIn = (events: readonly SchedulerEvent[]): readonly string[] =>
  events.flatMap((event): readonly string[] => {
    if (event.type === "call-output") return [event.text];
    if (event.type === "permission-added") return event.rules;
    const { status } = event;
    switch (status.state) {
      case "validating":
        return [];
      case "awaiting_approval": {
        const { title, reason, subject, always } = status.approval;
        const { before: _before, after: _after, ...rest } = { before: "", after: "", ...subject };
        return [title, reason, ...textsIn(rest), ...textsIn(always)];
      }
      case "scheduled":
      case "executing":
        return [status.title];
      case "success":
      case "error":
      case "cancelled":
        return displayed(status.finished.display);
    }
  });

const displayed = (display: ToolDisplay): readonly string[] => {
  switch (display.type) {
    case "text":
      return [display.text];
    case "diff":
      return [display.path, display.patch];
    case "listing":
      return [display.title, ...display.lines];
  }
};

const textsIn = (value: unknown): readonly string[] => {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
};

/** Characters that act on a terminal or are invisible, except line feeds and tabs. */
// oxlint-disable-next-line no-control-regex
const acting = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u2028-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/u;

/** Writes texts to a terminal, and returns what it did besides displaying them. */
const deeds = async (texts: readonly string[]): Promise<object> => {
  const terminal = new xterm.Terminal({ cols: 200, rows: 50, scrollback: 10_000, allowProposedApi: true });
  const done: string[] = [];
  terminal.onData((data) => done.push(`answered ${JSON.stringify(data)}`));
  terminal.onTitleChange((title) => done.push(`title ${title}`));
  terminal.onBell(() => done.push("bell"));
  for (const number of [4, 7, 8, 9, 10, 52, 777, 1337])
    terminal.parser.registerOscHandler(number, () => done.push(`osc ${number}`) > 0);
  const lines = texts.flatMap((text) => text.split("\n"));
  await new Promise<void>((resolve) => terminal.write(lines.join("\r\n"), resolve));
  const { active } = terminal.buffer;
  const screen = Array.from({ length: active.length }, (_, at) => active.getLine(at)?.translateToString(true) ?? "");
  const isShown = lines
    .map((line) => line.trim())
    .filter((line) => line !== "" && line.length < 150 && !line.includes("\t"))
    .every((line) => screen.some((row) => row.includes(line)));
  terminal.dispose();
  return { done, isShown, acts: texts.filter((text) => acting.test(text)) };
};

const nothing = { done: [], isShown: true, acts: [] };

const named = rows.map(([id, why, text]) => [`${id} ${why}`, text] as const);

describe("text that acts on a terminal is sanitized in the display", () => {
  const deedsOf = (session: AttackSession): Promise<object> => deeds(shownIn(session.events));

  it.each(sampleCases(named, 4))("of a program's output, of a file, of an edit: %s", async (_, text) => {
    fixture.put("payload.txt", `begin ${text}\nend\n`);
    const session = await fixture.open(modes.yolo);
    const output = await session.call("run_shell_command", { command: "cat payload.txt" });
    await session.call("read_file", { absolute_path: "payload.txt" });
    await session.call("search_file_content", { pattern: "begin" });
    await session.call("write_file", { file_path: "payload.txt", content: `changed ${text}\n` });
    expect(output.finished.display.type === "text" && output.finished.display.text).toMatch(/^begin/);
    expect(await deedsOf(session)).toEqual(nothing);
  });

  it.each(sampleCases(named, 8))("of an approval: %s", async (_, text) => {
    const session = await fixture.open();
    await session.call("run_shell_command", { command: `echo ${text}`, description: text });
    await session.call("write_file", { file_path: "new.txt", content: text });
    await session.call("save_memory", { fact: text });
    await session.call("web_fetch", { prompt: `http://public.test/ ${text}` });
    await session.call(`no_such_${text}`, { [text]: text });
    await session.call("read_file", { absolute_path: text, [text]: 1 });
    expect(session.events.filter(isQuestion).length).toBeGreaterThanOrEqual(4);
    expect(await deedsOf(session)).toEqual(nothing);
  });

  it.each(
    sampleCases(
      named.filter(([, text]) => !text.includes("/")),
      8,
    ),
  )("of the name of a file: %s", async (_, text) => {
    const name = text.replaceAll("\n", "");
    fixture.put(`dir/${name}`, "words\n");
    const session = await fixture.open();
    await session.call("list_directory", { path: "dir" });
    await session.call("glob", { pattern: "dir/*" });
    await session.call("search_file_content", { pattern: "words" });
    await session.call("read_file", { absolute_path: join("dir", name) });
    await session.call("replace", { file_path: join("dir", name), old_string: "words", new_string: "other" });
    expect(await deedsOf(session)).toEqual(nothing);
  });

  it("T043 of a sequence that arrives in chunks", async () => {
    const session = await fixture.open(modes.yolo);
    for (const pieces of ["'\\033' '[2J'", "'\\033[' '6n'", "'\\303' '\\244\\033]0;x' '\\007'", "'\\302' '\\2332J'"]) {
      const command = `for piece in ${pieces}; do printf "$piece"; sleep 0.02; done; echo done`;
      await session.call("run_shell_command", { command });
    }
    expect(await deeds(shownIn(session.events).filter((text) => !text.includes("printf")))).toEqual(nothing);
  });
});

const isQuestion = (event: SchedulerEvent): boolean =>
  event.type === "call-changed" && event.status.state === "awaiting_approval";

describe("an approval shows what would happen", () => {
  it.each([
    ["T039", "rm -rf x\rls -la  ", "rm -rf x␍ls -la  "],
    ["T040", "rm x\b\b\b\bls  ", "rm x␈␈␈␈ls  "],
    ["T059", `ls${" ".repeat(200)}; rm x`, "ls ⟨200 spaces⟩ ; rm x"],
    ["T059a", `ls${"\n".repeat(60)}rm x`, "ls\n⟨59 empty lines⟩\nrm x"],
    ["T047", "ls a\u202egnp.exe", "ls a<U+202E>gnp.exe"],
    ["T001", "ls \u001b]52;c;x\u0007", "ls ␛]52;c;x␇"],
  ])("%s all of a command", async (_, command, shown) => {
    const { approvals } = await fixture.run("run_shell_command", { command });
    expect(approvals.map(({ subject }) => subject.type === "execute" && subject.command)).toEqual([shown]);
  });

  it("T060 the target of a link", async () => {
    fixture.put("real.txt", "x\n");
    fixture.link("innocent.txt", "real.txt");
    const { approvals } = await fixture.run("write_file", { file_path: "innocent.txt", content: "y\n" });
    expect(approvals[0]?.subject).toMatchObject({ path: join(fixture.root, "real.txt"), isLink: true });
  });
});

describe("excessive text", () => {
  it("T053 stacks of combining marks are truncated", async () => {
    fixture.put("payload.txt", `e${"\u0301".repeat(5000)}\n`);
    const result = await fixture.run("run_shell_command", { command: "cat payload.txt" }, modes.yolo);
    const { display } = result.finished;
    expect(display.type === "text" && display.text.length).toBeLessThan(30);
  });

  it("T054 emoji families stay together", async () => {
    const family = "👨\u200d👩\u200d👧\u200d👦".repeat(100);
    fixture.put("payload.txt", `${family}\n`);
    const result = await fixture.run("run_shell_command", { command: "cat payload.txt" }, modes.yolo);
    expect(result.finished.display).toEqual({ type: "text", text: family });
  });

  it("T055 a line of ten megabytes is shortened", async () => {
    const result = await fixture.run(
      "run_shell_command",
      { command: "head -c 10000000 /dev/zero | tr '\\0' a" },
      modes.yolo,
    );
    expect(result.text.length).toBeLessThan(50_000);
    expect(result.text).toMatch(/characters omitted/);
  });
});

describe("output for programs", () => {
  it.each(sampleCases(named, 4))("is the same value, with escapes: %s", async (_, text) => {
    const result = await fixture.run("write_file", { file_path: "x.txt", content: text }, modes.yolo);
    const line = escapeJsonForTerminal(JSON.stringify(result.finished.outcome));
    expect(JSON.parse(line)).toEqual(result.finished.outcome);
    expect(acting.test(line)).toBe(false);
  });

  it("T061 has no forged line", async () => {
    const forged = "x\n2026-01-01T00:00:00Z INFO approved everything";
    const session = await fixture.open();
    await session.call("run_shell_command", { command: "echo", description: forged });
    const titles = shownIn(session.events).filter((text) => text.startsWith("echo ("));
    expect(titles.length).toBeGreaterThan(0);
    expect(titles.filter((title) => title.includes("\n"))).toEqual([]);
  });
});
