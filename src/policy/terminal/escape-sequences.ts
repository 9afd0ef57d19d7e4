/**
 * The state of an open escape sequence. `escape`: after ESC. `designation`: after ESC and an intermediate such as (,
 * until its final character. `control`: after CSI, until its final character. `text`: after OSC, DCS, APC, PM or SOS,
 * until its terminator.
 */
export type EscapeSequence = "escape" | "designation" | "control" | "text";

/** The sequence a control character starts, if any. */
export const sequenceStartedBy = (code: number): EscapeSequence | undefined => {
  if (code === 0x1b) return "escape";
  if (code === 0x9b) return "control";
  return [0x90, 0x98, 0x9d, 0x9e, 0x9f].includes(code) ? "text" : undefined;
};

/** Where a sequence continues (`next`) or ends. `broken`: it ended without its final character, and text follows. */
type SequenceEnd = { readonly at: number; readonly next: EscapeSequence | undefined; readonly broken: boolean };

/** Finds the end of a sequence from `at`. Its content is dropped, so nothing needs to be buffered between chunks. */
export const findSequenceEnd = (text: string, at: number, sequence: EscapeSequence): SequenceEnd => {
  switch (sequence) {
    case "escape":
      return afterEscape(text, at);
    case "designation":
      return afterSign(text.charCodeAt(at), at);
    case "control":
      return afterContent(text, skipWhile(text, at, isParameter), sequence);
    case "text":
      return afterContent(text, skipWhile(text, at, isStringContent), sequence);
  }
};

const skipWhile = (text: string, from: number, isInside: (code: number) => boolean): number => {
  let at = from;
  while (at < text.length && isInside(text.charCodeAt(at))) at += 1;
  return at;
};

/** Whether a code is a parameter or intermediate of a control sequence. */
const isParameter = (code: number): boolean => code >= 0x20 && code <= 0x3f;

/** Whether a code is string content. A line end also terminates a string, so an unterminated one hides only one line. */
const isStringContent = (code: number): boolean =>
  code > 0x9f || (code >= 0x20 && code < 0x80) || (code < 0x20 && ![0x07, 0x0a, 0x0d, 0x18, 0x1a, 0x1b].includes(code));

const afterContent = (text: string, at: number, sequence: "control" | "text"): SequenceEnd => {
  if (at === text.length) return { at, next: sequence, broken: false };
  const code = text.charCodeAt(at);
  const isClosed = sequence === "control" ? code >= 0x40 && code <= 0x7e : [0x07, 0x18, 0x1a].includes(code);
  return isClosed ? { at: at + 1, next: undefined, broken: false } : stop(code, at);
};

const afterEscape = (text: string, at: number): SequenceEnd => {
  if (text.charAt(at) === "[") return { at: at + 1, next: "control", broken: false };
  if ("]PX^_".includes(text.charAt(at))) return { at: at + 1, next: "text", broken: false };
  return afterSign(text.charCodeAt(at), at);
};

const afterSign = (code: number, at: number): SequenceEnd => {
  if (code >= 0x20 && code <= 0x2f) return { at: at + 1, next: "designation", broken: false };
  return code >= 0x30 && code <= 0x7e ? { at: at + 1, next: undefined, broken: false } : stop(code, at);
};

/** A new ESC starts another sequence, as in a terminal; anything else is text again. */
const stop = (code: number, at: number): SequenceEnd =>
  code === 0x1b ? { at: at + 1, next: "escape", broken: false } : { at, next: undefined, broken: !isIntroducer(code) };

const isIntroducer = (code: number): boolean => code >= 0x80 && code <= 0x9f;
