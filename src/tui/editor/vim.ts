import type { KeyEvent } from "../keys/key-event.ts";
import { leftOf, lineEnd, lineStart, rightOf } from "./cursor-movement.ts";
import { edit } from "./edit.ts";
import type { Editor } from "./state.ts";

/** The state of vim keys: the mode, the keys of an unfinished command, and the last deleted or copied text. */
export type Vim = {
  readonly mode: "insert" | "normal";
  readonly pending: string;
  readonly register: { readonly text: string; readonly isLines: boolean };
};

/** Vim keys at the start of a message. */
export const initialVim: Vim = { mode: "insert", pending: "", register: { text: "", isLines: false } };

/** The state after a key. */
export type VimResult = { readonly editor: Editor; readonly vim: Vim };

/**
 * Handles a key; undefined if it is not one of vim's. Text is typed in insert mode, and is commands in normal mode. A
 * terminal sends Escape and a letter, typed quickly, like Alt and the letter; here, Escape is meant.
 */
export const pressVim = (editor: Editor, vim: Vim, event: KeyEvent): VimResult | undefined => {
  if (event.type === "key" && editor.search === undefined) {
    const escaped = (): VimResult =>
      vim.mode === "insert"
        ? normalMode({ ...editor, cursor: leftInLine(editor) }, vim)
        : { editor, vim: { ...vim, pending: "" } };
    if (event.chord === "escape") return vim.mode === "normal" && vim.pending === "" ? undefined : escaped();
    const [, shift, letter] = /^alt\+(shift\+)?(.)$/u.exec(event.chord) ?? [];
    if (letter === undefined) return undefined;
    const before = escaped();
    const text = shift === undefined ? letter : letter.toUpperCase();
    return pressVim(before.editor, before.vim, { type: "text", text });
  }
  if (vim.mode === "insert" || event.type !== "text" || editor.search !== undefined) return undefined;
  let state: VimResult = { editor, vim };
  for (const character of event.text) {
    // The rest of fast typing after a command that inserts.
    if (state.vim.mode === "insert")
      state = { ...state, editor: edit(state.editor, { type: "insert", text: character }) };
    else state = pressNormal(state.editor, { ...state.vim, pending: state.vim.pending + character });
  }
  return state;
};

/** A complete command: a count, an operator with its own count, and what follows. */
const command = /^([1-9]\d*)?(?:([dcy])([1-9]\d*)?(gg|[hjklwbe0$^Gdcy])|(gg|[hjklwbe0$^GxDCpuiaIAoO]))$/;

/** The beginning of one. */
const unfinished = /^(?:[1-9]\d*)?[dcy]?(?:[1-9]\d*)?g?$/;

const pressNormal = (editor: Editor, vim: Vim): VimResult => {
  const { pending } = vim;
  const [match, first, operator, second, target, single] = command.exec(pending) ?? [];
  const key = target ?? single ?? "";
  if (match === undefined) return { editor, vim: { ...vim, pending: unfinished.test(pending) ? pending : "" } };
  const hasCount = first !== undefined || second !== undefined;
  const count = Math.min(10_000, Number(first ?? 1) * Number(second ?? 1));
  const done = { ...vim, pending: "" };
  if (operator !== undefined) return operate(editor, done, { operator, key, count, hasCount });
  const moved = motions[key]?.(editor, { count, hasCount });
  if (moved !== undefined) return { editor: clamp({ ...editor, cursor: moved.to, lastAction: "moving" }), vim: done };
  return runCommand(editor, done, key, count);
};

type Counted = { readonly count: number; readonly hasCount: boolean };

/** Where a motion leads; `isLines` if an operator takes whole lines, `isInclusive` if it takes the last character too. */
type Motion = { readonly to: number; readonly isLines?: true; readonly isInclusive?: true };

const motions: Readonly<Record<string, (editor: Editor, counted: Counted) => Motion>> = {
  h: (editor, { count }) => ({ to: repeat(count, editor.cursor, (at) => leftInLine({ ...editor, cursor: at })) }),
  l: ({ text, cursor }, { count }) => ({
    to: repeat(count, cursor, (at) => Math.min(lineEnd(text, cursor), rightOf(text, at))),
  }),
  j: (editor, { count }) => ({ to: verticalTarget(editor, count), isLines: true }),
  k: (editor, { count }) => ({ to: verticalTarget(editor, -count), isLines: true }),
  w: ({ text, cursor }, { count }) => ({ to: repeat(count, cursor, (at) => nextWord(text, at)) }),
  b: ({ text, cursor }, { count }) => ({ to: repeat(count, cursor, (at) => previousWord(text, at)) }),
  e: ({ text, cursor }, { count }) => ({ to: repeat(count, cursor, (at) => wordEnd(text, at)), isInclusive: true }),
  "0": ({ text, cursor }) => ({ to: lineStart(text, cursor) }),
  "^": ({ text, cursor }) => ({ to: firstCharacter(text, cursor) }),
  $: ({ text, cursor }) => ({ to: lineEnd(text, cursor) }),
  gg: ({ text }, { count }) => ({ to: lineNumber(text, count), isLines: true }),
  G: ({ text }, { count, hasCount }) => ({ to: lineNumber(text, hasCount ? count : Infinity), isLines: true }),
};

type Operation = Counted & { readonly operator: string; readonly key: string };

/** d, c or y with a motion, or doubled for whole lines. Anything else is no command. */
const operate = (editor: Editor, vim: Vim, { operator, key, count, hasCount }: Operation): VimResult => {
  const { text, cursor } = editor;
  const isWhole = key === operator;
  // cw changes to the end of the word, as people expect of it.
  const isChangeOfWord = operator === "c" && key === "w" && /\S/.test(text.charAt(cursor));
  const motion = isWhole
    ? { to: verticalTarget(editor, count - 1), isLines: true as const }
    : isChangeOfWord
      ? { to: repeat(count - 1, endOfRun(text, cursor), (at) => wordEnd(text, at)), isInclusive: true as const }
      : motions[key]?.(editor, { count, hasCount });
  if (motion === undefined) return { editor, vim };
  const [low, high] = [Math.min(cursor, motion.to), Math.max(cursor, motion.to)];
  const isLines = motion.isLines === true;
  const start = isLines ? lineStart(text, low) : low;
  const end = isLines ? lineEnd(text, high) : motion.isInclusive ? rightOf(text, high) : high;
  const register = { text: text.slice(start, end), isLines };
  if (operator === "y")
    return { editor: clamp({ ...editor, cursor: isLines ? cursor : start }), vim: { ...vim, register } };
  if (operator === "c") return { editor: removeRange(editor, start, end), vim: { ...vim, register, mode: "insert" } };
  // With the lines goes one line break: the one after them, or the one before at the end of the text.
  const from = isLines && end === text.length && start > 0 ? start - 1 : start;
  const removed = removeRange(editor, from, isLines && end < text.length ? end + 1 : end);
  const at = isLines ? firstCharacter(removed.text, removed.cursor) : removed.cursor;
  return normalMode({ ...removed, cursor: at }, { ...vim, register });
};

const runCommand = (editor: Editor, vim: Vim, key: string, count: number): VimResult => {
  const { text, cursor } = editor;
  const insertAt = (at: number): VimResult => ({ editor: { ...editor, cursor: at }, vim: { ...vim, mode: "insert" } });
  switch (key) {
    case "i":
      return insertAt(cursor);
    case "a":
      return insertAt(Math.min(lineEnd(text, cursor), rightOf(text, cursor)));
    case "I":
      return insertAt(firstCharacter(text, cursor));
    case "A":
      return insertAt(lineEnd(text, cursor));
    case "o":
      return openLine(editor, vim, lineEnd(text, cursor), "after");
    case "O":
      return openLine(editor, vim, lineStart(text, cursor), "before");
    case "x":
      return lineEnd(text, cursor) === cursor
        ? { editor, vim }
        : operate(editor, vim, { operator: "d", key: "l", count, hasCount: true });
    case "D":
      return operate(editor, vim, { operator: "d", key: "$", count: 1, hasCount: false });
    case "C":
      return operate(editor, vim, { operator: "c", key: "$", count: 1, hasCount: false });
    case "p":
      return { editor: put(editor, vim.register, count), vim };
    case "u":
      return { editor: clamp(repeat(count, editor, (each) => edit(each, { type: "undo" }))), vim };
  }
  return { editor, vim };
};

const openLine = (editor: Editor, vim: Vim, at: number, side: "before" | "after"): VimResult => {
  const opened = edit({ ...editor, cursor: at }, { type: "newline" });
  return { editor: side === "before" ? { ...opened, cursor: at } : opened, vim: { ...vim, mode: "insert" } };
};

/** Puts the register after the cursor, or below the line if it holds lines. A yank keeps pastes as they are. */
const put = (editor: Editor, { text: piece, isLines }: Vim["register"], count: number): Editor => {
  if (piece === "") return editor;
  const { text, cursor } = editor;
  const at = isLines ? lineEnd(text, cursor) : Math.min(lineEnd(text, cursor), rightOf(text, cursor));
  const inserted = isLines ? `\n${piece}`.repeat(count) : piece.repeat(count);
  const yanked = edit(
    { ...editor, cursor: at, killRing: [inserted, ...editor.killRing.slice(0, 29)] },
    { type: "yank" },
  );
  return clamp({ ...yanked, cursor: isLines ? at + 1 : leftOf(yanked.text, yanked.cursor) });
};

const removeRange = (editor: Editor, start: number, end: number): Editor =>
  edit(editor, { type: "complete", start, end, text: "" });

const normalMode = (editor: Editor, vim: Vim): VimResult => ({
  editor: clamp(editor),
  vim: { ...vim, mode: "normal", pending: "" },
});

/** In normal mode the cursor is on a character, never after the last one of a line. */
const clamp = (editor: Editor): Editor => {
  const { text, cursor } = editor;
  return cursor === lineEnd(text, cursor) ? { ...editor, cursor: leftInLine(editor) } : editor;
};

const leftInLine = ({ text, cursor }: Pick<Editor, "text" | "cursor">): number =>
  cursor === lineStart(text, cursor) ? cursor : leftOf(text, cursor);

const repeat = <Value>(count: number, value: Value, step: (value: Value) => Value): Value => {
  let now = value;
  for (let done = 0; done < count; done++) {
    const next = step(now);
    if (next === now) break;
    now = next;
  }
  return now;
};

/** The same column some lines below or above. */
const verticalTarget = ({ text, cursor }: Editor, by: number): number => {
  const column = cursor - lineStart(text, cursor);
  const start = repeat(Math.abs(by), lineStart(text, cursor), (at) => {
    if (by < 0) return at === 0 ? at : lineStart(text, at - 1);
    const end = lineEnd(text, at);
    return end === text.length ? at : end + 1;
  });
  return Math.min(start + column, lineEnd(text, start));
};

const lineNumber = (text: string, number: number): number => {
  const wanted = repeat(number - 1, 0, (at) => (lineEnd(text, at) === text.length ? at : lineEnd(text, at) + 1));
  return firstCharacter(text, wanted);
};

const firstCharacter = (text: string, at: number): number => {
  const start = lineStart(text, at);
  return start + (/^[ \t]*/.exec(text.slice(start, lineEnd(text, start)))?.[0].length ?? 0);
};

const kindOf = (text: string, at: number): "word" | "sign" | "space" => {
  const character = text.charAt(at);
  if (/^\s?$/.test(character)) return "space";
  // Halves of a pair count as letters, so that none is cut in two.
  return /^[\p{L}\p{N}\p{M}_\ud800-\udfff]$/u.test(character) ? "word" : "sign";
};

const nextWord = (text: string, from: number): number => {
  let at = from;
  const kind = kindOf(text, at);
  if (kind !== "space") while (at < text.length && kindOf(text, at) === kind) at += 1;
  while (at < text.length && kindOf(text, at) === "space") at += 1;
  return at;
};

const previousWord = (text: string, from: number): number => {
  let at = from - 1;
  while (at > 0 && kindOf(text, at) === "space") at -= 1;
  const kind = kindOf(text, at);
  while (at > 0 && kindOf(text, at - 1) === kind) at -= 1;
  return Math.max(0, at);
};

const wordEnd = (text: string, from: number): number => {
  let at = from + 1;
  while (at < text.length && kindOf(text, at) === "space") at += 1;
  if (at >= text.length) return leftOf(text, text.length);
  return endOfRun(text, at);
};

/** The last character of the word or signs at an offset. */
const endOfRun = (text: string, from: number): number => {
  let at = from;
  const kind = kindOf(text, at);
  while (at + 1 < text.length && kindOf(text, at + 1) === kind) at += 1;
  return at;
};
