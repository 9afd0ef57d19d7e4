import { join } from "node:path";
import type { Disk, Folder } from "../../world/disk.ts";
import { fillVariables, type PluginFile } from "../../extensions/plugins/variables.ts";
import { readAgentFile, type InvalidAgentFile, type SubagentDefinition } from "./agent-file.ts";

/** Where agent files are searched. */
export type AgentFileLocations = {
  readonly disk: Disk;
  /** Parley's own folder. */
  readonly home: string;
  /** The user's home folder. */
  readonly userHome: string;
  /** The project's folder, if it is trusted. */
  readonly project?: string;
  /** The agent files of plugins. */
  readonly plugins?: readonly PluginFile[];
};

/** The defined agents, and a message for each invalid file. */
export type SubagentDefinitions = { readonly agents: readonly SubagentDefinition[]; readonly notes: readonly string[] };

/** Folders with agent files, in a project and in the user's home. A later one overrides an earlier one. */
const agentFolders = [".qwen", ".claude", ".gemini", ".agents", ".parley"];

const maxFiles = 100;
const maxBytes = 100_000;

/** Reads the agents that the user and the project define in Markdown files. The project's override the user's. */
export const findSubagents = async ({
  disk,
  home,
  userHome,
  project,
  plugins = [],
}: AgentFileLocations): Promise<SubagentDefinitions> => {
  const locations: readonly (readonly [from: string, ...path: readonly string[]])[] = [
    ...agentFolders.slice(0, -1).map((folder) => [userHome, folder, "agents"] as const),
    [home, "agents"],
    ...(project === undefined ? [] : agentFolders.map((folder) => [project, folder, "agents"] as const)),
  ];
  const files = (await Promise.all(locations.map(([from, ...path]) => readMarkdownFiles(disk, from, path)))).flat();
  if (files.length === 0 && plugins.length === 0) return { agents: [], notes: [] };
  const results = await Promise.all(files.map(readAgentFile));
  const ofPlugins = await Promise.all(plugins.map((file) => readPluginAgent(disk, file)));
  const agents = new Map<string, SubagentDefinition>();
  // An agent of a plugin never overrides another.
  for (const each of [...ofPlugins.toReversed(), ...results]) if ("name" in each) agents.set(each.name, each);
  return {
    agents: [...agents.values()],
    notes: [...results, ...ofPlugins].flatMap((each) => ("name" in each ? [] : [each.problem])),
  };
};

const readPluginAgent = async (
  disk: Disk,
  { path, label, plugin, isNamespaced, variables }: PluginFile,
): Promise<SubagentDefinition | InvalidAgentFile> => {
  const head = await disk.readHead(path, { maxBytes }).catch(() => undefined);
  if (head === undefined) return { problem: `${label} does not define an agent: it could not be read.` };
  const text = fillVariables(new TextDecoder().decode(head.bytes as Uint8Array), variables);
  const agent = await readAgentFile({ label, text });
  return "name" in agent && isNamespaced ? { ...agent, name: `${plugin}:${agent.name}` } : agent;
};

/** The Markdown files of a folder, sorted by name. Symbolic links are not followed. */
const readMarkdownFiles = async (
  disk: Disk,
  from: string,
  path: readonly string[],
): Promise<readonly { readonly label: string; readonly text: string }[]> => {
  const open: { close: () => Promise<void> }[] = [];
  try {
    // The folder rarely exists, and this is the cheapest way to know.
    if ((await disk.canonicalPath(join(from, ...path))) === undefined) return [];
    const canonical = await disk.canonicalPath(from);
    if (canonical === undefined) return [];
    let folder: Folder = await disk.openFolder(canonical);
    open.push(folder);
    for (const name of path) {
      folder = await folder.openFolder(name);
      open.push(folder);
    }
    const names: string[] = [];
    for await (const { name, kind } of folder.list())
      if (kind === "file" && name.endsWith(".md") && names.length < maxFiles) names.push(name);
    const texts = names.sort().map(async (name) => {
      const file = await folder.openFile(name);
      open.push(file);
      const { size } = await file.stat();
      const bytes = await file.read(0, Math.min(size, maxBytes));
      return { label: [...path, name].join("/"), text: new TextDecoder().decode(bytes) };
    });
    return await Promise.all(texts);
  } catch {
    // A folder that cannot be read defines no agents.
    return [];
  } finally {
    for (const handle of open.toReversed()) await handle.close();
  }
};
