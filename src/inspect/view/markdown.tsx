import { Lexer, type Token, type Tokens } from "marked";
import type { ComponentChildren, VNode } from "preact";
import { Code } from "./code.tsx";

/** Deeper nesting is shown as it was written. */
const maxDepth = 24;

/** Longer texts are shown as they were written: reading them as Markdown takes too long. */
const maxLength = 60_000;

/**
 * Shows Markdown. Every token becomes one of the elements below or plain text; HTML in the text stays text, and images
 * are named but never loaded.
 */
export const Markdown = ({ text }: { readonly text: string }): VNode =>
  text.length > maxLength ? (
    <p class="plain">{text}</p>
  ) : (
    <div class="markdown">{blocks(new Lexer({ gfm: true }).lex(text), 0)}</div>
  );

const blocks = (tokens: readonly Token[], depth: number): ComponentChildren =>
  tokens.map((token) => (depth > maxDepth ? token.raw : block(token as Tokens.Generic, depth)));

/** marked's tokens are an open union; an unknown one is shown as it was written. */
const block = (token: Tokens.Generic, depth: number): ComponentChildren => {
  switch (token.type) {
    case "space":
    case "def":
      return null;
    case "hr":
      return <hr />;
    case "code":
      return <Code text={String(token["text"])} language={String(token["lang"] ?? "").split(/\s/, 1)[0] ?? ""} />;
    case "heading":
      // The page has headings of its own, so those of a message are not part of its outline.
      return <p class={`heading heading-${Number(token["depth"])}`}>{inlines(token.tokens ?? [], depth + 1)}</p>;
    case "paragraph":
      return <p>{inlines(token.tokens ?? [], depth + 1)}</p>;
    case "text":
      return token.tokens === undefined ? decodeEntities(String(token["text"])) : inlines(token.tokens, depth + 1);
    case "blockquote":
      return <blockquote>{blocks(token.tokens ?? [], depth + 1)}</blockquote>;
    case "list":
      return list(token as Tokens.List, depth);
    case "table":
      return table(token as Tokens.Table, depth);
    case "checkbox":
      return token["checked"] === true ? "☑ " : "☐ ";
  }
  return <p class="plain">{token.raw}</p>;
};

const list = ({ ordered, start, items }: Tokens.List, depth: number): VNode => {
  const children = items.map((item) => (
    <li>
      {item.task && !item.tokens.some(({ type }) => type === "checkbox") ? (item.checked === true ? "☑ " : "☐ ") : null}
      {blocks(item.tokens, depth + 1)}
    </li>
  ));
  return ordered ? <ol start={start === "" ? 1 : start}>{children}</ol> : <ul>{children}</ul>;
};

const table = ({ header, rows }: Tokens.Table, depth: number): VNode => (
  <div class="table" tabIndex={0} role="group" aria-label="Table">
    <table>
      <thead>
        <tr>
          {header.map((cell) => (
            <th scope="col">{inlines(cell.tokens, depth + 1)}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr>
            {row.map((cell) => (
              <td>{inlines(cell.tokens, depth + 1)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);

const inlines = (tokens: readonly Token[], depth: number): ComponentChildren =>
  tokens.map((token) => (depth > maxDepth ? token.raw : inline(token as Tokens.Generic, depth)));

const inline = (token: Tokens.Generic, depth: number): ComponentChildren => {
  const inner = (): ComponentChildren => inlines(token.tokens ?? [], depth + 1);
  switch (token.type) {
    case "strong":
      return <strong>{inner()}</strong>;
    case "em":
      return <em>{inner()}</em>;
    case "del":
      return <del>{inner()}</del>;
    case "codespan":
      return <code>{String(token["text"])}</code>;
    case "br":
      return <br />;
    case "escape":
      return String(token["text"]);
    case "text":
      return token.tokens === undefined ? decodeEntities(String(token["text"])) : inner();
    case "checkbox":
      return token["checked"] === true ? "☑ " : "☐ ";
    case "link":
      return <Link href={String(token["href"])} label={plainText(token.tokens ?? [])} />;
    case "image":
      return (
        <span class="image-name">
          [image: {String(token["text"])}] <Link href={String(token["href"])} label={String(token["href"])} />
        </span>
      );
  }
  return token.raw;
};

/** A link that always shows where it leads. Other addresses than http(s) and mailto are text. */
export const Link = ({ href, label }: { readonly href: string; readonly label: string }): VNode => {
  const url = URL.canParse(href) ? new URL(href) : undefined;
  if (url === undefined || !/^(https?|mailto):$/.test(url.protocol))
    return (
      <span>
        {label} <code>{href}</code>
      </span>
    );
  return (
    <span>
      <a href={url.href} target="_blank" rel="noopener noreferrer nofollow">
        {label}
      </a>
      {label === href || label === url.href ? null : <span class="link-target"> ({url.host || url.href})</span>}
    </span>
  );
};

const plainText = (tokens: readonly Token[]): string =>
  tokens
    .map((token) =>
      "tokens" in token && token.tokens !== undefined && token.tokens.length > 0
        ? plainText(token.tokens)
        : "text" in token
          ? decodeEntities(String(token.text))
          : token.raw,
    )
    .join("");

const entities: { readonly [name: string]: string } = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };

const decodeEntities = (text: string): string =>
  text.replaceAll(/&(amp|lt|gt|quot|#39);/g, (whole, name: string) => entities[name] ?? whole);
