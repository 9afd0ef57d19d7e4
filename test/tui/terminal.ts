import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { spawn } from "@lydell/node-pty";
import xterm, { type IBufferCell, type IBufferLine } from "@xterm/headless";
import { build } from "esbuild";
import type { Terminal, TerminalEvent, TerminalSize } from "../../src/world/terminal.ts";

/** A terminal emulator whose cells can be read. */
export type Emulator = {
  /** The visible rows, without trailing spaces and empty rows at the bottom. */
  readonly rows: () => readonly string[];
  /** All lines ever written, scrollback included. */
  readonly scrollback: () => readonly string[];
  readonly cursor: () => { readonly row: number; readonly column: number };
  /** Whether a synchronized update has begun and not ended: people never see this state. */
  readonly isInFrame: () => boolean;
  /** Effects besides text: titles, clipboards, bells, modes left on. */
  readonly effects: () => readonly string[];
  /** Bytes the terminal sent by itself. */
  readonly replies: () => string;
  readonly write: (text: string | Uint8Array) => Promise<void>;
  readonly resize: (size: TerminalSize) => void;
  /** The visible rows with the style of every run of cells before it, for golden files: `[bold #79b8ff on #2b313a]`. */
  readonly styledRows: () => readonly string[];
  /** The visible rows as runs of cells with one style, for pictures. */
  readonly runs: () => readonly (readonly CellRun[])[];
  /** One cell, for its style. */
  readonly cell: (
    row: number,
    column: number,
  ) => { readonly chars: string; readonly isBold: boolean; readonly colour: number };
};

/** Neighbouring cells with one style, in the words of `styledRows`. */
export type CellRun = { readonly text: string; readonly style: string; readonly column: number };

/** Creates an emulator. `answer` gets its replies; one that does not reflow truncates lines on resize. */
export const emulator = (
  size: TerminalSize,
  answer: (text: string) => void = () => undefined,
  { breaksAnew = true }: { readonly breaksAnew?: boolean } = {},
): Emulator => {
  const terminal = new xterm.Terminal({
    cols: size.columns,
    rows: size.rows,
    scrollback: 200_000,
    allowProposedApi: true,
    // On a busy machine it would warn about its own slowness.
    logLevel: "off",
    // For older Windows, the emulator does not reflow lines.
    ...(breaksAnew ? {} : { windowsPty: { backend: "conpty", buildNumber: 1 } }),
  });
  const effects: string[] = [];
  let replies = "";
  terminal.onTitleChange((title) => effects.push(`title ${title}`));
  terminal.onBell(() => effects.push("bell"));
  for (const code of [4, 7, 8, 9, 10, 11, 52, 777, 1337])
    terminal.parser.registerOscHandler(code, (data) => {
      effects.push(`osc ${code} ${data}`);
      return false;
    });
  terminal.onData((data) => {
    replies += data;
    answer(data);
  });
  const buffer = () => terminal.buffer.active;
  const textOf = (from: number, to: number): readonly string[] => {
    const lines = Array.from(
      { length: to - from },
      (_, at) =>
        buffer()
          .getLine(from + at)
          ?.translateToString(true)
          .trimEnd() ?? "",
    );
    return lines.slice(0, lines.findLastIndex((line) => line !== "") + 1);
  };
  return {
    rows: () => textOf(buffer().baseY, buffer().baseY + terminal.rows),
    scrollback: () => textOf(0, buffer().length),
    cursor: () => ({ row: buffer().cursorY, column: buffer().cursorX }),
    isInFrame: () => terminal.modes.synchronizedOutputMode,
    effects: () => [
      ...effects,
      ...(buffer().type === "alternate" ? ["alternate screen"] : []),
      ...(terminal.modes.mouseTrackingMode === "none" ? [] : ["mouse"]),
    ],
    replies: () => replies,
    write: (text) => new Promise((resolve) => terminal.write(text, resolve)),
    resize: ({ columns, rows }) => terminal.resize(columns, rows),
    styledRows: () => {
      const lines = Array.from({ length: terminal.rows }, (_, row) =>
        styledText(buffer().getLine(buffer().baseY + row)),
      );
      return lines.slice(0, lines.findLastIndex((each) => each !== "") + 1);
    },
    runs: () => Array.from({ length: terminal.rows }, (_, row) => cellRuns(buffer().getLine(buffer().baseY + row))),
    cell: (row, column) => {
      const cell = buffer()
        .getLine(buffer().baseY + row)
        ?.getCell(column);
      return { chars: cell?.getChars() ?? "", isBold: (cell?.isBold() ?? 0) !== 0, colour: cell?.getFgColor() ?? -1 };
    },
  };
};

/** The text of a row with the style of each run before it; spaces at the end without a background are left out. */
const styledText = (line: IBufferLine | undefined): string => {
  let [text, before, kept] = ["", "", 0];
  for (let column = 0; line !== undefined && column < line.length; column++) {
    const cell = line.getCell(column);
    if (cell === undefined || cell.getWidth() === 0) continue;
    const style = styleText(cell);
    // An erased cell has no characters; its background is part of the picture.
    const chars = cell.getChars() === "" ? (cell.isBgDefault() ? " " : "·") : cell.getChars();
    text += `${style === before ? "" : `[${style}]`}${chars}`;
    before = style;
    if (chars !== " ") kept = text.length;
  }
  return text.slice(0, kept).replaceAll(/·+$/g, (dots) => `·×${dots.length}`);
};

const cellRuns = (line: IBufferLine | undefined): readonly CellRun[] => {
  const runs: CellRun[] = [];
  for (let column = 0; line !== undefined && column < line.length; column++) {
    const cell = line.getCell(column);
    if (cell === undefined || cell.getWidth() === 0) continue;
    const style = styleText(cell);
    const chars = cell.getChars() === "" ? " " : cell.getChars();
    const last = runs.at(-1);
    if (last?.style === style) runs[runs.length - 1] = { ...last, text: last.text + chars };
    else runs.push({ text: chars, style, column });
  }
  return runs;
};

const styleText = (cell: IBufferCell): string =>
  [
    ...(cell.isBold() ? ["bold"] : []),
    ...(cell.isDim() ? ["dim"] : []),
    ...(cell.isItalic() ? ["italic"] : []),
    ...(cell.isUnderline() ? ["underline"] : []),
    ...(cell.isInverse() ? ["inverse"] : []),
    ...(cell.isFgDefault() ? [] : [colourText(cell.isFgRGB(), cell.getFgColor())]),
    ...(cell.isBgDefault() ? [] : [`on ${colourText(cell.isBgRGB(), cell.getBgColor())}`]),
  ].join(" ");

const colourText = (isRgb: boolean, colour: number): string =>
  isRgb ? `#${colour.toString(16).padStart(6, "0")}` : String(colour);

/** A terminal in this process, and all that was written to it. */
export type TestTerminal = Terminal & {
  readonly screen: Emulator;
  readonly written: () => readonly string[];
  readonly emit: (event: TerminalEvent) => void;
  readonly resize: (size: TerminalSize) => void;
  readonly isRaw: () => boolean;
  readonly stops: () => number;
  /** The sequence written if the process ended now. */
  readonly exitSequence: () => string;
};

/** Creates a terminal in this process. */
export const testTerminal = (
  start: TerminalSize = { columns: 40, rows: 10 },
  options: { readonly breaksAnew?: boolean } = {},
): TestTerminal => {
  let size = start;
  let isRaw = false;
  let stops = 0;
  let farewell: (() => string) | undefined;
  const written: string[] = [];
  const listeners = new Set<(event: TerminalEvent) => void>();
  const screen = emulator(size, undefined, options);
  const tell = (event: TerminalEvent): void => listeners.forEach((listener) => listener(event));
  return {
    size: () => size,
    write: async (text) => {
      written.push(text);
      await screen.write(text);
    },
    setRaw: (raw) => (isRaw = raw),
    listen: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    onExit: (next) => (farewell = next),
    suspend: () => (stops += 1),
    screen,
    written: () => written,
    emit: tell,
    resize: (next) => {
      size = next;
      screen.resize(next);
      tell({ type: "resize" });
    },
    isRaw: () => isRaw,
    stops: () => stops,
    exitSequence: () => farewell?.() ?? "",
  };
};

/** A program in a real pseudo-terminal. */
export type TerminalProcess = {
  readonly screen: Emulator;
  readonly type: (text: string) => void;
  readonly resize: (size: TerminalSize) => void;
  readonly kill: (signal: string) => void;
  /** Closes the terminal, as when its window is closed. */
  readonly close: () => void;
  readonly pid: number;
  /** Resolves once a complete frame satisfies a condition; fails with the rows if the program ends before. */
  readonly waitFor: (condition: (rows: readonly string[]) => boolean) => Promise<readonly string[]>;
  readonly ended: Promise<{ readonly code: number; readonly signal: number | undefined }>;
  /** Everything the program wrote. */
  readonly output: () => string;
};

/** Runs a built script in a pseudo-terminal, with only these environment variables. */
export const runInTerminal = (
  script: string,
  {
    size = { columns: 60, rows: 16 },
    args = [],
    node = [],
    isInShell = false,
    env = {},
    breaksAnew = true,
    tmux,
  }: {
    readonly size?: TerminalSize;
    readonly args?: readonly string[];
    /** Started by a shell, as people do. */
    readonly isInShell?: boolean;
    /** Options of Node itself. */
    readonly node?: readonly string[];
    readonly env?: Readonly<Record<string, string>>;
    /** Whether the terminal reflows lines on resize. */
    readonly breaksAnew?: boolean;
    /** A folder for the socket and the configuration of a tmux of its own, in which the script is run. */
    readonly tmux?: string;
  } = {},
): TerminalProcess => {
  const words = [...node, script, ...args];
  const [file, given] =
    tmux !== undefined
      ? ["tmux", [...tmuxArguments(tmux, [process.execPath, ...words])]]
      : isInShell
        ? ["bash", ["--norc", "--noprofile", "-i"]]
        : [process.execPath, words];
  const pty = spawn(file, given, {
    cols: size.columns,
    rows: size.rows,
    cwd: tmpdir(),
    env: { TERM: "xterm-256color", PATH: process.env["PATH"] ?? "", PS1: "$ ", ...env },
  });
  const screen = emulator(size, (text) => pty.write(text), { breaksAnew });
  if (isInShell) pty.write(`${[process.execPath, ...words].map((word) => `'${word}'`).join(" ")}\r`);
  let output = "";
  let hasEnded = false;
  let changed: (() => void)[] = [];
  const wake = (): void => {
    for (const resolve of changed.splice(0)) resolve();
  };
  pty.onData((data) => {
    output += data;
    void screen.write(data).then(wake);
  });
  const ended = new Promise<{ code: number; signal: number | undefined }>((resolve) =>
    pty.onExit(({ exitCode, signal }) => {
      hasEnded = true;
      void screen.write("").then(() => {
        wake();
        resolve({ code: exitCode, signal });
      });
    }),
  );
  return {
    screen,
    type: (text) => pty.write(text),
    resize: (next) => {
      screen.resize(next);
      pty.resize(next.columns, next.rows);
    },
    kill: (signal) => pty.kill(signal),
    // Closes the far end, as when a window is closed; missing in the type.
    close: () => (pty as unknown as { destroy: () => void }).destroy(),
    pid: pty.pid,
    waitFor: async (condition) => {
      for (;;) {
        const rows = screen.rows();
        if (!screen.isInFrame() && condition(rows)) return rows;
        if (hasEnded) throw new Error(`The program ended before that was seen:\n${rows.join("\n")}`);
        await new Promise<void>((resolve) => changed.push(resolve));
      }
    },
    ended,
    output: () => output,
  };
};

/** Runs a command in a tmux server of its own, which ends with it. Nothing of tmux itself is on the screen. */
const tmuxArguments = (folder: string, command: readonly string[]): readonly string[] => {
  const configuration = join(folder, "tmux.conf");
  writeFileSync(
    configuration,
    "set -g status off\nset -g escape-time 0\nset -g default-terminal tmux-256color\nset -ga terminal-features ',xterm-256color:RGB'\n",
  );
  return ["-u", "-S", join(folder, "tmux.sock"), "-f", configuration, "new-session", ...command];
};

/** Builds a script of this folder as the program is built; `remove` deletes it. */
export const buildScript = async (name: string): Promise<{ readonly path: string; readonly remove: () => void }> => {
  const folder = mkdtempSync(join(tmpdir(), "parley-tui-"));
  const path = join(folder, `${name}.mjs`);
  await build({
    entryPoints: [fileURLToPath(new URL(`scripts/${name}.ts`, import.meta.url))],
    bundle: true,
    platform: "node",
    format: "esm",
    outfile: path,
    logLevel: "error",
    banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
  });
  return { path, remove: () => rmSync(folder, { recursive: true }) };
};
