import type { Terminal } from "../../world/terminal.ts";
import { lineText, oneLine } from "../text/line.ts";
import type { Line } from "../text/style.ts";
import type { Surface } from "./screen.ts";

/**
 * A surface for screen readers and terminals that can do nothing: finished lines as plain text, one after the other,
 * and nothing that is ever redrawn. The terminal keeps its own line editing.
 */
export class Sequential implements Surface {
  readonly #terminal: Pick<Terminal, "write">;
  #written: Promise<void> = Promise.resolve();

  constructor(terminal: Pick<Terminal, "write">) {
    this.#terminal = terminal;
  }

  print(lines: readonly Line[]): void {
    const text = lines.map((line) => `${oneLine(lineText(line))}\n`).join("");
    const before = this.#written;
    this.#written = (async () => {
      await before;
      await this.#terminal.write(text);
    })();
  }

  update(): void {}

  room(): Promise<void> {
    return this.#written;
  }

  settled(): Promise<void> {
    return this.#written;
  }

  close(): Promise<void> {
    return this.#written;
  }
}
