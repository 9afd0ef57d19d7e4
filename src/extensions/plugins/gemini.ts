import { isObject, type JsonObject } from "../../conversation/json.ts";
import { readGeminiRules } from "./gemini-rules.ts";
import { aboutOf, hooksIn, isProblem, listFiles, listSkills, readJsonObject, textOf } from "./manifest.ts";
import { isPluginName, type InvalidPlugin, type Plugin } from "./plugin.ts";
import { readGeminiThemes } from "./themes.ts";
import { resolveInside, type PluginTree } from "./tree.ts";

/** The manifest of a Gemini CLI extension. */
export const geminiManifest = "gemini-extension.json";

const ignoredFields: { readonly [field: string]: string } = {
  settings: "are not asked for: set these variables yourself, except for secrets, which plugins do not get.",
  plan: "has no effect here.",
};

/** Loads a Gemini CLI extension. */
export const loadGeminiExtension = async (tree: PluginTree, manifest: JsonObject): Promise<Plugin | InvalidPlugin> => {
  const name = textOf(manifest["name"]) ?? "";
  if (!isPluginName(name)) return { problem: `"${name.slice(0, 64)}" is not a valid name of an extension.` };
  const hooks = await readJsonObject(tree, "hooks/hooks.json");
  const context = readContext(tree, manifest);
  const themes = readGeminiThemes(manifest["themes"]);
  const { mcpServers } = manifest;
  const servers = isObject(mcpServers)
    ? (Object.fromEntries(Object.entries(mcpServers).filter(([, server]) => isObject(server))) as Plugin["servers"])
    : {};
  const { rules, problems } = await readGeminiRules(tree, manifest, Object.keys(servers));
  return {
    name,
    ...aboutOf(manifest),
    layout: "gemini",
    skills: listSkills(tree, "skills"),
    servers,
    commands: listFiles(tree, "commands", ".toml"),
    hooks: hooks === undefined || isProblem(hooks) ? [] : hooksIn("hooks/hooks.json", "gemini", hooks),
    agents: listFiles(tree, "agents", ".md"),
    context: context.files,
    themes: themes.themes,
    rules,
    problems: [
      ...problems,
      ...themes.problems,
      ...context.problems,
      ...(isProblem(hooks) ? [hooks.problem] : []),
      ...Object.entries(ignoredFields).flatMap(([field, reason]) =>
        manifest[field] === undefined ? [] : [`${field} ${reason}`],
      ),
    ],
  };
};

/** The context files: those named, or GEMINI.md. */
const readContext = (
  tree: PluginTree,
  manifest: JsonObject,
): { readonly files: Plugin["context"]; readonly problems: readonly string[] } => {
  const given = [manifest["contextFileName"] ?? "GEMINI.md"].flat();
  const read = given.map((name) => ({ name, path: resolveInside(name) }));
  return {
    files: read.flatMap(({ path }) =>
      tree.files.filter((file) => file.path === path).map((file) => ({ path: file.path, bytes: file.size })),
    ),
    problems: read
      .filter(({ path }) => path === undefined)
      .map(({ name }) => `contextFileName: ${JSON.stringify(name).slice(0, 100)} is not a path in the extension.`),
  };
};
