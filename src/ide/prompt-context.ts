import type { IdeContext, IdeSelection } from "./ide.ts";

/**
 * Describes for the model how the editor changed since it was last described; undefined if it did not. Paths are as the
 * model should see them.
 */
export const describeContext = (now: IdeContext, before: IdeContext | undefined): string | undefined => {
  const sentences = [...describeFiles(now.openFiles, before?.openFiles), ...describeSelection(now, before)];
  return sentences.length === 0 ? undefined : sentences.join("\n");
};

const describeFiles = (now: readonly string[], before: readonly string[] | undefined): readonly string[] => {
  const [active, ...others] = now;
  if (before === undefined)
    return active === undefined
      ? []
      : [`My editor shows ${active}.${others.length === 0 ? "" : ` Also open: ${others.join(", ")}.`}`];
  const opened = now.filter((path) => path !== active && !before.includes(path));
  const closed = before.filter((path) => !now.includes(path));
  return [
    ...(active === undefined || active === before[0] ? [] : [`My editor now shows ${active}.`]),
    ...(opened.length === 0 ? [] : [`Opened in my editor: ${opened.join(", ")}.`]),
    ...(closed.length === 0 ? [] : [`Closed in my editor: ${closed.join(", ")}.`]),
  ];
};

const describeSelection = (now: IdeContext, before: IdeContext | undefined): readonly string[] => {
  if (isSameSelection(now.selection, before?.selection)) return [];
  if (now.selection === undefined) return ["Nothing is selected in my editor now."];
  const { path, text } = now.selection;
  return [`Selected in my editor, ${path}, ${lineRange(now.selection)}:\n${fence(text)}`];
};

const isSameSelection = (a: IdeSelection | undefined, b: IdeSelection | undefined): boolean =>
  a?.path === b?.path && a?.firstLine === b?.firstLine && a?.lastLine === b?.lastLine && a?.text === b?.text;

/** Formats lines as `line 3` or `lines 3-5`. */
export const lineRange = ({ firstLine, lastLine }: { readonly firstLine: number; readonly lastLine: number }): string =>
  firstLine === lastLine ? `line ${firstLine}` : `lines ${firstLine}-${lastLine}`;

/** Puts a text between fences that it does not contain. */
export const fence = (text: string): string => {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const marks = "`".repeat(longest + 1);
  return `${marks}\n${text}${text.endsWith("\n") ? "" : "\n"}${marks}`;
};
