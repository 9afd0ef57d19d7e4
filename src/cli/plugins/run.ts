import { describeCapabilities, describePluginRules } from "../../extensions/plugins/describe.ts";
import { readPluginStatus, type PluginStatus } from "../../extensions/plugins/session.ts";
import { uninstallPlugin } from "../../extensions/plugins/install.ts";
import { writeInstalledPlugin, type InstalledPlugin } from "../../extensions/plugins/store.ts";
import { PluginSourceError } from "../../extensions/plugins/tree.ts";
import { nearestNames } from "../../conversation/nearest-names.ts";
import { openTrustStore } from "../../policy/trust/folders.ts";
import { findHomeFolders } from "../../world/home-folders.ts";
import { realWorld } from "../../world/real/world.ts";
import type { World } from "../../world/world.ts";
import type { Arguments, CommandHandler } from "../command.ts";
import { printJson } from "../format.ts";
import { alignColumns, sanitizeLine } from "../text-table.ts";
import { withTrustedPrograms } from "../trusted-programs.ts";
import { UserError, usageError } from "../user-error.ts";
import { formatReport } from "./report.ts";

/** `parley plugins`: adds and manages plugins. */
export const plugins: CommandHandler = async (args) => {
  const [action = "list"] = args.positionals;
  const run = Object.hasOwn(actions, action) ? actions[action] : undefined;
  if (run === undefined) throw usageError(`Unknown action "${action}". Available: ${Object.keys(actions).join(", ")}.`);
  // git must not be a program of the project.
  const world = withTrustedPrograms(realWorld(), process.cwd());
  try {
    const { config, data } = await findHomeFolders(world);
    return await run({ args, world, config, home: data });
  } catch (error) {
    if (error instanceof PluginSourceError) throw new UserError(sanitizeLine(error.message), { code: 1 });
    throw error;
  }
};

/** The context of an action. */
export type PluginsContext = {
  readonly args: Arguments;
  readonly world: World;
  /** The folder of trust. */
  readonly config: string;
  /** The folder of plugins. */
  readonly home: string;
};

type PluginsAction = (context: PluginsContext) => Promise<number>;

const list: PluginsAction = async ({ args, world, config, home }) => {
  const status = await readPluginStatus(world, home);
  const suggested = await listSuggestions(world, config, status);
  if (args.has("json")) return printJson({ plugins: status.map(summarize), suggested });
  for (const line of alignColumns(status.map(formatRow))) process.stdout.write(`${line}\n`);
  if (status.length === 0) process.stderr.write("parley: No plugins. Add one with parley plugins add.\n");
  for (const { installed, ...rest } of status)
    for (const problem of "plugin" in rest ? rest.plugin.problems : [])
      process.stderr.write(`parley: ${installed.name}: ${sanitizeLine(problem)}\n`);
  if (suggested.length > 0)
    process.stderr.write(
      `parley: This project suggests plugins that are not added: ${suggested.join(", ")}. Nothing is added without parley plugins add.\n`,
    );
  return 0;
};

const listSuggestions = async (
  { disk }: World,
  config: string,
  status: readonly PluginStatus[],
): Promise<readonly string[]> => {
  const project = (await disk.canonicalPath(process.cwd())) ?? process.cwd();
  if (!(await openTrustStore(disk, config).isTrusted(project))) return [];
  const { readSuggestedPlugins } = await import("../../extensions/plugins/suggestions.ts");
  const added = new Set(status.map(({ installed }) => installed.name));
  return (await readSuggestedPlugins(disk, project)).filter((name) => !added.has(name.split("@", 1)[0] ?? ""));
};

const formatRow = (status: PluginStatus): readonly string[] => {
  const { name, agreed } = status.installed;
  if (status.state === "broken") return [name, "", "broken", sanitizeLine(status.problem)];
  const { version = "", description } = status.plugin;
  const brought = describeCapabilities(status.plugin).map(({ kind, lines }) =>
    agreed.includes(kind) ? `${lines.length} ${kind}` : `${kind} not agreed`,
  );
  const { rules } = status.plugin;
  if (rules.length > 0) brought.push(`${rules.length} permission rules`);
  return [name, sanitizeLine(version), status.state, brought.join(", ") || sanitizeLine(description.slice(0, 60))];
};

const summarize = (status: PluginStatus): object => {
  const { name, source, hash, agreed } = status.installed;
  const common = { name, state: status.state, source, hash, agreed };
  if (status.state === "broken") return { ...common, problem: status.problem };
  const { version, description, layout, problems } = status.plugin;
  return {
    ...common,
    ...(version === undefined ? {} : { version }),
    description,
    layout,
    root: status.root,
    brings: Object.fromEntries(describeCapabilities(status.plugin).map(({ kind, lines }) => [kind, lines])),
    rules: describePluginRules(status.plugin),
    problems,
  };
};

const show: PluginsAction = async (context) => {
  const status = await findPlugin(context);
  if (context.args.has("json")) return printJson(summarize(status));
  if (status.state === "broken") throw new UserError(`${status.installed.name}: ${status.problem}`, { code: 1 });
  const { source, agreed } = status.installed;
  const lines = [
    ...formatReport(status.plugin, agreed),
    `From: ${source.type === "folder" ? source.path : `${source.url} at ${source.commit.slice(0, 12)}`}${source.plugin === undefined ? "" : ` (${source.plugin})`}`,
    `Files: ${status.root}`,
    `State: ${status.state}`,
  ];
  process.stdout.write(`${lines.map(sanitizeLine).join("\n")}\n`);
  return 0;
};

const setEnabled =
  (isEnabled: boolean): PluginsAction =>
  async (context) => {
    const status = await findPlugin(context);
    const { installed } = status;
    if (!isEnabled) return save(context, { ...installed, isEnabled }, `Disabled ${installed.name}.`);
    if (status.state === "broken") throw new UserError(`${installed.name}: ${status.problem}`, { code: 1 });
    const { agreeToPlugin } = await import("./agree.ts");
    const agreed = await agreeToPlugin(context, status.plugin, installed.agreed);
    return save(context, { ...installed, agreed, isEnabled }, `Enabled ${installed.name} for new sessions.`);
  };

const save = async ({ world, home }: PluginsContext, plugin: InstalledPlugin, message: string): Promise<number> => {
  await writeInstalledPlugin(world, home, { name: plugin.name, plugin });
  process.stderr.write(`${message}\n`);
  return 0;
};

const remove: PluginsAction = async (context) => {
  const { installed } = await findPlugin(context);
  await uninstallPlugin(context.world, context.home, installed);
  process.stderr.write(`Removed ${installed.name} and its files.\n`);
  return 0;
};

const actions: { readonly [action: string]: PluginsAction } = {
  list,
  add: async (context) => (await import("./add.ts")).addPlugins(context),
  show,
  enable: setEnabled(true),
  disable: setEnabled(false),
  update: async (context) => (await import("./add.ts")).updatePlugin(context, (await findPlugin(context)).installed),
  remove,
};

const findPlugin = async ({ args, world, home }: PluginsContext): Promise<PluginStatus> => {
  const [action = "", name, extra] = args.positionals;
  if (name === undefined || extra !== undefined) throw usageError(`plugins ${action} needs the name of one plugin.`);
  const status = await readPluginStatus(world, home);
  const found = status.find(({ installed }) => installed.name === name);
  if (found !== undefined) return found;
  const near = nearestNames(
    name,
    status.map(({ installed }) => installed.name),
  );
  const help = near.length === 0 ? "See parley plugins list." : `Did you mean ${near.join(" or ")}?`;
  throw new UserError(`There is no plugin "${sanitizeLine(name)}". ${help}`, { code: 1 });
};
