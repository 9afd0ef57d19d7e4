import { join } from "node:path";
import type { Disk, Folder } from "../../world/disk.ts";
import { readAgentFile, type SubagentDefinition } from "./agent-file.ts";

/** Where agents are looked for. */
export type AgentFileLocations = {
  readonly disk: Disk;
  /** The folder where Parley keeps its own things. */
  readonly home: string;
  /** The person's home folder. */
  readonly userHome: string;
  /** The project's folder, where it is trusted. */
  readonly project?: string;
};

/** The agents that were found, and what is wrong with files that are none. */
export type SubagentDefinitions = { readonly agents: readonly SubagentDefinition[]; readonly notes: readonly string[] };

/** Folders with agents, in a project and in the person's home; ours count most. */
const agentFolders = [".claude", ".gemini", ".parley"];

const maxFiles = 100;
const maxBytes = 100_000;

/** Reads the agents a person and a project describe in Markdown files. The project's count more than the person's. */
export const findSubagents = async ({
  disk,
  home,
  userHome: person,
  project,
}: AgentFileLocations): Promise<SubagentDefinitions> => {
  const places: readonly (readonly [from: string, ...path: readonly string[]])[] = [
    ...agentFolders.slice(0, -1).map((folder) => [person, folder, "agents"] as const),
    [home, "agents"],
    ...(project === undefined ? [] : agentFolders.map((folder) => [project, folder, "agents"] as const)),
  ];
  const files = (await Promise.all(places.map(([from, ...path]) => readMarkdownFiles(disk, from, path)))).flat();
  if (files.length === 0) return { agents: [], notes: [] };
  const read = await Promise.all(files.map(readAgentFile));
  const agents = new Map<string, SubagentDefinition>();
  for (const each of read) if ("name" in each) agents.set(each.name, each);
  return { agents: [...agents.values()], notes: read.flatMap((each) => ("name" in each ? [] : [each.problem])) };
};

/** The Markdown files of a folder, by name. No link is followed on the way. */
const readMarkdownFiles = async (
  disk: Disk,
  from: string,
  path: readonly string[],
): Promise<readonly { readonly label: string; readonly text: string }[]> => {
  const open: { close: () => Promise<void> }[] = [];
  try {
    // Most people have none, and then one look is enough.
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
    // No such folder, or one that is not ours to read: there are no agents in it.
    return [];
  } finally {
    for (const handle of open.toReversed()) await handle.close();
  }
};
