import { describe, expect, it } from "vitest";
import { testTerminal, type TestTerminal } from "../../../test/tui/terminal.ts";
import { simulatedWorld, type SimulatedWorld } from "../../world/simulated/world.ts";
import { line, span } from "../text/line.ts";
import type { StyledLine } from "../text/style.ts";
import { type ColourDepth, colourDepthOf } from "./colour.ts";
import { handleTerminalEvents, suspendProcess } from "./terminal-events.ts";
import { enterModes, leaveModes, reflowsLines } from "./modes.ts";
import { createSgrEncoder } from "./sgr.ts";
import { type LiveView, Screen } from "./screen.ts";
import { LinePrinter } from "./line-printer.ts";
import { dark, light, themeFor } from "./theme.ts";
import { fc, runsPerTier } from "../../../test/support/fast-check.ts";

const plainPaint = createSgrEncoder({ theme: dark, depth: "none" });

type Stage = {
  readonly terminal: TestTerminal;
  readonly screen: Screen;
  readonly world: SimulatedWorld;
  /** Sets the live part; it is drawn when this returns. */
  readonly show: (lines: readonly (string | StyledLine)[], cursor?: LiveView["cursor"]) => Promise<void>;
  readonly print: (...lines: readonly string[]) => Promise<void>;
};

const stage = (size = { columns: 20, rows: 6 }, isStreaming = false): Stage => {
  const terminal = testTerminal(size);
  const world = simulatedWorld();
  let live: LiveView = { lines: [] };
  const screen = new Screen({ terminal, clock: world.clock, sgr: plainPaint, live: () => live });
  return {
    terminal,
    screen,
    world,
    show: async (lines, cursor) => {
      live = { lines: lines.map((each) => (typeof each === "string" ? line(each) : each)), cursor, isStreaming };
      screen.update();
      await world.run(screen.flush());
    },
    print: async (...lines) => {
      screen.print(lines.map((each) => line(each)));
      await world.run(screen.flush());
    },
  };
};

/** The bytes of one change. */
const costOf = async ({ terminal }: Stage, change: () => Promise<void>): Promise<number> => {
  const before = terminal.written().length;
  await change();
  return terminal.written().slice(before).join("").length;
};

describe("the screen", () => {
  it("writes no padding that would be copied: a background is erased to, other spaces are left out", async () => {
    const { terminal, screen, world } = stage({ columns: 10, rows: 6 });
    const before = terminal.written().length;
    screen.print([
      [span("a  "), span("       ")],
      [span("b", { background: "user" }), span("         ", { background: "user" })],
      [span("c ", { background: "added-strong" }), span("        ", { background: "added" })],
    ]);
    await world.run(screen.flush());
    const text = terminal.written().slice(before).join("");
    // oxlint-disable-next-line no-control-regex -- the sequences written to a terminal are what is tested.
    expect(text.replaceAll(/\u001b\[(?:\?\d+[hl]|m)/g, "").trimEnd()).toBe("\ra\r\nb\u001b[K\r\nc \u001b[K");
  });

  it.each([
    { name: "xterm", env: { TERM: "xterm-256color", XTERM_VERSION: "XTerm(390)" }, expected: false },
    { name: "GNU screen", env: { TERM: "screen", STY: "1.pts" }, expected: false },
    { name: "the Linux console", env: { TERM: "linux" }, expected: false },
    { name: "tmux", env: { TERM: "screen-256color", TMUX: "/tmp/t,1,0" }, expected: true },
    { name: "another", env: { TERM: "xterm-256color" }, expected: true },
  ])("knows whether $name wraps lines anew", ({ env, expected }) => {
    expect(reflowsLines(env)).toBe(expected);
  });

  it("erases no final line of a terminal that cuts lines when it gets narrower", async () => {
    const terminal = testTerminal({ columns: 20, rows: 8 }, { breaksAnew: false });
    const world = simulatedWorld();
    const live: LiveView = { lines: [line("─".repeat(20)), line("> ")], cursor: { row: 1, column: 2 } };
    const screen = new Screen({ terminal, clock: world.clock, sgr: plainPaint, reflows: false, live: () => live });
    screen.print([line("one"), line("two")]);
    await world.run(screen.flush());
    for (const columns of [15, 9]) {
      terminal.resize({ columns, rows: 8 });
      screen.update();
      await world.run(screen.flush());
    }
    expect(terminal.screen.rows().slice(0, 2)).toEqual(["one", "two"]);
  });

  it("prints final lines once, above the live part", async () => {
    const { terminal, show, print } = stage();
    await show(["> type", "status"], { row: 0, column: 6 });
    await print("one", "two");
    await show(["> typed", "other"], { row: 0, column: 7 });
    expect([terminal.screen.rows(), terminal.screen.cursor()]).toEqual([
      ["one", "two", "> typed", "other"],
      { row: 2, column: 7 },
    ]);
    await print(...Array.from({ length: 20 }, (_, at) => `line ${at}`));
    expect(terminal.screen.scrollback()).toEqual([
      "one",
      "two",
      ...Array.from({ length: 20 }, (_, at) => `line ${at}`),
      "> typed",
      "other",
    ]);
    expect(terminal.screen.cursor()).toEqual({ row: 4, column: 7 });
  });

  it("grows and shrinks the live part", async () => {
    const { terminal, show } = stage();
    await show(["a", "b", "c"]);
    await show(["a"]);
    expect(terminal.screen.rows()).toEqual(["a"]);
    await show(["a", "x", "y", "z"]);
    expect(terminal.screen.rows()).toEqual(["a", "x", "y", "z"]);
    await show([]);
    expect([terminal.screen.rows(), terminal.screen.cursor()]).toEqual([[], { row: 0, column: 0 }]);
  });

  it("shows the end of a live part taller than the screen", async () => {
    const { terminal, show } = stage({ columns: 20, rows: 3 });
    await show(["a", "b", "c", "d", "e"], { row: 4, column: 1 });
    expect([terminal.screen.rows(), terminal.screen.cursor()]).toEqual([["c", "d", "e"], { row: 2, column: 1 }]);
  });

  it("finalizes a live line by writing it once, and nothing twice", async () => {
    const all = stage();
    const done = line("a whole line of text");
    await all.show([done, "> "]);
    const cost = await costOf(all, async () => {
      all.screen.print([done]);
      await all.show(["> "]);
    });
    expect([cost, all.terminal.screen.rows()]).toEqual([55, ["a whole line of text", ">"]]);
  });

  it("loses no printed text in a terminal narrower than last reported, and erases none later", async () => {
    const text = fc.string({ unit: fc.constantFrom("a", "b", "c", "日", "é"), minLength: 1, maxLength: 30 });
    const step = fc.record({ printed: fc.array(text, { maxLength: 3 }), live: fc.array(text, { maxLength: 4 }) });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 8 }), fc.integer({ min: 5, max: 29 }), async (steps, columns) => {
        const { terminal, screen, show } = stage({ columns: 30, rows: 60 });
        terminal.screen.resize({ columns, rows: 60 });
        for (const { printed, live } of steps) {
          screen.print(printed.map((each) => line(each)));
          await show(live);
        }
        await show([]);
        expect(terminal.screen.scrollback().join("")).toBe(
          steps
            .flatMap(({ printed }) => printed)
            .map((each) => fitting(each, 30))
            .join(""),
        );
      }),
      { numRuns: runsPerTier(150) },
    );
  });

  it("erases no final line if a frame for the old width arrives in a narrower terminal", async () => {
    const { terminal, screen, world, show, print } = stage({ columns: 30, rows: 12 });
    handleTerminalEvents({ terminal, screen }, { input: () => undefined, quit: () => undefined });
    await show(["─".repeat(30), "> draft"], { row: 1, column: 7 });
    terminal.screen.resize({ columns: 10, rows: 12 });
    await print("one", "two", "three");
    terminal.resize({ columns: 10, rows: 12 });
    await world.run(screen.flush());
    expect(terminal.screen.scrollback().slice(-5)).toEqual(["one", "two", "three", "─".repeat(10), "> draft"]);
  });

  it("erases no final line if the terminal gets narrower and at once wide again", async () => {
    const { terminal, screen, world, show, print } = stage({ columns: 30, rows: 12 });
    handleTerminalEvents({ terminal, screen }, { input: () => undefined, quit: () => undefined });
    await print("one", "two", "three");
    await show(["─".repeat(30), "> draft"], { row: 1, column: 7 });
    terminal.resize({ columns: 10, rows: 12 });
    // Time enough to draw a frame, but not for the terminal to get it.
    for (let count = 0; count < 5; count++) await Promise.resolve();
    terminal.resize({ columns: 30, rows: 12 });
    await world.run(screen.flush());
    expect(terminal.screen.scrollback()).toEqual(["one", "two", "three", "─".repeat(30), "> draft"]);
  });

  it("keeps every final line whatever is drawn between a resize and its event", async () => {
    const text = fc.string({ unit: fc.constantFrom("a", "─", "日", "é"), minLength: 10, maxLength: 40 });
    const view = fc.record({ lines: fc.array(text, { maxLength: 5 }), row: fc.nat({ max: 4 }) });
    const step = fc.record({
      views: fc.array(view, { minLength: 1, maxLength: 2 }),
      columns: fc.integer({ min: 8, max: 40 }),
      printed: fc.nat({ max: 2 }),
      later: fc.array(view, { maxLength: 2 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 5 }), async (steps) => {
        const { terminal, screen, world, show, print } = stage({ columns: 30, rows: 80 });
        handleTerminalEvents({ terminal, screen }, { input: () => undefined, quit: () => undefined });
        const showAll = async (views: readonly { lines: string[]; row: number }[]): Promise<void> => {
          for (const { lines, row } of views) await show(lines, row < lines.length ? { row, column: 0 } : undefined);
        };
        const expected: string[] = [];
        const printNext = async (count: number): Promise<void> => {
          const lines = Array.from({ length: count }, (_, at) => `<${expected.length + at}>`);
          expected.push(...lines);
          await print(...lines);
        };
        await printNext(3);
        for (const { views, columns, printed, later } of steps) {
          await showAll(views);
          terminal.screen.resize({ columns, rows: 80 });
          await printNext(printed);
          await showAll(later);
          terminal.resize({ columns, rows: 80 });
          await world.run(screen.flush());
        }
        expect(terminal.screen.scrollback().filter((row) => row.startsWith("<"))).toEqual(expected);
      }),
      { numRuns: runsPerTier(200) },
    );
  });

  it.each(Array.from({ length: 12 }, (_, turns) => turns))(
    "draws a change that comes %i turns of the queue after the pause between two frames",
    async (turns) => {
      const terminal = testTerminal({ columns: 20, rows: 6 });
      const world = simulatedWorld();
      let live: LiveView = { lines: [line("before")] };
      let isFirst = true;
      const sleep: typeof world.clock.sleep = (ms, signal) => {
        const slept = world.clock.sleep(ms, signal);
        if (!isFirst) return slept;
        isFirst = false;
        let turn = slept;
        for (let count = 0; count < turns; count++) turn = turn.then(() => undefined);
        void turn.then(() => {
          live = { lines: [line("after")] };
          screen.update();
        });
        return slept;
      };
      const screen = new Screen({ terminal, clock: { ...world.clock, sleep }, sgr: plainPaint, live: () => live });
      await world.run(screen.flush());
      await world.run(screen.flush());
      expect(terminal.screen.rows()).toEqual(["after"]);
    },
  );

  it("keeps the hidden cursor at the start of the live part", async () => {
    const { terminal, show, print } = stage();
    await print("done");
    await show(["a", "b", "c"]);
    expect(terminal.screen.cursor()).toEqual({ row: 1, column: 0 });
    await show(["a", "b", "cd"]);
    expect([terminal.screen.cursor(), terminal.screen.rows()]).toEqual([
      { row: 1, column: 0 },
      ["done", "a", "b", "cd"],
    ]);
  });

  it("assumes no reflow while output is streaming", async () => {
    const terminal = testTerminal({ columns: 30, rows: 12 });
    const world = simulatedWorld();
    const live: LiveView = {
      lines: [line("x".repeat(30)), line("y".repeat(30)), line("> ")],
      cursor: { row: 2, column: 2 },
      isStreaming: true,
    };
    const screen = new Screen({ terminal, clock: world.clock, sgr: plainPaint, live: () => live });
    handleTerminalEvents({ terminal, screen }, { input: () => undefined, quit: () => undefined });
    // The frame arrives when the terminal is narrow already.
    terminal.screen.resize({ columns: 15, rows: 12 });
    screen.print(["one", "two", "three", "four"].map((each) => line(each)));
    await world.run(screen.flush());
    terminal.resize({ columns: 15, rows: 12 });
    await world.run(screen.flush());
    expect(terminal.screen.scrollback()).toEqual(["one", "two", "three", "four", "x".repeat(15), "y".repeat(15), ">"]);
  });

  it("writes at most twice the token and a constant", async () => {
    const all = stage({ columns: 80, rows: 24 }, true);
    const words = "The quick brown fox jumps over the lazy dog and runs away".split(" ");
    let text = "";
    const extra: number[] = [];
    for (const word of words) {
      text += `${word} `;
      const cost = await costOf(all, () => all.show([text.trimEnd(), "", "> ", "status"], { row: 2, column: 2 }));
      extra.push(cost - 2 * (word.length + 1));
    }
    expect(Math.max(...extra.slice(1))).toBeLessThanOrEqual(48);
  });

  it("writes only the changed part of a line", async () => {
    const all = stage({ columns: 60, rows: 5 });
    await all.show(["⠋ Thinking for a rather long time about it all"]);
    expect(await costOf(all, () => all.show(["⠙ Thinking for a rather long time about it all"]))).toBeLessThan(90);
    await all.show(["12 of 90 files read and understood"]);
    expect(await costOf(all, () => all.show(["13 of 90 files read and understood"]))).toBeLessThan(30);
    expect(all.terminal.screen.rows()).toEqual(["13 of 90 files read and understood"]);
  });

  it("writes nothing when nothing changed", async () => {
    const all = stage();
    await all.show(["a", "b"], { row: 1, column: 1 });
    expect(await costOf(all, () => all.show(["a", "b"], { row: 1, column: 1 }))).toBe(0);
  });

  it("writes every frame at once, synchronized, and never clears the scrollback", async () => {
    const all = stage();
    await all.show(["a"], { row: 0, column: 1 });
    await all.print("x");
    await all.show(["b", "c"]);
    const [first, ...frames] = all.terminal.written();
    expect(first).toBe(enterModes);
    expect(frames.filter((frame) => !(frame.startsWith("\u001b[?2026h") && frame.endsWith("\u001b[?2026l")))).toEqual(
      [],
    );
    expect(frames.join("")).not.toMatch(/\[[23]J|\[\?1049/);
  });

  it("is correct whatever is printed and shown", async () => {
    const text = fc.string({ unit: fc.constantFrom("a", "b", " ", "日", "é", "─", "x"), maxLength: 24 });
    const step = fc.record({
      printed: fc.array(text, { maxLength: 4 }),
      live: fc.array(text, { maxLength: 5 }),
      row: fc.nat(4),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const { terminal, screen, show } = stage();
        const printed: string[] = [];
        for (const { printed: next, live, row } of steps) {
          screen.print(next.map((each) => line(each)));
          printed.push(...next);
          await show(live, row < live.length ? { row, column: 0 } : undefined);
          const expected = [...printed, ...live].map((each) => fitting(each, 20));
          expect(terminal.screen.scrollback()).toEqual(
            expected.slice(0, expected.findLastIndex((each) => each !== "") + 1),
          );
          if (row < live.length) expect(terminal.screen.cursor().column).toBe(0);
        }
        expect(terminal.screen.effects()).toEqual([]);
      }),
      { numRuns: runsPerTier(150) },
    );
  });

  it("keeps columns aligned even if the terminal disagrees about a grapheme's width", async () => {
    const { terminal, show } = stage();
    await show(["👨\u200d👩\u200d👧 x"]);
    await show(["👨\u200d👩\u200d👧 y", "❤\ufe0f|"]);
    expect([terminal.screen.cell(0, 3).chars, terminal.screen.cell(1, 2).chars]).toEqual(["y", "|"]);
  });

  it("sanitizes all text, also text that was not sanitized before", async () => {
    const { terminal, show } = stage();
    await show([[{ text: "a\u001b]0;t\u0007b\u001b[2J\rc\u009b6n", style: {} }], "after"]);
    expect([terminal.screen.rows(), terminal.screen.effects(), terminal.screen.replies()]).toEqual([
      ["ab␍c", "after"],
      [],
      "",
    ]);
  });

  it("erases no final line of a terminal that became lower while a frame was being written", async () => {
    const { terminal, show, print, screen, world } = stage({ columns: 20, rows: 12 });
    handleTerminalEvents({ terminal, screen }, { input: () => undefined, quit: () => undefined });
    const final = Array.from({ length: 9 }, (_, at) => `final ${at}`);
    await print(...final);
    await show(["a", "b", "c", "status"]);
    // A terminal that becomes lower drops the rows below its cursor, which is hidden at the start of the live part.
    terminal.screen.resize({ columns: 20, rows: 9 });
    await show(["a", "b", "c", "changed"]);
    terminal.resize({ columns: 20, rows: 9 });
    await world.run(screen.flush());
    expect(terminal.screen.scrollback().filter((row) => row.startsWith("final"))).toEqual(final);
    expect(terminal.screen.rows().slice(-4)).toEqual(["a", "b", "c", "changed"]);
  });

  it("is redrawn on resize", async () => {
    const { terminal, show, print, screen, world } = stage({ columns: 30, rows: 8 });
    handleTerminalEvents({ terminal, screen }, { input: () => undefined, quit: () => undefined });
    await print("finished line", "another");
    await show(["live one that is rather long", "> input"], { row: 1, column: 7 });
    for (const size of [
      { columns: 16, rows: 8 },
      { columns: 50, rows: 8 },
      { columns: 30, rows: 5 },
    ]) {
      terminal.resize(size);
      await world.run(screen.flush());
      const live = ["live one that is rather long".slice(0, size.columns).trimEnd(), "> input"];
      expect(terminal.screen.scrollback()).toEqual(["finished line", "another", ...live]);
    }
  });

  it("waits until the terminal has taken the previous frame", async () => {
    const { terminal, screen, world, show } = stage();
    await show(["a"]);
    const before = terminal.written().length;
    for (let count = 0; count < 100; count++) screen.update();
    screen.print(Array.from({ length: 50 }, (_, at) => line(`${at}`)));
    await world.run(screen.flush());
    expect(terminal.written().length - before).toBe(1);
  });

  it("draws the effect of a key without waiting for the next frame, once for keys that arrive together", async () => {
    const terminal = testTerminal();
    const world = simulatedWorld();
    let typed = "";
    const screen = new Screen({
      terminal,
      clock: world.clock,
      sgr: plainPaint,
      live: () => ({ lines: [line(`${typed} at ${world.clock.elapsed()}`)] }),
    });
    // The first frame was drawn, and its interval is not over.
    await Promise.resolve();
    await terminal.screen.write("");
    const before = terminal.written().length;
    for (const letter of "abc") {
      typed += letter;
      screen.updateNow();
    }
    await world.run(screen.flush());
    expect([terminal.screen.rows(), terminal.written().length - before]).toEqual([["abc at 0"], 1]);
  });

  it("applies back pressure, and handles keys between frames", async () => {
    const { screen, world, terminal } = stage();
    screen.print(Array.from({ length: 5000 }, (_, at) => line(`${at}`)));
    const order: string[] = [];
    await world.run(
      (async () => {
        await screen.waitForDrain();
        order.push(`room after ${terminal.screen.scrollback().length}`);
        await screen.flush();
        order.push(`settled after ${terminal.screen.scrollback().length}`);
      })(),
    );
    expect(order).toEqual(["room after 3000", "settled after 5000"]);
  });
});

describe("the terminal", () => {
  it("is restored on close", async () => {
    const { terminal, screen, world, show } = stage();
    await show(["a", "b"], { row: 0, column: 0 });
    expect(terminal.isRaw()).toBe(true);
    await world.run(screen.close());
    expect([terminal.isRaw(), terminal.screen.rows(), terminal.screen.cursor(), terminal.exitSequence()]).toEqual([
      false,
      ["a", "b"],
      { row: 2, column: 0 },
      "",
    ]);
    expect(terminal.written().at(-1)).toContain(leaveModes);
  });

  it("is restored when the process ends by itself", async () => {
    const { terminal, show } = stage();
    await show(["a", "b"], { row: 0, column: 0 });
    await terminal.screen.write(`${terminal.exitSequence()}$ `);
    expect(terminal.screen.rows()).toEqual(["a", "b", "$"]);
  });

  it("is restored on suspend, and taken again below what was written meanwhile", async () => {
    const { terminal, screen, world, show } = stage();
    handleTerminalEvents({ terminal, screen }, { input: () => undefined, quit: () => undefined });
    await show(["> text"], { row: 0, column: 6 });
    await world.run(suspendProcess({ terminal, screen }));
    expect([terminal.stops(), terminal.isRaw(), terminal.exitSequence()]).toEqual([1, false, ""]);
    await terminal.screen.write("$ fg\r\n");
    await show(["> never seen"]);
    expect(terminal.screen.rows()).toEqual(["> text", "$ fg"]);
    await show(["> text"], { row: 0, column: 6 });
    terminal.emit({ type: "continue" });
    await world.run(screen.flush());
    expect([terminal.isRaw(), terminal.screen.rows(), terminal.screen.cursor()]).toEqual([
      true,
      ["> text", "$ fg", "> text"],
      { row: 2, column: 6 },
    ]);
  });

  it("stays without echo for a program that asks for a key", async () => {
    const { terminal, screen, world, show } = stage();
    await show(["> text"], { row: 0, column: 6 });
    await world.run(screen.suspend({ hidesInput: true }));
    expect([terminal.isRaw(), terminal.written().at(-1)?.includes(leaveModes)]).toEqual([true, true]);
    screen.resume();
    await world.run(screen.suspend());
    expect(terminal.isRaw()).toBe(false);
  });

  it("passes on keys and its end", () => {
    const { terminal, screen } = stage();
    const heard: unknown[] = [];
    const end = handleTerminalEvents(
      { terminal, screen },
      { input: (bytes) => heard.push(String.fromCharCode(...bytes)), quit: (reason) => heard.push(reason) },
    );
    terminal.emit({ type: "input", bytes: Uint8Array.of(97) });
    terminal.emit({ type: "hang-up" });
    terminal.emit({ type: "terminate" });
    end();
    terminal.emit({ type: "hang-up" });
    expect(heard).toEqual(["a", "hang-up", "terminate"]);
  });
});

describe("for screen readers", () => {
  it("prints final lines in order, as plain text", async () => {
    const terminal = testTerminal();
    const surface = new LinePrinter(terminal);
    surface.print([[span("bold", { bold: true }), span(" text", { tone: "error" })], line("two\u001b[31m")]);
    surface.update();
    surface.print([line("three")]);
    await surface.close();
    expect(terminal.written().join("")).toBe("bold text\ntwo\nthree\n");
  });
});

describe("colours", () => {
  it.each<readonly [Readonly<Record<string, string>>, ColourDepth]>([
    [{ TERM: "xterm-256color" }, "indexed"],
    [{ TERM: "xterm-256color", COLORTERM: "truecolor" }, "true"],
    [{ TERM: "xterm-kitty" }, "true"],
    [{ TERM: "xterm" }, "sixteen"],
    [{ TERM: "dumb" }, "none"],
    [{ TERM: "xterm-256color", COLORTERM: "truecolor", NO_COLOR: "1" }, "none"],
    [{ TERM: "xterm", NO_COLOR: "" }, "sixteen"],
    [{ TERM: "dumb", FORCE_COLOR: "3" }, "true"],
    [{ TERM: "xterm-256color", FORCE_COLOR: "0" }, "none"],
  ])("of %j are %s", (env, depth) => {
    expect(colourDepthOf(env)).toBe(depth);
  });

  it("are encoded for the terminal's depth", () => {
    const style = { tone: "error", background: "added", bold: true } as const;
    const depths = ["none", "sixteen", "indexed", "true"] as const;
    expect(depths.map((depth) => createSgrEncoder({ theme: dark, depth }).codes(style))).toEqual([
      "\u001b[0;1m",
      "\u001b[0;1;91;40m",
      "\u001b[0;1;38;5;210;48;5;235m",
      "\u001b[0;1;38;2;255;123;133;48;2;18;48;31m",
    ]);
    expect(createSgrEncoder({ theme: dark, depth: "none" }).codes({ background: "focus" })).toBe("\u001b[0;7m");
    expect(createSgrEncoder({ theme: dark, depth: "true" }).codes({})).toBe("\u001b[m");
  });

  it("suit the background", () => {
    expect([
      themeFor({}, 0xffffff),
      themeFor({}, 0x101010),
      themeFor({ COLORFGBG: "0;15" }),
      themeFor({ COLORFGBG: "15;0" }),
      themeFor({}),
    ]).toEqual([light, dark, light, dark, dark]);
  });

  it("include links only if enabled, and only to the web and to files", () => {
    const style = { link: "https://a.test" } as const;
    expect(
      [false, true].map((links) => createSgrEncoder({ theme: dark, depth: "none", links }).link(style.link)),
    ).toEqual(["", "\u001b]8;;https://a.test\u001b\\"]);
    expect(
      ["javascript:x", "https://a.test/\u001b\\", "file:///x y"].map((target) =>
        createSgrEncoder({ theme: dark, depth: "none", links: true }).link(target),
      ),
    ).toEqual(Array.from({ length: 3 }, () => "\u001b]8;;\u001b\\"));
  });
});

/** The visible part of a text. */
const fitting = (text: string, width: number): string => {
  let columns = 0;
  let shown = "";
  for (const letter of text) {
    columns += letter === "日" ? 2 : 1;
    if (columns > width) break;
    shown += letter;
  }
  return shown.trimEnd();
};
