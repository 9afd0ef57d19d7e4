import { chordOf, type KeyEvent } from "./key-event.ts";
import { parseSequence } from "./escape-sequence.ts";

const pasteStart = "\u001b[200~";
const pasteEnd = "\u001b[201~";

/** The longest escape sequence that is awaited; longer input is not a sequence. */
const maxSequenceLength = 4096;

/** Parses terminal input into key events, however it is split. */
export class KeyReader {
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  #pending = "";
  /** The pieces of an open paste. */
  #paste: string[] | undefined;

  /** Whether there is input that may be a key by itself or the start of a longer sequence. */
  get hasPending(): boolean {
    return this.#pending !== "" && this.#paste === undefined;
  }

  read(bytes: Uint8Array): readonly KeyEvent[] {
    return this.#parse(this.#decoder.decode(bytes, { stream: true }));
  }

  /** Interprets the pending input as complete. */
  flush(): readonly KeyEvent[] {
    if (!this.hasPending) return [];
    const held = this.#pending;
    this.#pending = "";
    if (held === "\u001b") return [{ type: "key", chord: "escape" }];
    if (held === "\u001b\u001b") return [{ type: "key", chord: "alt+escape" }];
    // Alt and a letter that usually starts a sequence: [, O, P, ] and others.
    return held.length === 2
      ? [{ type: "key", chord: chordOf(held.slice(1).toLowerCase(), 2 + (/[A-Z]/.test(held) ? 1 : 0)) }]
      : [];
  }

  #parse(chunk: string): readonly KeyEvent[] {
    const events: KeyEvent[] = [];
    let text = this.#pending + chunk;
    this.#pending = "";
    while (text !== "") {
      if (this.#paste !== undefined) {
        text = this.#readPaste(text, events);
        continue;
      }
      const found = nextControl(text);
      if (found > 0) events.push({ type: "text", text: text.slice(0, found) });
      text = text.slice(found);
      if (text === "") break;
      if (text.startsWith(pasteStart)) {
        this.#paste = [];
        text = text.slice(pasteStart.length);
        continue;
      }
      if (!text.startsWith("\u001b")) {
        events.push(...controlKey(text.charCodeAt(0)));
        text = text.slice(1);
        continue;
      }
      const length = sequenceLength(text);
      if (length === undefined && text.length < maxSequenceLength) {
        this.#pending = text;
        break;
      }
      events.push(...parseSequence(text.slice(0, length ?? maxSequenceLength)));
      text = text.slice(length ?? maxSequenceLength);
    }
    return events;
  }

  /** Reads an open paste and returns the input after it. An end mark followed by another end mark was part of the pasted text. */
  #readPaste(text: string, events: KeyEvent[]): string {
    const end = text.lastIndexOf(pasteEnd);
    if (end === -1) {
      const kept = partialEndLength(text);
      this.#paste?.push(text.slice(0, text.length - kept));
      this.#pending = text.slice(text.length - kept);
      return "";
    }
    const whole = [...(this.#paste ?? []), text.slice(0, end)].join("");
    this.#paste = undefined;
    events.push({ type: "paste", text: withoutPasteMarks(whole).replaceAll(/\r\n?/g, "\n") });
    return text.slice(end + pasteEnd.length);
  }
}

/** A paste that contains paste marks tries to have the rest taken for keys. */
const withoutPasteMarks = (text: string): string => text.replaceAll(pasteStart, "").replaceAll(pasteEnd, "");

/** Length of a partial paste end mark at the end of a text. */
const partialEndLength = (text: string): number => {
  for (let length = Math.min(pasteEnd.length - 1, text.length); length > 0; length--)
    if (pasteEnd.startsWith(text.slice(text.length - length))) return length;
  return 0;
};

const nextControl = (text: string): number => {
  const found = text.search(/\p{Cc}/u);
  return found === -1 ? text.length : found;
};

/** Keys that are one control character. */
const controlKey = (code: number): readonly KeyEvent[] => {
  const chord = controlChord(code);
  return chord === undefined ? [] : [{ type: "key", chord }];
};

const controlChord = (code: number): string | undefined => {
  if (code === 0) return "ctrl+space";
  if (code === 9) return "tab";
  if (code === 13) return "enter";
  if (code === 0x7f) return "backspace";
  if (code <= 26) return `ctrl+${String.fromCharCode(code + 96)}`;
  return code >= 28 && code <= 31 ? `ctrl+${"\\]^_".charAt(code - 28)}` : undefined;
};

/** Length of the escape sequence at the start; undefined while it is incomplete. */
const sequenceLength = (text: string): number | undefined => {
  const second = text.charAt(1);
  switch (second) {
    case "":
      return undefined;
    case "\u001b":
      return altSequenceLength(text);
    case "[":
      return controlLength(text);
    case "O":
      return text.length > 2 ? 3 : undefined;
    case "]":
    case "P":
    case "_":
    case "^":
    case "X":
      return stringLength(text);
  }
  return 1 + String.fromCodePoint(text.codePointAt(1) ?? 0).length;
};

/** Alt with a key that is itself a sequence. */
const altSequenceLength = (text: string): number | undefined => {
  const third = text.charAt(2);
  if (third === "") return undefined;
  const length = third === "[" || third === "O" ? sequenceLength(text.slice(1)) : 0;
  return length === undefined ? undefined : 1 + length;
};

const controlLength = (text: string): number | undefined => {
  // The Linux console encodes its first five function keys with two brackets.
  if (text.startsWith("\u001b[[")) return text.length > 3 ? 4 : undefined;
  // X10 mouse report: a letter and three bytes.
  if (text.startsWith("\u001b[M")) return text.length > 5 ? 6 : undefined;
  for (let at = 2; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code >= 0x40 && code <= 0x7e) return at + 1;
    if (code < 0x20 || code > 0x7e) return at;
  }
  return undefined;
};

const stringLength = (text: string): number | undefined => {
  for (let at = 2; at < text.length; at++) {
    if (["\u0007", "\u009c", "\u0018", "\u001a"].includes(text.charAt(at))) return at + 1;
    if (text.startsWith("\u001b\\", at)) return at + 2;
  }
  return undefined;
};
