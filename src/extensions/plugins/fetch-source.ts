import { join } from "node:path";
import type { JsonObject } from "../../conversation/json.ts";
import type { World } from "../../world/world.ts";
import { fetchCommit } from "./git-fetch.ts";
import { isGitHubName, isRef, parseRepository, type RepositoryLocation } from "./git-url.ts";
import { readMarketplace, type Marketplace, type MarketplacePlugin } from "./marketplace.ts";
import { withTemporaryFolder, type PluginSource } from "./store.ts";
import { PluginSourceError, readDiskTree, subtree, withoutBytecode, type PluginTree } from "./tree.ts";

/** The files of one plugin, and where they are from. */
export type FetchedPlugin = { readonly tree: PluginTree; readonly source: PluginSource; readonly entry?: JsonObject };

/** A source: files of one plugin, or a marketplace of several. */
export type FetchedSource =
  | { readonly type: "plugin"; readonly plugin: FetchedPlugin }
  | {
      readonly type: "marketplace";
      readonly marketplace: Marketplace;
      /** Fetches one of its plugins. Throws a `PluginSourceError` if it is not there. */
      readonly fetch: (name: string) => Promise<FetchedPlugin>;
    };

type FetchWorld = Pick<World, "clock" | "disk" | "env" | "processes" | "random">;

/** Reads a source: a folder of this machine, or a repository. Throws a `PluginSourceError` with a message for the person. */
export const fetchSource = async (
  world: FetchWorld,
  home: string,
  given: { readonly path: string } | RepositoryLocation,
): Promise<FetchedSource> => {
  const { tree, source } = await fetchTree(world, home, given);
  const marketplace = await readMarketplace(tree);
  if (marketplace === undefined) return { type: "plugin", plugin: { tree, source } };
  return {
    type: "marketplace",
    marketplace,
    fetch: async (name) => {
      const found = marketplace.plugins.find((plugin) => plugin.name === name);
      if (found === undefined) throw new PluginSourceError(`The marketplace has no plugin ${name}.`);
      const plugin = await fetchListed(world, home, tree, found);
      return { tree: plugin, source: { ...source, plugin: name }, entry: describeEntry(found) };
    },
  };
};

/**
 * Turns the argument of a command into a location: an existing folder, or else the address of a repository. `owner/name`
 * that is both is refused: a project could have a folder with the name of a known repository.
 */
export const parseSource = async (
  { disk }: Pick<World, "disk">,
  cwd: string,
  text: string,
): Promise<{ readonly path: string } | RepositoryLocation> => {
  const path =
    text === "" || text.startsWith("-")
      ? undefined
      : await disk.canonicalPath(join(text.startsWith("/") ? "/" : cwd, text));
  if (path !== undefined && isGitHubName(text))
    throw new PluginSourceError(
      `${text} is a folder here and a name on GitHub. Write ./${text} or https://github.com/${text}.`,
    );
  return path === undefined ? parseRepository(text) : { path };
};

/** The location that a plugin was fetched from. */
export const locationOf = (source: PluginSource): { readonly path: string } | RepositoryLocation =>
  source.type === "folder"
    ? { path: source.path }
    : { url: source.url, ...(source.ref === undefined ? {} : { ref: source.ref }) };

const fetchTree = async (
  world: FetchWorld,
  home: string,
  given: { readonly path: string } | RepositoryLocation,
): Promise<{ readonly tree: PluginTree; readonly source: PluginSource }> => {
  if ("path" in given) {
    const tree = await readDiskTree(world.disk, given.path).catch((error: unknown) => {
      throw error instanceof PluginSourceError ? error : new PluginSourceError(`${given.path} could not be read.`);
    });
    return { tree: withoutBytecode(tree), source: { type: "folder", path: given.path } };
  }
  return withTemporaryFolder(world, home, async (name, parent) => {
    const { tree, commit } = await fetchCommit(world, given, join(parent.path, name));
    return { tree: withoutBytecode(tree), source: { type: "git", ...given, commit } };
  });
};

const fetchListed = async (
  world: FetchWorld,
  home: string,
  tree: PluginTree,
  { name, source }: MarketplacePlugin,
): Promise<PluginTree> => {
  switch (source.type) {
    case "folder":
      return requireFiles(subtree(tree, source.path), { name, path: source.path });
    case "git": {
      if (source.ref !== undefined && !isRef(source.ref))
        throw new PluginSourceError(`The marketplace names an invalid branch, tag or commit for ${name}.`);
      const location = { ...parseRepository(source.url), ...(source.ref === undefined ? {} : { ref: source.ref }) };
      return requireFiles(subtree((await fetchTree(world, home, location)).tree, source.path), {
        name,
        path: source.path,
      });
    }
    case "unsupported":
      throw new PluginSourceError(`The plugin ${name} of the marketplace cannot be added: ${source.reason}.`);
  }
};

const requireFiles = (
  tree: PluginTree,
  { name, path }: { readonly name: string; readonly path: string },
): PluginTree => {
  if (tree.files.length > 0) return tree;
  throw new PluginSourceError(`The marketplace has ${name} in ${path}, where there are no files.`);
};

/** The fields of an entry that describe a plugin, without those about the marketplace. */
export const describeEntry = ({ entry }: MarketplacePlugin): JsonObject =>
  Object.fromEntries(Object.entries(entry).filter(([field]) => entryFields.has(field)));

const entryFields = new Set([
  "name",
  "version",
  "description",
  "strict",
  "skills",
  "commands",
  "agents",
  "hooks",
  "mcpServers",
  "themes",
  "lspServers",
  "outputStyles",
  "monitors",
]);
