import type { Terminal } from "../../world/terminal.ts";
import { lineText, sanitizeLine } from "../text/line.ts";
import type { StyledLine } from "../text/style.ts";
import type { PrintSurface } from "./screen.ts";

/** Prints final lines as plain text, for screen readers and dumb terminals: nothing is redrawn, and the terminal keeps its own line editing. */
export class LinePrinter implements PrintSurface {
  readonly #terminal: Pick<Terminal, "write">;
  #written: Promise<void> = Promise.resolve();

  constructor(terminal: Pick<Terminal, "write">) {
    this.#terminal = terminal;
  }

  print(lines: readonly StyledLine[]): void {
    const text = lines.map((line) => `${withoutDrawing(sanitizeLine(lineText(line)))}\n`).join("");
    const before = this.#written;
    this.#written = (async () => {
      await before;
      await this.#terminal.write(text);
    })();
  }

  update(): void {}

  waitForDrain(): Promise<void> {
    return this.#written;
  }

  flush(): Promise<void> {
    return this.#written;
  }

  close(): Promise<void> {
    return this.#written;
  }
}

/** Without padding, and with rules shortened: a screen reader reads every character of them. */
const withoutDrawing = (text: string): string => text.replaceAll(/─{4,}/g, "---").trimEnd();
