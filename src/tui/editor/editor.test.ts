import { describe, expect, it } from "vitest";
import type { KeyEvent } from "../keys/key-event.ts";
import { lineText } from "../text/line.ts";
import { textWidth, graphemesOf } from "../text/width.ts";
import type { EditAction } from "./action.ts";
import {
  completeAction,
  findCompletion,
  acceptsOnEnter,
  createMenu,
  moveFocus,
  type CompletionMenu,
} from "./completion.ts";
import { edit } from "./edit.ts";
import { rankMatches } from "./fuzzy.ts";
import { handleKey, type EditorRequest } from "./keymap.ts";
import { type Editor, emptyEditor, expandMarkedText, modeOf, expandedText, pasteLabel } from "./state.ts";
import { viewEditor } from "./view.ts";
import { fc, runsPerTier } from "../../../test/support/fast-check.ts";

const family = "👨\u200d👩\u200d👧";

/** Keys in order: `<chord>` or letters. */
const pressed = (editor: Editor, ...keys: readonly (string | KeyEvent)[]): Editor =>
  keys.reduce(
    (state: Editor, each) => handleKey(state, typeof each === "string" ? eventOf(each) : each).editor,
    editor,
  );

const eventOf = (name: string): KeyEvent =>
  /^<.+>$/.test(name) ? { type: "key", chord: name.slice(1, -1) } : { type: "text", text: name };

const requestOf = (editor: Editor, name: string): EditorRequest | undefined => handleKey(editor, eventOf(name)).request;

/** The text with the cursor as a bar. */
const shown = ({ text, cursor }: Editor): string => `${text.slice(0, cursor)}|${text.slice(cursor)}`;

const empty = emptyEditor();
const paste = (text: string): KeyEvent => ({ type: "paste", text });

describe("editing", () => {
  it.each<readonly [string, readonly string[], string]>([
    ["inserts at the cursor", ["ac", "<left>", "b"], "ab|c"],
    ["moves and deletes by letters people see", [`a${family}e\u0301`, "<backspace>", "<left>", "<delete>"], "a|"],
    ["moves to the ends of the line", ["one", "<ctrl+j>", "two", "<ctrl+a>", "x", "<ctrl+e>", "y"], "one\nxtwoy|"],
    ["moves by words", ["foo.bar baz", "<alt+b>", "<alt+b>", "<alt+b>", "<alt+f>"], "foo.|bar baz"],
    ["deletes words", ["foo bar.baz", "<alt+backspace>", "<ctrl+w>"], "foo |"],
    ["deletes to the end of the line", ["one two", "<ctrl+a>", "<ctrl+k>"], "|"],
    ["joins lines at the end of one", ["one", "<shift+enter>", "two", "<up>", "<end>", "<ctrl+k>"], "one|two"],
    ["deletes to the beginning of the line", ["one two", "<alt+b>", "<ctrl+u>"], "|two"],
    ["yanks what was killed", ["one two", "<ctrl+w>", "<ctrl+a>", "<ctrl+y>", " "], "two |one "],
    ["takes kills in a row as one", ["a b c", "<ctrl+w>", "<ctrl+w>", "<ctrl+y>"], "a b c|"],
    ["yanks older kills in its place", ["one", "<ctrl+u>", "x", "<ctrl+u>", "<ctrl+y>", "<alt+y>"], "one|"],
    ["makes a new line from a backslash", ["a\\", "<enter>", "b"], "a\nb|"],
    ["makes a new line with Shift-Enter", ["a", "<shift+enter>", "b"], "a\nb|"],
    ["keeps to its column past shorter rows", ["abc\nd\nefgh", "<up>", "<up>"], "abc|\nd\nefgh"],
    ["ignores keys it does not know", ["a", "<f5>", "<pageup>"], "a|"],
  ])("%s", (_, keys, expected) => {
    expect(shown(pressed(empty, ...keys))).toBe(expected);
  });

  it("undoes word by word and redoes", () => {
    const written = pressed(empty, "o", "n", "e", " ", "t", "w", "o");
    const back = pressed(written, "<ctrl+_>");
    expect([back, pressed(back, "<ctrl+_>"), pressed(back, "<ctrl+_>", "<alt+_>", "<alt+_>")].map(shown)).toEqual([
      "one |",
      "|",
      "one two|",
    ]);
  });

  it("clears the redo stack on a new edit", () => {
    expect(shown(pressed(empty, "a", "<ctrl+_>", "b", "<alt+_>"))).toBe("b|");
  });

  it("can undo and redo everything", () => {
    const action: fc.Arbitrary<EditAction> = fc.oneof(
      fc.record({ type: fc.constant("insert" as const), text: fc.constantFrom("a", " ", family, "日", "b c") }),
      fc.record({ type: fc.constant("paste" as const), text: fc.constantFrom("x\ny", "l\n".repeat(10)) }),
      fc.record({
        type: fc.constantFrom("move" as const, "delete" as const, "kill" as const),
        to: fc.constantFrom(
          "left" as const,
          "right" as const,
          "word-left" as const,
          "word-right" as const,
          "line-start" as const,
          "line-end" as const,
          "start" as const,
          "end" as const,
        ),
      }),
      fc.constantFrom<EditAction>(
        { type: "newline" },
        { type: "up" },
        { type: "down" },
        { type: "yank" },
        { type: "yank-older" },
        { type: "clear" },
        { type: "search" },
        { type: "older" },
        { type: "newer" },
      ),
    );
    fc.assert(
      fc.property(fc.array(action, { maxLength: 40 }), (actions) => {
        const states = actions.reduce<readonly Editor[]>(
          (all, each) => [...all, edit(all.at(-1) ?? empty, each)],
          [emptyEditor([], 12)],
        );
        for (const state of states) {
          expect(boundaries(state.text)).toContain(state.cursor);
          const { lines, cursor } = viewEditor(state, { height: 5 });
          expect(lines.length).toBeLessThanOrEqual(6);
          expect(lines.filter((line) => textWidth(lineText(line)) > 12)).toEqual([]);
          expect(cursor.row < lines.length && cursor.column < 12).toBe(true);
        }
        let last = edit(states.at(-1) ?? empty, { type: "cancel-search" });
        const text = last.text;
        let steps = 0;
        while (last.undoStack.length > 0) {
          last = edit(last, { type: "undo" });
          steps += 1;
        }
        expect(last.text).toBe("");
        for (; steps > 0; steps--) last = edit(last, { type: "redo" });
        expect(last.text).toBe(text);
      }),
      { numRuns: runsPerTier(300) },
    );
  });
});

const boundaries = (text: string): readonly number[] => {
  let at = 0;
  return [0, ...graphemesOf(text).map((each) => (at += each.length))];
};

describe("submitting", () => {
  it("returns the text, adds it to the history and clears the editor", () => {
    const { editor, request } = handleKey(pressed(empty, "hello"), eventOf("<enter>"));
    expect([editor, request]).toEqual([emptyEditor(["hello"]), { type: "submit", text: "hello", sendAfter: "step" }]);
  });

  it("ignores empty text", () => {
    expect(handleKey(pressed(empty, " "), eventOf("<enter>")).request).toBeUndefined();
  });

  it("adds no duplicate to the history", () => {
    expect(pressed(emptyEditor(["a"]), "a", "<enter>").history).toEqual(["a"]);
  });

  it("is one of several requests keys can make", () => {
    const written = pressed(empty, "x");
    expect(
      ["<ctrl+c>", "<escape>", "<ctrl+d>", "<ctrl+z>", "<ctrl+l>", "<ctrl+x>"].map((name) => requestOf(written, name)),
    ).toEqual([
      { type: "cancel" },
      { type: "cancel" },
      undefined,
      { type: "suspend" },
      { type: "redraw" },
      { type: "open-editor", text: "x" },
    ]);
    expect(requestOf(empty, "<ctrl+d>")).toEqual({ type: "quit" });
    expect(shown(edit(written, { type: "replace", text: "from outside" }))).toBe("from outside|");
  });

  it("detects the input mode", () => {
    expect(
      ["!ls", "/model", "/model x", "/usr/bin is", "hi /x", ""].map((text) => modeOf(pressed(empty, text))),
    ).toEqual(["shell", "command", "command", "message", "message", "message"]);
  });
});

describe("the input history", () => {
  const editor = pressed(emptyEditor(["first", "second"]), "draft");

  it("moves back and forth, keeping the draft", () => {
    const keys = ["<up>", "<up>", "<up>", "<down>", "<down>", "<down>"];
    expect(keys.map((_, at) => shown(pressed(editor, ...keys.slice(0, at + 1))))).toEqual([
      "second|",
      "first|",
      "first|",
      "second|",
      "draft|",
      "draft|",
    ]);
  });

  it("keeps edits of recalled entries and the draft", () => {
    const edited = pressed(editor, "<up>", "!", "<down>");
    expect([shown(edited), shown(pressed(edited, "<ctrl+_>"))]).toEqual(["draft|", "second!|"]);
  });

  it("can be searched backwards", () => {
    const searching = pressed(emptyEditor(["git status", "ls", "git log"]), "x", "<ctrl+r>", "git");
    const older = pressed(searching, "<ctrl+r>");
    expect(
      [
        searching,
        older,
        pressed(older, "<enter>"),
        pressed(older, "<escape>"),
        pressed(older, "zzz"),
        pressed(searching, "<backspace>", "<backspace>", "<backspace>"),
      ].map(shown),
    ).toEqual(["|git log", "|git status", "|git status", "x|", "|git status", "x|"]);
    expect(viewEditor(pressed(older, "zzz"), { height: 5 }).lines.map(lineText)).toEqual([
      "> git status",
      "not found: gitzzz",
    ]);
  });

  it("ends the search with any other key, which then takes effect", () => {
    expect(shown(pressed(emptyEditor(["git log"]), "<ctrl+r>", "log", "<end>", "!"))).toBe("git log!|");
  });
});

describe("a large paste", () => {
  const lines = Array.from({ length: 120 }, (_, at) => `line ${at}`).join("\n");
  const pasted = pressed(empty, "see ", paste(lines), " and ", paste("y".repeat(2000)));

  it("is collapsed on the screen and complete when submitted", () => {
    expect(viewEditor(pasted, { height: 5 }).lines.map(lineText)).toEqual([
      "> see [pasted 120 lines #1] and [pasted 2000 characters #2]",
    ]);
    expect(expandedText(pasted)).toBe(`see ${lines} and ${"y".repeat(2000)}`);
    const request = requestOf(pasted, "<enter>");
    expect(request?.type === "submit" && expandMarkedText(request.text)).toBe(`see ${lines} and ${"y".repeat(2000)}`);
  });

  it("stays a placeholder in the history, in a history search and when it is taken back", () => {
    const { editor } = handleKey(pasted, { type: "key", chord: "enter" });
    const label = ["> see [pasted 120 lines #1] and [pasted 2000 characters #2]"];
    const recalled = pressed(editor, "<up>");
    const found = pressed(editor, "<ctrl+r>", "line 7", "<enter>");
    const restored = edit(editor, { type: "restore", marked: editor.history[0] ?? "" });
    for (const each of [recalled, found, restored]) {
      expect(viewEditor(each, { height: 5 }).lines.map(lineText)).toEqual(label);
      expect(expandedText(each)).toBe(expandedText(pasted));
    }
    expect(edit(restored, { type: "unfold" }).text).toBe(expandedText(pasted));
  });

  it("counts its lines, not its line breaks", () => {
    expect([pasteLabel("a\n".repeat(500), 0), pasteLabel("a\nb", 1), pasteLabel("ab", 2)]).toEqual([
      "[pasted 500 lines #1]",
      "[pasted 2 lines #2]",
      "[pasted 2 characters #3]",
    ]);
  });

  it("is deleted as one character, and restored by undo", () => {
    const gone = pressed(pasted, "<backspace>");
    expect([expandedText(gone), expandedText(pressed(gone, "<ctrl+_>"))]).toEqual([
      `see ${lines} and `,
      expandedText(pasted),
    ]);
  });

  it("cannot be faked by pasted or typed characters", () => {
    const pretended = pressed(pasted, paste("\u{100000}"), "\u{100001}");
    expect(expandedText(pretended)).toBe(`${expandedText(pasted)}\ufffd\ufffd`);
  });

  it("below the limit is inserted as text", () => {
    expect(shown(pressed(empty, paste("a\nb")))).toBe("a\nb|");
  });
});

describe("the view of an editor", () => {
  it("wraps, scrolls and shows the cursor", () => {
    const editor = { ...pressed(emptyEditor([], 12), "0123456789abcdefghijklmnopq") };
    expect(viewEditor(editor, { height: 2 })).toMatchObject({ cursor: { row: 1, column: 11 } });
    expect(viewEditor(editor, { height: 2 }).lines.map(lineText)).toEqual(["  9abcdefgh", "  ijklmnopq"]);
    expect(viewEditor(pressed(editor, "<ctrl+a>"), { height: 2 }).lines.map(lineText)).toEqual([
      "> 012345678",
      "  9abcdefgh",
    ]);
  });

  it("makes invisible characters visible", () => {
    const editor = pressed(empty, paste("a\u001bb\tc\u200bd"));
    expect(viewEditor(editor, { height: 5 })).toMatchObject({ cursor: { row: 0, column: 12 } });
    expect(viewEditor(editor, { height: 5 }).lines.map(lineText)).toEqual(["> a␛b    c\ufffdd"]);
  });

  it("shows a hint while empty, and the shell sign", () => {
    expect(viewEditor(empty, { height: 5, hint: "Ask anything" }).lines.map(lineText)).toEqual(["> Ask anything"]);
    expect(viewEditor(pressed(empty, "!ls"), { height: 5 }).lines.map(lineText)).toEqual(["! !ls"]);
  });
});

describe("completion", () => {
  it("finds what is being completed", () => {
    expect(
      ["/mo", "see @src/m", "a@b.c", "/model x", "/mcp  restart ", "/model @x", "@", "(@x", "x /mo", "/ x"].map(
        (text) => findCompletion(pressed(empty, text)),
      ),
    ).toEqual([
      { kind: "command", query: "mo", start: 0, end: 3 },
      { kind: "mention", query: "src/m", start: 4, end: 10 },
      undefined,
      { kind: "argument", words: ["model"], query: "x", start: 7, end: 8 },
      { kind: "argument", words: ["mcp", "restart"], query: "", start: 14, end: 14 },
      { kind: "mention", query: "x", start: 7, end: 9 },
      { kind: "mention", query: "", start: 0, end: 1 },
      { kind: "mention", query: "x", start: 1, end: 3 },
      undefined,
      undefined,
    ]);
  });

  it("replaces the typed text by the choice", () => {
    const editor = pressed(empty, "see @ma", "<left>", "<right>");
    const completing = findCompletion(editor);
    const choices = ["src/domain.ts", "src/main.ts", "manual/"].map((path) => ({ label: path, insert: path }));
    const menu = completing === undefined ? undefined : createMenu(completing, choices);
    expect(menu?.choices.map(({ item }) => item.label)).toEqual(["manual/", "src/main.ts", "src/domain.ts"]);
    const after = (by: number): string | undefined => {
      const action = menu === undefined ? undefined : completeAction(moveFocus(menu, by));
      return action === undefined ? undefined : shown(edit(editor, action));
    };
    expect([after(0), after(1), after(-1)]).toEqual(["see @manual/|", "see @src/main.ts |", "see @src/domain.ts |"]);
  });

  it("takes the focused choice with Enter, or the typed word where other values are accepted", () => {
    const menuOf = (text: string, isOptional: boolean): CompletionMenu => {
      const completing = findCompletion(pressed(empty, text));
      const menu = completing && createMenu(completing, [{ label: "a/bc", insert: "a/bc", isOptional }]);
      if (menu === undefined) throw new Error(`No menu for ${text}.`);
      return menu;
    };
    const menus = [menuOf("/mo a", false), menuOf("/mo a", true), menuOf("/mo ", false), menuOf("/mo ", true)];
    expect(menus.map(acceptsOnEnter)).toEqual([true, false, false, false]);
    expect(menus.map((menu) => acceptsOnEnter(moveFocus(menu, 1)))).toEqual([true, true, true, true]);
    expect([menuOf("/a", true), menuOf("@a", true)].map(acceptsOnEnter)).toEqual([true, true]);
    expect(completeAction(menuOf("/mo a", false))).toEqual({ type: "complete", start: 4, end: 5, text: "a/bc " });
  });

  it("has no menu without a match", () => {
    expect(
      createMenu({ kind: "command", query: "zz", start: 0, end: 3 }, [{ label: "model", insert: "model" }]),
    ).toBeUndefined();
  });

  it("ranks prefixes and runs before scattered letters", () => {
    const paths = [
      "src/tui/editor/edit.ts",
      "docs/credits.md",
      "src/cli/edit-distance.ts",
      "edit.ts",
      "src/exact/digit.ts",
    ];
    expect(rankMatches("edit", paths, (path) => path).map(({ item }) => item)).toEqual([
      "edit.ts",
      "src/tui/editor/edit.ts",
      "src/cli/edit-distance.ts",
      "docs/credits.md",
      "src/exact/digit.ts",
    ]);
    expect(rankMatches("", paths, (path) => path).map(({ item }) => item)).toEqual(paths);
    expect(rankMatches("xyz", paths, (path) => path)).toEqual([]);
  });
});
