/** The visible form of a control character: C0 and DEL as control pictures, others as `<U+...>`. */
export const showCharacter = (character: string): string => {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return "␡";
  return `<U+${code.toString(16).toUpperCase().padStart(4, "0")}>`;
};

/**
 * Matches characters that need sanitizing: controls, invisible characters, bidi controls, combining marks and
 * unpaired surrogates. With `spaces`, also spaces other than U+0020, which a shell treats as letters; with `line`,
 * also tab and line feed.
 */
export const specialCharacterPattern = ({
  spaces,
  line,
}: {
  readonly spaces: boolean;
  readonly line: boolean;
}): RegExp => {
  const invisible = String.raw`\p{Default_Ignorable_Code_Point}\u{2028}\u{2029}\u{FFF9}-\u{FFFB}`;
  const broken = String.raw`\p{Cs}\p{Noncharacter_Code_Point}`;
  const controls = line ? String.raw`\p{Cc}` : String.raw`[\p{Cc}--[\t\n]]`;
  const blanks = spaces ? String.raw`[\p{Zs}--[\x20]]\u{2800}` : "";
  return new RegExp(`[${controls}${invisible}${broken}${blanks}\\p{M}]`, "gv");
};

/** Whether a code point changes the text direction, or ends such a change. */
export const isBidiControl = (code: number): boolean =>
  (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);

/** Whether a code point is a surrogate or a noncharacter. */
export const isInvalidCodePoint = (code: number): boolean =>
  (code >= 0xd800 && code <= 0xdfff) || (code & 0xfffe) === 0xfffe || (code >= 0xfdd0 && code <= 0xfdef);

/** Whether a code point selects a variant of the character before it. */
export const isVariationSelector = (code: number): boolean =>
  (code >= 0xfe00 && code <= 0xfe0f) || (code >= 0xe0100 && code <= 0xe01ef);

/** Whether a code point is a zero-width joiner or non-joiner. */
export const isJoiner = (code: number): boolean => code === 0x200c || code === 0x200d;

/** Whether a character is a visible combining mark. */
export const isVisibleMark = (character: string): boolean =>
  /^\p{M}/u.test(character) && !/^\p{Default_Ignorable_Code_Point}/u.test(character);

/** Whether a variation selector is valid here: emoji and text forms of symbols, keycaps, variants of Han characters. */
export const isValidSelector = (before: string, selector: number, after: string): boolean => {
  if (selector >= 0xe0100) return /^\p{Script=Han}/u.test(before);
  if (selector < 0xfe0e) return false;
  return /^[\d#*]/.test(before) ? after.startsWith("\u20e3") : /^\p{Emoji}/u.test(before);
};

/** Whether a joiner is valid here: between the parts of an emoji, or between letters of a script that uses joiners. */
export const isValidJoiner = (before: string, joiner: number, after: string): boolean => {
  if (joiningScript.test(before) && joiningScript.test(after)) return true;
  return joiner === 0x200d && emojiPart.test(before) && /^\p{Extended_Pictographic}/u.test(after);
};

const emojiPart = /^(?:\p{Extended_Pictographic}|\p{Emoji_Modifier}|\ufe0f)/u;

const joiningScripts =
  "Arabic Syriac Mongolian Tibetan Myanmar Khmer Sinhala Devanagari Bengali Gurmukhi Gujarati Oriya Tamil Telugu Kannada Malayalam";

/** Arabic and Indic scripts use joiners. */
const joiningScript = new RegExp(
  `^[${joiningScripts.replaceAll(/\w+ ?/g, (name) => `\\p{Script=${name.trim()}}`)}]`,
  "u",
);
