import { definePhrase, type Phrase, type PhraseMatch } from "../phrase.ts";
import type { Intent } from "../intent.ts";

const createVerbs = "create|make|write|generate|save";
const kind =
  "(?:(?:a|an|the|my|new|empty|small|simple|short|text|markdown|blank) )*(?:(?:file|script|document|note|page|program|module|test)s? )?(?:(?:called|named|at|in|to|as) )?";
const contentMarkers =
  "(?:with|containing|that (?:says|contains|reads|holds)|which (?:says|contains|reads|holds)|saying|and (?:write|put)|holding|reading|:)";
const contentNouns =
  "(?:(?:the|this|following|exact|these) )*(?:(?:text|content|contents|words?|lines?|body)\\b[ :]*)?(?:(?:in it|into it|inside)\\b[ :]*)?";
const changeVerbs = "replace|change|swap|substitute|update|turn|rename|fix|correct|edit|modify";
const quantifiers =
  "(?:(?:all|every|each|the|any) )*(?:(?:occurrences?|instances?|uses?|text|word|words|string|line|typo|phrase) (?:of )?)?";
const replacementMarkers = "(?:with|by|to|into|for|->|→|=>)";
/** Another file after the first: , and b.txt with "y". */
const anotherFile = "(?:,|,? and) (?:the file |a file )?\\S+? (?:with|containing|saying) \\ue000\\d+\\ue001";

/** A masked quotation or code block: the only text ever written into a file. */
const quotation = "\\ue000\\d+\\ue001";
/** The text to look for in a file: a quotation, or one word. */
const word = `${quotation}|[\\w$.-]+`;
const file = "(?:the )?(?:file )?\\S+|it|that file|the file";

/** Requests to write or change files. Text is written or replaced only if it is quoted or a single word. */
export const changePhrases: readonly Phrase[] = [
  definePhrase(
    `in (?<path>\\S+?),? (?:please )?(?:${changeVerbs}) ${quantifiers}(?<old>${word}) ${replacementMarkers} (?<fresh>${word})`,
    (match) => edit(match),
  ),
  definePhrase(
    `(?:${changeVerbs}) ${quantifiers}(?<old>${word}) ${replacementMarkers} (?<fresh>${word}) (?:everywhere )?(?:in|inside|within|of) (?<path>${file})(?: everywhere)?`,
    (match) => edit(match),
  ),
  definePhrase(
    `(?:edit|modify|update|change|fix) (?:the file )?(?<path>\\S+?),?(?: so that it| to| by| and|:|,)? (?:replac\\w+|chang\\w+|swap\\w*|turn\\w*) ${quantifiers}(?<old>${word}) ${replacementMarkers} (?<fresh>${word})`,
    (match) => edit(match),
  ),
  definePhrase(
    `(?:replace|change|swap) ${quantifiers}(?<old>${quotation}) ${replacementMarkers} (?<fresh>${quotation})(?: everywhere)?`,
    (match) => edit(match),
  ),
  definePhrase(
    `(?:delete|remove|take out|drop) ${quantifiers}(?<old>${quotation}) (?:from|in|out of) (?<path>${file})`,
    (match) => edit(match),
  ),
  definePhrase(
    `(?:append|add) ${contentNouns}(?<content>${quotation}) (?:to|at) (?:the )?(?:(?:end|bottom) of )?(?<path>${file})`,
    (match) => {
      const path = match.path("path");
      return path === undefined ? undefined : { type: "append", path, content: match.text("content") };
    },
  ),
  definePhrase(
    `(?:${createVerbs}) ${kind}(?<path>\\S+?),? ?${contentMarkers} ${contentNouns}(?<content>${quotation}(?:${anotherFile})*(?: in it| inside| in there)?)`,
    (match) => write(match),
  ),
  definePhrase(`(?:${createVerbs}) ${kind}(?<path>\\S+?):? (?<content>${quotation})`, (match) => write(match)),
  definePhrase(
    `(?:write|put|save|store) ${contentNouns}(?<content>${quotation}) (?:to|into|in|as) ${kind}(?<path>\\S+)`,
    (match) => write(match),
  ),
  // An empty file is created with touch, so that an existing one keeps its content.
  definePhrase(
    "(?:create|make|touch) (?:(?:a|an|the|new|empty|blank) )*file (?:called |named )?(?<path>\\S+)",
    (match) => touch(match),
  ),
  definePhrase("(?:create|touch) (?:(?:new|empty|blank) )*(?<path>\\S+)", (match) => touch(match)),
  definePhrase(
    "(?:create|make|add) (?:a |an |the |new )*(?:folder|directory|dir) (?:called |named )?(?<path>\\S+)|(?:create|make|add) (?:a |an |the |new )*(?<other>\\S+) (?:folder|directory)",
    (match) => command("mkdir -p", match.text("path") || match.text("other")),
  ),
  definePhrase("(?:delete|erase) (?:the )?(?:file )?(?<path>\\S+)", (match) => onPath("rm", match)),
  definePhrase("(?:move|rename) (?:the )?(?:file )?(?<path>\\S+) (?:to|into|as) (?<to>\\S+)", (match) =>
    twoPaths("mv", match),
  ),
  definePhrase("(?:copy|duplicate) (?:the )?(?:file )?(?<path>\\S+) (?:to|into|as) (?<to>\\S+)", (match) =>
    twoPaths("cp", match),
  ),
];

const edit = (match: PhraseMatch): Intent | undefined => {
  const path = match.masked("path") === "" ? match.mentioned.path : match.path("path");
  if (path === undefined || match.masked("old") === "") return undefined;
  return { type: "edit", path, old: match.text("old"), fresh: match.text("fresh") };
};

/** Parses one file or more: "a.txt with "x" and b.txt with "y"". */
const write = (match: PhraseMatch): readonly Intent[] | undefined => {
  const path = match.path("path");
  if (path === undefined || /[*?]/.test(path)) return undefined;
  const content = match.masked("content");
  const [, first, more] = severalFiles.exec(content) ?? [];
  if (first === undefined)
    return [{ type: "write", path, content: match.quotations.unquote(content.replace(inItSuffix, "$1")) }];
  const others = [...(more ?? "").matchAll(new RegExp(namedFile, "gi"))].map(([, name = "", words = ""]) => ({
    type: "write" as const,
    path: match.quotations.unquote(name),
    content: match.quotations.unquote(words),
  }));
  return [{ type: "write", path, content: match.quotations.unquote(first) }, ...others];
};

const touch = (match: PhraseMatch): Intent | undefined => {
  const path = match.path("path");
  return path === undefined || /[*?]/.test(path) ? undefined : command("touch", path);
};

/** Runs a program on the single path of the clause. */
const onPath = (program: string, match: PhraseMatch): Intent | undefined => {
  const path = match.path("path");
  return path === undefined || /[*?]/.test(path) ? undefined : command(program, path);
};

const inItSuffix = /^(\ue000\d+\ue001) (?:in it|inside|in there)$/i;
const namedFile = "(?:,|,? and) (?:the file |a file )?(\\S+?) (?:with|containing|saying) (\\ue000\\d+\\ue001)";
const severalFiles = new RegExp(`^(\\ue000\\d+\\ue001)((?:${namedFile})+)$`, "i");

const twoPaths = (program: string, match: PhraseMatch): Intent | undefined => {
  const path = match.path("path");
  return path === undefined ? undefined : command(program, path, match.text("to"));
};

const command = (program: string, ...paths: readonly string[]): Intent => ({
  type: "run",
  command: [program, ...paths.map(quoteForShell)].join(" "),
});

/** Quotes a word for the shell. */
const quoteForShell = (word: string): string =>
  /^[\w./@%+=:,][\w./@%+=:,-]*$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
