import { isObject } from "../../conversation/json.ts";
import type { PluginTheme } from "../../extensions/plugins/plugin.ts";
import type { World } from "../../world/world.ts";
import { nearestAnsi } from "../screen/colour.ts";
import { dark, light, type Theme } from "../screen/theme.ts";

/** A theme and the problems of its file; undefined for `auto`, and for a file that cannot be used at all. */
export type LoadedTheme = { readonly theme: Theme | undefined; readonly problems: readonly string[] };

/** The themes that need no file. */
const builtInThemes: readonly string[] = ["auto", "light", "dark"];

/** The folders that themes come from: the person's files, and plugins. */
type ThemeFolders = { readonly config: string; readonly data: string };

/** Loads a theme by name: a built-in one, `themes/NAME.json` in Parley's own folder, or `plugin:theme`. */
export const loadTheme = async (
  world: Pick<World, "disk" | "files">,
  home: ThemeFolders,
  name: string,
): Promise<LoadedTheme> => {
  if (builtInThemes.includes(name))
    return { theme: name === "auto" ? undefined : name === "light" ? light : dark, problems: [] };
  if (name.includes(":")) return loadPluginTheme(world, home.data, name);
  const path = `${home.config}/themes/${name}.json`;
  const text = isThemeName(name) ? await world.files.read(path).catch(() => undefined) : undefined;
  if (text === undefined)
    return {
      theme: undefined,
      problems: [
        `Unknown theme "${name}". Available: ${(await listThemes(world, home)).join(", ")}, or a file ${path}.`,
      ],
    };
  const { theme, problems } = readTheme(parseJson(text));
  return { theme, problems: problems.map((each) => `${path}: ${each}`) };
};

const loadPluginTheme = async (
  world: Pick<World, "disk" | "files">,
  home: string,
  name: string,
): Promise<LoadedTheme> => {
  const found = (await readPluginThemes(world, home)).find((each) => each.name === name);
  if (found !== undefined) return readTheme(found.colours);
  const reason = "No enabled plugin brings it: see parley plugins list.";
  return { theme: undefined, problems: [`Unknown theme "${name}". ${reason}`] };
};

/** The themes of plugins. Without any plugin, nothing is loaded. */
const readPluginThemes = async (
  world: Pick<World, "disk" | "files">,
  home: string,
): Promise<readonly PluginTheme[]> => {
  if ((await world.disk.canonicalPath(`${home}/plugins/installed.json`)) === undefined) return [];
  return (await import("../../extensions/plugins/session.ts")).readPluginThemes(world, home);
};

/** The names of themes: built-in ones, those of files, then those of plugins. */
export const listThemes = async (
  world: Pick<World, "disk" | "files">,
  home: ThemeFolders,
): Promise<readonly string[]> => {
  const entries = await world.disk.listNames(`${home.config}/themes`).catch(() => []);
  const plugins = await readPluginThemes(world, home.data);
  const names = entries.flatMap(({ name, kind }) =>
    kind === "file" && name.endsWith(".json") ? [name.slice(0, -".json".length)] : [],
  );
  return [
    ...builtInThemes,
    ...names.filter((name) => isThemeName(name) && !builtInThemes.includes(name)).toSorted(),
    ...plugins.map(({ name }) => name).toSorted(),
  ];
};

const isThemeName = (name: string): boolean => /^[\w-]{1,64}$/.test(name);

/**
 * Reads a theme: `{ "base": "dark", "tones": { "accent": "#ff8800" }, "backgrounds": { "focus": "#203040" } }`. What it
 * does not name is that of its base. An entry that is not understood is reported and left out.
 *
 * @internal Exported for its tests.
 */
export const readTheme = (file: unknown): LoadedTheme => {
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
