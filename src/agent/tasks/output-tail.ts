/** The characters of output that are kept. */
const maxLength = 30_000;

/** The last output of a task, and how much of it was read. */
export class OutputTail {
  #text = "";
  /** The number of characters at the end that were not read. */
  #unread = 0;

  /** The output, or its end. */
  get text(): string {
    return this.#text;
  }

  add(text: string): void {
    const all = this.#text + text;
    this.#text = all.length <= maxLength ? all : all.slice(-maxLength).toWellFormed();
    this.#unread += text.length;
  }

  /** Returns what was added since the last time; says so if its beginning is lost. */
  takeNew(): string {
    const unread = this.#unread;
    this.#unread = 0;
    if (unread === 0) return "";
    const text = this.#text.slice(-Math.min(unread, this.#text.length)).trimEnd();
    return unread > this.#text.length ? `[${unread - this.#text.length} characters omitted]\n${text}` : text;
  }
}
