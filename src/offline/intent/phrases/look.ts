import { definePhrase, type Phrase, type PhraseMatch } from "../phrase.ts";
import { globForKind } from "./file-kinds.ts";
import { parseFolder, isCurrentFolder, isPath } from "../paths.ts";
import type { Countable, LineRange, Intent } from "../intent.ts";

const showVerbs =
  "read|show|open|print|display|cat|view|see|dump|output|load|get|give|fetch|let me see|look at|look into|check|inspect|examine|type";
const optionalMe = "(?: me| us)?";
const file = "(?<path>.+)";
const inLines = `(?:(?:(?:${showVerbs})${optionalMe}|what(?:'s| is| are)(?: (?:on|in|at))?) )?(?:only )?(?:the )?`;

/** Requests to read files, whole or in part. */
export const readPhrases: readonly Phrase[] = [
  definePhrase(
    `${inLines}(?<end>first|last|top|bottom|final) (?:(?<count>\\d+|\\w+) )?lines? (?:of|from|in) ${file}`,
    (match) => {
      const count = numberOf(match.masked("count"));
      const isEnd = /last|bottom|final/i.test(match.masked("end"));
      return readRange(match, isEnd ? { from: -count, count } : { from: 0, count });
    },
  ),
  definePhrase(`(?<program>head|tail)(?: (?:-n ?|-)(?<count>\\d+))? ${file}`, (match) => {
    const count = numberOf(match.masked("count") || "10");
    return readRange(
      match,
      match.masked("program").toLowerCase() === "tail" ? { from: -count, count } : { from: 0, count },
    );
  }),
  definePhrase(
    `${inLines}lines? (?<first>\\d+)(?: ?(?:-|–|to|through|until|and) ?(?<last>\\d+))? (?:of|from|in) ${file}`,
    (match) => readRange(match, lineRange(match)),
  ),
  definePhrase(
    `(?:${showVerbs})${optionalMe} (?<path>\\S+),? (?:from |at )?lines? (?<first>\\d+)(?: ?(?:-|–|to|through|until) ?(?:line )?(?<last>\\d+))?`,
    (match) => readRange(match, lineRange(match)),
  ),
  definePhrase(
    `(?:how many|count(?: the)?|number of) (?<what>lines|words|characters|letters) (?:(?:are (?:there )?in|of|in|does|do|is in) )?(?<path>.+?)(?: (?:have|has|contain|contains|there))?`,
    (match) =>
      forEachPath(match, (path) => ({
        type: "read",
        path,
        as: countables[match.masked("what").toLowerCase()] ?? "lines",
      })),
  ),
  definePhrase(`how long is ${file}`, (match) => forEachPath(match, (path) => ({ type: "read", path, as: "lines" }))),
  definePhrase(
    `(?:how (?:big|large) is|what(?:'s| is| are) the (?:size|dimensions?|resolution|pixels|format|type) of) (?:the |this |that )?(?:image|picture|photo|screenshot) ${file}`,
    (match) => viewImage(match),
  ),
  definePhrase(`(?:how (?:big|large|heavy) is|(?:what(?:'s| is) )?the (?:file )?size of) ${file}`, (match) =>
    forEachPath(match, (path) => ({ type: "size", path })),
  ),
  definePhrase(
    `(?:(?:${showVerbs}|describe|explain|analy[sz]e)${optionalMe}|what(?:'s| is| do you see)) ?(?:(?:in|on|at|of) )?(?:(?:the|this|that|my) )?(?:image|picture|photo|screenshot|logo|icon|drawing) (?:(?:in|at|called|named|file) )?${file}`,
    (match) => viewImage(match),
  ),
  definePhrase(
    `(?:(?:give|get|show|tell)${optionalMe} )?(?:a |an |the )?(?:short |brief |quick )?(?:summary|overview|gist|outline|explanation) of ${file}`,
    (match) => summaryIntents(match),
  ),
  definePhrase(
    `(?:summari[sz]e|sum up|explain|describe|review|analy[sz]e|outline|tell${optionalMe} about|walk${optionalMe} through) (?:what (?:is|does) )?${file}`,
    (match) => summaryIntents(match),
  ),
  definePhrase(`what(?:'s| is| are| does| do) ${file} (?:about|for|do|doing|mean|good for)`, (match) =>
    summaryIntents(match),
  ),
  definePhrase(
    `(?:${showVerbs})${optionalMe} (?:all |every )?(?:of )?(?:the )?(?<pattern>\\S*[*]\\S*)(?: files?)?`,
    (match) => ({
      type: "read-many",
      patterns: [match.text("pattern")],
    }),
  ),
  definePhrase(
    `(?:read|open|load) (?:all|every) (?:of )?(?:the )?(?<kind>[\\w.+#]+) files?(?: (?:in|under|from) (?<place>.+))?`,
    (match) => {
      const ending = globForKind(match.masked("kind"));
      const folder = match.masked("place") === "" ? "." : parseFolder(match.masked("place"));
      if (ending === undefined || folder === undefined) return undefined;
      return {
        type: "read-many",
        patterns: [`${folder === "." ? "" : `${match.quotations.unquote(folder)}/`}**/${ending}`],
      };
    },
  ),
  definePhrase(
    `(?:${showVerbs})${optionalMe} (?:the )?(?:whole |full |entire )?(?:contents? of |text of |source of |code of |code in |what is in |what's in )?${file}`,
    (match) => readIntents(match),
  ),
  definePhrase(`what(?:'s| is| are)? (?:written |said )?(?:in|inside|the (?:contents?|text) of) ${file}`, (match) =>
    readIntents(match),
  ),
  definePhrase(`what (?:does|do) ${file} (?:say|contain|hold|have|look like|read)`, (match) => readIntents(match)),
  definePhrase(`(?:the )?contents? of ${file}`, (match) => readIntents(match)),
  definePhrase("(?<path>\\S+)", (match) =>
    isPath(match.masked("path")) && !/[*?]|^\.{1,2}$|\/$|^\ue000/.test(match.masked("path"))
      ? readIntents(match)
      : undefined,
  ),
];

const countables: Readonly<Record<string, Countable>> = {
  lines: "lines",
  words: "words",
  characters: "characters",
  letters: "characters",
};

const readRange = (match: PhraseMatch, lines: LineRange): readonly Intent[] | undefined =>
  forEachPath(match, (path) => ({ type: "read", path, lines }));

const lineRange = (match: PhraseMatch): LineRange => {
  const first = Math.max(1, Number(match.masked("first")));
  const last = match.masked("last");
  if (last === "") return { from: first - 1, count: 1 };
  return { from: first - 1, count: Math.max(1, Number(last) - first + 1) };
};

const numbers = "no one two three four five six seven eight nine ten eleven twelve".split(" ");

const numberOf = (word: string): number => {
  if (/^\d{1,9}$/.test(word)) return Math.max(1, Number(word));
  return word.toLowerCase() === "few" ? 5 : Math.max(1, numbers.indexOf(word.toLowerCase()));
};

const forEachPath = (match: PhraseMatch, intent: (path: string) => Intent): readonly Intent[] | undefined => {
  const one = match.path("path");
  const paths = one === undefined ? match.paths("path") : [one];
  return paths.length === 0 || paths.some((path) => /[*?]/.test(path)) ? undefined : paths.map(intent);
};

const viewImage = (match: PhraseMatch): readonly Intent[] | undefined =>
  forEachPath(match, (path) => ({ type: "read", path, as: "image" }));

const imagePattern = /\.(?:png|jpe?g|gif|webp|bmp)$/i;

const readIntents = (match: PhraseMatch): readonly Intent[] | undefined => {
  if (/\b(?:folder|directory|files)\b/i.test(match.masked("path")) || match.text("path").endsWith("/"))
    return undefined;
  return forEachPath(match, (path) =>
    imagePattern.test(path) ? { type: "read", path, as: "image" } : { type: "read", path },
  );
};

const summaryIntents = (match: PhraseMatch): readonly Intent[] | Intent | undefined => {
  const words = match.masked("path");
  if (isCurrentFolder(words) || wholeProject.test(words)) return { type: "survey" };
  if (match.paths("path").every((path) => /[*?]|\/$/.test(path))) return undefined;
  return forEachPath(match, (path) => ({ type: "read", path, as: imagePattern.test(path) ? "image" : "summary" }));
};

/** Phrases for the whole project. */
const wholeProject =
  /^(?:what )?(?:is in )?(?:this|the|my|our|it|that)? ?(?:is )?(?:whole |entire |current )?(?:project|repo|repository|codebase|code base|code|folder|directory|workspace|app|application|package|library)(?: (?:is|does|do|here|about|structure))*$/i;

/** Requests for an overview of the project. */
export const overviewPhrases: readonly Phrase[] = [
  definePhrase("what(?:'s| is| does| are)? (?<what>.+?)(?: (?:about|for|do|doing|all about))?", ({ masked }) =>
    wholeProject.test(masked("what").replace(/^(?:in|inside) /i, "")) &&
    !/^(?:in|inside) .*(?:folder|directory)$/i.test(masked("what"))
      ? { type: "survey" }
      : undefined,
  ),
  definePhrase(
    "(?:give|show|tell) (?:me|us) (?:an? |the )?(?:short |quick |brief )?(?:overview|summary|tour)|what are we (?:working on|doing here)|look around|where do i start|get to know (?:this|the) (?:project|repo|code\\w*)",
    () => ({ type: "survey" }),
  ),
];

const folderNouns =
  "(?:files?|folders?|contents?|directories|entries|items|things|everything|structure)(?: and (?:files|folders|directories|subfolders))?";

/** Requests to list a folder. */
export const listPhrases: readonly Phrase[] = [
  definePhrase("(?:ls|dir|list)", () => ({ type: "list", path: "." })),
  definePhrase(
    `(?:ls|dir|list|look in|look inside|browse)(?: me| us)? (?:(?:all|every|of|the|me|what is in|what's in) )*(?:${folderNouns} ?)?(?<place>.*)`,
    (match) => listIntents(match),
  ),
  definePhrase(`(?:${showVerbs})${optionalMe} (?:(?:all|of|the) )*(?:${folderNouns})(?<place>.*)`, (match) =>
    listIntents(match),
  ),
  definePhrase(
    `(?:${showVerbs})${optionalMe} (?:what is in |what's in )?(?<place>.*(?:folder|directory)(?: \\S+)?|\\S+/|src|docs?|lib|tests?|dist|bin|examples|scripts|packages)`,
    (match) => listIntents(match),
  ),
  definePhrase("what(?:'s| is| are)? (?:there )?(?:in|inside|under) (?<place>.+)", (match) => listIntents(match)),
  definePhrase(
    "(?:what|which) (?:files|folders|files and folders|things|directories)(?: (?:are|do (?:i|we|you) have|exist|can you see|is there|are there))*(?<place>.*)",
    (match) => listIntents(match),
  ),
  definePhrase("(?:contents?|files) (?:of|in) (?<place>.+)", (match) => listIntents(match)),
];

const listIntents = (match: PhraseMatch): readonly Intent[] | undefined => {
  const words = match.masked("place").replace(/^(?:in|inside|of|from|under|within|at)\s+/i, "");
  const folders = words.split(/\s*,\s*(?:and\s+)?|\s+and\s+/i).map((each) => (each === "" ? "." : parseFolder(each)));
  const isFolder = (path: string | undefined): path is string =>
    path !== undefined && !/[*?]|[^.]\.[a-z]{1,4}$/i.test(path);
  if (!folders.every(isFolder)) return undefined;
  return folders.map((path) => ({ type: "list", path: match.quotations.unquote(path).replace(/(?<=.)\/$/, "") }));
};
