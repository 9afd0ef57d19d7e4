import { when, type Phrase, type Said } from "./phrase.ts";
import type { Wish } from "./wish.ts";

const making = "create|make|write|generate|save";
const kind =
  "(?:(?:a|an|the|my|new|empty|small|simple|short|text|markdown|blank) )*(?:(?:file|script|document|note|page|program|module|test)s? )?(?:(?:called|named|at|in|to|as) )?";
const having =
  "(?:with|containing|that (?:says|contains|reads|holds)|which (?:says|contains|reads|holds)|saying|and (?:write|put)|holding|reading|:)";
const contents =
  "(?:(?:the|this|following|exact|these) )*(?:(?:text|content|contents|words?|lines?|body)\\b[ :]*)?(?:(?:in it|into it|inside)\\b[ :]*)?";
const changing = "replace|change|swap|substitute|update|turn|rename|fix|correct|edit|modify";
const every =
  "(?:(?:all|every|each|the|any) )*(?:(?:occurrences?|instances?|uses?|text|word|words|string|line|typo|phrase) (?:of )?)?";
const into = "(?:with|by|to|into|for|->|→|=>)";
/** One more file after the first: , and b.txt with "y". */
const another = "(?:,|,? and) (?:the file |a file )?\\S+? (?:with|containing|saying) \\ue000\\d+\\ue001";

/** Words in quotation marks or a block of code: all that is ever written into a file. */
const quotation = "\\ue000\\d+\\ue001";
/** What may be looked for in a file: a quotation, or one word. */
const word = `${quotation}|[\\w$.-]+`;
const file = "(?:the )?(?:file )?\\S+|it|that file|the file";

/** Requests to write or change files. A text is only written, and a file only changed, where its words are quoted or a single one. */
export const changes: readonly Phrase[] = [
  when(`in (?<path>\\S+?),? (?:please )?(?:${changing}) ${every}(?<old>${word}) ${into} (?<fresh>${word})`, (said) =>
    edit(said),
  ),
  when(
    `(?:${changing}) ${every}(?<old>${word}) ${into} (?<fresh>${word}) (?:everywhere )?(?:in|inside|within|of) (?<path>${file})(?: everywhere)?`,
    (said) => edit(said),
  ),
  when(
    `(?:edit|modify|update|change|fix) (?:the file )?(?<path>\\S+?),?(?: so that it| to| by| and|:|,)? (?:replac\\w+|chang\\w+|swap\\w*|turn\\w*) ${every}(?<old>${word}) ${into} (?<fresh>${word})`,
    (said) => edit(said),
  ),
  when(`(?:replace|change|swap) ${every}(?<old>${quotation}) ${into} (?<fresh>${quotation})(?: everywhere)?`, (said) =>
    edit(said),
  ),
  when(`(?:delete|remove|take out|drop) ${every}(?<old>${quotation}) (?:from|in|out of) (?<path>${file})`, (said) =>
    edit(said),
  ),
  when(
    `(?:append|add) ${contents}(?<content>${quotation}) (?:to|at) (?:the )?(?:(?:end|bottom) of )?(?<path>${file})`,
    (said) => {
      const path = said.path("path");
      return path === undefined ? undefined : { type: "append", path, content: said.text("content") };
    },
  ),
  when(
    `(?:${making}) ${kind}(?<path>\\S+?),? ?${having} ${contents}(?<content>${quotation}(?:${another})*(?: in it| inside| in there)?)`,
    (said) => write(said),
  ),
  when(`(?:${making}) ${kind}(?<path>\\S+?):? (?<content>${quotation})`, (said) => write(said)),
  when(`(?:write|put|save|store) ${contents}(?<content>${quotation}) (?:to|into|in|as) ${kind}(?<path>\\S+)`, (said) =>
    write(said),
  ),
  // An empty file is touched: one that is there already keeps what it holds.
  when("(?:create|make|touch) (?:(?:a|an|the|new|empty|blank) )*file (?:called |named )?(?<path>\\S+)", (said) =>
    touch(said),
  ),
  when("(?:create|touch) (?:(?:new|empty|blank) )*(?<path>\\S+)", (said) => touch(said)),
  when(
    "(?:create|make|add) (?:a |an |the |new )*(?:folder|directory|dir) (?:called |named )?(?<path>\\S+)|(?:create|make|add) (?:a |an |the |new )*(?<other>\\S+) (?:folder|directory)",
    (said) => command("mkdir -p", said.text("path") || said.text("other")),
  ),
  when("(?:delete|erase) (?:the )?(?:file )?(?<path>\\S+)", (said) => onPath("rm", said)),
  when("(?:move|rename) (?:the )?(?:file )?(?<path>\\S+) (?:to|into|as) (?<to>\\S+)", (said) => twoPaths("mv", said)),
  when("(?:copy|duplicate) (?:the )?(?:file )?(?<path>\\S+) (?:to|into|as) (?<to>\\S+)", (said) =>
    twoPaths("cp", said),
  ),
];

const edit = (said: Said): Wish | undefined => {
  const path = said.words("path") === "" ? said.before.path : said.path("path");
  if (path === undefined || said.words("old") === "") return undefined;
  return { type: "edit", path, old: said.text("old"), fresh: said.text("fresh") };
};

/** One file or more: "a.txt with "x" and b.txt with "y"". */
const write = (said: Said): readonly Wish[] | undefined => {
  const path = said.path("path");
  if (path === undefined || /[*?]/.test(path)) return undefined;
  const content = said.words("content");
  const [, first, more] = several.exec(content) ?? [];
  if (first === undefined) return [{ type: "write", path, content: said.held.open(content.replace(inIt, "$1")) }];
  const others = [...(more ?? "").matchAll(new RegExp(named, "gi"))].map(([, name = "", words = ""]) => ({
    type: "write" as const,
    path: said.held.open(name),
    content: said.held.open(words),
  }));
  return [{ type: "write", path, content: said.held.open(first) }, ...others];
};

const touch = (said: Said): Wish | undefined => {
  const path = said.path("path");
  return path === undefined || /[*?]/.test(path) ? undefined : command("touch", path);
};

/** A program on the one path that is all that was said. */
const onPath = (program: string, said: Said): Wish | undefined => {
  const path = said.path("path");
  return path === undefined || /[*?]/.test(path) ? undefined : command(program, path);
};

const inIt = /^(\ue000\d+\ue001) (?:in it|inside|in there)$/i;
const named = "(?:,|,? and) (?:the file |a file )?(\\S+?) (?:with|containing|saying) (\\ue000\\d+\\ue001)";
const several = new RegExp(`^(\\ue000\\d+\\ue001)((?:${named})+)$`, "i");

const twoPaths = (program: string, said: Said): Wish | undefined => {
  const path = said.path("path");
  return path === undefined ? undefined : command(program, path, said.text("to"));
};

const command = (program: string, ...paths: readonly string[]): Wish => ({
  type: "run",
  command: [program, ...paths.map(quoted)].join(" "),
});

/** A word as a shell takes it whole. */
const quoted = (word: string): string =>
  /^[\w./@%+=:,][\w./@%+=:,-]*$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
