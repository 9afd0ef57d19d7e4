import { describe, expect, it } from "vitest";
import { fc, runsPerTier } from "../../../test/support/fast-check.ts";
import type { KeyEvent } from "../keys/key-event.ts";
import { edit } from "./edit.ts";
import { KeyReader } from "../keys/key-reader.ts";
import { handleKey } from "./keymap.ts";
import { emptyEditor } from "./state.ts";
import { initialVim, pressVim, type VimResult } from "./vim.ts";

/** Presses keys; `<esc>` is Escape. */
const press = (state: VimResult, keys: string): VimResult =>
  (keys.match(/<esc>|[^]/gu) ?? []).reduce((before: VimResult, key) => {
    const event: KeyEvent = key === "<esc>" ? { type: "key", chord: "escape" } : { type: "text", text: key };
    return pressVim(before.editor, before.vim, event) ?? { ...before, editor: handleKey(before.editor, event).editor };
  }, state);

/** The text with the cursor as a bar, after keys pressed in normal mode on a text with a bar. */
const after = (text: string, keys: string): string => {
  const cursor = text.indexOf("|");
  const editor = { ...edit(emptyEditor(), { type: "replace", text: text.replace("|", "") }), cursor };
  const { editor: end, vim } = press({ editor, vim: { ...initialVim, mode: "normal" } }, keys);
  return `${end.text.slice(0, end.cursor)}|${end.text.slice(end.cursor)}${vim.mode === "insert" ? " (insert)" : ""}`;
};

describe("vim keys", () => {
  it.each([
    ["abc|d", "h", "ab|cd"],
    ["abc|d", "9h", "|abcd"],
    ["|abcd", "l", "a|bcd"],
    ["|abcd", "9l", "abc|d"],
    ["ab\nc|d", "k", "a|b\ncd"],
    ["a|b\ncd", "j", "ab\nc|d"],
    ["|one two, three", "w", "one |two, three"],
    ["|one two, three", "3w", "one two, |three"],
    ["one two|, three", "b", "one |two, three"],
    ["|one two", "e", "on|e two"],
    ["|one two", "2e", "one tw|o"],
    ["one |two", "0", "|one two"],
    ["  one tw|o", "^", "  |one two"],
    ["|one two\nx", "$", "one tw|o\nx"],
    ["a\nb\n|c", "gg", "|a\nb\nc"],
    ["|a\nb\nc", "G", "a\nb\n|c"],
    ["|a\nb\nc", "2G", "a\n|b\nc"],
    ["a|bcd", "x", "a|cd"],
    ["a|bcd", "2x", "a|d"],
    ["ab|c", "x", "a|b"],
    ["a\n|b\nc", "dd", "a\n|c"],
    ["a\nb\n|c", "dd", "a\n|b"],
    ["|a\nb\nc", "2dd", "|c"],
    ["|a", "dd", "|"],
    ["one |two three", "D", "one| "],
    ["one |two three", "C", "one | (insert)"],
    ["one |two three", "dw", "one |three"],
    ["|one two three", "d2w", "|three"],
    ["|one two three", "2dw", "|three"],
    ["one |two three", "cwTWO", "one TWO| three (insert)"],
    ["|a b", "cwx", "x| b (insert)"],
    ["one |two three", "de", "one | three"],
    ["one |two", "db", "|two"],
    ["one |two\nx", "ccy", "y|\nx (insert)"],
    ["|a\nb", "yyp", "a\n|a\nb"],
    ["|a\nb", "yy2p", "a\n|a\na\nb"],
    ["|one two", "ywP$p", "one twoone| "],
    ["|abc", "xp", "b|ac"],
    ["|abc", "xxu", "|bc"],
    ["a|bc", "ix", "ax|bc (insert)"],
    ["a|bc", "ax", "abx|c (insert)"],
    ["  ab|c", "Ix", "  x|abc (insert)"],
    ["a|bc\nd", "Ax", "abcx|\nd (insert)"],
    ["a|b\nc", "ox", "ab\nx|\nc (insert)"],
    ["a\nb|c", "Ox", "a\nx|\nbc (insert)"],
    ["a|bc", "ix<esc>", "a|xbc"],
    ["|abc", "d<esc>x", "|bc"],
    ["|abc", "zx", "|bc"],
    ["a\n|b", "dj", "|a"],
    ["|👨‍👩‍👧b", "x", "|b"],
  ])("%j and %s is %j", (text, keys, expected) => {
    expect(after(text, keys)).toBe(expected);
  });

  it.each([
    ["one two", "\u001bb", "one |two"],
    ["one two", "\u001bIx", "x|one two (insert)"],
    ["one two", "\u001bdb", "one |o"],
    ["one two", "\u001bd\u001bx", "one t|w"],
  ])("after %j take Escape and a letter in one read (%j) as both", (text, bytes, expected) => {
    const events = new KeyReader().read(new TextEncoder().encode(bytes));
    const editor = { ...edit(emptyEditor(), { type: "replace", text }), cursor: text.length };
    const { editor: end, vim } = events.reduce<VimResult>(
      (before, event) =>
        pressVim(before.editor, before.vim, event) ?? { ...before, editor: handleKey(before.editor, event).editor },
      { editor, vim: initialVim },
    );
    const shown = `${end.text.slice(0, end.cursor)}|${end.text.slice(end.cursor)}`;
    expect(vim.mode === "insert" ? `${shown} (insert)` : shown).toBe(expected);
  });

  it("type in insert mode, and leave Enter, arrows and Escape without a command to the editor", () => {
    const state: VimResult = { editor: emptyEditor(), vim: initialVim };
    expect(press(state, "dd").editor.text).toBe("dd");
    const normal = press(state, "<esc>");
    for (const chord of ["enter", "up", "escape", "ctrl+c"])
      expect(pressVim(normal.editor, normal.vim, { type: "key", chord })).toBeUndefined();
  });

  it("keep the cursor within the text, whatever is pressed", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "grapheme" }),
        fc.array(fc.constantFrom(..."hjklwbe0$^gGxdDcCypuiaIAoO12\n".split(""))),
        (text, keys) => {
          const editor = edit(emptyEditor(), { type: "replace", text });
          const { editor: end } = press(press({ editor, vim: initialVim }, "<esc>"), keys.join(""));
          expect(end.cursor).toBeGreaterThanOrEqual(0);
          expect(end.cursor).toBeLessThanOrEqual(end.text.length);
        },
      ),
      { numRuns: runsPerTier(300) },
    );
  });
});
