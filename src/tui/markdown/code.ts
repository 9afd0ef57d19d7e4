import { span } from "../text/line.ts";
import type { Line } from "../text/style.ts";
import { codeLine, type Rendering } from "./render.ts";

/** Lines that wait to be coloured together, at most. A comment longer than that loses its colour, and only that. */
const mostWaiting = 40;

/** The lines of a code block as they come: final as soon as their colours are sure. */
export class CodeLines {
  readonly #language: string;
  #waiting: string[] = [];

  constructor(language: string) {
    this.#language = language;
  }

  add(lines: readonly string[], rendering: Rendering): readonly Line[] {
    const final: Line[] = [];
    for (const line of lines) {
      this.#waiting.push(line);
      const { lines: coloured, isWhole } = this.#colour(rendering);
      if (!isWhole && this.#waiting.length < mostWaiting) continue;
      final.push(...coloured);
      this.#waiting = [];
    }
    return final;
  }

  end(rendering: Rendering): readonly Line[] {
    const rest = this.#waiting.length === 0 ? [] : this.#colour(rendering).lines;
    this.#waiting = [];
    return rest;
  }

  /** What waits, and what comes next, as it looks for now. */
  open(next: readonly string[], rendering: Rendering): readonly Line[] {
    const lines = [...this.#waiting, ...next];
    return lines.length === 0 ? [] : coloured(lines, this.#language, rendering).lines;
  }

  #colour(rendering: Rendering): { readonly lines: readonly Line[]; readonly isWhole: boolean } {
    return coloured(this.#waiting, this.#language, rendering);
  }
}

const coloured = (
  code: readonly string[],
  language: string,
  { highlighter, width }: Rendering,
): { readonly lines: readonly Line[]; readonly isWhole: boolean } => {
  const { lines, isWhole } =
    highlighter.state(language) === "ready"
      ? highlighter.colour(code.join("\n"), language)
      : { lines: code.map((each) => [span(each)]), isWhole: true };
  return { lines: lines.flatMap((line) => codeLine(line, width)), isWhole };
};
