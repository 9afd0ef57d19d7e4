import { describe, expect, it } from "vitest";
import { fc, runsPerTier } from "../../../test/support/fast-check.ts";
import { edit } from "../editor/edit.ts";
import { handleKey } from "../editor/keymap.ts";
import { emptyEditor } from "../editor/state.ts";
import { createPicker, pressPicker } from "../views/picker.ts";
import { chordLabel, keyActions } from "./actions.ts";
import { keyLabelsOf, readKeyFile } from "./key-file.ts";

const actionNamed = (name: string) => keyActions.find((each) => each.name === name) ?? keyActions[0]!;

describe("the table of key actions", () => {
  it("has no name twice, and no key twice in one place", () => {
    const names = keyActions.map(({ name }) => name);
    const keys = keyActions.flatMap(({ context, keys }) => keys.map((key) => `${context} ${key}`));
    expect([new Set(names).size, new Set(keys).size]).toEqual([names.length, keys.length]);
  });

  it.each(keyActions.filter(({ keys }) => keys.length > 1).map((action) => [action.name, action] as const))(
    "has keys for %s that all do the same",
    (_, { context, keys }) => {
      const press = (chord: string): unknown => {
        const editor = {
          ...edit(emptyEditor(["old", "older"]), { type: "replace", text: "one two\nthree four" }),
          cursor: 9,
        };
        const list = {
          ...createPicker(
            "x",
            [1, 2, 3].map((id) => ({ id: `${id}`, label: `${id}` })),
          ),
          query: "",
          focus: 1,
        };
        return context === "input"
          ? handleKey(editor, { type: "key", chord })
          : pressPicker(list, { type: "key", chord });
      };
      for (const key of keys) expect(press(key)).toEqual(press(keys[0]));
    },
  );

  it("names keys as people read them", () => {
    expect(["ctrl+o", "shift+tab", "escape", "f1", "ctrl+alt+r", "ctrl++"].map(chordLabel)).toEqual([
      "Ctrl-O",
      "Shift-Tab",
      "Esc",
      "F1",
      "Ctrl-Alt-R",
      "Ctrl-+",
    ]);
  });
});

describe("a file of key bindings", () => {
  it("binds keys in the input, in lists and in questions, and unbinds them", async () => {
    const { remap, problems } = await readKeyFile(`{
      // Comments are allowed.
      "Alt+Ctrl+t": "newline",
      "ctrl+n": ["down", "list-down", "question-down"],
      "ctrl+z": null,
      "f5": "redraw",
    }`);
    expect(remap).toEqual({
      input: new Map([
        ["ctrl+alt+t", "shift+enter"],
        ["ctrl+n", "down"],
        ["ctrl+z", undefined],
        ["f5", "ctrl+l"],
      ]),
      list: new Map([
        ["ctrl+n", "down"],
        ["ctrl+z", undefined],
      ]),
      question: new Map([
        ["ctrl+n", "down"],
        ["ctrl+z", undefined],
      ]),
    });
    expect(problems).toEqual([
      '"history-newer" has no key any more (default: ctrl+n).',
      '"suspend" has no key any more (default: ctrl+z).',
    ]);
    expect(keyLabelsOf(actionNamed("newline"), remap)).toEqual([
      "Ctrl-Alt-T",
      "Shift-Enter",
      "Ctrl-J",
      "Alt-Enter",
      "Ctrl-Enter",
    ]);
  });

  it("reports what it cannot use with its line, and uses the rest", async () => {
    const { remap, problems } = await readKeyFile(
      [
        "{",
        '"t": "newline",',
        '"ctrl+t": "fly",',
        '"escape": "newline",',
        '"enter": null,',
        '"alt+q": "undo", "alt+shift+x": "redraw",',
        '"shift+alt+x": "undo",',
        '"f2": ["undo", "redo"],',
        '"f3": 3,',
        '"f4": {}',
        "}",
      ].join("\n"),
    );
    expect([...remap.input.keys()]).toEqual(["alt+q", "alt+shift+x"]);
    expect(problems).toEqual([
      'line 2: Unknown key "t". Write it as "ctrl+t", "alt+left" or "f5".',
      expect.stringMatching(/^line 3: Unknown action "fly" for "ctrl\+t"\. Actions: send, /),
      'line 4: "escape" cannot be bound to "newline": it always sends, answers, cancels or quits.',
      'line 5: "enter" cannot be unbound: it always sends, answers, cancels or quits.',
      'line 7: "shift+alt+x" is already bound in line 6.',
      'line 8: "f2" has two actions in one place: "undo" and "redo".',
      expect.stringMatching(/^line 9: Unknown action "3" for "f3"\. /),
      'line 10: "f4" must have an action, a list of actions, or null.',
    ]);
    expect((await readKeyFile('{ "f6": "newlin" }')).problems).toEqual([
      'line 1: Unknown action "newlin" for "f6". Did you mean newline?',
    ]);
    expect((await readKeyFile('{ "f6": "nonsense",\n"f7": "gibberish" }')).problems).toEqual([
      expect.stringMatching(/ Actions: send, /),
      'line 2: Unknown action "gibberish" for "f7". Actions: see above.',
    ]);
    expect((await readKeyFile('{\n"f5" "redraw" }')).problems).toEqual(['line 2: Expected ":".']);
    expect((await readKeyFile("[]")).problems).toEqual(['line 1: Expected an object such as { "ctrl+t": "newline" }.']);
  });

  it("lets Enter start a new line only if another key sends", async () => {
    expect((await readKeyFile('{ "enter": "newline" }')).problems).toEqual([
      'line 1: "enter" can be bound only if another key is bound to "send".',
    ]);
    const { remap, problems } = await readKeyFile('{ "enter": "newline", "alt+enter": "send" }');
    expect([problems, remap.input, remap.question.size, remap.list.size]).toEqual([
      [],
      new Map([
        ["enter", "shift+enter"],
        ["alt+enter", "enter"],
      ]),
      0,
      0,
    ]);
  });

  it.each(["question-yes", "list-choose", "yes", "answer", "question-answer"])(
    "gives answers no other key (%s)",
    async (name) => {
      const { remap, problems } = await readKeyFile(JSON.stringify({ tab: name }));
      expect([remap.input.size + remap.list.size + remap.question.size, problems]).toEqual([
        0,
        [expect.stringContaining("so that no key typed ahead becomes one")],
      ]);
    },
  );

  it("never makes a key answer, whatever it says", async () => {
    const keys = ["tab", "up", "enter", "Enter", "ctrl+m", "y", "Y", " ", "space", "escape", "ctrl+g", "f1", "alt+y"];
    const names = [...keyActions.map(({ name }) => name), "enter", "y", "question-yes", "list-choose"];
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.constantFrom(...keys), fc.oneof(fc.constantFrom(...names), fc.constant(null)))),
        async (entries) => {
          const { remap } = await readKeyFile(
            `{${entries.map(([key, name]) => `${JSON.stringify(key)}: ${JSON.stringify(name)}`).join(",")}}`,
          );
          for (const context of ["list", "question"] as const) {
            expect(
              [...remap[context].values()].filter((chord) => chord === "enter" || /^.$/.test(chord ?? "")),
            ).toEqual([]);
            expect(["enter", "escape", "ctrl+c"].filter((key) => (remap[context].get(key) ?? key) !== key)).toEqual([]);
          }
          const answersNow = [...remap.input].filter(([, chord]) => chord === "ctrl+g").map(([key]) => key);
          expect(answersNow.filter((key) => !/^(?:ctrl|alt)\+|^f\d/.test(key))).toEqual([]);
          const sends = ["enter", ...remap.input.keys()].some((key) => (remap.input.get(key) ?? key) === "enter");
          expect(sends).toBe(true);
        },
      ),
      { numRuns: runsPerTier(300) },
    );
  });
});
