/**
 * Removes characters that are invisible to a person and read by a model: zero-width characters, direction marks, tags,
 * fillers. Pages hide instructions in such text. Joiners inside emoji stay.
 */
export const removeInvisible = (text: string): { readonly text: string; readonly removed: number } => {
  // Most pages contain none of them.
  if (!/[^\u0020-\u007e\n\r\t]/.test(text)) return { text, removed: 0 };
  let [seen, removed, before] = ["", 0, ""];
  const characters = Array.from(text);
  for (const [at, character] of characters.entries()) {
    const isJoining = character === zeroWidthJoiner && isEmojiPart(before) && isEmoji(characters[at + 1] ?? "");
    if (isInvisible(character.codePointAt(0) ?? 0) && !isJoining) removed += 1;
    else seen += character;
    before = character;
  }
  return { text: seen, removed };
};

const zeroWidthJoiner = "\u200d";

/** The first and the last code point of each range. */
const ranges: readonly (readonly [from: number, to: number])[] = [
  [0x00ad, 0x00ad],
  [0x034f, 0x034f],
  [0x061c, 0x061c],
  [0x115f, 0x1160],
  [0x17b4, 0x17b5],
  [0x180b, 0x180f],
  [0x200b, 0x200f],
  [0x202a, 0x202e],
  [0x2060, 0x206f],
  [0x3164, 0x3164],
  [0xfeff, 0xfeff],
  [0xffa0, 0xffa0],
  [0xfff9, 0xfffb],
  [0x1bca0, 0x1bca3],
  [0x1d173, 0x1d17a],
  [0xe0000, 0xe0fff],
];

const isInvisible = (code: number): boolean => code >= 0xad && ranges.some(([from, to]) => code >= from && code <= to);

const isEmoji = (character: string): boolean => /^\p{Extended_Pictographic}/u.test(character);

/** An emoji, a skin tone or the emoji variation selector. */
const isEmojiPart = (character: string): boolean =>
  isEmoji(character) || /^\p{Emoji_Modifier}/u.test(character) || character === "\ufe0f";
