import type { Emitter, HLJSApi } from "highlight.js";
import core from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import c from "highlight.js/lib/languages/c";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import go from "highlight.js/lib/languages/go";
import ini from "highlight.js/lib/languages/ini";
import java from "highlight.js/lib/languages/java";
import json from "highlight.js/lib/languages/json";
import python from "highlight.js/lib/languages/python";
import ruby from "highlight.js/lib/languages/ruby";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";
import type { VNode } from "preact";

const languages = {
  bash,
  c,
  css,
  diff,
  go,
  ini,
  java,
  json,
  python,
  ruby,
  rust,
  sql,
  typescript,
  xml,
  yaml,
} as const;

const aliases: { readonly [name: string]: keyof typeof languages } = {
  sh: "bash",
  shell: "bash",
  zsh: "bash",
  console: "bash",
  cpp: "c",
  "c++": "c",
  h: "c",
  scss: "css",
  patch: "diff",
  golang: "go",
  toml: "ini",
  kotlin: "java",
  jsonc: "json",
  jsonl: "json",
  py: "python",
  rb: "ruby",
  rs: "rust",
  js: "typescript",
  jsx: "typescript",
  javascript: "typescript",
  ts: "typescript",
  tsx: "typescript",
  html: "xml",
  svg: "xml",
  yml: "yaml",
};

/** Shows code, highlighted where the language is known. A label names it for screen readers. */
export const Code = ({ text, language, label }: CodeProps): VNode => (
  <pre class={`code${language === "diff" ? " diff" : ""}`} tabIndex={0} role="group" aria-label={label ?? "Code"}>
    <code>
      {highlight(text, language).map(({ text: piece, scope }) =>
        scope === "" ? piece : <span class={`h-${scope}`}>{piece}</span>,
      )}
    </code>
  </pre>
);

type CodeProps = { readonly text: string; readonly language: string; readonly label?: string };

/** A run of code in one scope; the empty scope is plain. */
type CodeSpan = { readonly text: string; readonly scope: string };

/** Some patterns take quadratic time, so long or minified code is not highlighted. */
const isTooLong = (text: string): boolean => text.length > 20_000 || /[^\n]{2000}/.test(text);

const highlight = (text: string, language: string): readonly CodeSpan[] => {
  const name = languageOf(language);
  const plain = [{ text, scope: "" }];
  if (name === undefined || isTooLong(text)) return plain;
  const { _emitter: spans, errorRaised } = highlighter.highlight(text, { language: name, ignoreIllegals: true });
  return spans instanceof SpanEmitter && errorRaised === undefined ? spans.spans : plain;
};

const languageOf = (language: string): keyof typeof languages | undefined => {
  const name = language.toLowerCase();
  if (Object.hasOwn(languages, name)) return name as keyof typeof languages;
  return Object.hasOwn(aliases, name) ? aliases[name] : undefined;
};

/** Collects scopes as data; highlight.js would write HTML. */
class SpanEmitter implements Emitter {
  readonly spans: { text: string; scope: string }[] = [];
  readonly #scopes: string[] = [];

  addText(text: string): void {
    const scope = this.#scopes.findLast((name) => shownScopes.has(name)) ?? "";
    const last = this.spans.at(-1);
    if (last?.scope === scope) last.text += text;
    else this.spans.push({ text, scope });
  }

  startScope(name: string): void {
    this.#scopes.push(name.split(".", 1)[0] ?? name);
  }

  endScope(): void {
    this.#scopes.pop();
  }

  openNode(name: string): void {
    this.startScope(name);
  }

  closeNode(): void {
    this.endScope();
  }

  __addSublanguage(emitter: Emitter): void {
    if (emitter instanceof SpanEmitter) this.spans.push(...emitter.spans);
  }

  finalize(): void {}

  toHTML(): string {
    return "";
  }
}

/** The scopes that have a colour of their own. */
const shownScopes: ReadonlySet<string> = new Set([
  "keyword",
  "built_in",
  "type",
  "literal",
  "number",
  "string",
  "regexp",
  "comment",
  "title",
  "attr",
  "attribute",
  "variable",
  "tag",
  "name",
  "meta",
  "section",
  "addition",
  "deletion",
]);

const createHighlighter = (): HLJSApi => {
  const own = core.newInstance();
  own.configure({ __emitter: SpanEmitter });
  for (const [name, definition] of Object.entries(languages)) own.registerLanguage(name, definition);
  return own;
};

const highlighter: HLJSApi = /* @__PURE__ */ createHighlighter();
