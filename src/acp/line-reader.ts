/** The longest line that is read: a prompt may hold images. */
export const maxLineBytes: number = 64 * 1024 * 1024;

/** Splits chunks of bytes into lines. A line that is too long is skipped, and reported once. */
export class LineReader {
  readonly #onLine: (line: string) => void;
  readonly #onTooLong: () => void;
  readonly #limit: number;
  #chunks: Uint8Array[] = [];
  #length = 0;
  #isSkipping = false;

  constructor({
    onLine,
    onTooLong,
    limit = maxLineBytes,
  }: {
    readonly onLine: (line: string) => void;
    readonly onTooLong: () => void;
    readonly limit?: number;
  }) {
    this.#onLine = onLine;
    this.#onTooLong = onTooLong;
    this.#limit = limit;
  }

  add(bytes: Uint8Array): void {
    let from = 0;
    for (let end = bytes.indexOf(newline); end !== -1; end = bytes.indexOf(newline, from)) {
      this.#append(bytes.subarray(from, end));
      this.#endLine();
      from = end + 1;
    }
    this.#append(bytes.subarray(from));
  }

  /** Reads what follows the last newline. */
  end(): void {
    this.#endLine();
  }

  #append(bytes: Uint8Array): void {
    if (this.#isSkipping || bytes.length === 0) return;
    this.#length += bytes.length;
    if (this.#length <= this.#limit) return void this.#chunks.push(bytes);
    this.#isSkipping = true;
    this.#chunks = [];
    this.#onTooLong();
  }

  #endLine(): void {
    const line = this.#isSkipping ? "" : Buffer.concat(this.#chunks).toString("utf8").trim();
    this.#chunks = [];
    this.#length = 0;
    this.#isSkipping = false;
    if (line !== "") this.#onLine(line);
  }
}

const newline = 0x0a;
