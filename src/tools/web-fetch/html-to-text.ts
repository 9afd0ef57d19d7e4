import { decodeEntities } from "./html-entities.ts";

/**
 * Converts HTML to text: headings, list items and table rows on lines of their own, without scripts, styles and images.
 * One pass from front to back, however the page is nested or broken, that yields to the event loop.
 */
export const htmlToText = async (html: string): Promise<string> => {
  const page = new PageText();
  let breather = yieldInterval;
  for (const token of tokenize(html)) {
    page.add(token);
    if (token.end < breather) continue;
    breather = token.end + yieldInterval;
    await new Promise((resolve) => setImmediate(resolve));
  }
  return page.text();
};

/** Characters processed between two yields to the event loop. */
const yieldInterval = 2 ** 16;

/** A token of a page, and where it ends. */
type HtmlToken = { readonly end: number } & (
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "open" | "close"; readonly name: string }
);

function* tokenize(html: string): Generator<HtmlToken> {
  let at = 0;
  while (at < html.length) {
    const found = html.indexOf("<", at);
    const next = found === -1 ? html.length : found;
    if (next > at) yield { type: "text", text: html.slice(at, next), end: next };
    if (found === -1) return;
    const tag = tagAt(html, found);
    if (tag === undefined) yield { type: "text", text: "<", end: found + 1 };
    else if (tag.type !== "nothing") yield { type: tag.type, name: tag.name, end: tag.end };
    at = tag?.end ?? found + 1;
    if (tag?.type === "open" && skippedElements.has(tag.name)) at = skipPastClosingTag(html, at, tag.name);
  }
}

type HtmlTag = { readonly type: "open" | "close" | "nothing"; readonly name: string; readonly end: number };

/** Elements whose content is not text. */
const skippedElements = new Set("script style template svg math iframe object noembed noframes canvas".split(" "));

const tagAt = (html: string, at: number): HtmlTag | undefined => {
  if (html.startsWith("<!--", at)) return { type: "nothing", name: "", end: endOf(html, "-->", at + 4) };
  if (html[at + 1] === "!" || html[at + 1] === "?") return { type: "nothing", name: "", end: endOf(html, ">", at) };
  const isClosing = html[at + 1] === "/";
  const from = at + (isClosing ? 2 : 1);
  const name = /^[a-z][a-z\d-]{0,30}/i.exec(html.slice(from, from + 32))?.[0].toLowerCase();
  if (name === undefined) return undefined;
  return { type: isClosing ? "close" : "open", name, end: endOfTag(html, from + name.length) };
};

const endOf = (html: string, mark: string, from: number): number => {
  const end = html.indexOf(mark, from);
  return end === -1 ? html.length : end + mark.length;
};

/** The end of a tag. A `>` in quotes does not end it. */
const endOfTag = (html: string, from: number): number => {
  for (let at = from; at < html.length; at += 1) {
    const character = html[at];
    if (character === ">") return at + 1;
    if ((character === '"' || character === "'") && html[at - 1] === "=") at = endOf(html, character, at + 1) - 1;
  }
  return html.length;
};

const skipPastClosingTag = (html: string, from: number, name: string): number => {
  const closing = new RegExp(`</${name}[\\s/>]`, "gi");
  closing.lastIndex = from;
  const found = closing.exec(html);
  return found === null ? html.length : endOf(html, ">", found.index);
};

/** Block elements, with an empty line around them. */
const blockElements = new Set("p ul ol dl table blockquote pre hr h1 h2 h3 h4 h5 h6 title figure".split(" "));

/** Elements on lines of their own. */
const lineElements = new Set(
  "div section article header footer main nav aside form fieldset address body head li tr dt dd caption figcaption option legend summary details thead tbody".split(
    " ",
  ),
);

/** Collects the text of a page. */
class PageText {
  readonly #pieces: string[] = [];
  /** Line breaks due before the next text, and whether a space is due. */
  #lines = 0;
  #space = false;
  #preformatted = 0;
  /** The open lists: the number of items of an ordered list, or undefined for an unordered one. */
  readonly #lists: (number | undefined)[] = [];

  add(token: HtmlToken): void {
    if (token.type === "text") this.#words(decodeEntities(token.text));
    else if (token.type === "open") this.#open(token.name);
    else this.#close(token.name);
  }

  text(): string {
    return this.#pieces.join("");
  }

  #open(name: string): void {
    this.#break(name);
    if (name === "br") this.#newLine();
    else if (name === "hr") this.#put("---");
    else if (name === "pre") this.#preformatted += 1;
    else if (name === "ul" || name === "ol") this.#lists.push(name === "ol" ? 0 : undefined);
    else if (name === "li") this.#item();
    else if (name === "td" || name === "th") this.#cell();
    else if (/^h[1-6]$/.test(name)) this.#put(`${"#".repeat(Number(name[1]))} `);
  }

  #close(name: string): void {
    if (name === "pre") this.#preformatted = Math.max(0, this.#preformatted - 1);
    if (name === "ul" || name === "ol") this.#lists.pop();
    this.#break(name);
  }

  #break(name: string): void {
    const isInList = this.#lists.length > 0 && (name === "ul" || name === "ol");
    const lines = blockElements.has(name) && !isInList ? 2 : blockElements.has(name) || lineElements.has(name) ? 1 : 0;
    this.#lines = Math.max(this.#lines, lines);
  }

  #newLine(): void {
    this.#space = false;
    this.#put("\n");
  }

  #item(): void {
    const count = this.#lists.pop();
    const next = count === undefined ? undefined : count + 1;
    this.#lists.push(next);
    const indent = "  ".repeat(Math.min(this.#lists.length, 9) - 1);
    this.#put(`${indent}${next === undefined ? "-" : `${next}.`} `);
  }

  #cell(): void {
    if (this.#lines === 0 && this.#pieces.length > 0) this.#put(" | ");
    this.#space = false;
  }

  #words(text: string): void {
    if (this.#preformatted > 0) return this.#put(text.replaceAll(/\r\n?/g, "\n"));
    const words = text.replaceAll(/[ \t\n\r\f]+/g, " ");
    if (words.startsWith(" ")) this.#space = true;
    const bare = words.trim();
    if (bare === "") return;
    this.#put(bare);
    this.#space = words.endsWith(" ");
  }

  /** Adds text after the line breaks or the space that are due. */
  #put(piece: string): void {
    const last = this.#pieces.at(-1) ?? "\n";
    if (this.#lines > 0 && this.#pieces.length > 0) {
      const have = last.endsWith("\n\n") ? 2 : last.endsWith("\n") ? 1 : 0;
      this.#pieces.push("\n".repeat(Math.max(0, this.#lines - have)));
    } else if (this.#space && !/\s$/.test(last)) this.#pieces.push(" ");
    this.#lines = 0;
    this.#space = false;
    this.#pieces.push(piece);
  }
}
