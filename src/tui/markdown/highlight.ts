import type { Emitter, HLJSApi } from "highlight.js";
import type { StyledLine, StyledSpan, Style, Tone } from "../text/style.ts";
import { span } from "../text/line.ts";
import { aliases, languages } from "./languages.ts";

/** Highlights code. */
export type Highlighter = {
  /** Whether a language can be highlighted now. `absent` ones never can; `loading` ones need `load`. */
  readonly state: (language: string) => "ready" | "loading" | "absent";
  readonly load: (language: string) => Promise<void>;
  /** Highlighted lines. `isWhole`: no scope is open at the end, so what follows can be highlighted separately. */
  readonly highlight: (
    code: string,
    language: string,
  ) => { readonly lines: readonly StyledLine[]; readonly isWhole: boolean };
};

/** Creates a highlighter; languages are loaded on demand. */
export const createHighlighter = (): Highlighter => {
  let core: Promise<HLJSApi> | undefined;
  let ready: HLJSApi | undefined;
  const broken = new Set<string>();
  const load = async (name: string): Promise<void> => {
    const language = nameOf(name);
    const source = languages[language];
    if (source === undefined) return;
    try {
      core ??= loadCore();
      const [loaded, { default: definition }] = await Promise.all([core, source()]);
      loaded.registerLanguage(language, definition);
      ready = loaded;
    } catch {
      broken.add(language);
    }
  };
  return {
    state: (name) => {
      const language = nameOf(name);
      if (languages[language] === undefined || broken.has(language)) return "absent";
      return ready?.getLanguage(language) === undefined ? "loading" : "ready";
    },
    load,
    highlight: (code, language) => highlightCode(ready, code, nameOf(language)),
  };
};

const nameOf = (language: string): string => {
  const name = language.toLowerCase();
  return Object.hasOwn(aliases, name) ? (aliases[name] ?? name) : Object.hasOwn(languages, name) ? name : "";
};

const loadCore = async (): Promise<HLJSApi> => {
  const { default: core } = await import("highlight.js/lib/core");
  const own = core.newInstance();
  own.configure({ __emitter: Spans });
  return own;
};

const highlightCode = (
  core: HLJSApi | undefined,
  code: string,
  language: string,
): ReturnType<Highlighter["highlight"]> => {
  const result = isTooLong(code) ? undefined : core?.highlight(code, { language, ignoreIllegals: true });
  if (result === undefined || !(result._emitter instanceof Spans) || result.errorRaised !== undefined)
    return { lines: code.split("\n").map((each) => [span(each)]), isWhole: true };
  const top = result._top;
  return {
    lines: linesOf(result._emitter.spans),
    isWhole: top === undefined || !("parent" in top) || top.parent === undefined,
  };
};

/** Some patterns take quadratic time, so minified code is not highlighted. */
export const isTooLong = (code: string): boolean => code.length > maxCodeLength || longLine.test(code);

const maxCodeLength = 20_000;

const longLine = /[^\n]{2000}/;

/** Collects the scopes of highlight.js as spans instead of HTML. */
class Spans implements Emitter {
  readonly spans: StyledSpan[] = [];
  /** The style of every open scope: its own, or that of the enclosing scope. */
  readonly #styles: Style[] = [];

  startScope(name: string): void {
    if (this.#styles.length >= maxScopeDepth) throw new Error("The code is nested too deeply to be highlighted.");
    this.#styles.push(styleOf(name) ?? this.#styles.at(-1) ?? plainStyle);
  }

  endScope(): void {
    this.#styles.pop();
  }

  openNode(name: string): void {
    this.startScope(name);
  }

  closeNode(): void {
    this.endScope();
  }

  addText(text: string): void {
    this.spans.push({ text, style: this.#styles.at(-1) ?? plainStyle });
  }

  __addSublanguage(emitter: Emitter): void {
    if (emitter instanceof Spans) for (const each of emitter.spans) this.spans.push(each);
  }

  finalize(): void {}

  toHTML(): string {
    return "";
  }
}

const plainStyle: Style = {};

/** Written code nests a few dozen scopes. The work of highlight.js grows with the square of the depth. */
const maxScopeDepth = 200;

const styleOf = (scope: string): Style | undefined => tones[scope] ?? tones[scope.split(".")[0] ?? ""];

const toned = (tone: Tone): Style => ({ tone });

const tones: Readonly<Record<string, Style>> = {
  keyword: toned("keyword"),
  "selector-tag": toned("keyword"),
  built_in: toned("type"),
  type: toned("type"),
  title: toned("function"),
  section: { tone: "heading", bold: true },
  name: toned("keyword"),
  attr: toned("function"),
  attribute: toned("function"),
  property: toned("function"),
  "selector-class": toned("function"),
  "selector-id": toned("function"),
  literal: toned("number"),
  number: toned("number"),
  symbol: toned("number"),
  string: toned("string"),
  regexp: toned("string"),
  link: toned("string"),
  comment: { tone: "comment", italic: true },
  quote: { tone: "comment", italic: true },
  doctag: toned("comment"),
  meta: toned("comment"),
  variable: toned("type"),
  "template-variable": toned("type"),
  addition: toned("added"),
  deletion: toned("removed"),
  strong: { bold: true },
  emphasis: { italic: true },
};

const linesOf = (spans: readonly StyledSpan[]): readonly StyledLine[] => {
  const lines: StyledSpan[][] = [[]];
  for (const { text, style } of spans) {
    const [first = "", ...rest] = text.split("\n");
    lines.at(-1)?.push(span(first, style));
    for (const piece of rest) lines.push([span(piece, style)]);
  }
  return lines;
};
