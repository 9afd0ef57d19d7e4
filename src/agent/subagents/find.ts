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

/** An agent file, for lists. */
export type ListedSubagent = {
  readonly agent: SubagentDefinition;
  /** The path of its file. */
  readonly file: string;
  /** user, project, or plugin NAME. */
  readonly source: string;
  /** The file that is used instead. */
  readonly shadowedBy?: string;
};

/** Folders with agent files, in a project and in the user's home. A later one overrides an earlier one. */
const agentFolders = [".qwen", ".claude", ".gemini", ".agents", ".parley"];

const maxFiles = 100;
const maxBytes = 100_000;

/** Reads the agents that the user and the project define in Markdown files. The project's override the user's. */
export const findSubagents = async (locations: AgentFileLocations): Promise<SubagentDefinitions> => {
  const { listed, notes } = await listSubagents(locations);
  // The last of a name counts, at the place of the first.
  return { agents: [...new Map(listed.map(({ agent }) => [agent.name, agent])).values()], notes };
};

/** Reads all agent files with the place of each, also those that another overrides. */
export const listSubagents = async ({
  disk,
  home,
  userHome,
  project,
  plugins = [],
}: AgentFileLocations): Promise<{ readonly listed: readonly ListedSubagent[]; readonly notes: readonly string[] }> => {
  const places: readonly AgentPlace[] = [
    ...agentFolders.slice(0, -1).map((folder) => ({ source: "user", from: userHome, path: [folder, "agents"] })),
    { source: "user", from: home, path: ["agents"] },
    ...(project === undefined
      ? []
      : agentFolders.map((folder) => ({ source: "project", from: project, path: [folder, "agents"] }))),
  ];
  const files = (await Promise.all(places.map((place) => readMarkdownFiles(disk, place)))).flat();
  if (files.length === 0 && plugins.length === 0) return { listed: [], notes: [] };
  const results = await Promise.all(
    files.map(async ({ file, source, ...text }) => ({
      file,
      source,
      agent: await readAgentFile({ ...text, isOwn: source === "user" }),
    })),
  );
  const ofPlugins = await Promise.all(
    plugins.map(async (file) => ({
      file: file.path,
      source: `plugin ${file.plugin}`,
      agent: await readPluginAgent(disk, file),
    })),
  );
  // An agent of a plugin never overrides another.
  const found = [...ofPlugins.toReversed(), ...results].flatMap(({ agent, ...from }) =>
    "name" in agent ? [{ ...from, agent }] : [],
  );
  const used = new Map(found.map((each) => [each.agent.name, each]));
  const listed = found.map((each): ListedSubagent => {
    const winner = used.get(each.agent.name);
    return winner === undefined || winner === each ? each : { ...each, shadowedBy: winner.file };
  });
  return {
    listed,
    notes: [...results, ...ofPlugins].flatMap(({ agent }) => ("name" in agent ? [] : [agent.problem])),
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

type AgentPlace = { readonly source: string; readonly from: string; readonly path: readonly string[] };

type AgentText = { readonly label: string; readonly text: string; readonly file: string; readonly source: string };

/** The Markdown files of a folder, sorted by name. Symbolic links are not followed. */
const readMarkdownFiles = async (disk: Disk, { source, from, path }: AgentPlace): Promise<readonly AgentText[]> => {
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
      const label = [...path, name].join("/");
      return { label, text: new TextDecoder().decode(bytes), file: join(from, label), source };
    });
    return await Promise.all(texts);
  } catch {
    // A folder that cannot be read defines no agents.
    return [];
  } finally {
    for (const handle of open.toReversed()) await handle.close();
  }
};
