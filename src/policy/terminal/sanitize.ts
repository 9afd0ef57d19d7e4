import {
  isInvalidCodePoint,
  isJoiner,
  isVisibleMark,
  isVariationSelector,
  isBidiControl,
  isValidJoiner,
  specialCharacterPattern,
  isValidSelector,
  showCharacter,
} from "./characters.ts";
import { sequenceStartedBy, findSequenceEnd, type EscapeSequence } from "./escape-sequences.ts";

/**
 * How text is sanitized. `output`: escape sequences are removed, and only characters that change the meaning of a line
 * become visible. `visible`: nothing is removed, every control and invisible character becomes visible. `line`: the
 * same on one line.
 */
export type SanitizeMode = "output" | "visible" | "line";

/**
 * Sanitizes text so that it cannot act on a terminal or a log: no control characters besides line feed and tab, no
 * escape sequences, nothing invisible, no bidi controls, no stacks of combining marks.
 */
export const sanitizeForTerminal = (text: string, mode: SanitizeMode = "output"): string => {
  // Most texts match this, and compiling the Unicode pattern is slow.
  if ((mode === "line" ? /^[ -~]*$/ : /^[\t\n -~]*$/).test(text)) return text;
  const stream = new TerminalSanitizer(mode);
  return stream.write(text) + stream.end();
};

/** Formats a command for approval: all of it visible, nothing pushed off screen by blanks. */
export const displayCommand = (command: string): string =>
  sanitizeForTerminal(command, "visible")
    .replaceAll(/[ \t]{9,}/g, (run) => ` ⟨${run.length} spaces⟩ `)
    .replaceAll(/\n(?:[ \t]*\n){4,}/g, (run) => `\n⟨${run.split("\n").length - 2} empty lines⟩\n`);

/** Escapes JSON text for the terminal: the same value, with special characters as `\u` escapes. */
export const escapeJsonForTerminal = (json: string): string =>
  json.replaceAll(specialCharacterPattern({ spaces: false, line: false }), (character) =>
    character < " "
      ? character
      : Array.from({ length: character.length }, (_, at) => escapeCodeUnit(character, at)).join(""),
  );

const escapeCodeUnit = (character: string, at: number): string =>
  `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`;

/** The largest number of combining marks on one character. */
const maxMarks = 16;

/** Compiled patterns, shared by all sanitizers: each sets `lastIndex` before use. */
const patterns = new Map<SanitizeMode, RegExp>();

/** Sanitizes a stream of text for the terminal. The result does not depend on how it is split into chunks, even inside a character. */
export class TerminalSanitizer {
  readonly #mode: SanitizeMode;
  readonly #pattern: RegExp;
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  /** Text that cannot be decided before the next chunk. */
  #pending = "";
  #sequence: EscapeSequence | undefined;
  /** The last character written, and the number of combining marks on it. */
  #previous = "";
  #marks = 0;

  constructor(mode: SanitizeMode = "output") {
    this.#mode = mode;
    this.#pattern = patterns.get(mode) ?? specialCharacterPattern({ spaces: mode !== "output", line: mode === "line" });
    patterns.set(mode, this.#pattern);
  }

  write(chunk: string | Uint8Array): string {
    return this.#read(typeof chunk === "string" ? chunk : this.#decoder.decode(chunk, { stream: true }), false);
  }

  end(): string {
    const rest = this.#read(this.#decoder.decode(), true);
    const openSequence = this.#sequence;
    this.#sequence = undefined;
    return openSequence === undefined ? rest : `${rest}␛`;
  }

  #read(chunk: string, isLast: boolean): string {
    const text = this.#pending + chunk;
    this.#pending = "";
    let output = "";
    let at = 0;
    while (at < text.length) {
      if (this.#sequence !== undefined) {
        const end = findSequenceEnd(text, at, this.#sequence);
        this.#sequence = end.next;
        output += end.broken ? this.#append("␛") : "";
        at = end.at;
        continue;
      }
      const found = this.#findNext(text, at);
      output += this.#append(text.slice(at, found));
      if (found === text.length) break;
      const character = String.fromCodePoint(text.codePointAt(found) ?? 0);
      const after = text.slice(found + character.length, found + character.length + 2);
      if (!isLast && needsNextCharacter(character, after)) {
        this.#pending = text.slice(found);
        break;
      }
      output += this.#handleSpecial(character, after);
      at = found + character.length;
    }
    return output;
  }

  #findNext(text: string, from: number): number {
    const pattern = this.#pattern;
    pattern.lastIndex = from;
    return pattern.exec(text)?.index ?? text.length;
  }

  #append(run: string): string {
    if (run === "") return "";
    const last = run.charCodeAt(run.length - 1);
    this.#previous = last >= 0xdc00 && last <= 0xdfff ? run.slice(-2) : run.slice(-1);
    this.#marks = 0;
    return run;
  }

  /** Handles one special character. */
  #handleSpecial(character: string, after: string): string {
    const code = character.codePointAt(0) ?? 0;
    if (code < 0x20 || (code >= 0x7f && code <= 0x9f)) return this.#control(character, code, after);
    if (isInvalidCodePoint(code)) return this.#append("\ufffd");
    if (isVariationSelector(code) && isValidSelector(this.#previous, code, after))
      return this.#appendToPrevious(character);
    if (isJoiner(code) && isValidJoiner(this.#previous, code, after)) return this.#appendToPrevious(character);
    if (isVisibleMark(character)) return this.#mark(character);
    const isShown = this.#mode !== "output" || isBidiControl(code) || code === 0x2028 || code === 0x2029;
    return isShown ? this.#append(showCharacter(character)) : "";
  }

  #control(character: string, code: number, after: string): string {
    if (this.#mode === "output") {
      if (code === 0x0d && after.startsWith("\n")) return "";
      if (code === 0x9c) return "";
      this.#sequence = sequenceStartedBy(code);
      if (this.#sequence !== undefined) return "";
    }
    return this.#append(showCharacter(character));
  }

  #appendToPrevious(character: string): string {
    this.#previous = character;
    return character;
  }

  #mark(character: string): string {
    this.#marks += 1;
    if (this.#marks > maxMarks + 1) return "";
    return this.#appendToPrevious(this.#marks > maxMarks ? "\ufffd" : character);
  }
}

/** Whether a character depends on the next one, which has not arrived yet. */
const needsNextCharacter = (character: string, after: string): boolean => {
  const code = character.codePointAt(0) ?? 0;
  if (code >= 0xd800 && code <= 0xdbff) return after === "";
  if (code !== 0x0d && !isJoiner(code) && !isVariationSelector(code)) return false;
  const first = after.charCodeAt(0);
  return after === "" || (after.length === 1 && first >= 0xd800 && first <= 0xdbff);
};
