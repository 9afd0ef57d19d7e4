import { isObject, type JsonObject } from "../conversation/json.ts";
import type { World } from "../world/world.ts";
import type { McpRequestHandlers } from "./requests/handlers.ts";
import { emptyCatalog, selectTools, type Catalog } from "./catalog.ts";
import type { McpServerConfig } from "./config/read-servers.ts";

/** Caches the tools of servers, so that models can be offered them before the servers are connected again. */
export type CatalogCache = {
  readonly read: (config: McpServerConfig) => Promise<Catalog | undefined>;
  readonly write: (config: McpServerConfig, catalog: Catalog) => Promise<void>;
};

/**
 * Stores tools in private files, one for each way a server is started or reached, and for each set of supported
 * requests: some servers offer other tools to clients that answer questions.
 */
export const createCatalogCache = (
  { files }: Pick<World, "files">,
  cacheFolder: string,
  { sample, elicit }: Pick<McpRequestHandlers, "sample" | "elicit"> = {},
): CatalogCache => {
  const suffix = `${sample === undefined ? "" : "-sampling"}${elicit === undefined ? "" : "-elicitation"}`;
  const pathOf = ({ digest }: McpServerConfig): string => `${cacheFolder}/mcp/tools-${digest}${suffix}.json`;
  return {
    read: async (config) => {
      const items = parseTools(await files.read(pathOf(config)).catch(() => undefined));
      return items === undefined ? undefined : { ...emptyCatalog, tools: selectTools(items, config, []) };
    },
    write: async (config, { tools }) => {
      const text = JSON.stringify({ version: 1, tools: tools.map(({ raw }) => raw) });
      const path = pathOf(config);
      // The cache is a convenience: a failed write loses nothing.
      if ((await files.read(path).catch(() => undefined)) !== text)
        await files.writePrivate(path, text).catch(() => undefined);
    },
  };
};

const parseTools = (text: string | undefined): readonly JsonObject[] | undefined => {
  try {
    const cached: unknown = JSON.parse(text ?? "");
    const tools = isObject(cached) && cached["version"] === 1 ? cached["tools"] : undefined;
    return Array.isArray(tools) && tools.every(isObject) ? (tools as readonly JsonObject[]) : undefined;
  } catch {
    return undefined;
  }
};
