import type { Highlighter } from "../../markdown/highlight.ts";
import { loadLexer, MarkdownStream, type Lexer, type MarkdownOptions } from "../../markdown/stream.ts";
import type { StyledLine } from "../../text/style.ts";
import type { FrontEnd } from "../front-ends/front-end.ts";

/** Prints Markdown on a front end. The lexer is loaded on first use. */
export class MarkdownPrinter {
  readonly options: MarkdownOptions;
  readonly #frontEnd: FrontEnd;
  #loading: Promise<void> | undefined;
  #lexer: Lexer = (text) => [{ type: "text", raw: text, text }];

  constructor(front: FrontEnd, highlighter: Highlighter, onReady: () => void) {
    this.#frontEnd = front;
    this.options = { lexer: (text) => this.#lexer(text), highlighter, onReady };
  }

  /** Resolves once the lexer is loaded. */
  load(): Promise<void> {
    this.#loading ??= loadLexer().then((lexer) => void (this.#lexer = lexer));
    return this.#loading;
  }

  /** Prints a complete text. */
  async print(markdown: string): Promise<void> {
    this.#frontEnd.print([...(await this.render(markdown, this.#frontEnd.width())), []]);
  }

  /** Renders a complete text for a width. */
  async render(markdown: string, width: number): Promise<readonly StyledLine[]> {
    await this.load();
    const stream = new MarkdownStream(this.options, width);
    stream.write(markdown);
    stream.end();
    await stream.settled();
    return stream.takeFinal();
  }
}
