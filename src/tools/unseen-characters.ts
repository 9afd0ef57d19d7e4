/**
 * Removes characters that a person does not see and a model reads: zero-width
 * ones, marks that turn the direction of reading, tags, private signs. Such
 * text is how a page hides instructions. Joiners inside emoji stay.
 */
export const removeUnseen = (text: string): { readonly text: string; readonly removed: number } => {
  if (!unseen.test(text)) return { text, removed: 0 };
  let removed = 0;
  const clean = text.replaceAll(new RegExp(unseen, "gu"), (run, at: number) => {
    if (run === joiner && isEmoji(text, at)) return run;
    removed += [...run].length;
    return "";
  });
  return { text: clean, removed };
};

const joiner = "\u200d";

/** One joiner alone, or a run of anything unseen. */
const unseen =
  /\u200d(?![\u200b-\u200f])|[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]+/u;

const isEmoji = (text: string, at: number): boolean =>
  /[\p{Extended_Pictographic}\ufe0f\u{1f3fb}-\u{1f3ff}]$/u.test(text.slice(Math.max(0, at - 2), at)) &&
  /^\p{Extended_Pictographic}/u.test(text.slice(at + 1, at + 3));
