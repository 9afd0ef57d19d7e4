import { eastAsianWidth } from "get-east-asian-width";

/** The width of a text in columns. Tabs count as one: expand them before. */
export const textWidth = (text: string): number => {
  if (isAscii(text)) return text.length;
  let columns = 0;
  for (const grapheme of graphemesOf(text)) columns += graphemeWidth(grapheme);
  return columns;
};

/** Splits a text into graphemes: an emoji sequence is one, and so is a letter with its accents. */
export const graphemesOf = (text: string): readonly string[] =>
  isSimple(text) ? text.split("") : Array.from(segmenter().segment(text), ({ segment }) => segment);

/** The start of the grapheme at an offset. Between two graphemes, that is the offset itself. */
export const graphemeStart = (text: string, at: number): number =>
  at <= 0 || at >= text.length || isSimple(text.slice(at - 1, at + 1))
    ? Math.max(0, Math.min(at, text.length))
    : (segmenter().segment(text).containing(at)?.index ?? at);

/** The width of one grapheme in columns. */
export const graphemeWidth = (grapheme: string): number => {
  const code = grapheme.codePointAt(0) ?? 0;
  if (grapheme.length === 1) return codePointWidth(code);
  if (isEmojiSequence(grapheme)) return 2;
  let columns = 0;
  for (const character of grapheme) columns += codePointWidth(character.codePointAt(0) ?? 0);
  // A syllable of separate Hangul jamo is drawn in the cell of the first one.
  return code >= 0x1100 && code <= 0x115f ? 2 : columns;
};

/** Whether every terminal gives this grapheme the same width. They differ about emoji sequences, symbols and accents. */
export const hasCertainWidth = (grapheme: string): boolean => {
  const code = grapheme.codePointAt(0) ?? 0;
  if (grapheme.length > 1) return false;
  return (
    code < 0x300 ||
    (code >= 0x370 && code <= 0x52f && code !== 0x483) ||
    (code >= 0x3041 && code <= 0xd7a3 && isWide(code))
  );
};

/** Whether Unicode calls a code point wide or full-width; emoji with default emoji presentation are. */
const isWide = (code: number): boolean => code >= 0x1100 && eastAsianWidth(code) === 2;

const isAscii = (text: string): boolean => /^[\0-\x7f]*$/.test(text);

const codePointWidth = (code: number): number => {
  if (code < 0x300) return code < 0x20 || (code >= 0x7f && code < 0xa0) || code === 0xad ? 0 : 1;
  if (isWide(code)) return 2;
  return zeroWidth.test(String.fromCodePoint(code)) ? 0 : 1;
};

/** Combining and invisible characters, and the trailing jamo of Hangul syllables. */
const zeroWidth = /^[\p{Mn}\p{Me}\p{Cf}\p{Default_Ignorable_Code_Point}\u1160-\u11ff\ud7b0-\ud7ff]/u;

/** ZWJ sequences, flags, skin tones, and symbols with emoji presentation. */
const isEmojiSequence = (grapheme: string): boolean =>
  /^(?:\p{RI}{2}|\p{Emoji}\ufe0f|[\p{Extended_Pictographic}\p{Emoji_Presentation}]\ufe0f?[\p{Emoji_Modifier}\u200d])/u.test(
    grapheme,
  );

/** Text in which every UTF-16 code unit is a grapheme. */
const isSimple = (text: string): boolean =>
  /^[\0-\u02ff\u0370-\u0482\u048a-\u058f\u2010-\u2027\u2030-\u205e\u2100-\u2bff\u3041-\u3096\u30a0-\u9fff\uac00-\ud7a3]*$/.test(
    text,
  );

/** Creating a segmenter takes as long as half of Node's start and few texts need one, so it is created on first use. */
const segmenter = ((): (() => Intl.Segmenter) => {
  let made: Intl.Segmenter | undefined;
  return () => (made ??= new Intl.Segmenter("en", { granularity: "grapheme" }));
})();
