import type { Node, ParseError } from "jsonc-parser";

type JsonNode<Extra> = Extra &
  (
    | { readonly type: "object"; readonly members: readonly JsonMember<Extra>[] }
    | { readonly type: "list"; readonly items: readonly JsonNode<Extra>[] }
    | { readonly type: "value"; readonly value: string | number | boolean | null }
  );
type JsonMember<Extra> = Extra & { readonly key: string; readonly value: JsonNode<Extra> };

/** A range of the text: from `start` up to, not including, `end`. */
type TextRange = { readonly start: number; readonly end: number };

/** A settings file as a tree. Members keep their order, and repeated keys are kept. */
export type SettingsNode = JsonNode<unknown>;

/** A key with its value. */
export type SettingsMember = JsonMember<unknown>;

/** A tree whose nodes know their position in the text. A member starts with its key. */
export type LocatedNode = JsonNode<TextRange>;
export type LocatedMember = JsonMember<TextRange>;

/** A syntax error: `why` says what is wrong, `at` is its offset, `problem` is `why` with the line. */
type SettingsSyntaxError = {
  readonly ok: false;
  readonly problem: string;
  readonly why: string;
  readonly at: number;
};

/** A parsed settings file, or its first syntax error. */
export type ParsedSettings<Root = SettingsNode> = { readonly ok: true; readonly node: Root } | SettingsSyntaxError;

/**
 * Parses JSON with comments, trailing commas or a byte order mark. Never throws. Plain JSON is parsed by `JSON.parse`, so
 * that most runs do not load the JSONC parser.
 */
export const parseSettings = async (text: string): Promise<ParsedSettings> => {
  const node = parsePlainJson(text);
  return node === undefined ? parseLocatedSettings(text) : { ok: true, node };
};

/** Parses the same with positions, for error messages and edits. */
export const parseLocatedSettings = async (text: string): Promise<ParsedSettings<LocatedNode>> => {
  const { parseTree, printParseErrorCode } = await import("jsonc-parser");
  const mark = text.startsWith("\uFEFF") ? 1 : 0;
  const errors: ParseError[] = [];
  try {
    const root = parseTree(text.slice(mark), errors, { allowTrailingComma: true });
    const [first] = errors;
    if (first !== undefined) {
      const at = first.offset + mark;
      const token = text.slice(at, at + Math.min(first.length, maxQuotedLength));
      return syntaxError(text, explainError(printParseErrorCode(first.error), token), at);
    }
    return root === undefined
      ? syntaxError(text, "Unexpected end of file.", text.length)
      : { ok: true, node: locate(root, mark, 0) };
  } catch (error) {
    // The parser is recursive, so deep nesting overflows the stack.
    if (error instanceof RangeError) return syntaxError(text, "Nested too deeply.", mark);
    throw error;
  }
};

/** Formats a node as plain JSON, with repeated keys: the text a consent question shows and its digest covers. */
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

const maxDepth = 64;
const maxQuotedLength = 40;

/** Parses with `JSON.parse`; undefined if the text is not plain JSON or if an object would lose repeated keys or their order. */
const parsePlainJson = (text: string): SettingsNode | undefined => {
  try {
    const keys = [...text.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?/g)].filter(([, colon]) => colon !== undefined).length;
    const counter = { keys: 0 };
    const node = fromValue(JSON.parse(text), counter, 0);
    return counter.keys === keys ? node : undefined;
  } catch {
    return undefined;
  }
};

const fromValue = (value: unknown, counter: { keys: number }, depth: number): SettingsNode => {
  if (depth > maxDepth) throw new RangeError("nested too deeply");
  if (Array.isArray(value)) return { type: "list", items: value.map((item) => fromValue(item, counter, depth + 1)) };
  if (typeof value !== "object" || value === null)
    return { type: "value", value: value as string | number | boolean | null };
  const members = Object.entries(value).map(([key, item]) => {
    counter.keys += 1;
    // `JSON.parse` sorts such keys.
    if (/^\d+$/.test(key)) throw new RangeError("the order of keys is lost");
    return { key, value: fromValue(item, counter, depth + 1) };
  });
  return { type: "object", members };
};

const locate = ({ type, offset, length, value, children = [] }: Node, mark: number, depth: number): LocatedNode => {
  if (depth > maxDepth) throw new RangeError("nested too deeply");
  const range = { start: offset + mark, end: offset + length + mark };
  if (type === "array") return { ...range, type: "list", items: children.map((item) => locate(item, mark, depth + 1)) };
  if (type !== "object") return { ...range, type: "value", value: value as string | number | boolean | null };
  const members = children.flatMap(({ children: [key, item] = [], ...member }) =>
    key === undefined || item === undefined
      ? []
      : [
          {
            start: member.offset + mark,
            end: item.offset + item.length + mark,
            key: String(key.value),
            value: locate(item, mark, depth + 1),
          },
        ],
  );
  return { ...range, type: "object", members };
};

const syntaxError = (text: string, why: string, at: number): SettingsSyntaxError => ({
  ok: false,
  why,
  at,
  problem: `line ${text.slice(0, at).split("\n").length}: ${why}`,
});

/** The error code of jsonc-parser as a sentence. */
const explainError = (code: string, token: string): string => {
  switch (code) {
    case "ColonExpected":
      return 'Expected ":".';
    case "CommaExpected":
      return 'Expected ",".';
    case "CloseBraceExpected":
      return 'Expected "}".';
    case "CloseBracketExpected":
      return 'Expected "]".';
    case "UnexpectedEndOfString":
      return "Unterminated string.";
    case "UnexpectedEndOfComment":
      return "Unterminated comment.";
    case "UnexpectedEndOfNumber":
      return "Unterminated number.";
    case "InvalidUnicode":
    case "InvalidEscapeCharacter":
      return "Invalid escape sequence in a string.";
    case "InvalidCharacter":
      return "Invalid control character in a string.";
    default:
      return token === "" ? "Unexpected end of file." : `Unexpected ${JSON.stringify(token)}.`;
  }
};
