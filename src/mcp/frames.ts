/** One line of a server's output: a message, or what is wrong with it. */
export type Frame = { readonly message: object } | { readonly fault: string };

/** The longest line that is read: an image of 16 MB takes some 21 in base64. */
export const longestFrame: number = 24 * 2 ** 20;

/** Nothing honest is nested deeper. */
const mostDepth = 1000;

/** Cuts what a server writes into lines, and reads each as a message. What it holds is never more than one line. */
export class Frames {
  #pieces: Buffer[] = [];
  #length = 0;
  #isSkipping = false;

  /** The lines that end in this piece. The bytes may be reused afterwards. */
  *add(bytes: Uint8Array): Generator<Frame> {
    let rest = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    for (let end = rest.indexOf(10); end !== -1; end = rest.indexOf(10)) {
      const frame = this.#close(rest.subarray(0, end));
      rest = rest.subarray(end + 1);
      if (frame !== undefined) yield frame;
    }
    if (rest.length > 0 && !this.#isSkipping) this.#keep(rest);
  }

  #keep(piece: Buffer): void {
    this.#length += piece.length;
    if (this.#length <= longestFrame) this.#pieces.push(Buffer.from(piece));
    else this.#skip();
  }

  #skip(): void {
    this.#pieces = [];
    this.#isSkipping = true;
  }

  #close(last: Buffer): Frame | undefined {
    if (!this.#isSkipping && this.#length + last.length > longestFrame) this.#skip();
    const [pieces, isTooLong] = [this.#pieces, this.#isSkipping];
    this.#pieces = [];
    this.#length = 0;
    this.#isSkipping = false;
    if (isTooLong) return { fault: `a message of more than ${longestFrame / 2 ** 20} MB` };
    const line = (pieces.length === 0 ? last : Buffer.concat([...pieces, last])).toString("utf8").trim();
    return line === "" ? undefined : readFrame(line);
  }
}

/** A line as a message. */
export const readFrame = (line: string): Frame => {
  const value = parse(line);
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return { fault: "a line that is no message" };
  return isDeeper(value, mostDepth) ? { fault: `a message nested deeper than ${mostDepth}` } : { message: value };
};

const parse = (line: string): unknown => {
  try {
    // A key of this name could be taken for the object's own nature by those who copy it.
    return /__proto__|\\u005f/i.test(line)
      ? JSON.parse(line, (key, value: unknown) => (key === "__proto__" ? undefined : value))
      : JSON.parse(line);
  } catch {
    return undefined;
  }
};

/** Without recursion: what is too deep for it is what this is to find. */
const isDeeper = (value: object, most: number): boolean => {
  let level: readonly object[] = [value];
  for (let depth = 0; depth <= most; depth += 1) {
    const next: object[] = [];
    for (const node of level)
      for (const item of Object.values(node) as unknown[])
        if (typeof item === "object" && item !== null) next.push(item);
    if (next.length === 0) return false;
    level = next;
  }
  return true;
};
