/** Converts line endings to line feeds. */
export const toLineFeeds = (text: string): string => text.replaceAll("\r\n", "\n");

/**
 * Restores the line endings of a file in its edited text. Lines before and after the edit keep their own, which may
 * differ within one file; new lines get the more frequent kind. Where the file had none, the text stays unchanged.
 */
export const restoreLineEndings = (
  edited: string,
  { text, raw }: { readonly text: string; readonly raw: string },
): string => {
  if (text === raw) return raw.includes("\n") ? toLineFeeds(edited) : edited;
  const [before, after, ended] = [text.split("\n"), toLineFeeds(edited).split("\n"), raw.split("\n")];
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < most - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  const isCarriage = ended.filter((line) => line.endsWith("\r")).length * 2 > ended.length - 1;
  const newText = after.slice(start, after.length - end);
  return [
    ...ended.slice(0, start),
    ...newText.map((line, index) => (isCarriage && !isLast(index, newText, end) ? `${line}\r` : line)),
    ...ended.slice(ended.length - end),
  ].join("\n");
};

/** The last line of a text has no line ending. */
const isLast = (index: number, newText: readonly string[], end: number): boolean =>
  end === 0 && index === newText.length - 1;
