import type { Token } from "marked";
import { TerminalSanitizer } from "../../policy/terminal/sanitize.ts";
import { toLines } from "../text/line.ts";
import type { StyledLine } from "../text/style.ts";
import { wrap } from "../text/wrap.ts";
import { type MarkdownBlock, endBlocks, isInTable, initialParser, parseLine, type BlockParser } from "./blocks.ts";
import { CodeLines } from "./code-block.ts";
import type { Highlighter } from "./highlight.ts";
import { languagesIn, renderTokens, type MarkdownRenderOptions } from "./render.ts";

/** Options of a Markdown stream. */
export type MarkdownOptions = {
  readonly lexer: Lexer;
  readonly highlighter: Highlighter;
  /** Called when a block that waited for a language has become final. */
  readonly onReady?: () => void;
};

type OpenLinesCache = {
  readonly parser: BlockParser;
  readonly partial: string;
  readonly width: number;
  readonly lines: readonly StyledLine[];
};

/** Tokenizes a complete block. */
export type Lexer = (text: string) => readonly Token[];

/** Loads the Markdown lexer. */
export const loadLexer = async (): Promise<Lexer> => {
  const { lexer } = await import("marked");
  return (text) => lexer(text);
};

/** The longest line that is buffered; a longer one is broken, so that the work per character stays constant. */
const maxLineLength = 4000;

/** Renders Markdown while it streams. Lines are final as soon as nothing can change them; only the open block is rendered again. */
export class MarkdownStream {
  readonly #options: MarkdownOptions;
  readonly #sanitizer = new TerminalSanitizer();
  #partial = "";
  #parser: BlockParser = initialParser;
  #code: CodeLines | undefined;
  #pendingBlocks: MarkdownBlock[] = [];
  #loading: Promise<void> | undefined;
  #final: StyledLine[] = [];
  #isEmpty = true;
  /** The number of the last item of a list that may continue. */
  #ordinal: number | undefined;
  #width: number;
  /** Cached open lines, valid until something changes. */
  #openCache: OpenLinesCache | undefined;

  constructor(options: MarkdownOptions, width: number) {
    this.#options = options;
    this.#width = width;
  }

  /** Sets the width of lines that become final from now on. */
  resize(width: number): void {
    this.#width = width;
  }

  write(text: string): void {
    this.#read(this.#sanitizer.write(text));
  }

  /** Ends the input. */
  end(): void {
    this.#read(this.#sanitizer.end());
    if (this.#partial !== "") this.#readLine(this.#partial);
    this.#partial = "";
    this.#pendingBlocks.push(...endBlocks(this.#parser));
    this.#parser = initialParser;
    this.#finalizeBlocks();
  }

  /** Returns the lines that became final since the last call. */
  takeFinal(): readonly StyledLine[] {
    return this.#final.splice(0);
  }

  /** Returns the lines that may still change. */
  openLines(): readonly StyledLine[] {
    const isSame = this.#openCache?.parser === this.#parser && this.#openCache.width === this.#width;
    const partial = isInTable(this.#parser) && this.#partial.includes("|") ? "" : this.#partial;
    if (isSame && this.#openCache?.partial === partial && this.#code === undefined && this.#pendingBlocks.length === 0)
      return this.#openCache.lines;
    const lines = this.#openLines(partial);
    this.#openCache = { parser: this.#parser, partial, width: this.#width, lines };
    return lines;
  }

  #openLines(partial: string): readonly StyledLine[] {
    const [parser, more] = partial === "" ? [this.#parser, []] : parseLine(this.#parser, partial);
    const blocks = [...this.#pendingBlocks, ...more, ...(parser.kind === "fence" ? [] : endBlocks(parser))];
    const after = blocks.findIndex(({ type }) => type !== "code");
    const code = blocks.slice(0, after === -1 ? blocks.length : after);
    const next = code.flatMap((block) => (block.type === "code" ? block.lines : []));
    const lines: StyledLine[] = [...(this.#code?.open(next, this.#rendering()) ?? [])];
    let ordinal = this.#ordinal;
    for (const block of blocks.slice(code.length)) {
      const rendered = this.#render(block, this.#tokens(block), ordinal);
      lines.push(...this.#blankLines(block, lines.length > 0), ...rendered.lines);
      ordinal = rendered.ordinal;
    }
    return lines;
  }

  /** Resolves once no block waits for a language. */
  async settled(): Promise<void> {
    while (this.#loading !== undefined) await this.#loading;
  }

  #rendering(): MarkdownRenderOptions {
    return { width: this.#width, highlighter: this.#options.highlighter };
  }

  #read(text: string): void {
    let rest = this.#partial + text;
    for (;;) {
      const end = rest.slice(0, maxLineLength).indexOf("\n");
      if (end === -1 && rest.length < maxLineLength) break;
      const place = end === -1 ? breakPosition(rest) : end;
      this.#readLine(rest.slice(0, place));
      rest = rest.slice(end === -1 ? place : place + 1);
    }
    this.#partial = rest;
  }

  #readLine(line: string): void {
    const [parser, blocks] = parseLine(this.#parser, line);
    this.#parser = parser;
    this.#pendingBlocks.push(...blocks);
    this.#finalizeBlocks();
  }

  /** Finalizes blocks in order. A block that waits for a language holds up those after it. */
  #finalizeBlocks(): void {
    if (this.#loading !== undefined) return;
    for (let block = this.#pendingBlocks[0]; block !== undefined; block = this.#pendingBlocks[0]) {
      const tokens = this.#tokens(block);
      const missing = this.#missingLanguages(block, tokens);
      if (missing.length > 0) return this.#load(missing);
      this.#pendingBlocks.shift();
      this.#final.push(...this.#blankLines(block, false), ...this.#finalizeBlock(block, tokens));
    }
  }

  #load(languages: readonly string[]): void {
    const { highlighter, onReady } = this.#options;
    this.#loading = Promise.all(languages.map((language) => highlighter.load(language))).then(() => {
      this.#loading = undefined;
      this.#finalizeBlocks();
      onReady?.();
    });
  }

  #missingLanguages(block: MarkdownBlock, tokens: readonly Token[]): readonly string[] {
    const languages = block.type === "code-start" ? [block.language] : languagesIn(tokens);
    return languages.filter((language) => this.#options.highlighter.state(language) === "loading");
  }

  #finalizeBlock(block: MarkdownBlock, tokens: readonly Token[]): readonly StyledLine[] {
    this.#isEmpty = false;
    switch (block.type) {
      case "code-start":
        this.#code = new CodeLines(block.language);
        this.#ordinal = undefined;
        return [];
      case "code":
        return this.#code?.add(block.lines, this.#rendering()) ?? [];
      case "code-end": {
        const rest = this.#code?.end(this.#rendering()) ?? [];
        this.#code = undefined;
        return rest;
      }
      case "text":
      case "item": {
        const { lines, ordinal } = this.#render(block, tokens, this.#ordinal);
        this.#ordinal = ordinal;
        return lines;
      }
    }
  }

  #blankLines(block: MarkdownBlock, isBelow: boolean): readonly StyledLine[] {
    if (block.type === "code" || block.type === "code-end" || !block.hasBlankBefore) return [];
    return this.#isEmpty && !isBelow ? [] : [[]];
  }

  #tokens(block: MarkdownBlock): readonly Token[] {
    if (block.type !== "text" && block.type !== "item") return [];
    if (isTooDeep.test(block.text)) return [];
    try {
      return this.#options.lexer(block.text);
    } catch {
      // Text that crashes the lexer is shown as it is.
      return [];
    }
  }

  #render(
    block: MarkdownBlock,
    tokens: readonly Token[],
    before: number | undefined,
  ): { lines: readonly StyledLine[]; ordinal: number | undefined } {
    if (block.type === "code") return { lines: new CodeLines("").add(block.lines, this.#rendering()), ordinal: before };
    if (block.type !== "text" && block.type !== "item") return { lines: [], ordinal: undefined };
    const [numbered, ordinal] = block.type === "item" ? renumberList(tokens, before) : [tokens, undefined];
    try {
      if (numbered.length > 0) return { lines: renderTokens(numbered, this.#rendering()), ordinal };
    } catch {
      // As above.
    }
    return { lines: toLines(block.text).flatMap((line) => wrap(line, { width: this.#width })), ordinal };
  }
}

/** Continues the numbering of a list across items. */
const renumberList = (
  tokens: readonly Token[],
  before: number | undefined,
): readonly [readonly Token[], number | undefined] => {
  const [first, ...rest] = tokens;
  if (first?.type !== "list" || first["ordered"] !== true) return [tokens, undefined];
  const ordinal = before === undefined ? Number(first["start"]) : before + 1;
  return [[{ ...first, start: ordinal } as Token, ...rest], ordinal];
};

/** More nested quotes and lists on one line than people write: lexing them takes quadratic time. */
const isTooDeep = /^(?:[ \t]*(?:>|[-*+]|\d{1,9}[.)])){24}/m;

/** Where an overlong line is broken: after its last space, else anywhere but inside a surrogate pair. */
const breakPosition = (text: string): number => {
  const space = text.lastIndexOf(" ", maxLineLength - 1);
  if (space > maxLineLength / 2) return space + 1;
  const code = text.charCodeAt(maxLineLength - 2);
  return code >= 0xd800 && code <= 0xdbff ? maxLineLength - 2 : maxLineLength - 1;
};
