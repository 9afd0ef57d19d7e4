import { isObject, type JsonObject } from "../conversation/json.ts";
import type { World } from "../world/world.ts";
import type { Asking } from "./asking.ts";
import { emptyCatalog, toolsIn, type Catalog } from "./catalog.ts";
import type { ServerConfig } from "./config.ts";

/** Remembers what servers offered, so that a model can be told of it before they are there again. */
export type CatalogCache = {
  readonly read: (config: ServerConfig) => Promise<Catalog | undefined>;
  readonly write: (config: ServerConfig, catalog: Catalog) => Promise<void>;
};

/**
 * Keeps tools in files of the person's own, one for each way a server is started or reached, and for each of what it
 * may ask: some offer other tools to those who answer questions.
 */
export const catalogCache = (
  { files }: Pick<World, "files">,
  home: string,
  { sample, elicit }: Pick<Asking, "sample" | "elicit"> = {},
): CatalogCache => {
  const may = `${sample === undefined ? "" : "-sampling"}${elicit === undefined ? "" : "-elicitation"}`;
  const pathOf = ({ digest }: ServerConfig): string => `${home}/mcp/tools-${digest}${may}.json`;
  return {
    read: async (config) => {
      const items = itemsIn(await files.read(pathOf(config)).catch(() => undefined));
      return items === undefined ? undefined : { ...emptyCatalog, tools: toolsIn(items, config, []) };
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

const itemsIn = (text: string | undefined): readonly JsonObject[] | undefined => {
  try {
    const kept: unknown = JSON.parse(text ?? "");
    const tools = isObject(kept) && kept["version"] === 1 ? kept["tools"] : undefined;
    return Array.isArray(tools) && tools.every(isObject) ? (tools as readonly JsonObject[]) : undefined;
  } catch {
    return undefined;
  }
};
