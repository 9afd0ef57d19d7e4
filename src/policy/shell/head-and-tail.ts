/** How many bytes are kept of each end. */
const maxEndBytes = 2 ** 20;

/** How many bytes are checked to detect binary output. */
const sniffedBytes = 4096;

/** Buffers output of any length in bounded memory: its head and its tail. */
export class HeadAndTail {
  #head = Buffer.alloc(2 ** 12);
  #headLength = 0;
  /** The tail, as a ring buffer. */
  #ring: Buffer | undefined;
  #tailLength = 0;
  #isBinary = false;

  get length(): number {
    return this.#headLength + this.#tailLength;
  }

  /** How many bytes between head and tail were dropped. */
  get droppedBytes(): number {
    return Math.max(0, this.#tailLength - maxEndBytes);
  }

  /** The text between head and tail; empty if nothing was dropped. */
  get gapNotice(): string {
    return this.droppedBytes === 0 ? "" : `\n\n[${this.droppedBytes} bytes of output omitted]\n\n`;
  }

  /** Whether it started with binary data. */
  get isBinary(): boolean {
    return this.#isBinary;
  }

  add(bytes: Uint8Array): void {
    // Only the beginning counts, in however many chunks it arrives.
    if (this.length < sniffedBytes) this.#isBinary ||= bytes.subarray(0, sniffedBytes - this.length).includes(0);
    const first = bytes.subarray(0, maxEndBytes - this.#headLength);
    this.#grow(this.#headLength + first.length);
    this.#head.set(first, this.#headLength);
    this.#headLength += first.length;
    if (bytes.length > first.length) this.#addTail(bytes.subarray(first.length));
  }

  /** The whole text, or head and tail with a notice of the gap. */
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
