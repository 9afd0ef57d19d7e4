import { describe, expect, it } from "vitest";
import { readGeminiThemes, readThemeFiles } from "./themes.ts";
import type { PluginTree } from "./tree.ts";

const treeOf = (files: { readonly [path: string]: unknown }): PluginTree => ({
  files: Object.keys(files).map((path) => ({ path, size: 100, isExecutable: false })),
  problems: [],
  read: async (path) => new TextEncoder().encode(JSON.stringify(files[path])),
});

describe("themes of plugins", () => {
  it("translate the colours of Claude Code that have a counterpart, and count the others", async () => {
    const overrides = { claude: "#f80", diffAdded: "rgb(1, 2, 3)", error: "ansi:redBright", planMode: "#ffffff" };
    const tree = treeOf({ "themes/Dracula Pro.json": { name: "D", base: "light-daltonized", overrides } });
    expect(await readThemeFiles(tree, ["themes", "themes"], "claude")).toEqual({
      themes: [
        {
          name: "Dracula-Pro",
          colours: {
            base: "light",
            tones: { accent: "#ff8800", heading: "#ff8800", error: "#cd3131", removed: "#cd3131" },
            backgrounds: { added: "#010203" },
          },
        },
      ],
      problems: ["themes: 1 of 4 colours of Dracula-Pro have no effect here."],
    });
  });

  it("translate the colours of Gemini CLI, with the base that suits its background", () => {
    const theme = {
      name: "sun",
      type: "custom",
      background: { primary: "#fffff0", diff: { added: "#e0ffe0" } },
      text: { link: "#0000ff" },
      AccentRed: "red",
    };
    expect(readGeminiThemes([theme])).toEqual({
      themes: [
        {
          name: "sun",
          colours: {
            base: "light",
            tones: { link: "#0000ff", error: "#cd3131", removed: "#cd3131" },
            backgrounds: { added: "#e0ffe0" },
          },
        },
      ],
      problems: ["themes: 1 of 4 colours of sun have no effect here."],
    });
  });

  it("are read in our own form", async () => {
    const tree = treeOf({
      "t/a.json": { base: "light", tones: { accent: "#010203" }, backgrounds: { focus: "#040506" } },
    });
    expect(await readThemeFiles(tree, ["t"], "own")).toEqual({
      themes: [
        { name: "a", colours: { base: "light", tones: { accent: "#010203" }, backgrounds: { focus: "#040506" } } },
      ],
      problems: [],
    });
  });

  it.each([
    ["an escape sequence as a colour", { name: "a", text: { link: "\u001B[31m" } }],
    ["a colour out of range", { name: "a", text: { link: "rgb(1,2,999)" } }],
    ["a colour that is no text", { name: "a", text: { link: { deep: { deeper: ["#ffffff"] } } } }],
    ["the name of a prototype's property", { name: "a", constructor: "#ffffff" }],
  ])("take only plain colours: %s", (_, theme) => {
    expect(readGeminiThemes([theme])).toEqual({
      themes: [{ name: "a", colours: { base: "dark", tones: {}, backgrounds: {} } }],
      problems: ["themes: 1 of 1 colours of a have no effect here."],
    });
  });

  it("are bounded, have safe names, and the first of two with one name wins", () => {
    const many = Array.from({ length: 60 }, (_, index) => ({ name: `t${index}` }));
    expect(readGeminiThemes(many)).toMatchObject({ themes: { length: 50 } });
    expect(readGeminiThemes([{ name: "../\u001B[2J" }, { name: "2J", text: { link: "#ffffff" } }, 1, {}])).toEqual({
      themes: [{ name: "2J", colours: { base: "dark", tones: {}, backgrounds: {} } }],
      problems: [
        "themes: number 3 is not an object.",
        "themes: one has no usable name.",
        "themes: 2J is defined twice; the first is used.",
      ],
    });
  });
});
