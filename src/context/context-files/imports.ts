/** Finds the imports of a context file, such as `@docs/style.md`, except in code. */
export const findImports = (text: string): readonly string[] => [
  ...new Set([...removeCode(text).matchAll(importPattern)].map(([, path = ""]) => path.replaceAll("\\ ", " "))),
];

/** Removes the imports from a text. */
export const removeImports = (text: string): string => text.replaceAll(importPattern, "");

/** Only documents are imported: not user names, packages, programs or files with secrets. */
const importPattern = /(?<=^|[\s(])@((?:\\ |[^\s\\@`])+?\.(?:md|mdc|mdx|markdown|txt|rst|adoc))(?![\w/-]|\.\w)/gm;

/** Removes fenced blocks, then code spans. */
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

/** A code span ends with as many backticks as it began with; unmatched backticks are text. */
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
