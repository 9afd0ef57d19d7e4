import { basename } from "node:path";
import { sanitizeLine } from "../text/line.ts";
import type { StyledLine } from "../text/style.ts";
import { isTooLong, type Highlighter } from "./highlight.ts";

/** Colours lines of one file: the same lines as spans, or undefined if they have no colours now. */
export type ColourLines = (lines: readonly string[]) => readonly StyledLine[] | undefined;

/** Pieces of code whose colours are kept: a question is drawn many times. */
const maxCached = 32;

/** The colours of code outside Markdown, by the name of its file. */
export class CodeColours {
  readonly #highlighter: Highlighter;
  readonly #cache = new Map<string, readonly StyledLine[]>();

  constructor(highlighter: Highlighter) {
    this.#highlighter = highlighter;
  }

  /** Loads the language of a file; undefined if it has none or is loaded. */
  load(path: string): Promise<void> | undefined {
    const language = languageOf(path);
    return this.#highlighter.state(language) === "loading" ? this.#highlighter.load(language) : undefined;
  }

  /** The colours of a file's lines. */
  of(path: string): ColourLines {
    const language = languageOf(path);
    return (lines) => {
      if (this.#highlighter.state(language) !== "ready") return undefined;
      const code = lines.map(sanitizeLine).join("\n");
      return isTooLong(code) ? undefined : this.#highlight(code, language);
    };
  }

  #highlight(code: string, language: string): readonly StyledLine[] {
    const key = `${language}\n${code}`;
    const cached = this.#cache.get(key);
    if (cached !== undefined) return cached;
    const { lines } = this.#highlighter.highlight(code, language);
    if (this.#cache.size >= maxCached) this.#cache.clear();
    this.#cache.set(key, lines);
    return lines;
  }
}

/** The language of a file by its ending, or by its name if it has none: `Makefile`. */
const languageOf = (path: string): string => {
  const name = basename(path);
  return name.slice(name.lastIndexOf(".") + 1);
};
