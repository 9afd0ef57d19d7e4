/** How much of an output is held at either end, in bytes. */
const maxEndBytes = 2 ** 20;

/** How much of it tells whether anybody reads it. */
const sniffedBytes = 4096;

/** An output of any length in little memory: its beginning and its end. */
export class HeadAndTail {
  #head = Buffer.alloc(2 ** 12);
  #headLength = 0;
  /** The end, written round and round. */
  #ring: Buffer | undefined;
  #tailLength = 0;
  #isBinary = false;

  get length(): number {
    return this.#headLength + this.#tailLength;
  }

  /** How many bytes between both ends are not kept. */
  get droppedBytes(): number {
    return Math.max(0, this.#tailLength - maxEndBytes);
  }

  /** What stands between both ends in their text. */
  get gapNotice(): string {
    return this.droppedBytes === 0 ? "" : `\n\n[${this.droppedBytes} bytes of output were not kept]\n\n`;
  }

  /** Whether it began like something no person reads. */
  get isBinary(): boolean {
    return this.#isBinary;
  }

  add(bytes: Uint8Array): void {
    // Only the beginning counts, in however many pieces it comes.
    if (this.length < sniffedBytes) this.#isBinary ||= bytes.subarray(0, sniffedBytes - this.length).includes(0);
    const first = bytes.subarray(0, maxEndBytes - this.#headLength);
    this.#grow(this.#headLength + first.length);
    this.#head.set(first, this.#headLength);
    this.#headLength += first.length;
    if (bytes.length > first.length) this.#addTail(bytes.subarray(first.length));
  }

  /** All of it, or both ends and word of what is missing between them. */
  text(): string {
    const head = this.#head.subarray(0, this.#headLength);
    const tail = this.#tail();
    if (this.droppedBytes === 0) return decode(Buffer.concat([head, tail]));
    return `${decode(head)}${this.gapNotice}${decode(tail)}`;
  }

  #grow(length: number): void {
    if (length <= this.#head.length) return;
    const larger = Buffer.alloc(Math.min(maxEndBytes, Math.max(length, 2 * this.#head.length)));
    larger.set(this.#head.subarray(0, this.#headLength));
    this.#head = larger;
  }

  #addTail(bytes: Uint8Array): void {
    this.#ring ??= Buffer.alloc(maxEndBytes);
    const last = bytes.subarray(-maxEndBytes);
    const start = (this.#tailLength + bytes.length - last.length) % maxEndBytes;
    const fitting = last.subarray(0, maxEndBytes - start);
    this.#ring.set(fitting, start);
    this.#ring.set(last.subarray(fitting.length), 0);
    this.#tailLength += bytes.length;
  }

  #tail(): Buffer {
    if (this.#ring === undefined) return Buffer.alloc(0);
    if (this.#tailLength <= maxEndBytes) return this.#ring.subarray(0, this.#tailLength);
    const start = this.#tailLength % maxEndBytes;
    return Buffer.concat([this.#ring.subarray(start), this.#ring.subarray(0, start)]);
  }
}

const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
