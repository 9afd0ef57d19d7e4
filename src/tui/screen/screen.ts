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

/** The live part of the screen. It is requested once per frame, so changes between two frames cost nothing. */
export type LiveView = {
  readonly lines: readonly StyledLine[];
  /** Position of the cursor; hidden without. */
  readonly cursor?: CellPosition | undefined;
  /** Whether output is streaming. */
  readonly isStreaming?: boolean;
  /** Called once these lines have been written to the terminal. */
  readonly onDrawn?: () => void;
};

/** Options of a screen. */
export type ScreenOptions = {
  readonly terminal: Terminal;
  readonly clock: Clock;
  readonly sgr: SgrEncoder;
  /** Whether the terminal wraps existing lines anew when it gets narrower (default: true). */
  readonly reflows?: boolean;
  /** Returns the live part for a width and height. */
  readonly live: (size: { readonly columns: number; readonly rows: number }) => LiveView;
};

/** A surface for output: final lines are printed, live ones redrawn. */
export interface PrintSurface {
  /** Prints final lines. */
  print(lines: readonly StyledLine[]): void;
  /** Marks the live part as changed. */
  update(): void;
  /** Resolves once the output queue has drained: producers of much output wait for it. */
  waitForDrain(): Promise<void>;
  /** Resolves once everything is drawn. */
  flush(): Promise<void>;
  /** Draws what is pending and restores the terminal. */
  close(): Promise<void>;
}

/** How the terminal is released. */
export type SuspendOptions = { readonly hidesInput?: boolean };

/** Milliseconds between two frames. */
const frameInterval = 16;

/** Milliseconds a narrower size must last before the screen is drawn for it. */
const resizeDelay = 100;

/** Final lines per frame, so that keys are handled between frames. */
const linesPerFrame = 500;

/** Queued final lines after which producers wait (back pressure). */
const maxQueuedLines = 2000;

/** Final lines go to the terminal's scrollback; the live part below is redrawn where it changed, at most once per frame. */
export class Screen implements PrintSurface {
  readonly #options: ScreenOptions;
  #sgr: SgrEncoder;
  #region: ScreenRegion;
  #queue: (StyledLine | EncodedImage)[] = [];
  #isChanged = false;
  #drawing: Promise<void> | undefined;
  #isSuspended = true;
  #drainListeners: (() => void)[] = [];
  #frameWait: AbortController | undefined;

  constructor(options: ScreenOptions) {
    this.#options = options;
    this.#sgr = options.sgr;
    this.#region = emptyRegion(options.terminal.size());
    this.resume();
  }

  print(lines: readonly StyledLine[]): void {
    for (const line of lines) this.#queue.push(line);
    this.update();
  }

  update(): void {
    this.#isChanged = true;
    if (!this.#isSuspended) this.#drawing ??= this.#drawAll();
  }

  /** Draws without waiting for the next frame, since the user pressed a key. */
  updateNow(): void {
    this.update();
    this.#frameWait?.abort();
  }

  /** Prints an image, in a frame of its own. An image taller than the screen is skipped. */
  printImage(image: EncodedImage): void {
    this.#queue.push(image);
    this.update();
  }

  /** Changes the colours. Printed lines keep theirs. */
  repaint(paint: SgrEncoder): void {
    this.#sgr = paint;
    this.#region = { ...this.#region, rows: this.#region.rows.map((row) => ({ ...row, cells: [], from: [] })) };
    this.update();
  }

  async waitForDrain(): Promise<void> {
    while (this.#queue.length > maxQueuedLines)
      await new Promise<void>((resolve) => this.#drainListeners.push(resolve));
  }

  async flush(): Promise<void> {
    while (this.#drawing !== undefined) await this.#drawing;
  }

  async close(): Promise<void> {
    await this.flush();
    await this.suspend();
    this.#options.terminal.onExit(undefined);
  }

  /** Releases the terminal for the shell or another program. With `hidesInput`, it echoes nothing until that program says so. */
  async suspend({ hidesInput = false }: SuspendOptions = {}): Promise<void> {
    await this.flush();
    if (this.#isSuspended) return;
    this.#isSuspended = true;
    const { terminal } = this.#options;
    await terminal.write(this.#exitSequence());
    if (!hidesInput) terminal.setRaw(false);
  }

  /** Takes the terminal again, below what was written meanwhile. */
  resume(): void {
    const { terminal } = this.#options;
    this.#isSuspended = false;
    this.#region = emptyRegion(terminal.size());
    terminal.onExit(() => (this.#isSuspended ? "" : this.#exitSequence()));
    // The other program may have changed a mode that was kept for it.
    terminal.setRaw(false);
    terminal.setRaw(true);
    void terminal.write(enterModes);
    this.update();
  }

  async #drawAll(): Promise<void> {
    // Printed lines and their removal from the live part belong into one frame.
    await Promise.resolve();
    try {
      while (this.#isChanged && !this.#isSuspended) await this.#drawFrame();
    } finally {
      // Together with the last look at `#isChanged`: a change a moment later starts anew.
      this.#drawing = undefined;
    }
  }

  async #drawFrame(): Promise<void> {
    const { terminal, clock } = this.#options;
    this.#isChanged = false;
    const pause = new AbortController();
    this.#frameWait = pause;
    await this.#awaitImage();
    const size = await this.#stableSize();
    const { lines, cursor, isStreaming, onDrawn } = this.#options.live(size);
    const next = this.#nextOutput({ columns: size.columns, rows: size.rows - lines.length });
    const { region, text } = renderFrame(
      this.#region,
      { ...next, live: lines, cursor, isStreaming, size, reflows: this.#options.reflows },
      this.#sgr,
    );
    this.#region = region;
    if (this.#queue.length > 0) this.#isChanged = true;
    if (text !== "") await terminal.write(text);
    onDrawn?.();
    for (const resolve of this.#drainListeners.splice(0)) resolve();
    await clock.sleep(this.#queue.length > 0 ? 0 : frameInterval, pause.signal).catch(() => undefined);
  }

  /**
   * The size of the terminal. One that gets narrower reflows the rows above the cursor; the frame that replaces them is
   * right for one width only, so it waits until the person has stopped resizing.
   */
  async #stableSize(): Promise<TerminalSize> {
    const { terminal, clock, reflows = true } = this.#options;
    const { at, size: before, hasCertainHeight } = this.#region;
    let size = terminal.size();
    if (!reflows || !hasCertainHeight || at.row === 0) return size;
    while (size.columns < before.columns) {
      await clock.sleep(resizeDelay);
      const next = terminal.size();
      if (next.columns === size.columns && next.rows === size.rows) return next;
      size = next;
    }
    return size;
  }

  /** Waits for the encoding of the next image. A failed one takes no rows. */
  async #awaitImage(): Promise<void> {
    const [first] = this.#queue;
    if (first === undefined || !("encoded" in first) || typeof first.encoded === "string") return;
    const encoded = await first.encoded;
    this.#queue.splice(0, 1, ...(encoded === undefined ? [] : [{ ...first, encoded }]));
  }

  /** The output of the next frame: one image, or the lines before the next image. */
  #nextOutput(room: TerminalSize): { readonly printed: readonly StyledLine[]; readonly image?: string } {
    const [first] = this.#queue;
    if (first !== undefined && "encoded" in first) {
      if (typeof first.encoded !== "string") return { printed: [] };
      this.#queue.shift();
      if (first.rows > room.rows) return { printed: [] };
      return { printed: Array.from({ length: first.rows }, () => []), image: first.encoded };
    }
    const printed: StyledLine[] = [];
    for (const each of this.#queue.slice(0, linesPerFrame)) {
      if ("encoded" in each) break;
      printed.push(each);
    }
    this.#queue.splice(0, printed.length);
    // The terminal may have become narrower since they were laid out.
    return { printed: printed.flatMap((each) => fitLine(each, room.columns)) };
  }

  /** Leaves the live lines as they are, with the cursor on a line of its own below. */
  #exitSequence(): string {
    const { rows, at } = this.#region;
    const below = rows.length - at.row;
    const down = below > 1 ? `\u001b[${below - 1}B` : "";
    this.#region = emptyRegion(this.#region.size);
    return `${leaveModes}${down}\r${rows.length > 0 ? "\n" : ""}`;
  }
}

/** A final line is never truncated but wrapped. */
const fitLine = (line: StyledLine, columns: number): readonly StyledLine[] =>
  lineWidth(line) <= columns ? [line] : wrap(line, { width: columns, breakAt: "characters" });
