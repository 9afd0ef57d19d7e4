import { isObject, type JsonObject } from "../../conversation/json.ts";
import { aboutOf, isProblem, listFiles, listSkills, readJsonObject, textOf } from "./manifest.ts";
import { isPluginName, type InvalidPlugin, type Plugin } from "./plugin.ts";
import { readThemeFiles } from "./themes.ts";
import { resolveInside, type PluginTree } from "./tree.ts";

/** The manifest of an Agent Plugin (agent-plugins.org), at the root of its files. */
export const agentPluginManifest = "plugin.json";

/** Whether a manifest is of an Agent Plugin of a version that is read. */
export const isAgentPlugin = (manifest: JsonObject): boolean =>
  /^https:\/\/agent-plugins\.org\/schemas\/1\.\d+\.\d+\/plugin\.schema\.json$/.test(textOf(manifest["$schema"]) ?? "");

const knownFields = new Set([
  "$schema",
  "name",
  "version",
  "description",
  "author",
  "homepage",
  "repository",
  "license",
  "keywords",
  "extensions",
]);

/** Loads an Agent Plugin: skills and MCP servers. Commands, agents and themes are read from `dev.parley/`, our own. */
export const loadAgentPlugin = async (tree: PluginTree, manifest: JsonObject): Promise<Plugin | InvalidPlugin> => {
  const name = textOf(manifest["name"]) ?? "";
  if (!isPluginName(name) || !/^[a-z0-9.-]+$/.test(name))
    return { problem: `"${name.slice(0, 64)}" is not a valid name of an Agent Plugin.` };
  const invalid = ["version", "description", "homepage", "repository", "license"].find(
    (field) => manifest[field] !== undefined && typeof manifest[field] !== "string",
  );
  if (invalid !== undefined) return { problem: `plugin.json: ${invalid} must be a string.` };
  const servers = await readServers(tree);
  const themes = await readThemeFiles(tree, ["dev.parley/themes"], "own");
  return {
    name,
    ...aboutOf(manifest),
    layout: "agent-plugin",
    skills: listSkills(tree, "skills"),
    servers: servers.servers,
    commands: listFiles(tree, "dev.parley/commands", ".md"),
    hooks: [],
    agents: listFiles(tree, "dev.parley/agents", ".md"),
    context: [],
    themes: themes.themes,
    rules: [],
    problems: [
      ...themes.problems,
      ...Object.keys(manifest)
        .filter((field) => !knownFields.has(field))
        .map((field) => `plugin.json: ${field.slice(0, 64)} is unknown and ignored.`),
      ...servers.problems,
    ],
  };
};

type ReadServers = { readonly servers: Plugin["servers"]; readonly problems: readonly string[] };

const readServers = async (tree: PluginTree): Promise<ReadServers> => {
  const file = await readJsonObject(tree, "mcp.json");
  if (file === undefined) return { servers: {}, problems: [] };
  if (isProblem(file)) return { servers: {}, problems: [file.problem] };
  if (!isObject(file["mcpServers"])) return { servers: {}, problems: ["mcp.json: mcpServers is missing."] };
  const read = Object.entries(file["mcpServers"]).map(([name, value]) => ({ name, ...readServer(value) }));
  return {
    servers: Object.fromEntries(read.flatMap(({ name, server }) => (server === undefined ? [] : [[name, server]]))),
    problems: read.flatMap(({ name, problem }) =>
      problem === undefined ? [] : [`mcp.json: the server ${name.slice(0, 64)} is not used: ${problem}`],
    ),
  };
};

type ReadServer = { readonly server?: JsonObject; readonly problem?: string };

const fieldsByType: { readonly [type: string]: readonly string[] } = {
  stdio: ["type", "command", "args", "env", "cwd"],
  "streamable-http": ["type", "url", "headers"],
  sse: ["type", "url", "headers"],
};

/** Checks a server against the closed variants of the specification. */
const readServer = (value: unknown): ReadServer => {
  if (!isObject(value)) return { problem: "it is not an object." };
  const type = textOf(value["type"]) ?? "";
  const fields = Object.hasOwn(fieldsByType, type) ? fieldsByType[type] : undefined;
  if (fields === undefined) return { problem: "type must be stdio, streamable-http or sse." };
  const unknown = Object.keys(value).find((field) => !fields.includes(field));
  if (unknown !== undefined) return { problem: `${unknown.slice(0, 64)} is not a field of a ${type} server.` };
  return type === "stdio" ? readProgram(value) : readAddress(value);
};

/** The command is one word: a program on the search path, or a file of the plugin. It is not expanded. */
const readProgram = (value: Readonly<Record<string, unknown>>): ReadServer => {
  const { command, cwd } = value;
  if (typeof command !== "string" || !/^(\.\/)?[^\s$]+$/.test(command)) return { problem: "command must be one word." };
  const isFile = command.includes("/");
  const inside = isFile ? resolveInside(command) : command;
  if (inside === undefined || (isFile && !command.startsWith("./")))
    return { problem: "command must be a program's name, or a file of the plugin (./...)." };
  if (cwd !== undefined && !isFolderOfPlugin(cwd)) return { problem: "cwd must be a folder of the plugin." };
  return {
    server: {
      ...value,
      command: isFile ? `\${PLUGIN_ROOT}/${inside}` : inside,
      ...(typeof cwd === "string" && cwd.startsWith(".") ? { cwd: `\${PLUGIN_ROOT}/${resolveInside(cwd)}` } : {}),
    } as JsonObject,
  };
};

const isFolderOfPlugin = (cwd: unknown): boolean =>
  typeof cwd === "string" &&
  /^(\.\/|\.$|\$\{PLUGIN_(ROOT|DATA)\}(\/|$))/.test(cwd) &&
  resolveInside(cwd.replace(/^\$\{PLUGIN_(ROOT|DATA)\}/, ".")) !== undefined;

const readAddress = (value: Readonly<Record<string, unknown>>): ReadServer => {
  const url = typeof value["url"] === "string" && URL.canParse(value["url"]) ? new URL(value["url"]) : undefined;
  const isLocal = /^(127\.0\.0\.1|localhost|\[::1\])$/.test(url?.hostname ?? "");
  if (url === undefined || (url.protocol !== "https:" && !(url.protocol === "http:" && isLocal)))
    return { problem: "url must be an https URL, or an http URL of this machine." };
  // Nothing is expanded in URLs and headers.
  if (/\$\{?[A-Za-z_]/.test(JSON.stringify([value["url"], value["headers"] ?? {}])))
    return { problem: "variables are not allowed in url and headers." };
  return { server: { ...value, type: value["type"] === "sse" ? "sse" : "http" } as JsonObject };
};
