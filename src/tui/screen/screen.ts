import type { Terminal, TerminalSize } from "../../world/terminal.ts";
import type { Clock } from "../../world/world.ts";
import type { EncodedImage } from "../images/encode.ts";
import { lineWidth } from "../text/line.ts";
import type { StyledLine } from "../text/style.ts";
import { wrap } from "../text/wrap.ts";
import { emptyRegion, renderFrame, type ScreenRegion } from "./frame.ts";
import { enterModes, leaveModes } from "./modes.ts";
import type { SgrEncoder } from "./sgr.ts";
import type { CellPosition } from "./cursor-writer.ts";

/** What may change on the screen. It is asked for once per frame, so what changes between two frames costs nothing. */
export type LiveView = {
  readonly lines: readonly StyledLine[];
  /** Where the cursor is shown; hidden without. */
  readonly cursor?: CellPosition | undefined;
  /** Whether more is printed all the time. */
  readonly isStreaming?: boolean;
  /** Called once these lines have been written to the terminal. */
  readonly onDrawn?: () => void;
};

/** How a screen is made. */
export type ScreenOptions = {
  readonly terminal: Terminal;
  readonly clock: Clock;
  readonly sgr: SgrEncoder;
  /** What is live, for a width and a height. */
  readonly live: (size: { readonly columns: number; readonly rows: number }) => LiveView;
};

/** What shows lines: finished ones for good, live ones for now. */
export interface PrintSurface {
  /** Adds finished lines. */
  print(lines: readonly StyledLine[]): void;
  /** Says that what is live has changed. */
  update(): void;
  /** Resolves once nearly all that was printed is on its way: who produces much waits for it. */
  waitForDrain(): Promise<void>;
  /** Everything is drawn. */
  flush(): Promise<void>;
  /** Draws what is left and gives the terminal back. */
  close(): Promise<void>;
}

/** Milliseconds between two frames. */
const frameInterval = 16;

/** Finished lines in one frame, at most: between two frames, keys are heard. */
const linesPerFrame = 500;

/** Finished lines that may wait, at most, before their producer does. */
const maxQueuedLines = 2000;

/** Finished lines go to the terminal's own history; the live ones below them are redrawn where they changed, at most once per frame. */
export class Screen implements PrintSurface {
  readonly #options: ScreenOptions;
  #paint: SgrEncoder;
  #region: ScreenRegion;
  #waiting: (StyledLine | EncodedImage)[] = [];
  #isChanged = false;
  #drawing: Promise<void> | undefined;
  #isAway = true;
  #listeners: (() => void)[] = [];
  #pause: AbortController | undefined;

  constructor(options: ScreenOptions) {
    this.#options = options;
    this.#paint = options.sgr;
    this.#region = emptyRegion(options.terminal.size());
    this.resume();
  }

  print(lines: readonly StyledLine[]): void {
    for (const line of lines) this.#waiting.push(line);
    this.update();
  }

  update(): void {
    this.#isChanged = true;
    if (!this.#isAway) this.#drawing ??= this.#drawAll().finally(() => (this.#drawing = undefined));
  }

  /** Draws as soon as the terminal takes it: somebody has pressed a key and looks at what comes of it. */
  updateNow(): void {
    this.update();
    this.#pause?.abort();
  }

  /** Adds a picture, in a frame of its own. One that is too high for the screen now is left out. */
  printImage(picture: EncodedImage): void {
    this.#waiting.push(picture);
    this.update();
  }

  /** From now on in these colours. What is printed keeps its own. */
  repaint(paint: SgrEncoder): void {
    this.#paint = paint;
    this.#region = { ...this.#region, rows: this.#region.rows.map((row) => ({ ...row, cells: [], from: [] })) };
    this.update();
  }

  async waitForDrain(): Promise<void> {
    while (this.#waiting.length > maxQueuedLines) await new Promise<void>((resolve) => this.#listeners.push(resolve));
  }

  async flush(): Promise<void> {
    while (this.#drawing !== undefined) await this.#drawing;
  }

  async close(): Promise<void> {
    await this.flush();
    await this.suspend();
    this.#options.terminal.onExit(undefined);
  }

  /** Gives the terminal back for a while: to the shell, to another program. */
  async suspend(): Promise<void> {
    await this.flush();
    if (this.#isAway) return;
    this.#isAway = true;
    const { terminal } = this.#options;
    await terminal.write(this.#farewell());
    terminal.setRaw(false);
  }

  /** Takes the terminal again, below whatever was written meanwhile. */
  resume(): void {
    const { terminal } = this.#options;
    this.#isAway = false;
    this.#region = emptyRegion(terminal.size());
    terminal.onExit(() => (this.#isAway ? "" : this.#farewell()));
    terminal.setRaw(true);
    void terminal.write(enterModes);
    this.update();
  }

  async #drawAll(): Promise<void> {
    const { terminal, clock } = this.#options;
    // What is printed and what is no longer live belong into one frame.
    await Promise.resolve();
    while (this.#isChanged && !this.#isAway) {
      this.#isChanged = false;
      const pause = new AbortController();
      this.#pause = pause;
      await this.#makePicture();
      const size = terminal.size();
      const { lines, cursor, isStreaming: isFlowing, onDrawn } = this.#options.live(size);
      const next = this.#next({ columns: size.columns, rows: size.rows - lines.length });
      const { region, text } = renderFrame(
        this.#region,
        { ...next, live: lines, cursor, isStreaming: isFlowing, size },
        this.#paint,
      );
      this.#region = region;
      if (this.#waiting.length > 0) this.#isChanged = true;
      if (text !== "") await terminal.write(text);
      onDrawn?.();
      for (const resolve of this.#listeners.splice(0)) resolve();
      await clock.sleep(this.#waiting.length > 0 ? 0 : frameInterval, pause.signal).catch(() => undefined);
    }
  }

  /** Waits for a picture that comes next. One that turns out to be none takes no room. */
  async #makePicture(): Promise<void> {
    const [first] = this.#waiting;
    if (first === undefined || !("encoded" in first) || typeof first.encoded === "string") return;
    const encoded = await first.encoded;
    this.#waiting.splice(0, 1, ...(encoded === undefined ? [] : [{ ...first, encoded }]));
  }

  /** What is printed in the next frame: a picture alone, or the lines before the next one. */
  #next(room: TerminalSize): { readonly printed: readonly StyledLine[]; readonly picture?: string } {
    const [first] = this.#waiting;
    if (first !== undefined && "encoded" in first) {
      if (typeof first.encoded !== "string") return { printed: [] };
      this.#waiting.shift();
      if (first.rows > room.rows) return { printed: [] };
      return { printed: Array.from({ length: first.rows }, () => []), picture: first.encoded };
    }
    const printed: StyledLine[] = [];
    for (const each of this.#waiting.slice(0, linesPerFrame)) {
      if ("encoded" in each) break;
      printed.push(each);
    }
    this.#waiting.splice(0, printed.length);
    // The terminal may have become narrower since they were laid out.
    return { printed: printed.flatMap((each) => fitLine(each, room.columns)) };
  }

  /** Leaves the live lines as they are, and the cursor on a line of its own below them. */
  #farewell(): string {
    const { rows, at } = this.#region;
    const below = rows.length - at.row;
    const down = below > 1 ? `\u001b[${below - 1}B` : "";
    this.#region = emptyRegion(this.#region.size);
    return `${leaveModes}${down}\r${rows.length > 0 ? "\n" : ""}`;
  }
}

/** A finished line is never cut: what is too wide goes on below. */
const fitLine = (line: StyledLine, columns: number): readonly StyledLine[] =>
  lineWidth(line) <= columns ? [line] : wrap(line, { width: columns, breakAt: "letters" });
