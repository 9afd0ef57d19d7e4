import { isObject, type JsonObject } from "../../conversation/json.ts";
import { isProblem, listFiles, readJsonObject, textOf } from "./manifest.ts";
import type { PluginTheme } from "./plugin.ts";
import type { PluginTree } from "./tree.ts";

/** The themes of a plugin, and the parts of them that are not used. */
type ReadThemes = { readonly themes: readonly PluginTheme[]; readonly problems: readonly string[] };

/** How a theme of one form is read: its base, its colours by name, and the colours of ours each name sets. */
type ThemeForm = {
  readonly base: (theme: JsonObject) => unknown;
  readonly colours: (theme: JsonObject) => JsonObject;
  readonly targets: (name: string) => readonly string[];
};

const maxThemes = 50;
const maxColours = 200;

/** Claude Code: `{ "base": "dark", "overrides": { "claude": "#ff8800" } }`. */
const claude: ThemeForm = {
  base: ({ base }) => /^(dark|light)/.exec(textOf(base) ?? "dark")?.[0],
  colours: ({ overrides }) => (isObject(overrides) ? (overrides as JsonObject) : {}),
  targets: (name) => (Object.hasOwn(claudeTargets, name) ? (claudeTargets[name] ?? []) : []),
};

const claudeTargets: { readonly [name: string]: readonly string[] } = {
  claude: ["tones.accent", "tones.heading"],
  inactive: ["tones.muted"],
  suggestion: ["tones.link"],
  success: ["tones.success", "tones.added"],
  warning: ["tones.warning"],
  error: ["tones.error", "tones.removed"],
  diffAdded: ["backgrounds.added"],
  diffRemoved: ["backgrounds.removed"],
  diffAddedWord: ["backgrounds.added-strong"],
  diffRemovedWord: ["backgrounds.removed-strong"],
  selectionBg: ["backgrounds.focus"],
  userMessageBackground: ["backgrounds.user"],
};

/** Gemini CLI: groups of colours, `{ "text": { "link": "#89e689" } }`, or the older flat names. */
const gemini: ThemeForm = {
  base: ({ background, Background }) =>
    isBright(parseColour(isObject(background) ? background["primary"] : Background)) ? "light" : "dark",
  colours: (theme) => flatten(Object.fromEntries(Object.entries(theme).filter(([key]) => !isAbout(key)))),
  targets: (name) => (Object.hasOwn(geminiTargets, name) ? (geminiTargets[name] ?? []) : []),
};

const isAbout = (key: string): boolean => key === "name" || key === "type";

const geminiTargets: { readonly [name: string]: readonly string[] } = {
  Gray: ["tones.muted"],
  Comment: ["tones.comment"],
  LightBlue: ["tones.link"],
  AccentBlue: ["tones.accent", "tones.number"],
  AccentPurple: ["tones.heading", "tones.function"],
  AccentCyan: ["tones.code", "tones.type"],
  AccentGreen: ["tones.success", "tones.added"],
  AccentYellow: ["tones.warning"],
  AccentRed: ["tones.error", "tones.removed"],
  DiffAdded: ["backgrounds.added"],
  DiffRemoved: ["backgrounds.removed"],
  "text.secondary": ["tones.muted"],
  "text.link": ["tones.link"],
  "text.accent": ["tones.accent", "tones.heading"],
  "background.diff.added": ["backgrounds.added"],
  "background.diff.removed": ["backgrounds.removed"],
  "ui.comment": ["tones.comment"],
  "status.success": ["tones.success", "tones.added"],
  "status.warning": ["tones.warning"],
  "status.error": ["tones.error", "tones.removed"],
};

/** Ours, as in the person's own theme files. */
const own: ThemeForm = {
  base: ({ base }) => base,
  colours: ({ tones, backgrounds }) => flatten({ tones: tones ?? {}, backgrounds: backgrounds ?? {} }),
  targets: (name) => (/^(tones|backgrounds)\.[a-z-]{1,32}$/.test(name) ? [name] : []),
};

/** Reads the theme files in folders of a plugin, in the form of Claude Code or in ours. */
export const readThemeFiles = async (
  tree: PluginTree,
  folders: readonly string[],
  form: "claude" | "own",
): Promise<ReadThemes> => {
  const items = [...new Set(folders)].flatMap((folder) => listFiles(tree, folder, ".json"));
  const files = await Promise.all(
    items.slice(0, maxThemes).map(async ({ name, path }) => ({ name, path, file: await readJsonObject(tree, path) })),
  );
  return mergeThemes(
    items.length,
    files.map(({ name, path, file }) =>
      file === undefined || isProblem(file)
        ? { problems: [file?.problem ?? `${path} is missing.`] }
        : translateTheme(name, file, form === "claude" ? claude : own),
    ),
  );
};

/** Reads the themes in the manifest of a Gemini CLI extension. */
export const readGeminiThemes = (given: unknown): ReadThemes => {
  const all = Array.isArray(given) ? given : [];
  return mergeThemes(
    all.length,
    all
      .slice(0, maxThemes)
      .map((theme: unknown, index) =>
        isObject(theme)
          ? translateTheme(textOf(theme["name"]) ?? "", theme as JsonObject, gemini)
          : { problems: [`themes: number ${index + 1} is not an object.`] },
      ),
  );
};

type TranslatedTheme = { readonly theme?: PluginTheme; readonly problems: readonly string[] };

const mergeThemes = (count: number, read: readonly TranslatedTheme[]): ReadThemes => {
  const themes = new Map<string, PluginTheme>();
  const problems = read.flatMap((each) => each.problems);
  for (const { theme } of read) {
    if (theme === undefined) continue;
    if (themes.has(theme.name)) problems.push(`themes: ${theme.name} is defined twice; the first is used.`);
    else themes.set(theme.name, theme);
  }
  if (count > maxThemes) problems.push(`themes: only the first ${maxThemes} of ${count} are used.`);
  return { themes: [...themes.values()], problems };
};

/** Translates a theme to the form of our theme files. Only plain colours are taken. */
const translateTheme = (givenName: string, theme: JsonObject, form: ThemeForm): TranslatedTheme => {
  const name = givenName
    .replace(/[^\w-]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 64);
  if (name === "") return { problems: ["themes: one has no usable name."] };
  const colours = Object.entries(form.colours(theme));
  const groups = { tones: {} as Record<string, string>, backgrounds: {} as Record<string, string> };
  let used = 0;
  for (const [key, value] of colours.slice(0, maxColours)) {
    const rgb = parseColour(value);
    const targets = rgb === undefined ? [] : form.targets(key);
    if (targets.length > 0) used += 1;
    for (const target of targets) {
      const [group, tone = ""] = target.split(".");
      groups[group === "tones" ? "tones" : "backgrounds"][tone] = `#${rgb!.toString(16).padStart(6, "0")}`;
    }
  }
  const unused = colours.length - used;
  return {
    theme: { name, colours: { base: form.base(theme) === "light" ? "light" : "dark", ...groups } },
    problems: unused === 0 ? [] : [`themes: ${unused} of ${colours.length} colours of ${name} have no effect here.`],
  };
};

const flatten = (groups: JsonObject, prefix = ""): JsonObject =>
  Object.fromEntries(
    Object.entries(groups).flatMap(([name, value]) =>
      isObject(value) && prefix.length < 40
        ? Object.entries(flatten(value as JsonObject, `${prefix}${name}.`))
        : [[`${prefix}${name}`, value]],
    ),
  );

const namedColours: { readonly [name: string]: number } = {
  black: 0x000000,
  red: 0xcd3131,
  green: 0x0dbc79,
  yellow: 0xe5e510,
  blue: 0x2472c8,
  magenta: 0xbc3fbc,
  cyan: 0x11a8cd,
  white: 0xe5e5e5,
  gray: 0x808080,
  grey: 0x808080,
};

/** `#rgb`, `#rrggbb`, `rgb(r, g, b)`, or the name of a basic colour, also as `ansi:redBright`. */
const parseColour = (value: unknown): number | undefined => {
  if (typeof value !== "string" || value.length > 40) return undefined;
  const [, hex] = /^#([\da-f]{3}|[\da-f]{6})$/i.exec(value) ?? [];
  if (hex !== undefined) return Number.parseInt(hex.length === 3 ? hex.replace(/./g, "$&$&") : hex, 16);
  const parts = /^rgb\(\s*(\d{1,3})\s*,\s*(\d{1,3})\s*,\s*(\d{1,3})\s*\)$/.exec(value)?.slice(1).map(Number);
  if (parts !== undefined)
    return parts.every((part) => part <= 255) ? parts.reduce((sum, part) => sum * 256 + part, 0) : undefined;
  const name = value
    .toLowerCase()
    .replace(/^ansi:/, "")
    .replace(/bright$/, "");
  return Object.hasOwn(namedColours, name) ? namedColours[name] : undefined;
};

const isBright = (rgb: number | undefined): boolean =>
  rgb !== undefined && 0.2126 * (rgb >> 16) + 0.7152 * ((rgb >> 8) & 255) + 0.0722 * (rgb & 255) > 127;
