import { span } from "../text/line.ts";
import type { StyledLine } from "../text/style.ts";
import { codeLine, type MarkdownRenderOptions } from "./render.ts";

/** Limit of lines that are highlighted together. A longer comment loses its colour, nothing else. */
const maxPendingLines = 40;

/** The lines of a code block while it streams: final as soon as their colours are certain. */
export class CodeLines {
  readonly #language: string;
  #pending: string[] = [];

  constructor(language: string) {
    this.#language = language;
  }

  add(lines: readonly string[], rendering: MarkdownRenderOptions): readonly StyledLine[] {
    const final: StyledLine[] = [];
    for (const line of lines) {
      this.#pending.push(line);
      const { lines: coloured, isWhole } = this.#highlight(rendering);
      if (!isWhole && this.#pending.length < maxPendingLines) continue;
      final.push(...coloured);
      this.#pending = [];
    }
    return final;
  }

  end(rendering: MarkdownRenderOptions): readonly StyledLine[] {
    const rest = this.#pending.length === 0 ? [] : this.#highlight(rendering).lines;
    this.#pending = [];
    return rest;
  }

  /** The pending lines and those after them, as they look now. */
  open(next: readonly string[], rendering: MarkdownRenderOptions): readonly StyledLine[] {
    const lines = [...this.#pending, ...next];
    return lines.length === 0 ? [] : highlightLines(lines, this.#language, rendering).lines;
  }

  #highlight(rendering: MarkdownRenderOptions): { readonly lines: readonly StyledLine[]; readonly isWhole: boolean } {
    return highlightLines(this.#pending, this.#language, rendering);
  }
}

const highlightLines = (
  code: readonly string[],
  language: string,
  { highlighter, width }: MarkdownRenderOptions,
): { readonly lines: readonly StyledLine[]; readonly isWhole: boolean } => {
  const { lines, isWhole } =
    highlighter.state(language) === "ready"
      ? highlighter.highlight(code.join("\n"), language)
      : { lines: code.map((each) => [span(each)]), isWhole: true };
  return { lines: lines.flatMap((line) => codeLine(line, width)), isWhole };
};
