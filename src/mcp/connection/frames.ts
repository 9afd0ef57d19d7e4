/** One line of a server's output: a message, or a description of the fault. */
export type StdioFrame =
  | { readonly message: object }
  | {
      readonly fault: string;
      /** The id of the request it answers, as far as its beginning or end shows it. */
      readonly id?: RequestId;
      /** Set where the rest of the line is still to come, which may show the id. */
      readonly isOpen?: true;
    };

type RequestId = string | number;

/** The longest line accepted: an image of 16 MB takes about 21 MB in base64. */
export const maxFrameLength: number = 24 * 2 ** 20;

/** No valid message is nested deeper. */
const maxDepth = 1000;

/** Splits a server's output into lines and parses each as a message. Buffers at most one line. */
export class FrameReader {
  #pieces: Buffer[] = [];
  #length = 0;
  #isSkipping = false;
  /** The last bytes of a skipped line. */
  #tail = Buffer.alloc(0);

  /** The lines that end in this chunk. The bytes may be reused afterwards. */
  *add(bytes: Uint8Array): Generator<StdioFrame> {
    let rest = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    for (let end = rest.indexOf(10); end !== -1; end = rest.indexOf(10)) {
      const frame = this.#close(rest.subarray(0, end));
      rest = rest.subarray(end + 1);
      if (frame !== undefined) yield frame;
    }
    if (rest.length === 0) return;
    if (this.#isSkipping) this.#keepTail(rest);
    else if (this.#length + rest.length <= maxFrameLength) {
      this.#length += rest.length;
      this.#pieces.push(Buffer.from(rest));
    } else yield { ...this.#skip(rest), isOpen: true };
  }

  /** Starts skipping a line that is too long. */
  #skip(rest: Buffer): Extract<StdioFrame, { fault: string }> {
    const id = idAtStart(Buffer.concat([...this.#pieces.slice(0, 1), rest]).toString("utf8", 0, idRange));
    this.#pieces = [];
    this.#isSkipping = true;
    this.#keepTail(rest);
    return { fault: tooLong, ...(id === undefined ? {} : { id }) };
  }

  #keepTail(piece: Buffer): void {
    this.#tail = Buffer.from(Buffer.concat([this.#tail, piece.subarray(-idRange)]).subarray(-idRange));
  }

  #close(last: Buffer): StdioFrame | undefined {
    const pieces = this.#pieces;
    const isTooLong = !this.#isSkipping && this.#length + last.length > maxFrameLength;
    const start = isTooLong ? this.#skip(last) : undefined;
    const wasSkipping = this.#isSkipping;
    if (wasSkipping && !isTooLong) this.#keepTail(last);
    const tail = this.#tail.toString("utf8");
    this.#pieces = [];
    this.#length = 0;
    this.#isSkipping = false;
    this.#tail = Buffer.alloc(0);
    if (wasSkipping) {
      const id = start?.id ?? idAtEnd(tail);
      return { fault: tooLong, ...(id === undefined ? {} : { id }) };
    }
    const line = (pieces.length === 0 ? last : Buffer.concat([...pieces, last])).toString("utf8").trim();
    return line === "" ? undefined : readFrame(line);
  }
}

const tooLong = `a message of more than ${maxFrameLength / 2 ** 20} MB`;

/** Characters searched for the id at either end of a message. */
const idRange = 300;

const idAtStart = (text: string): RequestId | undefined =>
  readId(
    /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*("(?:[^"\\]|\\.)*"|\d+)\s*,\s*"(?:result|error|jsonrpc)"/.exec(
      text,
    )?.[1],
  );

const idAtEnd = (text: string): RequestId | undefined =>
  readId(/,\s*"id"\s*:\s*("(?:[^"\\]|\\.)*"|\d+)\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/.exec(text)?.[1]);

const readId = (json: string | undefined): RequestId | undefined =>
  json === undefined ? undefined : (JSON.parse(json) as RequestId);

/**
 * Parses a line as a message.
 *
 * @internal Exported for its tests.
 */
export const readFrame = (line: string): StdioFrame => {
  const value = parse(line);
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    const id = idAtStart(line.slice(0, idRange));
    return { fault: "a line that is not a message", ...(id === undefined ? {} : { id }) };
  }
  if (!isDeeperThan(value, maxDepth)) return { message: value };
  const id = "id" in value && !("method" in value) ? value.id : undefined;
  const isId = typeof id === "string" || typeof id === "number";
  return { fault: `a message nested deeper than ${maxDepth}`, ...(isId ? { id } : {}) };
};

const parse = (line: string): unknown => {
  try {
    // Code that copies this key could change an object's prototype.
    return /__proto__|\\u005f/i.test(line)
      ? JSON.parse(line, (key, value: unknown) => (key === "__proto__" ? undefined : value))
      : JSON.parse(line);
  } catch {
    return undefined;
  }
};

/** Iterative: the values it looks for are too deep for recursion. */
const isDeeperThan = (value: object, most: number): boolean => {
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
