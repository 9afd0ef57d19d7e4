import { isObject, type JsonObject, type JsonValue } from "../../conversation/json.ts";
import { aboutOf, hooksIn, isProblem, listFiles, listSkills, readJsonObject, textOf } from "./manifest.ts";
import { isPluginName, type InvalidPlugin, type Plugin, type PluginHooks, type PluginItem } from "./plugin.ts";
import { readThemeFiles } from "./themes.ts";
import { resolveInside, type PluginTree } from "./tree.ts";

/** The manifests of Claude plugins, which Codex reads too, in order of precedence. */
export const claudeManifests: readonly string[] = [".claude-plugin/plugin.json", ".codex-plugin/plugin.json"];

/** Folders and fields of Claude plugins without effect here. */
const ignoredParts: readonly (readonly [field: string, folder: string])[] = [
  ["lspServers", ".lsp.json"],
  ["outputStyles", "output-styles/"],
  ["monitors", "monitors/"],
  ["settings", "settings.json"],
];

/** Loads a Claude plugin: default folders, and the paths its manifest adds. */
export const loadClaudePlugin = async (tree: PluginTree, manifest: JsonObject): Promise<Plugin | InvalidPlugin> => {
  const name = textOf(manifest["name"]) ?? "";
  if (!isPluginName(name)) return { problem: `"${name.slice(0, 64)}" is not a valid name of a plugin.` };
  const problems: string[] = [];
  const hooks = await readHooks(tree, manifest, problems);
  const servers = await readServers(tree, manifest, problems);
  const { experimental } = manifest;
  const themeFolders = { themes: manifest["themes"] ?? (isObject(experimental) ? experimental["themes"] : []) ?? [] };
  const themes = await readThemeFiles(
    tree,
    pathsOf(themeFolders as JsonObject, "themes", "themes", problems),
    "claude",
  );
  return {
    name,
    ...aboutOf(manifest),
    layout: "claude",
    skills: unique(pathsOf(manifest, "skills", "skills", problems).flatMap((path) => skillsAt(tree, path))),
    servers,
    commands: unique(pathsOf(manifest, "commands", "commands", problems).flatMap((path) => filesAt(tree, path, ".md"))),
    hooks,
    agents: unique(pathsOf(manifest, "agents", "agents", problems).flatMap((path) => filesAt(tree, path, ".md"))),
    context: [],
    themes: themes.themes,
    rules: [],
    problems: [...problems, ...themes.problems, ...findIgnoredParts(tree, manifest)],
  };
};

/**
 * The default folder, and the paths of a field: one, or a list. A path that leads out of the plugin is a problem. An entry
 * of a marketplace with `strict: false` is the whole definition: what it lists is all there is.
 */
const pathsOf = (manifest: JsonObject, field: string, folder: string, problems: string[]): readonly string[] => [
  ...(manifest["strict"] === false && manifest[field] !== undefined ? [] : [folder]),
  ...[manifest[field] ?? []].flat().flatMap((given) => {
    const inside = resolveInside(given);
    if (inside === undefined)
      problems.push(`${field}: ${JSON.stringify(given).slice(0, 100)} is not a path in the plugin.`);
    return inside === undefined ? [] : [inside];
  }),
];

/** A folder with skills, or the folder of one skill. */
const skillsAt = (tree: PluginTree, path: string): readonly PluginItem[] =>
  tree.files.some((file) => file.path === `${path}/SKILL.md`)
    ? [{ name: path.split("/").at(-1) ?? path, path }]
    : listSkills(tree, path);

const filesAt = (tree: PluginTree, path: string, extension: string): readonly PluginItem[] =>
  path.endsWith(extension) && tree.files.some((file) => file.path === path)
    ? [{ name: (path.split("/").at(-1) ?? path).slice(0, -extension.length), path }]
    : listFiles(tree, path, extension);

const unique = (items: readonly PluginItem[]): readonly PluginItem[] => [
  ...new Map(items.map((item) => [item.path, item])).values(),
];

const readHooks = async (
  tree: PluginTree,
  manifest: JsonObject,
  problems: string[],
): Promise<readonly PluginHooks[]> => {
  const { hooks } = manifest;
  const inline = isObject(hooks) ? hooksIn("plugin.json", "claude", hooks as JsonObject) : [];
  const files = await readFiles(tree, ["hooks/hooks.json", ...namedFiles(hooks, "hooks", problems)], problems);
  return [...files.flatMap(({ path, file }) => hooksIn(path, "claude", file)), ...inline];
};

const readServers = async (tree: PluginTree, manifest: JsonObject, problems: string[]): Promise<Plugin["servers"]> => {
  const { mcpServers } = manifest;
  const files = await readFiles(tree, [".mcp.json", ...namedFiles(mcpServers, "mcpServers", problems)], problems);
  const maps = [...files.map(({ file }) => file["mcpServers"] ?? file), ...(isObject(mcpServers) ? [mcpServers] : [])];
  return Object.fromEntries(
    maps.flatMap((map) => (isObject(map) ? Object.entries(map) : [])).filter(([, server]) => isObject(server)),
  ) as Plugin["servers"];
};

const namedFiles = (given: JsonValue | undefined, field: string, problems: string[]): readonly string[] =>
  typeof given === "string" || Array.isArray(given) ? pathsOf({ [field]: given }, field, "", problems).slice(1) : [];

const readFiles = async (
  tree: PluginTree,
  paths: readonly string[],
  problems: string[],
): Promise<readonly { readonly path: string; readonly file: JsonObject }[]> => {
  const read = await Promise.all(
    [...new Set(paths)].map(async (path) => ({ path, file: await readJsonObject(tree, path) })),
  );
  return read.flatMap(({ path, file }) => {
    if (isProblem(file)) problems.push(file.problem);
    return file === undefined || isProblem(file) ? [] : [{ path, file }];
  });
};

const findIgnoredParts = (tree: PluginTree, manifest: JsonObject): readonly string[] =>
  ignoredParts.flatMap(([field, folder]) =>
    manifest[field] !== undefined || tree.files.some(({ path }) => path === folder || path.startsWith(folder))
      ? [`${field} (${folder}) has no effect here.`]
      : [],
  );
