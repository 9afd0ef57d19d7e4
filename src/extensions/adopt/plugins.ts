import { join } from "node:path";
import { isObject, type JsonObject } from "../../conversation/json.ts";
import { findAgentHome } from "../permissions/find.ts";
import { hashTree } from "../plugins/content-hash.ts";
import { describeCapabilities } from "../plugins/describe.ts";
import { describeEntry, type FetchedPlugin } from "../plugins/fetch-source.ts";
import { geminiManifest } from "../plugins/gemini.ts";
import type { AgreedPlugin } from "../plugins/install.ts";
import { loadPlugin } from "../plugins/load.ts";
import { readMarketplace } from "../plugins/marketplace.ts";
import { readDiskTree, withoutBytecode, type PluginTree } from "../plugins/tree.ts";
import type { AdoptableAgent, AgentAsset, AssetLocations } from "./assets.ts";

/** A plugin of another agent with the hash of its files, before the person agreed to anything of it. */
export type FoundPlugin = Omit<AgreedPlugin, "agreed">;

/** Finds installed plugins of Claude Code and extensions of Gemini CLI. Nothing of them is run. */
export const findPluginAssets = async (
  agent: AdoptableAgent,
  locations: AssetLocations,
): Promise<readonly AgentAsset[]> => {
  const places =
    agent === "claude"
      ? await listClaudePlugins(locations)
      : agent === "gemini"
        ? await listGeminiExtensions(locations)
        : [];
  return Promise.all(places.map((place) => toAsset(agent, place, locations)));
};

/** A folder that should have a plugin. */
type PluginPlace = {
  readonly name: string;
  readonly path: string;
  /** A marketplace's description of it. */
  readonly entry?: JsonObject;
  readonly isDisabled?: true;
  /** Why it cannot be taken over. */
  readonly problem?: string;
};

const toAsset = async (
  agent: AdoptableAgent,
  { name, path, entry, isDisabled, problem }: PluginPlace,
  { target: { world }, pluginNames, ...locations }: AssetLocations,
): Promise<AgentAsset> => {
  const about = { agent, kind: "plugins", path, summary: name } as const;
  const listed = (note: string): AgentAsset => ({ ...about, state: "listed", note });
  if (problem !== undefined) return listed(problem);
  const within = homeOf(agent, locations).within;
  // Lists nothing if a link leads out of the home folder.
  if ((await locations.files.list(path, within)).length === 0) return listed("its files are missing or elsewhere");
  try {
    const root = (await world.disk.canonicalPath(path)) ?? path;
    const tree = withoutBytecode(await readDiskTree(world.disk, root));
    const fetched: FetchedPlugin = {
      tree,
      source: { type: "folder", path: root },
      ...(entry === undefined ? {} : { entry }),
    };
    const plugin = await loadPlugin(tree, entry);
    if ("problem" in plugin) return listed(plugin.problem);
    if (pluginNames.some((each) => each.toLowerCase() === plugin.name.toLowerCase()))
      return { ...about, state: "read", note: "a plugin of this name is added" };
    const kinds = describeCapabilities(plugin).map(({ kind, lines }) => `${lines.length} ${kind}`);
    const summary = `${plugin.name}${isDisabled === true ? " (disabled there)" : ""}: ${kinds.join(", ") || "nothing that has an effect here"}`;
    const found = { plugin, fetched, hash: await hashTree(tree) };
    return { ...about, summary, state: "new", change: { type: "plugin", found } };
  } catch (error) {
    return listed(error instanceof Error ? error.message : String(error));
  }
};

const homeOf = (
  agent: AdoptableAgent,
  locations: Pick<AssetLocations, "env" | "userHome">,
): { readonly home: string; readonly within: string } => {
  const home = findAgentHome(agent, locations);
  return { home, within: home.startsWith(`${locations.userHome}/`) ? locations.userHome : home };
};

const listGeminiExtensions = async (locations: AssetLocations): Promise<readonly PluginPlace[]> => {
  const { files } = locations;
  const { home, within } = homeOf("gemini", locations);
  const folder = join(home, "extensions");
  const entries = (await files.list(folder, within)).filter(({ kind }) => kind === "folder");
  return Promise.all(
    entries.map(async ({ name }): Promise<PluginPlace> => {
      const path = join(folder, name);
      if (await files.exists(join(path, geminiManifest))) return { name, path };
      const install = await readJson(locations, join(path, ".gemini-extension-install.json"), within);
      const source = isObject(install) && typeof install["source"] === "string" ? install["source"] : undefined;
      return {
        name,
        path,
        problem:
          source === undefined ? `it has no ${geminiManifest}` : `linked; add it with parley plugins add ${source}`,
      };
    }),
  );
};

/** Reads the list of installed plugins: one entry for each plugin in version 1, and a list by scope in version 2. */
const listClaudePlugins = async (locations: AssetLocations): Promise<readonly PluginPlace[]> => {
  const { home, within } = homeOf("claude", locations);
  const file = await readJson(locations, join(home, "plugins", "installed_plugins.json"), within);
  const settings = await readJson(locations, join(home, "settings.json"), within);
  const enabled = isObject(settings) && isObject(settings["enabledPlugins"]) ? settings["enabledPlugins"] : {};
  const plugins = isObject(file) && isObject(file["plugins"]) ? file["plugins"] : {};
  return Promise.all(
    Object.entries(plugins).map(async ([id, installs]): Promise<PluginPlace> => {
      const [name = "", market = ""] = id.split("@");
      const all = [installs].flat().filter(isObject);
      const install =
        all.find(({ scope }) => scope === undefined || scope === "user") ??
        all.find(({ projectPath }) => projectPath !== undefined && projectPath === locations.project);
      const path = install?.["installPath"];
      if (typeof path !== "string")
        return { name, path: join(home, "plugins"), problem: "installed for another folder" };
      const entry = await findMarketplaceEntry(locations, { name, market });
      return {
        name,
        path,
        ...(entry === undefined ? {} : { entry }),
        ...(enabled[id] === false ? { isDisabled: true } : {}),
      };
    }),
  );
};

/** The description of a plugin in the copy of its marketplace, which stands in for a missing manifest. */
const findMarketplaceEntry = async (
  locations: AssetLocations,
  { name, market }: { readonly name: string; readonly market: string },
): Promise<JsonObject | undefined> => {
  if (!/^[\w-][\w.-]*$/.test(market)) return undefined;
  const { home, within } = homeOf("claude", locations);
  const folder = join(home, "plugins", "marketplaces", market);
  const { disk } = locations.target.world;
  if ((await locations.files.list(join(folder, ".claude-plugin"), within)).length === 0) return undefined;
  const root = join((await disk.canonicalPath(folder)) ?? folder, ".claude-plugin");
  const tree = await readDiskTree(disk, root).catch(() => undefined);
  if (tree === undefined) return undefined;
  const marketplace = await readMarketplace(placeBelow(tree, ".claude-plugin")).catch(() => undefined);
  const found = marketplace?.plugins.find((plugin) => plugin.name === name);
  return found === undefined ? undefined : describeEntry(found);
};

/** The tree as part of a larger one, below a folder. */
const placeBelow = (tree: PluginTree, folder: string): PluginTree => ({
  ...tree,
  files: tree.files.map((file) => ({ ...file, path: `${folder}/${file.path}` })),
  read: (path) => tree.read(path.slice(folder.length + 1)),
});

const readJson = async ({ files }: AssetLocations, path: string, within: string): Promise<unknown> => {
  const read = await files.read(path, within);
  if (read === undefined || "refused" in read) return undefined;
  try {
    return JSON.parse(read.text) as unknown;
  } catch {
    return undefined;
  }
};
