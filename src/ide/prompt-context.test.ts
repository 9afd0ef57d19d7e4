import { describe, expect, it } from "vitest";
import { fc } from "../../test/support/fast-check.ts";
import type { IdeContext } from "./ide.ts";
import { describeContext, fence } from "./prompt-context.ts";

const selection = { path: "a.ts", text: "two\n", firstLine: 2, lastLine: 3 };

describe("the description of the editor", () => {
  it.each<[string, IdeContext, IdeContext | undefined, string | undefined]>([
    ["nothing is open", { openFiles: [] }, undefined, undefined],
    ["one file", { openFiles: ["a.ts"] }, undefined, "My editor shows a.ts."],
    [
      "a selection",
      { openFiles: ["a.ts"], selection },
      { openFiles: ["a.ts"] },
      "Selected in my editor, a.ts, lines 2-3:\n```\ntwo\n```",
    ],
    ["no selection any more", { openFiles: [] }, { openFiles: [], selection }, "Nothing is selected in my editor now."],
    [
      "other files",
      { openFiles: ["b.ts", "a.ts", "d.ts"] },
      { openFiles: ["a.ts", "c.ts"] },
      "My editor now shows b.ts.\nOpened in my editor: d.ts.\nClosed in my editor: c.ts.",
    ],
    ["the last file closed", { openFiles: [] }, { openFiles: ["a.ts"] }, "Closed in my editor: a.ts."],
  ])("says what changed: %s", (_, now, before, expected) => {
    expect(describeContext(now, before)).toBe(expected);
  });

  it("says nothing twice", () => {
    const name = fc.constantFrom("a.ts", "b.ts", "c.ts");
    const context = fc.record(
      {
        openFiles: fc.uniqueArray(name),
        selection: fc.record({ path: name, text: fc.string(), firstLine: fc.nat(9), lastLine: fc.nat(9) }),
      },
      { requiredKeys: ["openFiles"] },
    ) as fc.Arbitrary<IdeContext>;
    fc.assert(fc.property(context, (each) => describeContext(each, each) === undefined));
  });

  it("fences any selection so that it cannot end its own fence", () => {
    const text = fc
      .array(fc.constantFrom("`", "```", "\n", "a", "~~~"), { maxLength: 20 })
      .map((parts) => parts.join(""));
    fc.assert(
      fc.property(text, (each) => {
        const [first = "", ...rest] = fence(each).split("\n");
        return /^`{3,}$/.test(first) && rest.indexOf(first) === rest.length - 1;
      }),
    );
  });
});
