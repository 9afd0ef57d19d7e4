import { when, type Phrase, type Said } from "./phrase.ts";
import type { Wish } from "./wish.ts";

const making = "create|make|write|add|generate|save|produce|set up|start";
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

/** What people say to have files written or changed. */
export const changes: readonly Phrase[] = [
  when(`in (?<path>\\S+?),? (?:please )?(?:${changing}) ${every}(?<old>.+?) ${into} (?<fresh>.+)`, (said) =>
    edit(said),
  ),
  when(
    `(?:${changing}) ${every}(?<old>.+?) ${into} (?<fresh>.+?) (?:everywhere )?(?:in|inside|within|of) (?<path>(?:the )?(?:file )?\\S+|it|that file|the file)(?: everywhere)?`,
    (said) => edit(said),
  ),
  when(
    `(?:edit|modify|update|change|fix) (?:the file )?(?<path>\\S+?),?(?: so that it| to| by| and|:|,)? (?:replac\\w+|chang\\w+|sa\\w+|swap\\w*|turn\\w*) ${every}(?<old>.+?) ${into} (?<fresh>.+)`,
    (said) => edit(said),
  ),
  when(
    `(?:replace|change|swap) ${every}(?<old>\\ue000\\d+\\ue001) ${into} (?<fresh>\\ue000\\d+\\ue001)(?: everywhere)?`,
    (said) => edit(said),
  ),
  when(`(?:delete|remove|take out|drop) ${every}(?<old>\\ue000\\d+\\ue001) (?:from|in|out of) (?<path>.+)`, (said) =>
    edit(said),
  ),
  when(
    `(?:append|add) ${contents}(?<content>.+?) (?:to|at) (?:the )?(?:(?:end|bottom) of )?(?<path>(?:the )?(?:file )?\\S+|it|that file|the file)`,
    (said) => {
      const path = said.path("path");
      return path === undefined || isFile(said, "content")
        ? undefined
        : { type: "append", path, content: said.text("content") };
    },
  ),
  when(`(?:${making}) ${kind}(?<path>\\S+?),? ?${having} ${contents}(?<content>.+)`, (said) => write(said)),
  when(`(?:${making}) ${kind}(?<path>\\S+?):? (?<content>\\ue000\\d+\\ue001)`, (said) => write(said)),
  when(`(?:write|put|save|store) ${contents}(?<content>.+?) (?:to|into|in|as) ${kind}(?<path>\\S+)`, (said) =>
    write(said),
  ),
  when(`(?:create|make|touch|add|start) ${kind}(?<path>\\S+)`, (said) => write(said)),
  when(
    `(?:create|make|add) (?:a |an |the |new )*(?:folder|directory|dir) (?:called |named )?(?<path>\\S+)|(?:create|make|add) (?:a |an |the |new )*(?<other>\\S+) (?:folder|directory)`,
    (said) => command("mkdir -p", said.text("path") || said.text("other")),
  ),
  when("(?:delete|remove|erase|rm) (?:the )?(?:file )?(?<path>.+)", ({ paths }) => {
    const all = paths("path");
    return all.length === 0 ? undefined : command("rm", ...all);
  }),
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
  const others = [...(more ?? "").matchAll(new RegExp(another, "gi"))].map(([, name = "", words = ""]) => ({
    type: "write" as const,
    path: said.held.open(name),
    content: said.held.open(words),
  }));
  return [{ type: "write", path, content: said.held.open(first) }, ...others];
};

const inIt = /^(\ue000\d+\ue001) (?:in it|inside|in there)$/i;
const another = "(?:,|,? and) (?:the file |a file )?(\\S+?) (?:with|containing|saying) (\\ue000\\d+\\ue001)";
const several = new RegExp(`^(\\ue000\\d+\\ue001)((?:${another})+)$`, "i");

const isFile = (said: Said, place: string): boolean =>
  /^(?:a |an |the )?(?:new )?(?:file|folder|directory|script|test)\b/i.test(said.words(place));

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
