/** A literal value: a text, a list, or another literal (number, boolean, None) that rules do not use. */
export type StarlarkValue = string | readonly StarlarkValue[] | undefined;

/** A call with literal arguments given by name. */
type StarlarkCall = {
  readonly name: string;
  readonly values: ReadonlyMap<string, StarlarkValue>;
  /** Its text. */
  readonly source: string;
};

/** The calls of a file, and where it could not be read further. */
export type StarlarkCalls = {
  readonly calls: readonly StarlarkCall[];
  readonly problem?: { readonly source: string; readonly reason: string };
};

/**
 * Reads the calls of a Starlark file that consists of calls with literal arguments, as rule files do. Anything else,
 * such as a variable, a function or a loop, ends reading: what follows might depend on it.
 */
export const parseStarlarkCalls = (text: string): StarlarkCalls => {
  const reader = new StarlarkReader(text);
  const calls: StarlarkCall[] = [];
  for (;;) {
    const start = reader.skipSpace();
    if (reader.isAtEnd) return { calls };
    try {
      calls.push({ ...reader.readCall(), source: text.slice(start, reader.position).replaceAll(/\s+/g, " ") });
    } catch (error) {
      if (!(error instanceof UnsupportedStarlark)) throw error;
      const source = text.slice(start, start + 80).split("\n", 1)[0] ?? "";
      return { calls, problem: { source, reason: `${error.message}; this and what follows it is not read` } };
    }
  }
};

class UnsupportedStarlark extends Error {}

class StarlarkReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get position(): number {
    return this.#at;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#text.length;
  }

  /** Skips spaces, line ends and comments, and returns the position. */
  skipSpace(): number {
    this.#match(/(?:\s+|#[^\n]*)*/y);
    return this.#at;
  }

  readCall(): Omit<StarlarkCall, "source"> {
    const name = this.#match(/[A-Za-z_]\w*/y);
    this.skipSpace();
    if (name === undefined || this.#match(/\(/y) === undefined)
      throw new UnsupportedStarlark("only calls with literal arguments are supported");
    const values = new Map<string, StarlarkValue>();
    this.#readItems(")", () => {
      const key = this.#match(/[A-Za-z_]\w*(?=\s*=)/y);
      if (key === undefined) throw new UnsupportedStarlark("arguments must have names");
      this.skipSpace();
      this.#match(/=/y);
      if (values.has(key)) throw new UnsupportedStarlark(`${key} is given twice`);
      values.set(key, this.#readValue(0));
    });
    return { name, values };
  }

  #readValue(depth: number): StarlarkValue {
    this.skipSpace();
    if (depth > 8) throw new UnsupportedStarlark("lists are nested too deeply");
    const close = this.#match(/[[(]/y);
    if (close !== undefined) {
      const items: StarlarkValue[] = [];
      this.#readItems(close === "[" ? "]" : ")", () => items.push(this.#readValue(depth + 1)));
      return items;
    }
    const text = this.#match(/"(?:[^"\\\n]|\\["'\\nt])*"|'(?:[^'\\\n]|\\["'\\nt])*'/y);
    if (text !== undefined) return unescape(text.slice(1, -1));
    if (this.#match(/(?:True|False|None|-?\d+)\b/y) !== undefined) return undefined;
    throw new UnsupportedStarlark("only literal texts and lists are supported");
  }

  /** Reads items separated by commas up to a closing bracket. */
  #readItems(close: string, readItem: () => void): void {
    for (;;) {
      this.skipSpace();
      if (this.#takes(close)) return;
      readItem();
      this.skipSpace();
      if (!this.#takes(",") && this.#text[this.#at] !== close) throw new UnsupportedStarlark(`"${close}" is missing`);
    }
  }

  #takes(character: string): boolean {
    if (this.#text[this.#at] !== character) return false;
    this.#at += 1;
    return true;
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found !== undefined) this.#at += found.length;
    return found;
  }
}

const unescape = (text: string): string =>
  text.replaceAll(/\\(.)/g, (_, mark: string) => (mark === "n" ? "\n" : mark === "t" ? "\t" : mark));
