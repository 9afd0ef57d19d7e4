import { isMasked } from "../quotations.ts";
import { definePhrase, type Phrase, type PhraseMatch } from "../phrase.ts";
import { globForKind } from "./file-kinds.ts";
import { parseFolder, isCurrentFolder } from "../paths.ts";
import type { Intent } from "../intent.ts";

const findVerbs =
  "find|locate|search for|look for|show(?: me)?|list|get|give me|are there(?: any)?|do we have(?: any)?|is there|which|what|where (?:is|are)";
const inFolder = "(?: (?:in|inside|within|under|from|across|throughout|of) (?<place>.+))?";
const quantifiers = "(?:(?:all|any|every|each|the|of|me|a|an|my|our|these|other) )*";

/** Requests to find files by name. */
export const findPhrases: readonly Phrase[] = [
  definePhrase(
    `(?:how many|count(?: all)?(?: the)?|number of) (?:(?<kind>\\S+) )?files?(?: (?:are there|are here|are|do (?:i|we) have|exist))?${inFolder}(?: (?:are there|have|has))?`,
    (match) => {
      const kind = match.masked("kind");
      const ending = kind === "" ? "*" : globForKind(kind);
      return ending === undefined ? undefined : find(match, ending, "count");
    },
  ),
  definePhrase(
    `(?:${findVerbs}) ${quantifiers}files? (?:named|called|matching|like|with the name|whose name (?:is|contains|has)|with names? like|that match(?:es)?) (?<name>\\S+)${inFolder}`,
    (match) => find(match, globOf(match.text("name"))),
  ),
  definePhrase(
    `(?:${findVerbs}) ${quantifiers}files? (?:ending (?:in|with)|with (?:the )?(?:extension|ending)) (?<name>\\S+)${inFolder}`,
    (match) => find(match, `*.${match.text("name").replace(/^[*.]+/, "")}`),
  ),
  definePhrase(
    `(?:${findVerbs}) ${quantifiers}(?<name>(?!/)\\S*[*?{]\\S*)(?: files?)?(?: (?:are|is|do|there|exist|we have))*${inFolder}`,
    (match) => find(match, globOf(match.text("name"))),
  ),
  definePhrase(
    `(?:${findVerbs}) ${quantifiers}(?<kind>[\\w.+#]+) files?(?: (?:are|is|do|there|exist|we have|here|are there))*${inFolder}`,
    (match) => {
      const ending = globForKind(match.masked("kind"));
      return ending === undefined ? undefined : find(match, ending);
    },
  ),
  definePhrase(
    `(?:find|locate|where is|where's|where are|is there|do we have) (?:a |an |the )?(?:file )?(?<name>\\S+\\.\\w{1,8}|readme|makefile|dockerfile|license)(?: (?:file|located|kept|stored))?${inFolder}`,
    (match) => (isMasked(match.masked("name")) ? undefined : find(match, globOf(match.text("name")))),
  ),
  definePhrase(`(?:find|locate|where is) (?:the )?(?:file )(?<name>\\S+)${inFolder}`, (match) =>
    find(match, globOf(match.text("name"))),
  ),
];

const find = (match: PhraseMatch, pattern: string, as?: "count"): Intent | undefined => {
  const place = folderOf(match);
  if (place === undefined) return undefined;
  const name = pattern.includes("/") ? pattern : `**/${pattern}`;
  return { type: "find", pattern: name, ...place, ...(as === undefined ? {} : { as }) };
};

const folderOf = (match: PhraseMatch): { readonly path?: string } | undefined => {
  const words = match.masked("place");
  if (words === "" || isCurrentFolder(words)) return {};
  const folder = parseFolder(words);
  return folder === undefined
    ? undefined
    : folder === "."
      ? {}
      : { path: match.quotations.unquote(folder).replace(/(?<=.)\/$/, "") };
};

/** Returns a glob: the name itself if it has an extension or wildcards, else anything that contains it. */
const globOf = (name: string): string => {
  if (/[*?{]/.test(name) || /\.\w+$/.test(name)) return name;
  return /^(?:makefile|dockerfile|license)$/i.test(name) ? name : `*${name}*`;
};

/** Requests to find text in files. */
export const searchPhrases: readonly Phrase[] = [
  definePhrase("grep (?:-\\w+ )*(?<what>[^\\s/]\\S*) (?<place>(?!for |in )\\S+)", (match) => search(match)),
  definePhrase(
    "(?:search|google|look up) (?:on )?(?:the )?(?:web|internet|google|online) (?:for )?(?<query>.+)|(?:google|web search)(?: for)? (?<other>.+)|(?:search|look|find)(?: for)? (?<third>.+?) (?:on the (?:web|internet)|online|on google)|look up (?<fourth>.+)",
    ({ text }) => ({
      type: "web",
      query: text("query") || text("other") || text("third") || text("fourth"),
    }),
  ),
  definePhrase(
    `(?:how many times (?:does|do|is|are)|how often (?:does|do|is|are)|count(?: the)?(?: occurrences of| uses of)?|how many) ${quantifiers}(?<what>.+?)(?: (?:comments?|occurrences|appear|appears|occur|occurs|used|mentioned|are there|do we have|in the code))*${inFolder}`,
    (match) =>
      /^(?:lines|words|characters|letters|files|folders)\b/i.test(match.masked("what")) || !isPlainWord(match)
        ? undefined
        : search(match, "count"),
  ),
  definePhrase(
    `(?:find|list|show(?: me)?|search for|look for|which|what) ${quantifiers}files? (?:that |which )?(?:contain\\w*|mention\\w*|us(?:e|es|ing)|import\\w*|hav(?:e|ing)|has|with|includ\\w*|includes?)(?: the)?(?: (?:word|text|string|phrase))? (?<what>.+?)${inFolder}`,
    (match) => search(match),
  ),
  definePhrase(
    `(?:find|show(?: me)?|list) ${quantifiers}(?:occurrences?|uses?|usages?|references?|mentions?|instances?|calls?|matches) (?:of|to|for) (?:the )?(?:(?:word|text|string|function|variable|class|symbol) )?(?<what>.+?)${inFolder}`,
    (match) => search(match),
  ),
  definePhrase(
    `(?:find (?:out )?)?where (?:is|are|does)?(?: the)? ?(?:(?:word|text|string|function|variable|class|symbol|type) )?(?<what>.+?) (?:is |are |gets? )?(?:defined|used|mentioned|declared|implemented|called|imported|set|come from|appear|written|exported)${inFolder}`,
    (match) => search(match),
  ),
  definePhrase(
    `where do (?:we|you|i|they) (?:use|define|mention|call|import|declare|set|export) (?:the )?(?<what>.+?)${inFolder}`,
    (match) => search(match),
  ),
  definePhrase(`who (?:uses|calls|imports) (?<what>.+?)${inFolder}`, (match) => search(match)),
  definePhrase(
    `(?:does|is|do) (?<what>.+?) (?:appear|occur|exist|used|mentioned|appears|defined)(?: anywhere)?${inFolder}`,
    (match) => search(match),
  ),
  definePhrase(
    `(?:search|grep|scan|look (?:in|through)|check) (?:(?:in|through) )?(?<place>\\S+|(?:the |this |my |our |all |whole )+\\w+(?: files)?) for (?:the )?(?:(?:word|text|string|phrase|pattern) )?(?<what>.+)`,
    (match) => search(match),
  ),
  definePhrase(
    `(?:search(?: for)?|grep(?: for)?|look for|scan for|find|hunt for)(?: all)?(?: the)?(?: (?:word|text|string|phrase|pattern|regex))? (?<what>.+?)(?: comments?)?${inFolder}`,
    (match) => search(match),
  ),
];

const isPlainWord = (match: PhraseMatch): boolean =>
  isMasked(match.masked("what")) || /^[\w$.@-]+$/.test(match.masked("what"));

const search = (match: PhraseMatch, as?: "count"): Intent | undefined => {
  const what = match.masked("what");
  if (what === "" || /^(?:it|that|this|them|files?)$/i.test(what)) return undefined;
  const place = searchPlace(match);
  if (place === undefined) return undefined;
  return { type: "search", pattern: regexOf(what, match), ...place, ...(as === undefined ? {} : { as }) };
};

/** Parses a folder, a file, or a kind of file. */
const searchPlace = (match: PhraseMatch): { readonly path?: string; readonly include?: string } | undefined => {
  const words = match.masked("place").replace(/^(?:all |the |every |of |our |my )+/i, "");
  if (
    words === "" ||
    isCurrentFolder(words) ||
    /^(?:files|code|sources?|everything|anywhere|project|.* (?:project|codebase|repo|repository|workspace))$/i.test(
      words,
    )
  )
    return {};
  const [, kind] = /^(\S+) files?$/i.exec(words) ?? [];
  const include = kind === undefined ? undefined : /[*?{]/.test(kind) ? kind : globForKind(kind);
  if (include !== undefined) return { include };
  if (/^[*]/.test(words)) return { include: words };
  const folder = parseFolder(words);
  return folder === undefined
    ? undefined
    : folder === "."
      ? {}
      : { path: match.quotations.unquote(folder).replace(/(?<=.)\/$/, "") };
};

/** Escapes text as a regular expression; text in slashes is one already. */
const regexOf = (what: string, match: PhraseMatch): string => {
  const [, expression] = /^\/(.+)\/$/.exec(what) ?? [];
  if (expression !== undefined) return match.quotations.restore(expression);
  const words = match.quotations.unquote(what.replace(/^(?:a|an|the) (?=\S)/i, ""));
  const plain = /^todos$/i.test(words) ? "TODO" : words;
  return plain.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&");
};
