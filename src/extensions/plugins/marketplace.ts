import { isObject, type JsonObject } from "../../conversation/json.ts";
import { isProblem, readJsonObject, textOf } from "./manifest.ts";
import { isPluginName } from "./plugin.ts";
import { PluginSourceError, resolveInside, type PluginTree } from "./tree.ts";

/** The plugins that a marketplace lists. */
export type Marketplace = { readonly name: string; readonly plugins: readonly MarketplacePlugin[] };

/** A plugin of a marketplace, and where its files are. */
export type MarketplacePlugin = {
  readonly name: string;
  readonly description: string;
  readonly entry: JsonObject;
  readonly source:
    | { readonly type: "folder"; readonly path: string }
    | { readonly type: "git"; readonly url: string; readonly ref?: string; readonly path: string }
    | { readonly type: "unsupported"; readonly reason: string };
};

const marketplaceFiles = [".claude-plugin/marketplace.json", ".agents/plugins/marketplace.json"];

/** Reads the marketplace at the root of a tree; undefined if there is none. Throws a `PluginSourceError` if it is invalid. */
export const readMarketplace = async (tree: PluginTree): Promise<Marketplace | undefined> => {
  for (const path of marketplaceFiles) {
    const file = await readJsonObject(tree, path);
    if (file === undefined) continue;
    if (isProblem(file)) throw new PluginSourceError(file.problem);
    const root = isObject(file["metadata"]) ? resolveInside(file["metadata"]["pluginRoot"] ?? ".") : "";
    const plugins = Array.isArray(file["plugins"]) ? file["plugins"] : [];
    return {
      name: textOf(file["name"]) ?? "marketplace",
      plugins: plugins.flatMap((entry) => (isObject(entry) ? readEntry(entry as JsonObject, root ?? "") : [])),
    };
  }
  return undefined;
};

const readEntry = (entry: JsonObject, root: string): readonly MarketplacePlugin[] => {
  const name = textOf(entry["name"]) ?? "";
  if (!isPluginName(name)) return [];
  return [{ name, description: textOf(entry["description"]) ?? "", entry, source: readSource(entry["source"], root) }];
};

const readSource = (given: unknown, root: string): MarketplacePlugin["source"] => {
  if (typeof given === "string") {
    const path = resolveInside(given.startsWith(".") ? given : `${root}/${given}`.replace(/^\//, ""));
    return path === undefined ? unsupported("its path leads out of the marketplace") : { type: "folder", path };
  }
  if (!isObject(given)) return unsupported("it names no source");
  const path = resolveInside(given["path"] ?? ".");
  const ref = textOf(given["sha"]) ?? textOf(given["ref"]);
  const more = { path: path ?? "", ...(ref === undefined ? {} : { ref }) };
  if (path === undefined) return unsupported("its path leads out of the repository");
  switch (given["source"]) {
    // Codex writes a folder of the marketplace so.
    case "local":
      return { type: "folder", path };
    case "github":
      return { type: "git", url: `https://github.com/${textOf(given["repo"]) ?? ""}.git`, ...more };
    case "url":
    case "git-subdir":
    case "git":
      if (given["url"] === "./") return { type: "folder", path };
      return { type: "git", url: textOf(given["url"]) ?? "", ...more };
    default:
      return unsupported(`its source "${String(given["source"]).slice(0, 30)}" is not supported`);
  }
};

const unsupported = (reason: string): MarketplacePlugin["source"] => ({ type: "unsupported", reason });
