import { join } from "node:path";
import { isObject, type JsonObject, type JsonValue } from "../../conversation/json.ts";
import type { PluginPermissionRule } from "../../policy/gate/permission-rules.ts";
import { createChildEnvironment } from "../../policy/shell/environment.ts";
import { sanitizeForTerminal } from "../../policy/terminal/sanitize.ts";
import type { PluginSkillFolder } from "../../context/skills/find.ts";
import type { Environment, World } from "../../world/world.ts";
import type { Disk } from "../../world/disk.ts";
import type { HookSet } from "../hooks/hook.ts";
import { importHooks } from "../hooks/import-hooks.ts";
import { hashIdentities, hashTree } from "./content-hash.ts";
import { loadPlugin } from "./load.ts";
import { isNamespaced, type Plugin, type PluginCapability, type PluginTheme } from "./plugin.ts";
import { contentFolder, dataFolder, readInstalledPlugins, readStoredTree, type InstalledPlugin } from "./store.ts";
import { fillVariables, variablesOf, type PluginFile, type PluginVariables } from "./variables.ts";

/** An added plugin, and whether it can be used. */
export type PluginStatus = { readonly installed: InstalledPlugin } & (
  | { readonly state: "enabled" | "disabled"; readonly plugin: Plugin; readonly root: string }
  | { readonly state: "broken"; readonly problem: string }
);

/** Reads all added plugins. A broken one does not affect the others. */
export const readPluginStatus = async (
  world: Pick<World, "disk" | "files">,
  home: string,
): Promise<readonly PluginStatus[]> =>
  Promise.all((await readInstalledPlugins(world, home)).map((installed) => checkPlugin(world, home, installed)));

/** Loads a plugin if its files still are those the person agreed to. */
const checkPlugin = async (
  { disk }: Pick<World, "disk">,
  home: string,
  installed: InstalledPlugin,
): Promise<PluginStatus> => {
  const { name, hash, stamp, entry, isEnabled } = installed;
  const broken = (problem: string): PluginStatus => ({ installed, state: "broken", problem });
  try {
    const root = await disk.canonicalPath(contentFolder(home, hash));
    if (root === undefined) return broken(`Its files are missing. Add it again: parley plugins update ${name}`);
    const tree = await readStoredTree(disk, root);
    // Hashing every byte is needed only if a file was touched.
    if (hashIdentities(tree) !== stamp && (await hashTree(tree)) !== hash)
      return broken(`Its files were changed since you agreed to them. Restore them: parley plugins update ${name}`);
    const plugin = await loadPlugin(tree, entry);
    if ("problem" in plugin) return broken(plugin.problem);
    return { installed, state: isEnabled ? "enabled" : "disabled", plugin: { ...plugin, name }, root };
  } catch (error) {
    return broken(`It could not be read: ${sanitizeForTerminal(String(error), "line")}`);
  }
};

/** The themes of enabled plugins, as `plugin:theme`, as far as the person agreed. */
export const readPluginThemes = async (
  world: Pick<World, "disk" | "files">,
  home: string,
): Promise<readonly PluginTheme[]> =>
  (await readPluginStatus(world, home)).flatMap((each) =>
    each.state === "enabled"
      ? restrictTo(each.plugin, each.installed.agreed).themes.map(({ name, colours }) => ({
          name: `${each.plugin.name}:${name}`,
          colours,
        }))
      : [],
  );

/** The permission rules of enabled plugins. */
export const readPluginRules = async (
  world: Pick<World, "disk" | "files">,
  home: string,
): Promise<readonly PluginPermissionRule[]> => rulesOf(await readPluginStatus(world, home));

const rulesOf = (status: readonly PluginStatus[]): readonly PluginPermissionRule[] =>
  status.flatMap((each) =>
    each.state === "enabled"
      ? each.plugin.rules.map(({ list, rule }) => ({ plugin: each.plugin.name, list, rule }))
      : [],
  );

/** The contributions of enabled plugins to a session, as far as the person agreed. */
export type SessionPlugins = {
  readonly skills: readonly PluginSkillFolder[];
  /** MCP servers by name, without placeholders of plugins, and the environment their other variables come from. */
  readonly servers: { readonly [name: string]: JsonValue };
  readonly serverEnvironment: Environment;
  /** The plugin of each server. */
  readonly serverOwners: { readonly [name: string]: string };
  readonly commands: readonly PluginFile[];
  readonly agents: readonly PluginFile[];
  /** Hooks in our form, bound to the files the person agreed to. */
  readonly hooks: readonly HookSet[];
  readonly context: readonly { readonly label: string; readonly path: string }[];
  /** Permission rules. They only restrict, so they need no agreement. */
  readonly rules: readonly PluginPermissionRule[];
  /** The folders with the files of the plugins. */
  readonly folders: readonly string[];
  /** Messages for the person. */
  readonly notes: readonly string[];
};

/** Loads what the enabled plugins add to a session in a folder. */
export const openSessionPlugins = async (
  world: Pick<World, "disk" | "env" | "files">,
  { home, folder }: { readonly home: string; readonly folder: string },
): Promise<SessionPlugins> => {
  const status = await readPluginStatus(world, home);
  // Names that are qualified by a plugin's name are that plugin's: an extension cannot take them.
  const enabled = status
    .flatMap((each) => (each.state === "enabled" ? [each] : []))
    .toSorted((one, other) => Number(isNamespaced(other.plugin.layout)) - Number(isNamespaced(one.plugin.layout)));
  const loaded = enabled.map(({ installed, plugin, root }) => ({
    plugin: restrictTo(plugin, installed.agreed),
    hash: installed.hash,
    root,
    variables: variablesOf({ root, data: dataFolder(home, plugin.name), folder }),
  }));
  const servers = new Map<string, { readonly plugin: string; readonly server: JsonValue }>();
  const doubles: string[] = [];
  for (const each of loaded)
    for (const [name, server] of Object.entries(pluginServers(each))) {
      const first = servers.get(name);
      if (first === undefined) servers.set(name, { plugin: each.plugin.name, server });
      else doubles.push(describeTakenName(name, each.plugin.name, `the plugin ${first.plugin}`));
    }
  return {
    skills: loaded.flatMap(skillFolders),
    servers: Object.fromEntries([...servers].map(([name, { server }]) => [name, server])),
    serverOwners: Object.fromEntries([...servers].map(([name, { plugin }]) => [name, plugin])),
    serverEnvironment: createChildEnvironment(world.env),
    commands: loaded.flatMap((each) => pluginFiles(each, "commands")),
    agents: loaded.flatMap((each) => pluginFiles(each, "agents")),
    hooks: loaded.flatMap((each) => hookSets(world.disk, each)),
    context: loaded.flatMap(({ plugin, root }) =>
      plugin.context.map(({ path }) => ({ label: labelOf(plugin, path), path: join(root, path) })),
    ),
    rules: rulesOf(status),
    folders: loaded.map(({ root }) => root),
    notes: [
      ...status.flatMap((each) =>
        each.state === "broken" && each.installed.isEnabled
          ? [`The plugin ${each.installed.name} is not used. ${each.problem}`]
          : [],
      ),
      ...doubles,
    ],
  };
};

/** Says that a server of a plugin is not started because another one has its name. */
export const describeTakenName = (server: string, plugin: string, owner: string): string =>
  `The MCP server ${sanitizeForTerminal(server, "line")} of the plugin ${plugin} is not started: ${owner} has a server of that name.`;

type LoadedPlugin = {
  readonly plugin: Plugin;
  readonly hash: string;
  readonly root: string;
  readonly variables: PluginVariables;
};

/** The plugin without the kinds the person did not agree to. */
const restrictTo = (plugin: Plugin, agreed: readonly PluginCapability[]): Plugin => {
  const only = <Value>(kind: PluginCapability, value: readonly Value[]): readonly Value[] =>
    agreed.includes(kind) ? value : [];
  return {
    ...plugin,
    skills: only("skills", plugin.skills),
    servers: agreed.includes("servers") ? plugin.servers : {},
    commands: only("commands", plugin.commands),
    hooks: only("hooks", plugin.hooks),
    agents: only("agents", plugin.agents),
    context: only("context", plugin.context),
    themes: only("themes", plugin.themes),
  };
};

const fillAll = (value: JsonValue, variables: PluginVariables): JsonValue => {
  if (typeof value === "string") return fillVariables(value, variables);
  if (Array.isArray(value)) return value.map((each: JsonValue) => fillAll(each, variables));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, fillAll(each, variables)]));
};

const prefixOf = ({ name, layout }: Plugin): string => (isNamespaced(layout) ? `${name}:` : "");

const labelOf = ({ name }: Plugin, path: string): string => `plugin ${name}: ${path}`;

const skillFolders = ({ plugin, root }: LoadedPlugin): readonly PluginSkillFolder[] =>
  plugin.skills.map(({ path }) => ({
    folder: join(root, path),
    root,
    label: labelOf(plugin, path),
    prefix: prefixOf(plugin),
    isStrict: plugin.layout === "agent-plugin",
  }));

/**
 * Fills the placeholders of hooks. In a line for a shell, a value that the shell would not take as plain text stays a
 * placeholder: the shell reads it from the environment, so that the name of a folder is never run.
 */
const fillHooks = (value: JsonValue, variables: PluginVariables): JsonValue => {
  if (Array.isArray(value)) return value.map((each: JsonValue) => fillHooks(each, variables));
  if (!isObject(value)) return fillAll(value, variables);
  const { command } = value;
  const isLine = typeof command === "string" && value["args"] === undefined;
  const filled = Object.entries(value).map(([name, each]) => [name, fillHooks(each as JsonValue, variables)] as const);
  return {
    ...Object.fromEntries(filled),
    ...(isLine ? { command: fillVariables(command, plainVariables(variables)) } : {}),
  };
};

const plainVariables = (variables: PluginVariables): PluginVariables =>
  Object.fromEntries(
    Object.entries(variables).filter(([, value]) =>
      /^(?:[\p{L}\p{N} ./_@+,~-]*|[A-Za-z]:[\p{L}\p{N} .\\/_@+,~-]*)$/u.test(value),
    ),
  );

/** The hooks of a plugin. Before each run its files are compared with those the person agreed to. */
const hookSets = (disk: Disk, { plugin, hash, root, variables }: LoadedPlugin): readonly HookSet[] =>
  plugin.hooks.map(({ path, form, hooks }) => ({
    source: { type: "plugin", name: plugin.name, root, data: variables["PLUGIN_DATA"] ?? root },
    file: labelOf(plugin, path),
    settings: fillHooks(importHooks(form, hooks).hooks as JsonValue, variables),
    isUnchanged: async () => (await hashTree(await readStoredTree(disk, root))) === hash,
  }));

const pluginFiles = ({ plugin, root, variables }: LoadedPlugin, kind: "commands" | "agents"): readonly PluginFile[] =>
  plugin[kind].map(({ name, path }) => ({
    name,
    plugin: plugin.name,
    isNamespaced: isNamespaced(plugin.layout),
    path: join(root, path),
    label: labelOf(plugin, path),
    variables,
  }));

/** Servers of plugins cannot be trusted in advance; a program gets the folders of its plugin as variables. */
const pluginServers = ({ plugin, variables }: LoadedPlugin): SessionPlugins["servers"] =>
  Object.fromEntries(
    Object.entries(plugin.servers).map(([name, server]) => {
      const { trust: _, sampling: __, ...rest } = fillAll(server, variables) as JsonObject;
      const given = rest["env"];
      const env = {
        ...(isObject(given) ? (given as JsonObject) : {}),
        PLUGIN_ROOT: variables["PLUGIN_ROOT"] ?? "",
        PLUGIN_DATA: variables["PLUGIN_DATA"] ?? "",
        CLAUDE_PLUGIN_ROOT: variables["PLUGIN_ROOT"] ?? "",
        CLAUDE_PLUGIN_DATA: variables["PLUGIN_DATA"] ?? "",
        PYTHONDONTWRITEBYTECODE: "1",
      };
      return [`${prefixOf(plugin)}${name}`, rest["command"] === undefined ? rest : { ...rest, env }];
    }),
  );
