/** A part of a Markdown text that later text cannot change. `hasBlankBefore`: an empty line precedes it. */
export type MarkdownBlock =
  | { readonly type: "text"; readonly text: string; readonly hasBlankBefore: boolean }
  /** One list item with all its content. */
  | { readonly type: "item"; readonly text: string; readonly hasBlankBefore: boolean }
  | { readonly type: "code-start"; readonly language: string; readonly hasBlankBefore: boolean }
  | { readonly type: "code"; readonly lines: readonly string[] }
  | { readonly type: "code-end" };

/** The parser state for the open block. Only complete lines decide where it ends, so chunk boundaries do not matter. */
export type BlockParser = {
  readonly kind: "nothing" | "paragraph" | "item" | "quote" | "indented" | "fence";
  readonly lines: readonly string[];
  /** Of an item: the indent of its content. Of a fence: its own indent. */
  readonly indent: number;
  readonly fence: string;
  /** Empty lines that either belong to the open block or end it. */
  readonly blanks: number;
  readonly length: number;
  readonly hasBlankBefore: boolean;
  /** Leading lines that were shown before: the head of a table that is continued. */
  readonly repeated: number;
};

/** The state before any input. */
export const initialParser: BlockParser = {
  kind: "nothing",
  lines: [],
  indent: 0,
  fence: "",
  blanks: 0,
  length: 0,
  hasBlankBefore: false,
  repeated: 0,
};

/** A block that grows beyond this is emitted as it is, so that the work per character stays constant. */
const maxBlockLength = 8000;
const maxBlockLines = 200;

/** Parses one more line. */
export const parseLine = (parser: BlockParser, line: string): readonly [BlockParser, readonly MarkdownBlock[]] => {
  if (parser.kind === "fence") return inFence(parser, line);
  const isBlank = line.trim() === "";
  switch (parser.kind) {
    case "nothing":
      return isBlank ? [{ ...parser, hasBlankBefore: true }, []] : beginBlock(line, parser.hasBlankBefore);
    case "paragraph":
    case "quote":
      return isBlank || interrupts(line, parser) ? endAndBegin(parser, line) : continueBlock(parser, line);
    case "indented":
      if (isBlank) return [{ ...parser, blanks: parser.blanks + 1 }, []];
      return indentOf(line) >= 4 ? continueBlock(parser, line) : endAndBegin(parser, line);
    case "item":
      return inItem(parser, line, isBlank);
  }
};

/** Ends the open block at the end of the input. */
export const endBlocks = (parser: BlockParser): readonly MarkdownBlock[] => {
  if (parser.kind === "fence") return [{ type: "code-end" }];
  return blockOf(parser);
};

const blockOf = ({ kind, lines, hasBlankBefore, repeated }: BlockParser): readonly MarkdownBlock[] => {
  if (kind === "nothing" || kind === "fence" || lines.length <= repeated) return [];
  return [{ type: kind === "item" ? "item" : "text", text: lines.join("\n"), hasBlankBefore }];
};

/** Ends the open block before this line, which begins another. */
const endAndBegin = (parser: BlockParser, line: string): readonly [BlockParser, readonly MarkdownBlock[]] => {
  const isBlank = line.trim() === "";
  if (isBlank) return [{ ...initialParser, hasBlankBefore: true }, blockOf(parser)];
  // An item follows directly unless an empty line is between; all other blocks are separated.
  const [next, blocks] = beginBlock(line, parser.blanks > 0 || itemIndent(line) === undefined);
  return [next, [...blockOf(parser), ...blocks]];
};

const beginBlock = (line: string, hasBlankBefore: boolean): readonly [BlockParser, readonly MarkdownBlock[]] => {
  const fence = fenceIn(line);
  if (fence !== undefined) {
    const start = { type: "code-start", language: fence.language, hasBlankBefore } as const;
    return [{ ...initialParser, kind: "fence", fence: fence.mark, indent: indentOf(line) }, [start]];
  }
  if (isHeading(line) || isRule(line))
    return [{ ...initialParser, hasBlankBefore: true }, [{ type: "text", text: line, hasBlankBefore }]];
  const indent = itemIndent(line);
  const started = { ...initialParser, lines: [line], length: line.length, hasBlankBefore };
  if (indent !== undefined) return [{ ...started, kind: "item", indent }, []];
  if (indentOf(line) >= 4) return [{ ...started, kind: "indented" }, []];
  return [{ ...started, kind: /^ {0,3}>/.test(line) ? "quote" : "paragraph" }, []];
};

const continueBlock = (parser: BlockParser, line: string): readonly [BlockParser, readonly MarkdownBlock[]] => {
  const blanks = Array.from({ length: parser.blanks }, () => "");
  const lines = [...parser.lines, ...blanks, line];
  const grown = { ...parser, lines, blanks: 0, length: parser.length + line.length + 1 };
  if (isUnderline(line) && parser.kind === "paragraph")
    return [{ ...initialParser, hasBlankBefore: true }, blockOf(grown)];
  if (grown.length < maxBlockLength && lines.length < maxBlockLines) return [grown, []];
  return [isTable(lines) ? tableHead(grown) : initialParser, blockOf(grown)];
};

/** Whether a table is open: its rows are shown once complete, since each character may change the column widths. */
export const isInTable = ({ kind, lines }: BlockParser): boolean => kind === "paragraph" && isTable(lines);

const isTable = ([, second = ""]: readonly string[]): boolean =>
  second.includes("|") && /^[\s|:-]*-[\s|:-]*$/.test(second);

/** A table that exceeds the limit continues as another with the same head. */
const tableHead = ({ lines }: BlockParser): BlockParser => ({
  ...initialParser,
  kind: "paragraph",
  lines: lines.slice(0, 2),
  hasBlankBefore: true,
  repeated: 2,
});

const inFence = (parser: BlockParser, line: string): readonly [BlockParser, readonly MarkdownBlock[]] => {
  const closing = /^ {0,3}(`{3,}|~{3,})[ \t]*$/.exec(line)?.[1];
  if (closing !== undefined && closing.startsWith(parser.fence))
    return [{ ...initialParser, hasBlankBefore: true }, [{ type: "code-end" }]];
  const stripped = line.slice(Math.min(parser.indent, indentOf(line)));
  return [parser, [{ type: "code", lines: [stripped] }]];
};

const inItem = (
  parser: BlockParser,
  line: string,
  isBlank: boolean,
): readonly [BlockParser, readonly MarkdownBlock[]] => {
  if (isBlank) return [{ ...parser, blanks: parser.blanks + 1 }, []];
  if (indentOf(line) >= parser.indent) return continueBlock(parser, line);
  const isLazy = parser.blanks === 0 && itemIndent(line) === undefined && !interrupts(line, parser);
  return isLazy ? continueBlock(parser, line) : endAndBegin(parser, line);
};

/** Whether a line begins a new block without an empty line before it. */
const interrupts = (line: string, { kind }: BlockParser): boolean => {
  if (fenceIn(line) !== undefined || isHeading(line)) return true;
  if (isRule(line) && !(kind === "paragraph" && isUnderline(line))) return true;
  if (kind !== "quote" && /^ {0,3}>/.test(line)) return true;
  // Of ordered lists, only one that starts at 1 interrupts a paragraph.
  return /^ {0,3}(?:[-*+]|1[.)])[ \t]+\S/.test(line);
};

const indentOf = (line: string): number => {
  let columns = 0;
  for (const character of line) {
    if (character === " ") columns += 1;
    else if (character === "\t") columns += 4 - (columns % 4);
    else break;
  }
  return columns;
};

const fenceIn = (line: string): { readonly mark: string; readonly language: string } | undefined => {
  const found = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})[ \t]*([^\s`]*)/.exec(line);
  return found === null ? undefined : { mark: found[1] ?? "", language: found[2] ?? "" };
};

const isHeading = (line: string): boolean => /^ {0,3}#{1,6}(?:[ \t]|$)/.test(line);

const isRule = (line: string): boolean => /^ {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$/.test(line);

const isUnderline = (line: string): boolean => /^ {0,3}(?:=+|-+)[ \t]*$/.test(line);

/** The indent of a list item's content; undefined if the line begins none. */
const itemIndent = (line: string): number | undefined => {
  const found = /^( {0,3})([-*+]|\d{1,9}[.)])(?:([ \t]+)\S|[ \t]*$)/.exec(line);
  if (found === null || isRule(line)) return undefined;
  const gap = found[3] === undefined || found[3].length > 4 ? 1 : found[3].length;
  return (found[1] ?? "").length + (found[2] ?? "").length + gap;
};
