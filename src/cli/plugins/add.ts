import { isDeepStrictEqual } from "node:util";
import { hashTree } from "../../extensions/plugins/content-hash.ts";
import { describeCapabilities, describePluginRules } from "../../extensions/plugins/describe.ts";
import { fetchSource, locationOf, parseSource, type FetchedPlugin } from "../../extensions/plugins/fetch-source.ts";
import { findInstalledPlugin, installPlugin } from "../../extensions/plugins/install.ts";
import { loadPlugin } from "../../extensions/plugins/load.ts";
import type { Marketplace } from "../../extensions/plugins/marketplace.ts";
import type { Plugin } from "../../extensions/plugins/plugin.ts";
import { readPluginStatus } from "../../extensions/plugins/session.ts";
import {
  contentFolder,
  removeContent,
  removeUnusedContent,
  type InstalledPlugin,
} from "../../extensions/plugins/store.ts";
import { readDiskTree, type PluginTree } from "../../extensions/plugins/tree.ts";
import { alignColumns, sanitizeLine } from "../text-table.ts";
import { UserError, usageError } from "../user-error.ts";
import { agreeToPlugin } from "./agree.ts";
import type { PluginsContext } from "./run.ts";

/** `parley plugins add`: copies plugins from a folder or repository, with the person's agreement. */
export const addPlugins = async (context: PluginsContext): Promise<number> => {
  const [, text, ...names] = context.args.positionals;
  if (text === undefined) throw usageError("plugins add needs a folder or the address of a repository.");
  const { world, home } = context;
  const source = await fetchSource(world, home, await parseSource(world, process.cwd(), text));
  if (source.type === "plugin") {
    if (names.length > 0) throw usageError("Only a marketplace has plugins to name; this is a single plugin.");
    await addPlugin(context, source.plugin);
    return 0;
  }
  const [only, ...others] = source.marketplace.plugins;
  if (names.length === 0 && (only === undefined || others.length > 0)) return listMarketplace(source.marketplace);
  for (const name of names.length === 0 ? [only?.name ?? ""] : names)
    await addPlugin(context, await source.fetch(name));
  return 0;
};

const listMarketplace = ({ name, plugins }: Marketplace): number => {
  const rows = plugins.map((plugin) => [plugin.name, sanitizeLine(plugin.description.slice(0, 70))]);
  for (const line of alignColumns(rows)) process.stdout.write(`${line}\n`);
  process.stderr.write(`${sanitizeLine(name)} is a marketplace. Add the names of the plugins to the command.\n`);
  return 2;
};

const addPlugin = async (context: PluginsContext, fetched: FetchedPlugin): Promise<void> => {
  const { world, home } = context;
  const plugin = await requirePlugin(fetched);
  const same = await findInstalledPlugin(world, home, plugin.name);
  if (same !== undefined)
    throw new UserError(
      `There is a plugin ${same.name} already. Use parley plugins update ${same.name}, or remove it first.`,
      { code: 1 },
    );
  const hash = await hashTree(fetched.tree);
  const agreed = await agreeToPlugin(context, plugin, []);
  await installPlugin(world, home, { plugin, fetched, hash, agreed });
  const effect =
    agreed.length === 0 && plugin.rules.length === 0
      ? "Nothing of it has an effect here."
      : "It is used in new sessions.";
  process.stderr.write(`Added ${plugin.name}. ${effect}\n`);
};

const requirePlugin = async ({ tree, entry }: FetchedPlugin): Promise<Plugin> => {
  const plugin = await loadPlugin(tree, entry);
  if ("problem" in plugin) throw new UserError(sanitizeLine(plugin.problem), { code: 1 });
  return plugin;
};

/** `parley plugins update`: fetches a plugin again, shows what changed, and asks again. */
export const updatePlugin = async (context: PluginsContext, installed: InstalledPlugin): Promise<number> => {
  const { world, home } = context;
  const fetched = await fetchAgain(context, installed);
  const plugin = await requirePlugin(fetched);
  if (plugin.name !== installed.name)
    throw new UserError(`The source now has another plugin: ${plugin.name}. Remove ${installed.name} first.`, {
      code: 1,
    });
  const [status] = (await readPluginStatus(world, home)).filter((each) => each.installed.name === installed.name);
  const hash = await hashTree(fetched.tree);
  // What a marketplace says of a plugin is part of it: it may define hooks and servers.
  const isSame = hash === installed.hash && isDeepStrictEqual(fetched.entry, installed.entry);
  if (isSame && status?.state !== "broken") {
    process.stderr.write(`${installed.name} is up to date.\n`);
    return 0;
  }
  if (isSame) {
    // The files were damaged; the ones agreed to are restored.
    await removeContent(world.disk, home, installed.hash);
    await installPlugin(world, home, { plugin, fetched, hash, agreed: installed.agreed });
    process.stderr.write(`Restored the files of ${installed.name}.\n`);
    return 0;
  }
  const before = status === undefined || status.state === "broken" ? undefined : status.plugin;
  const old = await readDiskTree(world.disk, contentFolder(home, installed.hash)).catch(() => undefined);
  const lines = [...(await describeFileChanges(old, fetched.tree)), ...describeChanges(before, plugin)];
  process.stderr.write(`Changes of ${installed.name}:\n${lines.map((line) => `  ${sanitizeLine(line)}\n`).join("")}`);
  const agreed = await agreeToPlugin(context, plugin, []);
  await installPlugin(world, home, { plugin, fetched, hash, agreed });
  if (hash !== installed.hash) await removeUnusedContent(world, home, installed.hash);
  process.stderr.write(`Updated ${installed.name}. The new files are used in new sessions.\n`);
  return 0;
};

const fetchAgain = async ({ world, home }: PluginsContext, { source }: InstalledPlugin): Promise<FetchedPlugin> => {
  const again = await fetchSource(world, home, locationOf(source));
  if (again.type === "plugin") return again.plugin;
  if (source.plugin === undefined) throw new UserError("The source has become a marketplace.", { code: 1 });
  return again.fetch(source.plugin);
};

/** One line for each file that was added, removed or changed; at most 50. */
const describeFileChanges = async (before: PluginTree | undefined, after: PluginTree): Promise<readonly string[]> => {
  const old = new Map((before?.files ?? []).map((file) => [file.path, file]));
  const lines: string[] = [];
  for (const { path, size, isExecutable } of after.files) {
    const was = old.get(path);
    old.delete(path);
    if (was === undefined) lines.push(`added ${path}`);
    else if (was.size !== size || was.isExecutable !== isExecutable || !(await isEqual(before, after, path)))
      lines.push(`changed ${path}`);
  }
  for (const path of old.keys()) lines.push(`removed ${path}`);
  return lines.length > 50 ? [...lines.slice(0, 50), `and ${lines.length - 50} more files`] : lines;
};

const isEqual = async (before: PluginTree | undefined, after: PluginTree, path: string): Promise<boolean> =>
  before !== undefined && Buffer.from(await before.read(path)).equals(await after.read(path));

/** One line for each thing that the plugin brings now and did not before, or the other way round. */
const describeChanges = (before: Plugin | undefined, after: Plugin): readonly string[] => {
  const linesOf = (plugin: Plugin | undefined): ReadonlySet<string> =>
    new Set(
      plugin === undefined
        ? []
        : [
            ...describeCapabilities(plugin).flatMap(({ kind, lines }) => lines.map((line) => `${kind}: ${line}`)),
            ...describePluginRules(plugin),
          ],
    );
  const [old, now] = [linesOf(before), linesOf(after)];
  return [
    ...[...now].filter((line) => !old.has(line)).map((line) => `+ ${line}`),
    ...[...old].filter((line) => !now.has(line)).map((line) => `- ${line}`),
  ];
};
