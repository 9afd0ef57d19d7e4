import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { realWorld } from "../../world/real/world.ts";
import { dark, light } from "../screen/theme.ts";
import { listThemes, loadTheme, readTheme } from "./theme-file.ts";

const made: string[] = [];
afterEach(() => {
  for (const each of made.splice(0)) rmSync(each, { recursive: true });
});
const homeWith = (files: Readonly<Record<string, string>>): string => {
  const home = mkdtempSync(join(tmpdir(), "parley-themes-"));
  made.push(home);
  mkdirSync(join(home, "themes"));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(home, "themes", name), text);
  return home;
};

describe("a theme in a file", () => {
  it("changes the colours it names, and keeps the others of its base", () => {
    const text = '{ "base": "light", "tones": { "accent": "#FF8800" }, "backgrounds": { "focus": "#0000f0" } }';
    expect(readTheme(JSON.parse(text))).toEqual({
      theme: {
        tones: { ...light.tones, accent: { rgb: 0xff8800, ansi: 3 } },
        backgrounds: { ...light.backgrounds, focus: { rgb: 0x0000f0, ansi: 4 } },
      },
      problems: [],
    });
  });

  it.each([
    ["[]", undefined, ['Expected an object such as { "base": "dark", "tones": {} }.']],
    ['{ "base": "pink" }', dark, ['"base" must be "dark" or "light".']],
    ['{ "colors": {} }', dark, ['Unknown key "colors". Available: base, tones, backgrounds.']],
    ['{ "tones": { "accent": "red" } }', dark, ['tones.accent must be a colour such as "#ff8800".']],
    ['{ "tones": [] }', dark, ['"tones" must be an object of colours.']],
    [
      '{ "backgrounds": { "__proto__": "#000000" } }',
      dark,
      [expect.stringMatching(/^Unknown name "__proto__" in backgrounds\. Available: added, removed, /)],
    ],
  ])("is reported where it is wrong: %s", (text, theme, problems) => {
    expect(readTheme(JSON.parse(text))).toEqual({ theme, problems });
  });

  it("is listed and found by its name, in Parley's own folder only", async () => {
    const home = homeWith({
      "sun.json": '{ "base": "light" }',
      "dark.json": "{}",
      "bad.json": "{ no",
      "a b.json": "{}",
      "note.txt": "",
    });
    const world = realWorld();
    const folders = { config: home, data: home };
    expect(await listThemes(world, folders)).toEqual(["auto", "light", "dark", "bad", "sun"]);
    expect(await listThemes(world, { ...folders, config: join(home, "none") })).toEqual(["auto", "light", "dark"]);
    expect(await loadTheme(world, folders, "sun")).toEqual({ theme: light, problems: [] });
    expect(await loadTheme(world, folders, "dark")).toEqual({ theme: dark, problems: [] });
    expect(await loadTheme(world, folders, "bad")).toEqual({
      theme: undefined,
      problems: [`${home}/themes/bad.json: Expected an object such as { "base": "dark", "tones": {} }.`],
    });
    expect(await loadTheme(world, folders, "plugin:sun")).toEqual({
      theme: undefined,
      problems: ['Unknown theme "plugin:sun". No enabled plugin brings it: see parley plugins list.'],
    });
    for (const name of ["moon", "../themes/sun"])
      expect(await loadTheme(world, folders, name)).toEqual({
        theme: undefined,
        problems: [
          `Unknown theme "${name}". Available: auto, light, dark, bad, sun, or a file ${home}/themes/${name}.json.`,
        ],
      });
  });
});
