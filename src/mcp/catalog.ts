import { isObject, toPlainJson, type JsonObject } from "../conversation/json.ts";
import { hasSchemaCycle } from "../conversation/schema-cycle.ts";
import { sanitizeForTerminal, type SanitizeMode } from "../policy/terminal/sanitize.ts";
import type { McpRequestOptions, McpConnection } from "./connection/connect.ts";
import { digestOf, type McpServerConfig } from "./config/read-servers.ts";
import { findSchemaProblem } from "./tools/check-schema.ts";

/** Everything a server offers, limited and sanitized. */
export type Catalog = {
  readonly tools: readonly OfferedTool[];
  readonly resources: readonly OfferedResource[];
  readonly templates: readonly OfferedResource[];
  readonly prompts: readonly OfferedPrompt[];
  /** Tools and lists that were left out, with the reason, in sentences for the user. */
  readonly omitted: readonly string[];
};

/** A tool as its server describes it. */
export type OfferedTool = {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly parameters: JsonObject;
  /** As received. */
  readonly raw: JsonObject;
  /** A digest of the server's whole description of it. */
  readonly digest: string;
};

export type OfferedResource = {
  readonly uri: string;
  readonly name: string;
  readonly description: string;
  readonly mimeType: string;
};

export type OfferedPrompt = {
  readonly name: string;
  readonly description: string;
  readonly arguments: readonly { readonly name: string; readonly description: string; readonly required: boolean }[];
};

export const emptyCatalog: Catalog = { tools: [], resources: [], templates: [], prompts: [], omitted: [] };

const maxPages = 100;
const maxItems = { tools: 2000, resources: 2000, templates: 500, prompts: 500 };
const maxDescription = 8000;

/** Lists everything a server offers. A list that fails is empty, and reported in `omitted`. */
export const readCatalog = async (
  connection: McpConnection,
  config: McpServerConfig,
  options: McpRequestOptions,
): Promise<Catalog> => {
  const omitted: string[] = [];
  const tools = connection.supports("tools") ? await listTools(connection, config, options, omitted) : [];
  const optional = async (method: string, key: "resources" | "templates" | "prompts"): Promise<readonly JsonObject[]> =>
    readList(
      connection,
      { method, key: key === "templates" ? "resourceTemplates" : key, most: maxItems[key] },
      options,
      omitted,
    ).catch((error: unknown) => {
      options.signal.throwIfAborted();
      // Many servers have no templates and answer with an error.
      if (key !== "templates") omitted.push(`Its ${key} could not be listed: ${errorMessage(error)}`);
      return [];
    });
  const hasResources = connection.supports("resources");
  return {
    tools,
    resources: hasResources ? (await optional("resources/list", "resources")).map(toOfferedResource) : [],
    templates: hasResources ? (await optional("resources/templates/list", "templates")).map(toOfferedResource) : [],
    prompts: connection.supports("prompts") ? (await optional("prompts/list", "prompts")).map(toOfferedPrompt) : [],
    omitted,
  };
};

const errorMessage = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const listTools = async (
  connection: McpConnection,
  config: McpServerConfig,
  options: McpRequestOptions,
  omitted: string[],
): Promise<readonly OfferedTool[]> => {
  const list = { method: "tools/list", key: "tools", most: maxItems.tools };
  return selectTools(await readList(connection, list, options, omitted), config, omitted);
};

/** Selects the tools that can be offered: those the configuration includes, with a schema models can use. */
export const selectTools = (
  items: readonly JsonObject[],
  { includeTools, excludeTools }: Pick<McpServerConfig, "includeTools" | "excludeTools">,
  omitted: string[],
): readonly OfferedTool[] => {
  const found = new Map<string, OfferedTool>();
  for (const item of items) {
    const tool = toOfferedTool(item);
    if (excludeTools.includes(tool.name) || includeTools?.includes(tool.name) === false) continue;
    const problem = found.has(tool.name) ? "the name is a duplicate" : describeProblem(item);
    if (problem === undefined) found.set(tool.name, tool);
    if (problem === undefined && hasSchemaCycle(tool.parameters))
      omitted.push(
        `The parameters of ${quoteShort(tool.name)} refer to themselves: an API that rejects recursive schemas gets the session without this tool.`,
      );
    if (problem === undefined) continue;
    omitted.push(`The tool ${quoteShort(tool.name)} is not offered: ${sanitizeIfNeeded(problem, "line")}.`);
  }
  return [...found.values()];
};

const describeProblem = (item: JsonObject): string | undefined =>
  textField(item, "name") === "" ? "it has no name" : findSchemaProblem(item["inputSchema"]);

const quoteShort = (text: string): string => JSON.stringify(sanitizeIfNeeded(text, "line").slice(0, 100));

type PagedList = { readonly method: string; readonly key: string; readonly most: number };

/** Reads all pages of a list, within limits. */
const readList = async (
  connection: McpConnection,
  { method, key, most }: PagedList,
  options: McpRequestOptions,
  omitted: string[],
): Promise<readonly JsonObject[]> => {
  const items: JsonObject[] = [];
  const seen = new Set<unknown>();
  let cursor: unknown;
  for (let page = 0; page < maxPages; page += 1) {
    const answer = await connection.request(method, cursor === undefined ? {} : { cursor }, options);
    const { [key]: list, nextCursor } = isObject(answer) ? answer : {};
    for (const item of Array.isArray(list) ? list : []) {
      if (items.length >= most) {
        omitted.push(`It lists more than ${most} ${key}; the rest is left out.`);
        return items;
      }
      if (isObject(item)) items.push(toPlainJson(item).value as JsonObject);
    }
    if (typeof nextCursor !== "string" || nextCursor === "") return items;
    cursor = nextCursor;
    if (seen.has(cursor)) {
      omitted.push(`Its list of ${key} repeats itself; it was read once.`);
      return items;
    }
    seen.add(cursor);
  }
  omitted.push(`Its list of ${key} has more than ${maxPages} pages; the rest is left out.`);
  return items;
};

/** Most texts are printable ASCII, and sanitizing a thousand of them takes time. */
const sanitizeIfNeeded = (text: string, mode: SanitizeMode): string =>
  /^[ -~]*$/.test(text) ? text : sanitizeForTerminal(text, mode);

const textField = (item: JsonObject, key: string): string => {
  const value = item[key];
  return typeof value === "string" ? value : "";
};

const readDescription = (item: JsonObject): string => {
  const text = sanitizeIfNeeded(textField(item, "description"), "visible");
  return text.length > maxDescription
    ? `${text.slice(0, maxDescription)} [The rest of ${text.length} characters was cut.]`
    : text;
};

const toOfferedTool = (item: JsonObject): OfferedTool => {
  const schema = item["inputSchema"];
  return {
    name: textField(item, "name"),
    title: sanitizeIfNeeded(textField(item, "title"), "line").slice(0, 200),
    description: readDescription(item),
    parameters: isObject(schema) ? (schema as JsonObject) : {},
    raw: item,
    digest: digestOf([item["name"], item["title"], item["description"], schema]),
  };
};

const toOfferedResource = (item: JsonObject): OfferedResource => ({
  uri: textField(item, "uri") || textField(item, "uriTemplate"),
  name: sanitizeIfNeeded(textField(item, "title") || textField(item, "name"), "line").slice(0, 200),
  description: readDescription(item).slice(0, 500),
  mimeType: sanitizeIfNeeded(textField(item, "mimeType"), "line").slice(0, 100),
});

const toOfferedPrompt = (item: JsonObject): OfferedPrompt => {
  const given = item["arguments"];
  return {
    name: textField(item, "name"),
    description: readDescription(item).slice(0, 500),
    arguments: (Array.isArray(given) ? given : []).filter(isObject).map((argument) => ({
      name: textField(argument as JsonObject, "name"),
      description: readDescription(argument as JsonObject).slice(0, 500),
      required: argument["required"] === true,
    })),
  };
};
