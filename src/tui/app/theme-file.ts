import { isObject } from "../../conversation/json.ts";
import type { World } from "../../world/world.ts";
import { nearestAnsi } from "../screen/colour.ts";
import { dark, light, type Theme } from "../screen/theme.ts";

/** A theme and the problems of its file; undefined for `auto`, and for a file that cannot be used at all. */
export type LoadedTheme = { readonly theme: Theme | undefined; readonly problems: readonly string[] };

/** The themes that need no file. */
const builtInThemes: readonly string[] = ["auto", "light", "dark"];

/** Loads a theme by name: a built-in one, or `themes/NAME.json` in Parley's own folder. */
export const loadTheme = async ({ files }: Pick<World, "files">, home: string, name: string): Promise<LoadedTheme> => {
  if (builtInThemes.includes(name))
    return { theme: name === "auto" ? undefined : name === "light" ? light : dark, problems: [] };
  const path = `${home}/themes/${name}.json`;
  const text = isThemeName(name) ? await files.read(path).catch(() => undefined) : undefined;
  if (text === undefined)
    return {
      theme: undefined,
      problems: [`Unknown theme "${name}". Available: ${builtInThemes.join(", ")}, or a file ${path}.`],
    };
  const { theme, problems } = readTheme(text);
  return { theme, problems: problems.map((each) => `${path}: ${each}`) };
};

/** The names of themes: built-in ones, then those of files. */
export const listThemes = async ({ disk }: Pick<World, "disk">, home: string): Promise<readonly string[]> => {
  const entries = await disk.listNames(`${home}/themes`).catch(() => []);
  const names = entries.flatMap(({ name, kind }) =>
    kind === "file" && name.endsWith(".json") ? [name.slice(0, -".json".length)] : [],
  );
  return [...builtInThemes, ...names.filter((name) => isThemeName(name) && !builtInThemes.includes(name)).toSorted()];
};

const isThemeName = (name: string): boolean => /^[\w-]{1,64}$/.test(name);

/**
 * Reads a theme: `{ "base": "dark", "tones": { "accent": "#ff8800" }, "backgrounds": { "focus": "#203040" } }`. What it
 * does not name is that of its base. An entry that is not understood is reported and left out.
 *
 * @internal Exported for its tests.
 */
export const readTheme = (text: string): LoadedTheme => {
  const file = parseJson(text);
  if (!isObject(file))
    return { theme: undefined, problems: ['Expected an object such as { "base": "dark", "tones": {} }.'] };
  const base = file["base"] ?? "dark";
  const problems = [
    ...Object.keys(file)
      .filter((key) => !["base", "tones", "backgrounds"].includes(key))
      .map((key) => `Unknown key "${key}". Available: base, tones, backgrounds.`),
    ...(base === "dark" || base === "light" ? [] : ['"base" must be "dark" or "light".']),
  ];
  const origin = base === "light" ? light : dark;
  const tones = readColours(origin.tones, file["tones"], "tones");
  const backgrounds = readColours(origin.backgrounds, file["backgrounds"], "backgrounds");
  return {
    theme: { tones: tones.colours, backgrounds: backgrounds.colours },
    problems: [...problems, ...tones.problems, ...backgrounds.problems],
  };
};

const readColours = <Colours extends Theme["tones"] | Theme["backgrounds"]>(
  base: Colours,
  given: unknown,
  what: string,
): { readonly colours: Colours; readonly problems: readonly string[] } => {
  if (given === undefined) return { colours: base, problems: [] };
  if (!isObject(given)) return { colours: base, problems: [`"${what}" must be an object of colours.`] };
  const problems: string[] = [];
  const colours: Record<string, Colours[keyof Colours]> = {};
  for (const [name, value] of Object.entries(given)) {
    const [, hex] = /^#([\da-f]{6})$/i.exec(typeof value === "string" ? value : "") ?? [];
    if (!Object.hasOwn(base, name))
      problems.push(`Unknown name "${name}" in ${what}. Available: ${Object.keys(base).join(", ")}.`);
    else if (hex === undefined) problems.push(`${what}.${name} must be a colour such as "#ff8800".`);
    else {
      const rgb = Number.parseInt(hex, 16);
      colours[name] = { rgb, ansi: nearestAnsi(rgb) } as Colours[keyof Colours];
    }
  }
  return { colours: { ...base, ...colours }, problems };
};

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
