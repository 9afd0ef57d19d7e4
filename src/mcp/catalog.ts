import { isObject, toPlain, type JsonObject } from "../conversation/json.ts";
import { hasSchemaCycle } from "../conversation/schema-cycle.ts";
import { plain, type PlainMode } from "../policy/plain.ts";
import type { Asked, Connection } from "./connection.ts";
import { digestOf, type ServerConfig } from "./config.ts";
import { schemaProblem } from "./schema-gate.ts";

/** All a server offers, bounded and read with care. */
export type Catalog = {
  readonly tools: readonly OfferedTool[];
  readonly resources: readonly OfferedResource[];
  readonly templates: readonly OfferedResource[];
  readonly prompts: readonly OfferedPrompt[];
  /** What was left out, and why, in sentences for the person. */
  readonly left: readonly string[];
};

/** A tool as its server describes it. */
export type OfferedTool = {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly parameters: JsonObject;
  /** As it came. */
  readonly raw: JsonObject;
  /** Of all the server says of it. */
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

export const emptyCatalog: Catalog = { tools: [], resources: [], templates: [], prompts: [], left: [] };

const mostPages = 100;
const mostItems = { tools: 2000, resources: 2000, templates: 500, prompts: 500 };
const mostDescription = 8000;

/** Asks a server for all it offers. A list it does not give is empty, and that is told. */
export const readCatalog = async (connection: Connection, config: ServerConfig, asked: Asked): Promise<Catalog> => {
  const left: string[] = [];
  const tools = connection.has("tools") ? await readTools(connection, config, asked, left) : [];
  const optional = async (method: string, key: "resources" | "templates" | "prompts"): Promise<readonly JsonObject[]> =>
    readList(
      connection,
      { method, key: key === "templates" ? "resourceTemplates" : key, most: mostItems[key] },
      asked,
      left,
    ).catch((error: unknown) => {
      asked.signal.throwIfAborted();
      // Many servers have no templates and say so with an error.
      if (key !== "templates") left.push(`Its ${key} could not be listed: ${wordsOf(error)}`);
      return [];
    });
  const hasResources = connection.has("resources");
  return {
    tools,
    resources: hasResources ? (await optional("resources/list", "resources")).map(resourceOf) : [],
    templates: hasResources ? (await optional("resources/templates/list", "templates")).map(resourceOf) : [],
    prompts: connection.has("prompts") ? (await optional("prompts/list", "prompts")).map(promptOf) : [],
    left,
  };
};

const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const readTools = async (
  connection: Connection,
  config: ServerConfig,
  asked: Asked,
  left: string[],
): Promise<readonly OfferedTool[]> => {
  const list = { method: "tools/list", key: "tools", most: mostItems.tools };
  return toolsIn(await readList(connection, list, asked, left), config, left);
};

/** The tools a server lists that can be offered: those the person wants, with parameters models can be told of. */
export const toolsIn = (
  items: readonly JsonObject[],
  { includeTools, excludeTools }: Pick<ServerConfig, "includeTools" | "excludeTools">,
  left: string[],
): readonly OfferedTool[] => {
  const found = new Map<string, OfferedTool>();
  for (const item of items) {
    const tool = toolOf(item);
    if (excludeTools.includes(tool.name) || includeTools?.includes(tool.name) === false) continue;
    const problem = found.has(tool.name) ? "it was named before" : problemOf(item);
    if (problem === undefined) found.set(tool.name, tool);
    if (problem === undefined && hasSchemaCycle(tool.parameters))
      left.push(
        `The parameters of ${shortLine(tool.name)} refer to themselves: where an API refuses that, the session goes on without this tool.`,
      );
    if (problem === undefined) continue;
    left.push(`The tool ${shortLine(tool.name)} is not offered: ${plainly(problem, "line")}.`);
  }
  return [...found.values()];
};

const problemOf = (item: JsonObject): string | undefined =>
  textIn(item, "name") === "" ? "it has no name" : schemaProblem(item["inputSchema"]);

const shortLine = (text: string): string => JSON.stringify(plainly(text, "line").slice(0, 100));

type List = { readonly method: string; readonly key: string; readonly most: number };

/** All pages of a list, as far as anybody should read. */
const readList = async (
  connection: Connection,
  { method, key, most }: List,
  asked: Asked,
  left: string[],
): Promise<readonly JsonObject[]> => {
  const items: JsonObject[] = [];
  const seen = new Set<unknown>();
  let cursor: unknown;
  for (let page = 0; page < mostPages; page += 1) {
    const answer = await connection.ask(method, cursor === undefined ? {} : { cursor }, asked);
    const { [key]: list, nextCursor } = isObject(answer) ? answer : {};
    for (const item of Array.isArray(list) ? list : []) {
      if (items.length >= most) {
        left.push(`It lists more than ${most} ${key}; the rest is left out.`);
        return items;
      }
      if (isObject(item)) items.push(toPlain(item).value as JsonObject);
    }
    if (typeof nextCursor !== "string" || nextCursor === "") return items;
    cursor = nextCursor;
    if (seen.has(cursor)) {
      left.push(`Its list of ${key} goes in circles; it was read once.`);
      return items;
    }
    seen.add(cursor);
  }
  left.push(`Its list of ${key} has more than ${mostPages} pages; the rest is left out.`);
  return items;
};

/** Most words are plain already, and looking closely at a thousand of them takes time. */
const plainly = (text: string, mode: PlainMode): string => (/^[ -~]*$/.test(text) ? text : plain(text, mode));

const textIn = (item: JsonObject, key: string): string => {
  const value = item[key];
  return typeof value === "string" ? value : "";
};

const described = (item: JsonObject): string => {
  const text = plainly(textIn(item, "description"), "visible");
  return text.length > mostDescription
    ? `${text.slice(0, mostDescription)} [The rest of ${text.length} characters was cut.]`
    : text;
};

const toolOf = (item: JsonObject): OfferedTool => {
  const schema = item["inputSchema"];
  return {
    name: textIn(item, "name"),
    title: plainly(textIn(item, "title"), "line").slice(0, 200),
    description: described(item),
    parameters: isObject(schema) ? (schema as JsonObject) : {},
    raw: item,
    digest: digestOf([item["name"], item["title"], item["description"], schema]),
  };
};

const resourceOf = (item: JsonObject): OfferedResource => ({
  uri: textIn(item, "uri") || textIn(item, "uriTemplate"),
  name: plainly(textIn(item, "title") || textIn(item, "name"), "line").slice(0, 200),
  description: described(item).slice(0, 500),
  mimeType: plainly(textIn(item, "mimeType"), "line").slice(0, 100),
});

const promptOf = (item: JsonObject): OfferedPrompt => {
  const given = item["arguments"];
  return {
    name: textIn(item, "name"),
    description: described(item).slice(0, 500),
    arguments: (Array.isArray(given) ? given : []).filter(isObject).map((argument) => ({
      name: textIn(argument as JsonObject, "name"),
      description: described(argument as JsonObject).slice(0, 500),
      required: argument["required"] === true,
    })),
  };
};
