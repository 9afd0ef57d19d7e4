/** A text with plain line ends. */
export const toLineFeeds = (text: string): string => text.replaceAll("\r\n", "\n");

/**
 * An edited text with the line ends its file had. Lines before and after the edit keep their own, which may differ
 * within one file; new lines get what most have. Where the file had none, the text is as it was given.
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
  const fresh = after.slice(start, after.length - end);
  return [
    ...ended.slice(0, start),
    ...fresh.map((line, index) => (isCarriage && !isLast(index, fresh, end) ? `${line}\r` : line)),
    ...ended.slice(ended.length - end),
  ].join("\n");
};

/** The last line of a text has no end to keep. */
const isLast = (index: number, fresh: readonly string[], end: number): boolean =>
  end === 0 && index === fresh.length - 1;
