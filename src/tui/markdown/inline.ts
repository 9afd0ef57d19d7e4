import type { Token, Tokens } from "marked";
import { span } from "../text/line.ts";
import type { StyledLine, StyledSpan, Style } from "../text/style.ts";

/** The inline content of a paragraph, heading or cell, one line per source line. */
export const inlineLines = (tokens: readonly Token[], style: Style = {}): readonly StyledLine[] => {
  const lines: StyledSpan[][] = [[]];
  for (const each of spansOf(tokens, style)) {
    const [first = "", ...rest] = each.text.split("\n");
    if (first !== "") lines.at(-1)?.push(span(first, each.style));
    for (const piece of rest) lines.push(piece === "" ? [] : [span(piece.trimStart(), each.style)]);
  }
  return lines;
};

function* spansOf(tokens: readonly Token[], style: Style): Generator<StyledSpan> {
  for (const token of tokens) yield* spansOfToken(token as Tokens.Generic, style);
}

/** marked's tokens are an open union; an unknown token is shown as written. */
function* spansOfToken(token: Tokens.Generic, style: Style): Generator<StyledSpan> {
  const inner = token.tokens ?? [];
  switch (token.type) {
    case "strong":
      return yield* spansOf(inner, { ...style, bold: true });
    case "em":
      return yield* spansOf(inner, { ...style, italic: true });
    case "del":
      return yield* spansOf(inner, { ...style, strike: true });
    case "codespan":
      return yield { text: String(token["text"]), style: { ...style, tone: "code" } };
    case "br":
      return yield { text: "\n", style };
    case "link":
      return yield* linkSpans(token as Tokens.Link, style);
    case "image":
      return yield {
        text: `[image: ${String(token["text"])}] (${String(token["href"])})`,
        style: { ...style, tone: "link" },
      };
    case "escape":
      return yield { text: String(token["text"]), style };
    case "text":
      if (inner.length > 0) return yield* spansOf(inner, style);
      return yield { text: decodeEntities(String(token["text"])), style };
  }
  yield { text: token.raw, style };
}

/** A link's text, followed by its target if the text differs. Only the target itself can be followed: a text can lie. */
function* linkSpans({ tokens, href, text }: Tokens.Link, style: Style): Generator<StyledSpan> {
  const isSame = text === href || `mailto:${text}` === href || `http://${text}` === href;
  const shown: Style = { ...style, tone: "link", underline: true };
  const target: Style = /^https?:/i.test(href) ? { link: href } : {};
  yield* spansOf(tokens, isSame ? { ...shown, ...target } : shown);
  if (isSame) return;
  const muted: Style = { ...style, tone: "muted" };
  yield { text: " (", style: muted };
  yield { text: href, style: { ...muted, ...target } };
  yield { text: ")", style: muted };
}

const namedEntities: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: "\u00a0",
};

const decodeEntities = (text: string): string =>
  text.includes("&")
    ? text.replaceAll(
        /&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|(\w{2,6}));/g,
        (all: string, decimal?: string, hex?: string, name?: string) => {
          if (name !== undefined) return namedEntities[name] ?? all;
          const code = decimal === undefined ? Number.parseInt(hex ?? "", 16) : Number(decimal);
          return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : "\ufffd";
        },
      )
    : text;
