import { chordOf, type KeyEvent } from "./key-event.ts";
import { parseReply } from "./terminal-reply.ts";

/** Parses a complete escape sequence. An unknown one yields nothing and is never typed. */
export const parseSequence = (sequence: string): readonly KeyEvent[] => {
  const second = sequence.charAt(1);
  if (sequence.startsWith("\u001b\u001b")) return withAlt(parseSequence(sequence.slice(1)));
  if (second === "[") return controlEvents(sequence.slice(2));
  if (second === "O") return keyEvents(letterKeys[sequence.charAt(2)], 0);
  const reply = parseReply(sequence.slice(1));
  if (reply !== undefined) return [{ type: "reply", reply }];
  return altEvents(sequence.slice(1));
};

const withAlt = (events: readonly KeyEvent[]): readonly KeyEvent[] => {
  if (events.length === 0) return keyEvents("escape", 2);
  return events.map((event) => (event.type === "key" ? { type: "key", chord: addAlt(event.chord) } : event));
};

const addAlt = (chord: string): string =>
  chord.includes("alt+") ? chord : chord.startsWith("ctrl+") ? `ctrl+alt+${chord.slice(5)}` : `alt+${chord}`;

/** Alt and a letter, sent as the letter after an escape. */
const altEvents = (rest: string): readonly KeyEvent[] => {
  const code = rest.codePointAt(0) ?? 0;
  if (rest === "") return [];
  if (code === 13) return keyEvents("enter", 2);
  if (code === 9) return keyEvents("tab", 2);
  if (code === 0x7f || code === 8) return keyEvents("backspace", 2);
  if (code < 0x20) return code > 0 && code <= 26 ? keyEvents(String.fromCharCode(code + 96), 6) : [];
  if (code === 0x20) return keyEvents("space", 2);
  const isUpper = rest !== rest.toLowerCase();
  return keyEvents(rest.toLowerCase(), isUpper ? 3 : 2);
};

const controlEvents = (body: string): readonly KeyEvent[] => {
  const last = body.charAt(body.length - 1);
  const inside = body.slice(0, -1);
  if (body === "I" || body === "O") return [{ type: "focus", isFocused: body === "I" }];
  if (body.startsWith("<") || last === "M" || (last === "m" && inside !== "")) return [];
  if (body.startsWith("[")) return keyEvents(consoleKeys[last], 0);
  const reply = parseReply(`[${body}`);
  if (reply !== undefined) return [{ type: "reply", reply }];
  const [first = [], second = [], third = []] = inside.split(";").map((part) => part.split(":").map(Number));
  const isRelease = second[1] === 3;
  if (isRelease || inside.startsWith("?") || inside.startsWith(">")) return [];
  const held = (second[0] || 1) - 1;
  if (last === "~" && first[0] === 27) return characterEvents(third[0] ?? 0, held, []);
  if (last === "~") return keyEvents(numberedKeys[first[0] ?? 0], held);
  if (last === "u") return characterEvents(first[0] ?? 0, held, third);
  if (last === "Z") return keyEvents("tab", held | 1);
  return keyEvents(letterKeys[last], held);
};

/** A key given by its character code or its key code. */
const characterEvents = (code: number, held: number, text: readonly number[]): readonly KeyEvent[] => {
  const name = namedKeys[code];
  if (name !== undefined) return keyEvents(name, held);
  const typed = keypad[code] ?? (isCharacter(code) ? String.fromCodePoint(code) : undefined);
  if (typed === undefined || held & 8) return [];
  const shown = text
    .filter(isCharacter)
    .map((each) => String.fromCodePoint(each))
    .join("");
  if ((held & 6) === 0) return [{ type: "text", text: shown || (held & 1 ? typed.toUpperCase() : typed) }];
  return keyEvents(typed === " " ? "space" : typed.toLowerCase(), held);
};

const isCharacter = (code: number): boolean =>
  code >= 0x20 && code !== 0x7f && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xf8ff);

/** Other modifiers (super, locks) are not part of a chord. */
const keyEvents = (name: string | undefined, held: number): readonly KeyEvent[] =>
  name === undefined || held & 8 ? [] : [{ type: "key", chord: chordOf(name, held) }];

const letterKeys: Readonly<Record<string, string>> = {
  A: "up",
  B: "down",
  C: "right",
  D: "left",
  E: "begin",
  F: "end",
  H: "home",
  M: "enter",
  P: "f1",
  Q: "f2",
  R: "f3",
  S: "f4",
};

const consoleKeys: Readonly<Record<string, string>> = { A: "f1", B: "f2", C: "f3", D: "f4", E: "f5" };

const numberedKeys: Readonly<Record<number, string>> = {
  1: "home",
  2: "insert",
  3: "delete",
  4: "end",
  5: "pageup",
  6: "pagedown",
  7: "home",
  8: "end",
  11: "f1",
  12: "f2",
  13: "f3",
  14: "f4",
  15: "f5",
  17: "f6",
  18: "f7",
  19: "f8",
  20: "f9",
  21: "f10",
  23: "f11",
  24: "f12",
};

const namedKeys: Readonly<Record<number, string>> = {
  8: "backspace",
  9: "tab",
  13: "enter",
  27: "escape",
  127: "backspace",
  57414: "enter",
  57417: "left",
  57418: "right",
  57419: "up",
  57420: "down",
  57421: "pageup",
  57422: "pagedown",
  57423: "home",
  57424: "end",
  57425: "insert",
  57426: "delete",
};

const keypad: Readonly<Record<number, string>> = Object.fromEntries(
  Array.from("0123456789./*-+", (character, at) => [57399 + at, character]),
);
