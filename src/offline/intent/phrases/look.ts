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
    (said) => {
      const count = numberOf(said.masked("count"));
      const isEnd = /last|bottom|final/i.test(said.masked("end"));
      return readRange(said, isEnd ? { from: -count, count } : { from: 0, count });
    },
  ),
  definePhrase(`(?<program>head|tail)(?: (?:-n ?|-)(?<count>\\d+))? ${file}`, (said) => {
    const count = numberOf(said.masked("count") || "10");
    return readRange(
      said,
      said.masked("program").toLowerCase() === "tail" ? { from: -count, count } : { from: 0, count },
    );
  }),
  definePhrase(
    `${inLines}lines? (?<first>\\d+)(?: ?(?:-|–|to|through|until|and) ?(?<last>\\d+))? (?:of|from|in) ${file}`,
    (said) => readRange(said, lineRange(said)),
  ),
  definePhrase(
    `(?:${showVerbs})${optionalMe} (?<path>\\S+),? (?:from |at )?lines? (?<first>\\d+)(?: ?(?:-|–|to|through|until) ?(?:line )?(?<last>\\d+))?`,
    (said) => readRange(said, lineRange(said)),
  ),
  definePhrase(
    `(?:how many|count(?: the)?|number of) (?<what>lines|words|characters|letters) (?:(?:are (?:there )?in|of|in|does|do|is in) )?(?<path>.+?)(?: (?:have|has|contain|contains|there))?`,
    (said) =>
      forEachPath(said, (path) => ({
        type: "read",
        path,
        as: countables[said.masked("what").toLowerCase()] ?? "lines",
      })),
  ),
  definePhrase(`how long is ${file}`, (said) => forEachPath(said, (path) => ({ type: "read", path, as: "lines" }))),
  definePhrase(
    `(?:how (?:big|large) is|what(?:'s| is| are) the (?:size|dimensions?|resolution|pixels|format|type) of) (?:the |this |that )?(?:image|picture|photo|screenshot) ${file}`,
    (said) => viewImage(said),
  ),
  definePhrase(`(?:how (?:big|large|heavy) is|(?:what(?:'s| is) )?the (?:file )?size of) ${file}`, (said) =>
    forEachPath(said, (path) => ({ type: "size", path })),
  ),
  definePhrase(
    `(?:(?:${showVerbs}|describe|explain|analy[sz]e)${optionalMe}|what(?:'s| is| do you see)) ?(?:(?:in|on|at|of) )?(?:(?:the|this|that|my) )?(?:image|picture|photo|screenshot|logo|icon|drawing) (?:(?:in|at|called|named|file) )?${file}`,
    (said) => viewImage(said),
  ),
  definePhrase(
    `(?:(?:give|get|show|tell)${optionalMe} )?(?:a |an |the )?(?:short |brief |quick )?(?:summary|overview|gist|outline|explanation) of ${file}`,
    (said) => summaryIntents(said),
  ),
  definePhrase(
    `(?:summari[sz]e|sum up|explain|describe|review|analy[sz]e|outline|tell${optionalMe} about|walk${optionalMe} through) (?:what (?:is|does) )?${file}`,
    (said) => summaryIntents(said),
  ),
  definePhrase(`what(?:'s| is| are| does| do) ${file} (?:about|for|do|doing|mean|good for)`, (said) =>
    summaryIntents(said),
  ),
  definePhrase(
    `(?:${showVerbs})${optionalMe} (?:all |every )?(?:of )?(?:the )?(?<pattern>\\S*[*]\\S*)(?: files?)?`,
    (said) => ({
      type: "read-many",
      patterns: [said.text("pattern")],
    }),
  ),
  definePhrase(
    `(?:read|open|load) (?:all|every) (?:of )?(?:the )?(?<kind>[\\w.+#]+) files?(?: (?:in|under|from) (?<place>.+))?`,
    (said) => {
      const ending = globForKind(said.masked("kind"));
      const folder = said.masked("place") === "" ? "." : parseFolder(said.masked("place"));
      if (ending === undefined || folder === undefined) return undefined;
      return {
        type: "read-many",
        patterns: [`${folder === "." ? "" : `${said.quotations.unquote(folder)}/`}**/${ending}`],
      };
    },
  ),
  definePhrase(
    `(?:${showVerbs})${optionalMe} (?:the )?(?:whole |full |entire )?(?:contents? of |text of |source of |code of |code in |what is in |what's in )?${file}`,
    (said) => readIntents(said),
  ),
  definePhrase(`what(?:'s| is| are)? (?:written |said )?(?:in|inside|the (?:contents?|text) of) ${file}`, (said) =>
    readIntents(said),
  ),
  definePhrase(`what (?:does|do) ${file} (?:say|contain|hold|have|look like|read)`, (said) => readIntents(said)),
  definePhrase(`(?:the )?contents? of ${file}`, (said) => readIntents(said)),
  definePhrase("(?<path>\\S+)", (said) =>
    isPath(said.masked("path")) && !/[*?]|^\.{1,2}$|\/$|^\ue000/.test(said.masked("path"))
      ? readIntents(said)
      : undefined,
  ),
];

const countables: Readonly<Record<string, Countable>> = {
  lines: "lines",
  words: "words",
  characters: "characters",
  letters: "characters",
};

const readRange = (said: PhraseMatch, lines: LineRange): readonly Intent[] | undefined =>
  forEachPath(said, (path) => ({ type: "read", path, lines }));

const lineRange = (said: PhraseMatch): LineRange => {
  const first = Math.max(1, Number(said.masked("first")));
  const last = said.masked("last");
  if (last === "") return { from: first - 1, count: 1 };
  return { from: first - 1, count: Math.max(1, Number(last) - first + 1) };
};

const numbers = "no one two three four five six seven eight nine ten eleven twelve".split(" ");

const numberOf = (word: string): number => {
  if (/^\d{1,9}$/.test(word)) return Math.max(1, Number(word));
  return word.toLowerCase() === "few" ? 5 : Math.max(1, numbers.indexOf(word.toLowerCase()));
};

const forEachPath = (said: PhraseMatch, wish: (path: string) => Intent): readonly Intent[] | undefined => {
  const one = said.path("path");
  const paths = one === undefined ? said.paths("path") : [one];
  return paths.length === 0 || paths.some((path) => /[*?]/.test(path)) ? undefined : paths.map(wish);
};

const viewImage = (said: PhraseMatch): readonly Intent[] | undefined =>
  forEachPath(said, (path) => ({ type: "read", path, as: "look" }));

const imagePattern = /\.(?:png|jpe?g|gif|webp|bmp)$/i;

const readIntents = (said: PhraseMatch): readonly Intent[] | undefined => {
  if (/\b(?:folder|directory|files)\b/i.test(said.masked("path")) || said.text("path").endsWith("/")) return undefined;
  return forEachPath(said, (path) =>
    imagePattern.test(path) ? { type: "read", path, as: "look" } : { type: "read", path },
  );
};

const summaryIntents = (said: PhraseMatch): readonly Intent[] | Intent | undefined => {
  const words = said.masked("path");
  if (isCurrentFolder(words) || wholeProject.test(words)) return { type: "survey" };
  if (said.paths("path").every((path) => /[*?]|\/$/.test(path))) return undefined;
  return forEachPath(said, (path) => ({ type: "read", path, as: imagePattern.test(path) ? "look" : "gist" }));
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
    (said) => listIntents(said),
  ),
  definePhrase(`(?:${showVerbs})${optionalMe} (?:(?:all|of|the) )*(?:${folderNouns})(?<place>.*)`, (said) =>
    listIntents(said),
  ),
  definePhrase(
    `(?:${showVerbs})${optionalMe} (?:what is in |what's in )?(?<place>.*(?:folder|directory)(?: \\S+)?|\\S+/|src|docs?|lib|tests?|dist|bin|examples|scripts|packages)`,
    (said) => listIntents(said),
  ),
  definePhrase("what(?:'s| is| are)? (?:there )?(?:in|inside|under) (?<place>.+)", (said) => listIntents(said)),
  definePhrase(
    "(?:what|which) (?:files|folders|files and folders|things|directories)(?: (?:are|do (?:i|we|you) have|exist|can you see|is there|are there))*(?<place>.*)",
    (said) => listIntents(said),
  ),
  definePhrase("(?:contents?|files) (?:of|in) (?<place>.+)", (said) => listIntents(said)),
];

const listIntents = (said: PhraseMatch): readonly Intent[] | undefined => {
  const words = said.masked("place").replace(/^(?:in|inside|of|from|under|within|at)\s+/i, "");
  const folders = words.split(/\s*,\s*(?:and\s+)?|\s+and\s+/i).map((each) => (each === "" ? "." : parseFolder(each)));
  const isFolder = (path: string | undefined): path is string =>
    path !== undefined && !/[*?]|[^.]\.[a-z]{1,4}$/i.test(path);
  if (!folders.every(isFolder)) return undefined;
  return folders.map((path) => ({ type: "list", path: said.quotations.unquote(path).replace(/(?<=.)\/$/, "") }));
};
