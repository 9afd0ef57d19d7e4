import { loadAgentEnvironment, type AgentEnvironment } from "../../agent/environment.ts";
import {
  adoptableAgents,
  assetKinds,
  findAssets,
  type AdoptableAgent,
  type AgentAsset,
  type AssetKind,
} from "../../extensions/adopt/assets.ts";
import { backupPath } from "../../extensions/adopt/backup.ts";
import { takeOver, undoAdoption, type Adoption } from "../../extensions/adopt/take-over.ts";
import { openAgentFiles } from "../../extensions/agent-files.ts";
import { describeChange } from "../../extensions/permissions/import.ts";
import { readInstalledPlugins } from "../../extensions/plugins/store.ts";
import type { Arguments, CommandHandler } from "../command.ts";
import { printJson } from "../format.ts";
import { openSessionsContext, withUserErrors } from "../sessions/context.ts";
import { sanitizeLine } from "../text-table.ts";
import { UserError, usageError } from "../user-error.ts";
import { chooseItems, planAdoption, printItems, type AdoptionItem, type AdoptionPlan } from "./choose.ts";
import { adoptSessions, findSessionItems, removeAdoptedSessions } from "./sessions.ts";

/** `parley adopt`: lists what other agents have on this machine, and takes over what the person ticks. */
export const adopt: CommandHandler = async (args) => {
  const agents = chooseAgents(args.positionals[0]);
  const kinds = chooseKinds(args);
  return withUserErrors(async () => {
    const environment = await loadAgentEnvironment({ folder: "." });
    if (args.has("undo")) return undo(args, environment);
    const items = await findItems(agents, environment);
    const plan = await planAdoption(
      await chooseItems(items, kinds, args, () => printAll(items, args, environment)),
      args,
    );
    if (args.has("dry-run") || isEmpty(plan)) return report(items, plan, { problems: [], sessions: 0 }, args);
    const applied = await takeOver(plan.adoption, {
      ...environment,
      home: environment.home.config,
      pluginHome: environment.home.data,
      currentContextFileNames: environment.loaded.settings["context.fileName"],
      currentHooks: environment.loaded.settings.hooks,
    });
    const context = await openSessionsContext();
    const { count, problems } = await adoptSessions(context, plan.sessions, applied.recordSession);
    return report(items, plan, { problems: [...applied.problems, ...problems], sessions: count }, args);
  });
};

const chooseAgents = (name: string | undefined): readonly AdoptableAgent[] => {
  const agent = adoptableAgents.find((each) => each === name);
  if (name === undefined) return adoptableAgents;
  if (agent === undefined) throw usageError(`Unknown agent "${name}". Available: ${adoptableAgents.join(", ")}.`);
  return [agent];
};

/** The kinds to choose without asking; undefined if the person chooses. */
const chooseKinds = (args: Arguments): readonly AssetKind[] | undefined => {
  if (args.has("all")) return assetKinds;
  const names = args
    .value("only")
    ?.split(",")
    .map((name) => name.trim());
  const unknown = names?.find((name) => !assetKinds.some((kind) => kind === name));
  if (unknown !== undefined)
    throw usageError(`Unknown kind "${unknown}" for --only. Available: ${assetKinds.join(", ")}.`);
  return names === undefined ? undefined : assetKinds.filter((kind) => names.includes(kind));
};

const findItems = async (
  agents: readonly AdoptableAgent[],
  { world, home, folder, loaded }: AgentEnvironment,
): Promise<readonly AdoptionItem[]> => {
  const locations = {
    files: openAgentFiles(world.disk),
    env: world.env,
    userHome: world.host.home,
    ...(loaded.policy.trusted ? { project: folder } : {}),
    target: { world, home: home.config, folder },
    hooks: loaded.settings.hooks,
    contextFileNames: loaded.settings["context.fileName"],
    serverNames: Object.keys(loaded.settings.mcpServers),
    pluginNames: (await readInstalledPlugins(world, home.data)).map(({ name }) => name),
  };
  const assets: readonly AgentAsset[] = (await Promise.all(agents.map((agent) => findAssets(agent, locations)))).flat();
  const sessions = await findSessionItems(await openSessionsContext(), agents);
  return agents.flatMap((agent) => [...assets, ...sessions].filter((item) => item.agent === agent));
};

const printAll = (items: readonly AdoptionItem[], args: Arguments, { loaded }: AgentEnvironment): void => {
  if (args.has("json")) return;
  printItems(items);
  if (!loaded.policy.trusted)
    process.stderr.write("parley: This folder is not trusted, so only your home was looked at. See parley trust.\n");
};

const isEmpty = ({ adoption, sessions }: AdoptionPlan): boolean =>
  describeAdoption(adoption).length + sessions.length === 0;

const describeAdoption = ({
  permissions,
  servers,
  contextFileNames,
  hooks,
  copies,
  plugins,
}: Adoption): readonly string[] => [
  ...permissions.map(describeChange),
  ...servers.map(({ name }) => `MCP server ${name}`),
  ...contextFileNames.map((name) => `context file name ${name}`),
  ...Object.entries(hooks).map(([event, groups]) => {
    const count = groups.reduce((sum, group) => sum + group.hooks.length, 0);
    return `${count} ${count === 1 ? "hook" : "hooks"} for ${event}`;
  }),
  ...copies.flatMap(({ kind, names }) => names.map((name) => `${kind.replace(/s$/, "")} ${name}`)),
  ...plugins.map(({ plugin, agreed }) => [`plugin ${plugin.name}`, agreed.join(", ")].filter(Boolean).join(": ")),
];

const report = (
  items: readonly AdoptionItem[],
  { adoption, sessions, leftOut }: AdoptionPlan,
  done: { readonly problems: readonly string[]; readonly sessions: number },
  args: Arguments,
): number => {
  const isDry = args.has("dry-run");
  const count = isDry ? sessions.length : done.sessions;
  const lines = [
    ...describeAdoption(adoption),
    ...(count === 0 ? [] : [`${count} ${count === 1 ? "session" : "sessions"}`]),
  ];
  const variables = [...new Set(adoption.servers.flatMap((server) => server.variables))];
  const problems = [...leftOut, ...done.problems];
  if (args.has("json"))
    return printJson({
      found: items.map(({ agent, kind, path, summary, state }) => ({ agent, kind, path, summary, state })),
      [isDry ? "wouldTakeOver" : "tookOver"]: lines,
      leftOut: problems,
      variables,
    });
  for (const line of lines) process.stdout.write(`${isDry ? "would take over" : "took over"} ${sanitizeLine(line)}\n`);
  for (const problem of problems) process.stderr.write(`parley: Not taken over: ${sanitizeLine(problem)}\n`);
  if (variables.length > 0)
    process.stderr.write(
      `parley: Values of variables were not copied. Set these in your environment: ${sanitizeLine(variables.join(", "))}.\n`,
    );
  if (lines.length > 0 && !isDry) process.stderr.write("parley: Reverse this with parley adopt --undo.\n");
  return 0;
};

const undo = async (args: Arguments, environment: AgentEnvironment): Promise<number> => {
  const outcome = await undoAdoption({
    ...environment,
    home: environment.home.config,
    pluginHome: environment.home.data,
  });
  if (outcome.type === "nothing") throw new UserError("There is no adoption to reverse.", { code: 1 });
  if (outcome.type === "changed")
    throw new UserError(
      `Settings or rules changed since the adoption, so nothing was reversed. The settings before it are in ${backupPath(environment.home.config, outcome.number)}.`,
      { code: 1 },
    );
  const continued = await removeAdoptedSessions(await openSessionsContext(), outcome.sessions);
  const kept = [
    ...outcome.kept.map(({ kind, name }) => `${kind}/${name} was changed since`),
    ...outcome.keptPlugins.map(({ name }) => `the plugin ${name} was updated since`),
    ...continued.map((id) => `session ${id} was continued since`),
  ];
  if (args.has("json")) return printJson({ undone: true, kept });
  process.stdout.write("Reversed the last adoption.\n");
  for (const text of kept) process.stderr.write(`parley: Kept: ${sanitizeLine(text)}.\n`);
  return 0;
};
