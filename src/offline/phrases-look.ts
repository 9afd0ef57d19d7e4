import { when, type Phrase, type Said } from "./phrase.ts";
import { endingOf } from "./phrases-kinds.ts";
import { folderIn, isHere, isPath } from "./places.ts";
import type { Countable, LineRange, Wish } from "./wish.ts";

const seeing =
  "read|show|open|print|display|cat|view|see|dump|output|load|get|give|fetch|let me see|look at|look into|check|inspect|examine|type";
const me = "(?: me| us)?";
const file = "(?<path>.+)";
const inLines = `(?:(?:(?:${seeing})${me}|what(?:'s| is| are)(?: (?:on|in|at))?) )?(?:only )?(?:the )?`;

/** What people say to see files, whole or in part. */
export const reading: readonly Phrase[] = [
  when(
    `${inLines}(?<end>first|last|top|bottom|final) (?:(?<count>\\d+|\\w+) )?lines? (?:of|from|in) ${file}`,
    (said) => {
      const count = numberOf(said.words("count"));
      const isEnd = /last|bottom|final/i.test(said.words("end"));
      return part(said, isEnd ? { from: -count, count } : { from: 0, count });
    },
  ),
  when(`(?<program>head|tail)(?: (?:-n ?|-)(?<count>\\d+))? ${file}`, (said) => {
    const count = numberOf(said.words("count") || "10");
    return part(said, said.words("program").toLowerCase() === "tail" ? { from: -count, count } : { from: 0, count });
  }),
  when(
    `${inLines}lines? (?<first>\\d+)(?: ?(?:-|–|to|through|until|and) ?(?<last>\\d+))? (?:of|from|in) ${file}`,
    (said) => part(said, between(said)),
  ),
  when(
    `(?:${seeing})${me} (?<path>\\S+),? (?:from |at )?lines? (?<first>\\d+)(?: ?(?:-|–|to|through|until) ?(?:line )?(?<last>\\d+))?`,
    (said) => part(said, between(said)),
  ),
  when(
    `(?:how many|count(?: the)?|number of) (?<what>lines|words|characters|letters) (?:(?:are (?:there )?in|of|in|does|do|is in) )?(?<path>.+?)(?: (?:have|has|contain|contains|there))?`,
    (said) =>
      each(said, (path) => ({ type: "read", path, as: countables[said.words("what").toLowerCase()] ?? "lines" })),
  ),
  when(`how long is ${file}`, (said) => each(said, (path) => ({ type: "read", path, as: "lines" }))),
  when(
    `(?:how (?:big|large) is|what(?:'s| is| are) the (?:size|dimensions?|resolution|pixels|format|type) of) (?:the |this |that )?(?:image|picture|photo|screenshot) ${file}`,
    (said) => look(said),
  ),
  when(`(?:how (?:big|large|heavy) is|(?:what(?:'s| is) )?the (?:file )?size of) ${file}`, (said) =>
    each(said, (path) => ({ type: "size", path })),
  ),
  when(
    `(?:(?:${seeing}|describe|explain|analy[sz]e)${me}|what(?:'s| is| do you see)) ?(?:(?:in|on|at|of) )?(?:(?:the|this|that|my) )?(?:image|picture|photo|screenshot|logo|icon|drawing) (?:(?:in|at|called|named|file) )?${file}`,
    (said) => look(said),
  ),
  when(
    `(?:(?:give|get|show|tell)${me} )?(?:a |an |the )?(?:short |brief |quick )?(?:summary|overview|gist|outline|explanation) of ${file}`,
    (said) => gist(said),
  ),
  when(
    `(?:summari[sz]e|sum up|explain|describe|review|analy[sz]e|outline|tell${me} about|walk${me} through) (?:what (?:is|does) )?${file}`,
    (said) => gist(said),
  ),
  when(`what(?:'s| is| are| does| do) ${file} (?:about|for|do|doing|mean|good for)`, (said) => gist(said)),
  when(`(?:${seeing})${me} (?:all |every )?(?:of )?(?:the )?(?<pattern>\\S*[*]\\S*)(?: files?)?`, (said) => ({
    type: "read-many",
    patterns: [said.text("pattern")],
  })),
  when(
    `(?:read|open|load) (?:all|every) (?:of )?(?:the )?(?<kind>[\\w.+#]+) files?(?: (?:in|under|from) (?<place>.+))?`,
    (said) => {
      const ending = endingOf(said.words("kind"));
      const folder = said.words("place") === "" ? "." : folderIn(said.words("place"));
      if (ending === undefined || folder === undefined) return undefined;
      return { type: "read-many", patterns: [`${folder === "." ? "" : `${said.held.open(folder)}/`}**/${ending}`] };
    },
  ),
  when(
    `(?:${seeing})${me} (?:the )?(?:whole |full |entire )?(?:contents? of |text of |source of |code of |code in |what is in |what's in )?${file}`,
    (said) => plainRead(said),
  ),
  when(`what(?:'s| is| are)? (?:written |said )?(?:in|inside|the (?:contents?|text) of) ${file}`, (said) =>
    plainRead(said),
  ),
  when(`what (?:does|do) ${file} (?:say|contain|hold|have|look like|read)`, (said) => plainRead(said)),
  when(`(?:the )?contents? of ${file}`, (said) => plainRead(said)),
  when("(?<path>\\S+)", (said) =>
    isPath(said.words("path")) && !/[*?]|^\.{1,2}$|\/$|^\ue000/.test(said.words("path")) ? plainRead(said) : undefined,
  ),
];

const countables: Readonly<Record<string, Countable>> = {
  lines: "lines",
  words: "words",
  characters: "characters",
  letters: "characters",
};

const part = (said: Said, lines: LineRange): readonly Wish[] | undefined =>
  each(said, (path) => ({ type: "read", path, lines }));

const between = (said: Said): LineRange => {
  const first = Math.max(1, Number(said.words("first")));
  const last = said.words("last");
  if (last === "") return { from: first - 1, count: 1 };
  return { from: first - 1, count: Math.max(1, Number(last) - first + 1) };
};

const numbers = "no one two three four five six seven eight nine ten eleven twelve".split(" ");

const numberOf = (word: string): number => {
  if (/^\d{1,9}$/.test(word)) return Math.max(1, Number(word));
  return word.toLowerCase() === "few" ? 5 : Math.max(1, numbers.indexOf(word.toLowerCase()));
};

const each = (said: Said, wish: (path: string) => Wish): readonly Wish[] | undefined => {
  const one = said.path("path");
  const paths = one === undefined ? said.paths("path") : [one];
  return paths.length === 0 || paths.some((path) => /[*?]/.test(path)) ? undefined : paths.map(wish);
};

const look = (said: Said): readonly Wish[] | undefined => each(said, (path) => ({ type: "read", path, as: "look" }));

const pictures = /\.(?:png|jpe?g|gif|webp|bmp)$/i;

const plainRead = (said: Said): readonly Wish[] | undefined => {
  if (/\b(?:folder|directory|files)\b/i.test(said.words("path")) || said.text("path").endsWith("/")) return undefined;
  return each(said, (path) => (pictures.test(path) ? { type: "read", path, as: "look" } : { type: "read", path }));
};

const gist = (said: Said): readonly Wish[] | Wish | undefined => {
  const words = said.words("path");
  if (isHere(words) || wholeProject.test(words)) return { type: "survey" };
  if (said.paths("path").every((path) => /[*?]|\/$/.test(path))) return undefined;
  return each(said, (path) => ({ type: "read", path, as: pictures.test(path) ? "look" : "gist" }));
};

/** Words for all that is here. */
const wholeProject =
  /^(?:what )?(?:is in )?(?:this|the|my|our|it|that)? ?(?:is )?(?:whole |entire |current )?(?:project|repo|repository|codebase|code base|code|folder|directory|workspace|app|application|package|library)(?: (?:is|does|do|here|about|structure))*$/i;

/** What people say to learn what a project is. */
export const surveying: readonly Phrase[] = [
  when("what(?:'s| is| does| are)? (?<what>.+?)(?: (?:about|for|do|doing|all about))?", ({ words }) =>
    wholeProject.test(words("what").replace(/^(?:in|inside) /i, "")) &&
    !/^(?:in|inside) .*(?:folder|directory)$/i.test(words("what"))
      ? { type: "survey" }
      : undefined,
  ),
  when(
    "(?:give|show|tell) (?:me|us) (?:an? |the )?(?:short |quick |brief )?(?:overview|summary|tour)|what are we (?:working on|doing here)|look around|where do i start|get to know (?:this|the) (?:project|repo|code\\w*)",
    () => ({ type: "survey" }),
  ),
];

const things =
  "(?:files?|folders?|contents?|directories|entries|items|things|everything|structure)(?: and (?:files|folders|directories|subfolders))?";

/** What people say to see what a folder holds. */
export const listing: readonly Phrase[] = [
  when("(?:ls|dir|list)", () => ({ type: "list", path: "." })),
  when(
    `(?:ls|dir|list|look in|look inside|browse)(?: me| us)? (?:(?:all|every|of|the|me|what is in|what's in) )*(?:${things} ?)?(?<place>.*)`,
    (said) => list(said),
  ),
  when(`(?:${seeing})${me} (?:(?:all|of|the) )*(?:${things})(?<place>.*)`, (said) => list(said)),
  when(
    `(?:${seeing})${me} (?:what is in |what's in )?(?<place>.*(?:folder|directory)(?: \\S+)?|\\S+/|src|docs?|lib|tests?|dist|bin|examples|scripts|packages)`,
    (said) => list(said),
  ),
  when("what(?:'s| is| are)? (?:there )?(?:in|inside|under) (?<place>.+)", (said) => list(said)),
  when(
    "(?:what|which) (?:files|folders|files and folders|things|directories)(?: (?:are|do (?:i|we|you) have|exist|can you see|is there|are there))*(?<place>.*)",
    (said) => list(said),
  ),
  when("(?:contents?|files) (?:of|in) (?<place>.+)", (said) => list(said)),
];

const list = (said: Said): readonly Wish[] | undefined => {
  const words = said.words("place").replace(/^(?:in|inside|of|from|under|within|at)\s+/i, "");
  const folders = words.split(/\s*,\s*(?:and\s+)?|\s+and\s+/i).map((each) => (each === "" ? "." : folderIn(each)));
  const isFolder = (path: string | undefined): path is string =>
    path !== undefined && !/[*?]|[^.]\.[a-z]{1,4}$/i.test(path);
  if (!folders.every(isFolder)) return undefined;
  return folders.map((path) => ({ type: "list", path: said.held.open(path).replace(/(?<=.)\/$/, "") }));
};
