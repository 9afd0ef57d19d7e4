import { isObject, type JsonObject } from "../conversation/json.ts";
import type { World } from "../world/world.ts";
import type { McpRequestHandlers } from "./requests/handlers.ts";
import { emptyCatalog, selectTools, type Catalog } from "./catalog.ts";
import type { McpServerConfig } from "./config/read-servers.ts";

/** Remembers what servers offered, so that a model can be told of it before they are there again. */
export type CatalogCache = {
  readonly read: (config: McpServerConfig) => Promise<Catalog | undefined>;
  readonly write: (config: McpServerConfig, catalog: Catalog) => Promise<void>;
};

/**
 * Keeps tools in files of the person's own, one for each way a server is started or reached, and for each of what it
 * may ask: some offer other tools to those who answer questions.
 */
export const createCatalogCache = (
  { files }: Pick<World, "files">,
  home: string,
  { sample, elicit }: Pick<McpRequestHandlers, "sample" | "elicit"> = {},
): CatalogCache => {
  const may = `${sample === undefined ? "" : "-sampling"}${elicit === undefined ? "" : "-elicitation"}`;
  const pathOf = ({ digest }: McpServerConfig): string => `${home}/mcp/tools-${digest}${may}.json`;
  return {
    read: async (config) => {
      const items = parseTools(await files.read(pathOf(config)).catch(() => undefined));
      return items === undefined ? undefined : { ...emptyCatalog, tools: selectTools(items, config, []) };
    },
    write: async (config, { tools }) => {
      const text = JSON.stringify({ version: 1, tools: tools.map(({ raw }) => raw) });
      const path = pathOf(config);
      // What is kept is a convenience: where it cannot be, nothing is lost.
      if ((await files.read(path).catch(() => undefined)) !== text)
        await files.writePrivate(path, text).catch(() => undefined);
    },
  };
};

const parseTools = (text: string | undefined): readonly JsonObject[] | undefined => {
  try {
    const kept: unknown = JSON.parse(text ?? "");
    const tools = isObject(kept) && kept["version"] === 1 ? kept["tools"] : undefined;
    return Array.isArray(tools) && tools.every(isObject) ? (tools as readonly JsonObject[]) : undefined;
  } catch {
    return undefined;
  }
};
