import type { Highlighter } from "../markdown/highlight.ts";
import { loadLexer, MarkdownStream, type Lexer, type MarkdownOptions } from "../markdown/stream.ts";
import type { Front } from "./front.ts";

/** Markdown for a front. What reads it is loaded when it is first asked for. */
export class Markdown {
  readonly options: MarkdownOptions;
  readonly #front: Front;
  #loading: Promise<void> | undefined;
  #lexer: Lexer = (text) => [{ type: "text", raw: text, text }];

  constructor(front: Front, highlighter: Highlighter, onReady: () => void) {
    this.#front = front;
    this.options = { lexer: (text) => this.#lexer(text), highlighter, onReady };
  }

  /** Resolves once Markdown can be read. */
  ready(): Promise<void> {
    this.#loading ??= loadLexer().then((lexer) => void (this.#lexer = lexer));
    return this.#loading;
  }

  /** Prints a whole text. */
  async show(markdown: string): Promise<void> {
    await this.ready();
    const stream = new MarkdownStream(this.options, this.#front.width());
    stream.write(markdown);
    stream.end();
    await stream.settled();
    this.#front.print([...stream.take(), []]);
  }
}
