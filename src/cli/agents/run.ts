import { openSessionPlugins } from "../../extensions/plugins/session.ts";
import type { SubagentDefinition } from "../../agent/subagents/agent-file.ts";
import { listSubagents, type ListedSubagent } from "../../agent/subagents/find.ts";
import { openTrustStore } from "../../policy/trust/folders.ts";
import { findHomeFolders } from "../../world/home-folders.ts";
import { declarationsForPlatform } from "../../tools/declarations.ts";
import { realWorld } from "../../world/real/world.ts";
import type { CommandHandler } from "../command.ts";
import { printJson } from "../format.ts";
import { alignColumns, sanitizeLine } from "../text-table.ts";
import { usageError } from "../user-error.ts";

/** `parley agents`: lists the subagents that files define, with model, tools, source and problems. */
export const listAgents: CommandHandler = async (args) => {
  const [action = "list"] = args.positionals;
  if (action !== "list") throw usageError(`Unknown action "${action}". Available: list.`);
  const world = realWorld();
  const { config: home, data } = await findHomeFolders(world);
  const project = (await world.disk.canonicalPath(process.cwd())) ?? process.cwd();
  const isOpen = await openTrustStore(world.disk, home).isTrusted(project);
  const plugins = await openSessionPlugins(world, { home: data, folder: project });
  const { listed, notes: problems } = await listSubagents({
    disk: world.disk,
    home,
    userHome: world.host.home,
    plugins: plugins.agents,
    ...(isOpen ? { project } : {}),
  });
  const known = new Set(declarationsForPlatform(world.host.platform).map(({ name }) => name));
  const agents = listed
    .map((each) => describeAgent(each, known))
    .toSorted((one, other) => (one.name < other.name ? -1 : one.name > other.name ? 1 : 0));
  const notes = [
    ...plugins.notes,
    ...problems,
    ...(isOpen ? [] : [`${project} is not trusted, so its agents are not used. parley trust changes that.`]),
  ];
  if (args.has("json")) return printJson({ agents, notes });
  for (const row of alignColumns(agents.map(formatAgent))) process.stdout.write(`${row}\n`);
  if (agents.length === 0)
    process.stderr.write("parley: No agents found. See parley agents --help for their places.\n");
  for (const note of notes) process.stderr.write(`parley: ${sanitizeLine(note)}\n`);
  return 0;
};

/** An agent file as a row. */
type AgentRow = Omit<SubagentDefinition, "prompt" | "notes" | "remote"> & {
  /** The address of a remote agent. */
  readonly url?: string;
  readonly file: string;
  readonly source: string;
  readonly shadowedBy?: string;
  readonly notes: readonly string[];
};

const describeAgent = ({ agent, ...from }: ListedSubagent, known: ReadonlySet<string>): AgentRow => {
  const { prompt: _, remote, notes = [], ...rest } = agent;
  const missing = (agent.tools ?? []).filter((name) => !known.has(name) && !isServerTool(name));
  return {
    ...rest,
    ...(remote === undefined ? {} : { url: remote.url }),
    ...from,
    notes: [...(missing.length === 0 ? [] : [`there is no tool ${missing.join(", ")}`]), ...notes],
  };
};

/** Whether a tool can be one of an MCP server, which is known only once it is connected. */
const isServerTool = (name: string): boolean => name.includes("__") || name.includes("*");

const formatAgent = ({
  name,
  source,
  file,
  model,
  tools,
  url,
  background,
  shadowedBy,
  notes,
}: AgentRow): readonly string[] =>
  [
    name,
    source,
    url === undefined ? (model ?? "same model") : "remote",
    url !== undefined
      ? url
      : tools === undefined
        ? "all tools"
        : `${tools.length} ${tools.length === 1 ? "tool" : "tools"}`,
    background === true ? "background" : "",
    file,
    shadowedBy === undefined ? notes.join("; ") : `not used: ${shadowedBy}`,
  ].map(sanitizeLine);
