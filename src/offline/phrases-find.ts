import { isHeld } from "./held.ts";
import { when, type Phrase, type Said } from "./phrase.ts";
import { endingOf } from "./phrases-kinds.ts";
import { folderIn, isHere } from "./places.ts";
import type { Wish } from "./wish.ts";

const finding =
  "find|locate|search for|look for|show(?: me)?|list|get|give me|are there(?: any)?|do we have(?: any)?|is there|which|what|where (?:is|are)";
const inPlace = "(?: (?:in|inside|within|under|from|across|throughout|of) (?<place>.+))?";
const all = "(?:(?:all|any|every|each|the|of|me|a|an|my|our|these|other) )*";

/** What people say to find files by their names. */
export const finds: readonly Phrase[] = [
  when(
    `(?:how many|count(?: all)?(?: the)?|number of) (?:(?<kind>\\S+) )?files?(?: (?:are there|are here|are|do (?:i|we) have|exist))?${inPlace}(?: (?:are there|have|has))?`,
    (said) => {
      const kind = said.words("kind");
      const ending = kind === "" ? "*" : endingOf(kind);
      return ending === undefined ? undefined : find(said, ending, "count");
    },
  ),
  when(
    `(?:${finding}) ${all}files? (?:named|called|matching|like|with the name|whose name (?:is|contains|has)|with names? like|that match(?:es)?) (?<name>\\S+)${inPlace}`,
    (said) => find(said, patternOf(said.text("name"))),
  ),
  when(
    `(?:${finding}) ${all}files? (?:ending (?:in|with)|with (?:the )?(?:extension|ending)) (?<name>\\S+)${inPlace}`,
    (said) => find(said, `*.${said.text("name").replace(/^[*.]+/, "")}`),
  ),
  when(
    `(?:${finding}) ${all}(?<name>(?!/)\\S*[*?{]\\S*)(?: files?)?(?: (?:are|is|do|there|exist|we have))*${inPlace}`,
    (said) => find(said, patternOf(said.text("name"))),
  ),
  when(
    `(?:${finding}) ${all}(?<kind>[\\w.+#]+) files?(?: (?:are|is|do|there|exist|we have|here|are there))*${inPlace}`,
    (said) => {
      const ending = endingOf(said.words("kind"));
      return ending === undefined ? undefined : find(said, ending);
    },
  ),
  when(
    `(?:find|locate|where is|where's|where are|is there|do we have) (?:a |an |the )?(?:file )?(?<name>\\S+\\.\\w{1,8}|readme|makefile|dockerfile|license)(?: (?:file|located|kept|stored))?${inPlace}`,
    (said) => (isHeld(said.words("name")) ? undefined : find(said, patternOf(said.text("name")))),
  ),
  when(`(?:find|locate|where is) (?:the )?(?:file )(?<name>\\S+)${inPlace}`, (said) =>
    find(said, patternOf(said.text("name"))),
  ),
];

const find = (said: Said, pattern: string, as?: "count"): Wish | undefined => {
  const place = placeOf(said);
  if (place === undefined) return undefined;
  const name = pattern.includes("/") ? pattern : `**/${pattern}`;
  return { type: "find", pattern: name, ...place, ...(as === undefined ? {} : { as }) };
};

const placeOf = (said: Said): { readonly path?: string } | undefined => {
  const words = said.words("place");
  if (words === "" || isHere(words)) return {};
  const folder = folderIn(words);
  return folder === undefined
    ? undefined
    : folder === "."
      ? {}
      : { path: said.held.open(folder).replace(/(?<=.)\/$/, "") };
};

/** A name as a pattern: as it is where it has an ending or wild cards, else anything that contains it. */
const patternOf = (name: string): string => {
  if (/[*?{]/.test(name) || /\.\w+$/.test(name)) return name;
  return /^(?:makefile|dockerfile|license)$/i.test(name) ? name : `*${name}*`;
};

/** What people say to find words in files. */
export const searches: readonly Phrase[] = [
  when("grep (?:-\\w+ )*(?<what>[^\\s/]\\S*) (?<place>(?!for |in )\\S+)", (said) => search(said)),
  when(
    "(?:search|google|look up) (?:on )?(?:the )?(?:web|internet|google|online) (?:for )?(?<query>.+)|(?:google|web search)(?: for)? (?<other>.+)|(?:search|look|find)(?: for)? (?<third>.+?) (?:on the (?:web|internet)|online|on google)|look up (?<fourth>.+)",
    ({ text }) => ({
      type: "web",
      query: text("query") || text("other") || text("third") || text("fourth"),
    }),
  ),
  when(
    `(?:how many times (?:does|do|is|are)|how often (?:does|do|is|are)|count(?: the)?(?: occurrences of| uses of)?|how many) ${all}(?<what>.+?)(?: (?:comments?|occurrences|appear|appears|occur|occurs|used|mentioned|are there|do we have|in the code))*${inPlace}`,
    (said) =>
      /^(?:lines|words|characters|letters|files|folders)\b/i.test(said.words("what")) || !isPlainWord(said)
        ? undefined
        : search(said, "count"),
  ),
  when(
    `(?:find|list|show(?: me)?|search for|look for|which|what) ${all}files? (?:that |which )?(?:contain\\w*|mention\\w*|us(?:e|es|ing)|import\\w*|hav(?:e|ing)|has|with|includ\\w*|includes?)(?: the)?(?: (?:word|text|string|phrase))? (?<what>.+?)${inPlace}`,
    (said) => search(said),
  ),
  when(
    `(?:find|show(?: me)?|list) ${all}(?:occurrences?|uses?|usages?|references?|mentions?|instances?|calls?|matches) (?:of|to|for) (?:the )?(?:(?:word|text|string|function|variable|class|symbol) )?(?<what>.+?)${inPlace}`,
    (said) => search(said),
  ),
  when(
    `(?:find (?:out )?)?where (?:is|are|does)?(?: the)? ?(?:(?:word|text|string|function|variable|class|symbol|type) )?(?<what>.+?) (?:is |are |gets? )?(?:defined|used|mentioned|declared|implemented|called|imported|set|come from|appear|written|exported)${inPlace}`,
    (said) => search(said),
  ),
  when(
    `where do (?:we|you|i|they) (?:use|define|mention|call|import|declare|set|export) (?:the )?(?<what>.+?)${inPlace}`,
    (said) => search(said),
  ),
  when(`who (?:uses|calls|imports) (?<what>.+?)${inPlace}`, (said) => search(said)),
  when(
    `(?:does|is|do) (?<what>.+?) (?:appear|occur|exist|used|mentioned|appears|defined)(?: anywhere)?${inPlace}`,
    (said) => search(said),
  ),
  when(
    `(?:search|grep|scan|look (?:in|through)|check) (?:(?:in|through) )?(?<place>\\S+|(?:the |this |my |our |all |whole )+\\w+(?: files)?) for (?:the )?(?:(?:word|text|string|phrase|pattern) )?(?<what>.+)`,
    (said) => search(said),
  ),
  when(
    `(?:search(?: for)?|grep(?: for)?|look for|scan for|find|hunt for)(?: all)?(?: the)?(?: (?:word|text|string|phrase|pattern|regex))? (?<what>.+?)(?: comments?)?${inPlace}`,
    (said) => search(said),
  ),
];

const isPlainWord = (said: Said): boolean => isHeld(said.words("what")) || /^[\w$.@-]+$/.test(said.words("what"));

const search = (said: Said, as?: "count"): Wish | undefined => {
  const what = said.words("what");
  if (what === "" || /^(?:it|that|this|them|files?)$/i.test(what)) return undefined;
  const place = searchPlace(said);
  if (place === undefined) return undefined;
  return { type: "search", pattern: expressionOf(what, said), ...place, ...(as === undefined ? {} : { as }) };
};

/** A folder or file, or a kind of files. */
const searchPlace = (said: Said): { readonly path?: string; readonly include?: string } | undefined => {
  const words = said.words("place").replace(/^(?:all |the |every |of |our |my )+/i, "");
  if (
    words === "" ||
    isHere(words) ||
    /^(?:files|code|sources?|everything|anywhere|project|.* (?:project|codebase|repo|repository|workspace))$/i.test(
      words,
    )
  )
    return {};
  const [, kind] = /^(\S+) files?$/i.exec(words) ?? [];
  const include = kind === undefined ? undefined : /[*?{]/.test(kind) ? kind : endingOf(kind);
  if (include !== undefined) return { include };
  if (/^[*]/.test(words)) return { include: words };
  const folder = folderIn(words);
  return folder === undefined
    ? undefined
    : folder === "."
      ? {}
      : { path: said.held.open(folder).replace(/(?<=.)\/$/, "") };
};

/** Words as an expression that finds just them; one in slashes as it is. */
const expressionOf = (what: string, said: Said): string => {
  const [, expression] = /^\/(.+)\/$/.exec(what) ?? [];
  if (expression !== undefined) return said.held.raw(expression);
  const words = said.held.open(what.replace(/^(?:a|an|the) (?=\S)/i, ""));
  const plain = /^todos$/i.test(words) ? "TODO" : words;
  return plain.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&");
};
