/** A JSON syntax error and its position. Lines and columns count from 1. */
export type JsonSyntaxError = { readonly line: number; readonly column: number; readonly message: string };

type ExpectedToken = "a value" | 'a key or "}"' | "a key" | '":"' | '"," or "}"' | '"," or "]"' | "the end";

/**
 * Finds the first syntax error in a text; undefined if it is valid JSON. Needed because `JSON.parse` of Node 20 does
 * not report the position.
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
      return expected === "the end" ? undefined : fault(at, `unexpected end of input, expected ${expected}`);
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
      if (end.at === at) return fault(at, `unexpected ${quoteCharacter(text, at)}`);
      at = end.at;
      expected = afterValue();
    } else return fault(at, `unexpected ${quoteCharacter(text, at)}, expected ${expected}`);
  }
};

const space = /[ \t\r\n]*/y;
const scalar = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|/y;

const skip = (pattern: RegExp, text: string, at: number): number => {
  pattern.lastIndex = at;
  return at + (pattern.exec(text)?.[0].length ?? 0);
};

/** Returns the position after a string, or the position and message of an error in it. */
const stringEnd = (text: string, start: number): { readonly at: number; readonly message?: string } => {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x22) return { at: at + 1 };
    if (code < 0x20) return { at, message: `unescaped ${quoteCharacter(text, at)} in a string` };
    if (code !== 0x5c) continue;
    const escape = /["\\/bfnrt]|u[0-9a-fA-F]{4}/y;
    const end = skip(escape, text, at + 1);
    if (end === at + 1)
      return { at, message: `"\\" followed by ${quoteCharacter(text, at + 1)} is not an escape sequence` };
    at = end - 1;
  }
  return { at: start, message: "unterminated string" };
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
