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
 * How text is made plain. For `output`, whole escape sequences go and only what
 * changes the meaning of a line is shown by a sign. For `visible`, nothing goes:
 * every control and every unseen character is shown. `line` is the same on one line.
 */
export type SanitizeMode = "output" | "visible" | "line";

/**
 * Text that can do nothing to a terminal or a log but appear in it: no
 * controls besides line feed and tab, nothing unseen, nothing that turns the
 * direction of reading, no towers of accents.
 */
export const sanitizeForTerminal = (text: string, mode: SanitizeMode = "output"): string => {
  // Most lines hold nothing else, and what knows all of Unicode takes long to get ready.
  if ((mode === "line" ? /^[ -~]*$/ : /^[\t\n -~]*$/).test(text)) return text;
  const stream = new TerminalSanitizer(mode);
  return stream.write(text) + stream.end();
};

/** A command as a person must see it before approving it: all of it, with nothing pushed out of sight. */
export const displayCommand = (command: string): string =>
  sanitizeForTerminal(command, "visible")
    .replaceAll(/[ \t]{9,}/g, (run) => ` ⟨${run.length} spaces⟩ `)
    .replaceAll(/\n(?:[ \t]*\n){4,}/g, (run) => `\n⟨${run.split("\n").length - 2} empty lines⟩\n`);

/** JSON text with everything but plain characters escaped: the same value, harmless on a terminal. */
export const escapeJsonForTerminal = (json: string): string =>
  json.replaceAll(specialCharacterPattern({ spaces: false, line: false }), (character) =>
    character < " "
      ? character
      : Array.from({ length: character.length }, (_, at) => escapeCodeUnit(character, at)).join(""),
  );

const escapeCodeUnit = (character: string, at: number): string =>
  `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`;

/** Accents on one letter, at most. */
const maxMarks = 16;

/** Whoever looks with one says from where. */
const patterns = new Map<SanitizeMode, RegExp>();

/** Makes text plain as it comes; however it is split, by letter or by byte, the result is the same. */
export class TerminalSanitizer {
  readonly #mode: SanitizeMode;
  readonly #pattern: RegExp;
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  /** What cannot be judged before more has come. */
  #held = "";
  #sequence: EscapeSequence | undefined;
  /** The last character shown, and how many marks stand on it. */
  #before = "";
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
    const open = this.#sequence;
    this.#sequence = undefined;
    return open === undefined ? rest : `${rest}␛`;
  }

  #read(chunk: string, isLast: boolean): string {
    const text = this.#held + chunk;
    this.#held = "";
    let shown = "";
    let at = 0;
    while (at < text.length) {
      if (this.#sequence !== undefined) {
        const end = findSequenceEnd(text, at, this.#sequence);
        this.#sequence = end.next;
        shown += end.broken ? this.#passed("␛") : "";
        at = end.at;
        continue;
      }
      const found = this.#next(text, at);
      shown += this.#passed(text.slice(at, found));
      if (found === text.length) break;
      const character = String.fromCodePoint(text.codePointAt(found) ?? 0);
      const after = text.slice(found + character.length, found + character.length + 2);
      if (!isLast && needsNextCharacter(character, after)) {
        this.#held = text.slice(found);
        break;
      }
      shown += this.#judge(character, after);
      at = found + character.length;
    }
    return shown;
  }

  #next(text: string, from: number): number {
    const pattern = this.#pattern;
    pattern.lastIndex = from;
    return pattern.exec(text)?.index ?? text.length;
  }

  #passed(run: string): string {
    if (run === "") return "";
    const last = run.charCodeAt(run.length - 1);
    this.#before = last >= 0xdc00 && last <= 0xdfff ? run.slice(-2) : run.slice(-1);
    this.#marks = 0;
    return run;
  }

  /** One remarkable character. */
  #judge(character: string, after: string): string {
    const code = character.codePointAt(0) ?? 0;
    if (code < 0x20 || (code >= 0x7f && code <= 0x9f)) return this.#control(character, code, after);
    if (isInvalidCodePoint(code)) return this.#passed("\ufffd");
    if (isVariationSelector(code) && isValidSelector(this.#before, code, after)) return this.#kept(character);
    if (isJoiner(code) && isValidJoiner(this.#before, code, after)) return this.#kept(character);
    if (isVisibleMark(character)) return this.#mark(character);
    const isShown = this.#mode !== "output" || isBidiControl(code) || code === 0x2028 || code === 0x2029;
    return isShown ? this.#passed(showCharacter(character)) : "";
  }

  #control(character: string, code: number, after: string): string {
    if (this.#mode === "output") {
      if (code === 0x0d && after.startsWith("\n")) return "";
      if (code === 0x9c) return "";
      this.#sequence = sequenceStartedBy(code);
      if (this.#sequence !== undefined) return "";
    }
    return this.#passed(showCharacter(character));
  }

  #kept(character: string): string {
    this.#before = character;
    return character;
  }

  #mark(character: string): string {
    this.#marks += 1;
    if (this.#marks > maxMarks + 1) return "";
    return this.#kept(this.#marks > maxMarks ? "\ufffd" : character);
  }
}

/** Whether a character can only be judged by the next one, and that is not there yet. */
const needsNextCharacter = (character: string, after: string): boolean => {
  const code = character.codePointAt(0) ?? 0;
  if (code >= 0xd800 && code <= 0xdbff) return after === "";
  if (code !== 0x0d && !isJoiner(code) && !isVariationSelector(code)) return false;
  const first = after.charCodeAt(0);
  return after === "" || (after.length === 1 && first >= 0xd800 && first <= 0xdbff);
};
