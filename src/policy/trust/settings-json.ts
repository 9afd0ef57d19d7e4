/** A settings file as written: members keep their order, a key that stands twice stands twice, and all know their place. */
export type SettingsNode = Span &
  (
    | { readonly type: "object"; readonly members: readonly SettingsMember[] }
    | { readonly type: "list"; readonly items: readonly SettingsNode[] }
    | { readonly type: "value"; readonly value: string | number | boolean | null }
  );

/** A key with its value. It starts with the key. */
export type SettingsMember = Span & { readonly key: string; readonly value: SettingsNode };

/** Where something stands in the text: from `start` up to, not including, `end`. */
type Span = { readonly start: number; readonly end: number };

/** What a settings file says, or why it cannot be read. */
export type ParsedSettings =
  | { readonly ok: true; readonly node: SettingsNode }
  /** `at` is where it stops being readable, `why` what is wrong there; `problem` says both. */
  | { readonly ok: false; readonly problem: string; readonly why: string; readonly at: number };

/** Reads JSON as people write it by hand: with comments, a byte order mark, and commas at the end. Never throws. */
export const parseSettings = (text: string): ParsedSettings => {
  const reader = new Reader(text);
  try {
    const node = reader.value(0);
    reader.end();
    return { ok: true, node };
  } catch (error) {
    if (error instanceof Unreadable) return { ok: false, problem: error.message, why: error.why, at: error.at };
    throw error;
  }
};

/** The node as plain JSON text, duplicates and all: what a person is shown, and what a digest is taken of. */
export const settingsText = (node: SettingsNode): string => {
  switch (node.type) {
    case "object":
      return `{${node.members.map(({ key, value }) => `${JSON.stringify(key)}: ${settingsText(value)}`).join(", ")}}`;
    case "list":
      return `[${node.items.map(settingsText).join(", ")}]`;
    case "value":
      return JSON.stringify(node.value);
  }
};

const deepest = 64;

class Unreadable extends Error {
  readonly why: string;
  readonly at: number;

  constructor(text: string, why: string, at: number) {
    super(`line ${text.slice(0, at).split("\n").length}: ${why}`);
    this.why = why;
    this.at = at;
  }
}

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
    if (text.startsWith("\uFEFF")) this.#at = 1;
  }

  value(depth: number): SettingsNode {
    if (depth > deepest) throw this.#unreadable("it is nested too deeply");
    this.#skip();
    const start = this.#at;
    const next = this.#text[start];
    if (next === "{") return { type: "object", members: this.#members(depth), start, end: this.#at };
    if (next === "[") return { type: "list", items: this.#items(depth), start, end: this.#at };
    return { type: "value", value: next === '"' ? this.#string() : this.#word(), start, end: this.#at };
  }

  end(): void {
    this.#skip();
    if (this.#at < this.#text.length) throw this.#unreadable("something follows after its end");
  }

  #members(depth: number): readonly SettingsMember[] {
    const members: SettingsMember[] = [];
    this.#each("}", () => {
      if (this.#text[this.#at] !== '"') throw this.#unreadable("a key in double quotes is missing");
      const start = this.#at;
      const key = this.#string();
      this.#skip();
      if (this.#text[this.#at] !== ":") throw this.#unreadable(`a colon is missing after ${JSON.stringify(key)}`);
      this.#at++;
      members.push({ key, value: this.value(depth + 1), start, end: this.#at });
    });
    return members;
  }

  #items(depth: number): readonly SettingsNode[] {
    const items: SettingsNode[] = [];
    this.#each("]", () => items.push(this.value(depth + 1)));
    return items;
  }

  /** Reads what stands between brackets, with commas between and perhaps one at the end. */
  #each(close: string, one: () => void): void {
    this.#at++;
    for (this.#skip(); this.#text[this.#at] !== close; this.#skip()) {
      one();
      this.#skip();
      if (this.#text[this.#at] === ",") this.#at++;
      else if (this.#text[this.#at] !== close) throw this.#unreadable(`a comma or ${close} is missing`);
    }
    this.#at++;
  }

  #string(): string {
    const found = this.#take(/"[^"\\\n]*(?:\\.[^"\\\n]*)*"/y);
    if (found === undefined) throw this.#unreadable("a text does not end");
    return this.#json(found) as string;
  }

  #word(): number | boolean | null {
    const found = this.#take(/[\w.+-]+/y);
    if (found === undefined) throw this.#unreadable("a value is missing");
    return this.#json(found) as number | boolean | null;
  }

  #json(found: string): unknown {
    try {
      return JSON.parse(found);
    } catch {
      this.#at -= found.length;
      throw this.#unreadable(`${found.slice(0, 40)} is not JSON`);
    }
  }

  #skip(): void {
    while (this.#take(/[ \t\r\n]+|\/\/[^\n]*|\/\*[\s\S]*?\*\//y) !== undefined);
  }

  #take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    this.#at += found?.length ?? 0;
    return found;
  }

  #unreadable(why: string): Unreadable {
    return new Unreadable(this.#text, why, this.#at);
  }
}
