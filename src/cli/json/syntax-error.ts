/** Where a text stops being JSON, and what should have stood there. Lines and columns count from 1. */
export type JsonSyntaxError = { readonly line: number; readonly column: number; readonly message: string };

type ExpectedToken = "a value" | 'a key or "}"' | "a key" | '":"' | '"," or "}"' | '"," or "]"' | "the end";

/**
 * The first fault in a text that is not JSON; undefined when it is. Node 20
 * does not say where `JSON.parse` stopped, and a file of some megabytes is no
 * place to look for it.
 */
export const findJsonSyntaxError = (text: string): JsonSyntaxError | undefined => {
  const open: ("{" | "[")[] = [];
  let at = 0;
  let expected: ExpectedToken = "a value";
  let mayClose = false;

  const fault = (offset: number, message: string): JsonSyntaxError => ({ ...positionOf(text, offset), message });
  const afterValue = (): ExpectedToken => {
    const inside = open.at(-1);
    return inside === undefined ? "the end" : inside === "{" ? '"," or "}"' : '"," or "]"';
  };

  for (;;) {
    at = skip(space, text, at);
    const char = text[at];
    if (char === undefined)
      return expected === "the end" ? undefined : fault(at, `${expected} should follow, but the text ends`);
    const closes = (char === "}" && open.at(-1) === "{") || (char === "]" && open.at(-1) === "[");
    if (closes && (mayClose || expected.startsWith('","'))) {
      open.pop();
      at++;
      expected = afterValue();
      mayClose = false;
      continue;
    }
    mayClose = false;
    if (expected === "a value" && (char === "{" || char === "[")) {
      open.push(char);
      at++;
      expected = char === "{" ? 'a key or "}"' : "a value";
      mayClose = true;
    } else if (expected.startsWith("a key") && char === '"') {
      const end = stringEnd(text, at);
      if (end.message !== undefined) return fault(end.at, end.message);
      at = end.at;
      expected = '":"';
    } else if (expected === '":"' && char === ":") {
      at++;
      expected = "a value";
    } else if (expected.startsWith('","') && char === ",") {
      at++;
      expected = open.at(-1) === "{" ? "a key" : "a value";
    } else if (expected === "a value") {
      const end = char === '"' ? stringEnd(text, at) : { at: skip(scalar, text, at), message: undefined };
      if (end.message !== undefined) return fault(end.at, end.message);
      if (end.at === at) return fault(at, `a value should stand here, not ${quoteCharacter(text, at)}`);
      at = end.at;
      expected = afterValue();
    } else return fault(at, `${expected} should stand here, not ${quoteCharacter(text, at)}`);
  }
};

const space = /[ \t\r\n]*/y;
const scalar = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|/y;

const skip = (pattern: RegExp, text: string, at: number): number => {
  pattern.lastIndex = at;
  return at + (pattern.exec(text)?.[0].length ?? 0);
};

/** The place behind a string, or where and why it is none. */
const stringEnd = (text: string, start: number): { readonly at: number; readonly message?: string } => {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x22) return { at: at + 1 };
    if (code < 0x20) return { at, message: `a text cannot hold ${quoteCharacter(text, at)} unescaped` };
    if (code !== 0x5c) continue;
    const escape = /["\\/bfnrt]|u[0-9a-fA-F]{4}/y;
    const end = skip(escape, text, at + 1);
    if (end === at + 1) return { at, message: `"\\" and ${quoteCharacter(text, at + 1)} is no escape` };
    at = end - 1;
  }
  return { at: start, message: "a text that begins here never ends" };
};

const quoteCharacter = (text: string, at: number): string => {
  const char = String.fromCodePoint(text.codePointAt(at) ?? 0);
  return at >= text.length ? "the end" : char < " " ? JSON.stringify(char) : `"${char}"`;
};

const positionOf = (text: string, offset: number): { line: number; column: number } => {
  let line = 1;
  let start = 0;
  for (let end = text.indexOf("\n"); end !== -1 && end < offset; end = text.indexOf("\n", start)) {
    line++;
    start = end + 1;
  }
  return { line, column: offset - start + 1 };
};
