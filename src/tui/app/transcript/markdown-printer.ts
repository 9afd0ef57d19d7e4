import type { Highlighter } from "../../markdown/highlight.ts";
import { loadLexer, MarkdownStream, type Lexer, type MarkdownOptions } from "../../markdown/stream.ts";
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
    await this.load();
    const stream = new MarkdownStream(this.options, this.#frontEnd.width());
    stream.write(markdown);
    stream.end();
    await stream.settled();
    this.#frontEnd.print([...stream.takeFinal(), []]);
  }
}
