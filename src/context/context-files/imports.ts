/** The files a context file asks to be read with it, as it spells them: `@docs/style.md`. Not those in code. */
export const findImports = (text: string): readonly string[] => [
  ...new Set([...removeCode(text).matchAll(importPattern)].map(([, path = ""]) => path.replaceAll("\\ ", " "))),
];

/** A context file's text without the imports in it. */
export const removeImports = (text: string): string => text.replaceAll(importPattern, "");

/** Only documents are imported: a mention of a person, a package or a program is none, and a file of secrets is no document. */
const importPattern = /(?<=^|[\s(])@((?:\\ |[^\s\\@`])+?\.(?:md|mdc|mdx|markdown|txt|rst|adoc))(?![\w/-]|\.\w)/gm;

/** Fenced blocks, then spans of code: what is left stands where it stood. */
const removeCode = (text: string): string => {
  const lines: string[] = [];
  let fence: string | undefined;
  for (const line of text.split("\n")) {
    const mark = /^\s*(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence === undefined) {
      if (mark === undefined) lines.push(line);
      else fence = mark;
    } else if (mark !== undefined && mark.startsWith(fence) && line.trim() === mark) fence = undefined;
  }
  return lines
    .join("\n")
    .split(/\n[ \t]*\n/)
    .map(removeCodeSpans)
    .join("\n\n");
};

/** A span ends with as many marks as it began with; marks that no others answer are letters. */
const removeCodeSpans = (paragraph: string): string => {
  const parts = paragraph.split(/(`+)/);
  let kept = "";
  for (let at = 0; at < parts.length; at++) {
    const part = parts[at] ?? "";
    const end = part.startsWith("`") ? parts.indexOf(part, at + 1) : -1;
    kept += end === -1 ? part : " ";
    if (end !== -1) at = end;
  }
  return kept;
};
