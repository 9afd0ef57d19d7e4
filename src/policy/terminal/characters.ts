/** How a control character is shown: C0 and DEL by their pictures, all others by number. */
export const showCharacter = (character: string): string => {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return "␡";
  return `<U+${code.toString(16).toUpperCase().padStart(4, "0")}>`;
};

/**
 * Finds what needs a look: controls, what is not seen, what turns or stacks
 * other letters, and halves of letters. Where `spaces` count, so do those that are
 * not the space, which a shell takes for letters; on a `line`, so do tab and line feed.
 */
export const specialCharacterPattern = ({
  spaces,
  line,
}: {
  readonly spaces: boolean;
  readonly line: boolean;
}): RegExp => {
  const unseen = String.raw`\p{Default_Ignorable_Code_Point}\u{2028}\u{2029}\u{FFF9}-\u{FFFB}`;
  const broken = String.raw`\p{Cs}\p{Noncharacter_Code_Point}`;
  const controls = line ? String.raw`\p{Cc}` : String.raw`[\p{Cc}--[\t\n]]`;
  const blanks = spaces ? String.raw`[\p{Zs}--[\x20]]\u{2800}` : "";
  return new RegExp(`[${controls}${unseen}${broken}${blanks}\\p{M}]`, "gv");
};

/** Turns the direction of what follows, or ends such a turn. */
export const isBidiControl = (code: number): boolean =>
  (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);

/** Halves of letters, and numbers that will never be one. */
export const isInvalidCodePoint = (code: number): boolean =>
  (code >= 0xd800 && code <= 0xdfff) || (code & 0xfffe) === 0xfffe || (code >= 0xfdd0 && code <= 0xfdef);

/** Picks a form of the character before it. */
export const isVariationSelector = (code: number): boolean =>
  (code >= 0xfe00 && code <= 0xfe0f) || (code >= 0xe0100 && code <= 0xe01ef);

/** Holds the characters around it together, or apart. */
export const isJoiner = (code: number): boolean => code === 0x200c || code === 0x200d;

/** Stands on the letter before it, and is seen. */
export const isVisibleMark = (character: string): boolean =>
  /^\p{M}/u.test(character) && !/^\p{Default_Ignorable_Code_Point}/u.test(character);

/** Whether a selector stands where one belongs: emoji and text forms of symbols, keycaps, variants of Han letters. */
export const isValidSelector = (before: string, selector: number, after: string): boolean => {
  if (selector >= 0xe0100) return /^\p{Script=Han}/u.test(before);
  if (selector < 0xfe0e) return false;
  return /^[\d#*]/.test(before) ? after.startsWith("\u20e3") : /^\p{Emoji}/u.test(before);
};

/** Whether a joiner stands where one belongs: between the parts of an emoji, or between letters of a script that joins. */
export const isValidJoiner = (before: string, joiner: number, after: string): boolean => {
  if (joiningScript.test(before) && joiningScript.test(after)) return true;
  return joiner === 0x200d && emojiPart.test(before) && /^\p{Extended_Pictographic}/u.test(after);
};

const emojiPart = /^(?:\p{Extended_Pictographic}|\p{Emoji_Modifier}|\ufe0f)/u;

const joiningScripts =
  "Arabic Syriac Mongolian Tibetan Myanmar Khmer Sinhala Devanagari Bengali Gurmukhi Gujarati Oriya Tamil Telugu Kannada Malayalam";

/** Arabic, and the scripts of India and its neighbours, are written with joiners. */
const joiningScript = new RegExp(
  `^[${joiningScripts.replaceAll(/\w+ ?/g, (name) => `\\p{Script=${name.trim()}}`)}]`,
  "u",
);
