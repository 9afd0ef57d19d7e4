import { isObject } from "../../conversation/json.ts";
import { note, type Note } from "../../conversation/notes.ts";
import type { ClientTool, InboundApi } from "../answers/answer.ts";
import { expandSummary } from "./compaction.ts";

/** A body in the form the wire's reader understands, and the client's names for tools that are no plain functions. */
export type NormalizedBody = {
  readonly body: Fields;
  readonly notes: readonly Note[];
  readonly tools: ReadonlyMap<string, ClientTool>;
};

/** A JSON object of a client. */
export type Fields = Readonly<Record<string, unknown>>;

/**
 * Rewrites what only one API or client knows: deferred tools and tool references, tool namespaces, grammars of custom
 * tools, and the billing line of Claude Code. The same body gives the same result, so prefixes stay.
 */
export const normalizeBody = (api: InboundApi, body: Fields): NormalizedBody => {
  switch (api) {
    case "anthropic":
      return normalizeAnthropic(body);
    case "openai-responses":
      return normalizeResponses(body);
    case "openai-chat":
      return { body, notes: [], tools: customTools(listOf(body["tools"])) };
    case "gemini":
      return { body, notes: [], tools: new Map() };
  }
};

const normalizeAnthropic = (body: Fields): NormalizedBody => {
  const notes: Note[] = [];
  const { system, tools, messages } = body;
  const kept = Array.isArray(system) ? system.filter((block) => !isBillingLine(block)) : system;
  if (Array.isArray(kept) && kept.length < listOf(system).length)
    notes.push(
      note(
        "setting-adapted",
        "The billing line of Claude Code changes with every request; it is left out of the system prompt.",
      ),
    );
  const declared = Array.isArray(tools) ? tools.map((tool) => withoutDeferral(tool, notes)) : tools;
  return {
    body: {
      ...body,
      ...(system === undefined ? {} : { system: kept }),
      ...(tools === undefined ? {} : { tools: declared }),
      ...(Array.isArray(messages) ? { messages: messages.map(expandReferences) } : {}),
    },
    notes,
    tools: new Map(),
  };
};

/** `x-anthropic-billing-header: cc_version=...; cch=...` is the first system block of Claude Code, with another value each time. */
const isBillingLine = (block: unknown): boolean => {
  const text = typeof block === "string" ? block : isObject(block) ? block["text"] : undefined;
  return typeof text === "string" && text.startsWith("x-anthropic-billing-header:");
};

/** Offers a deferred tool from the start: declaring it later would change the prefix of every request after. */
const withoutDeferral = (tool: unknown, notes: Note[]): unknown => {
  if (!isObject(tool) || tool["defer_loading"] === undefined) return tool;
  const { defer_loading, ...rest } = tool;
  if (defer_loading === true)
    notes.push(note("schema-adapted", `The tool ${String(tool["name"])} is declared from the start, not on demand.`));
  return rest;
};

/** Writes the tool references of a tool search as text. */
const expandReferences = (message: unknown): unknown => {
  if (!isObject(message) || !Array.isArray(message["content"])) return message;
  const blocks: readonly unknown[] = message["content"];
  if (!blocks.some((block) => isObject(block) && listOf(block["content"]).some(isReference))) return message;
  const content = blocks.map((block) =>
    isObject(block) && Array.isArray(block["content"])
      ? { ...block, content: block["content"].map((part) => (isReference(part) ? referenceText(part) : part)) }
      : block,
  );
  return { ...message, content };
};

const isReference = (part: unknown): part is Record<string, unknown> =>
  isObject(part) && part["type"] === "tool_reference";

const referenceText = (part: Record<string, unknown>): unknown => ({
  type: "text",
  text: `The tool ${String(part["tool_name"])} is available.`,
});

const normalizeResponses = (body: Fields): NormalizedBody => {
  const tools = new Map<string, ClientTool>();
  const notes: Note[] = [];
  const declared = listOf(body["tools"]).flatMap((tool) => flattenTool(tool, tools, notes));
  const input = Array.isArray(body["input"])
    ? body["input"].map((item) => joinNamespace(expandSummary(item)))
    : body["input"];
  return {
    body: { ...body, ...(Array.isArray(body["tools"]) ? { tools: declared } : {}), input },
    notes,
    tools,
  };
};

/** Replaces a namespace by its tools, named `namespace__tool`. Its own description comes before that of the first one. */
const flattenTool = (tool: unknown, tools: Map<string, ClientTool>, notes: Note[]): readonly unknown[] => {
  if (!isObject(tool)) return [tool];
  const { type, name } = tool;
  if (type !== "namespace" || typeof name !== "string") return [declareCustom(tool, tools)];
  notes.push(note("schema-adapted", `The tools of the namespace ${name} are declared as ${name}__TOOL.`));
  return listOf(tool["tools"]).flatMap((inner, index) => {
    if (!isObject(inner) || typeof inner["name"] !== "string") return [];
    const full = joinedName(name, inner["name"]);
    tools.set(full, {
      type: inner["type"] === "custom" ? "custom" : "function",
      name: inner["name"],
      namespace: name,
    });
    const abouts = [index === 0 ? tool["description"] : "", inner["description"]];
    const description = abouts.filter((about) => typeof about === "string" && about !== "").join("\n\n");
    return [withGrammar({ ...inner, name: full, ...(description === "" ? {} : { description }) })];
  });
};

const declareCustom = (tool: Record<string, unknown>, tools: Map<string, ClientTool>): unknown => {
  if (tool["type"] !== "custom" || typeof tool["name"] !== "string") return tool;
  tools.set(tool["name"], { type: "custom", name: tool["name"] });
  return withGrammar(tool);
};

/** Moves the grammar of a custom tool into its description, where every model can read it. */
const withGrammar = (tool: Record<string, unknown>): Record<string, unknown> => {
  const { format, ...rest } = tool;
  if (tool["type"] !== "custom" || !isObject(format) || typeof format["definition"] !== "string") return tool;
  const about = typeof tool["description"] === "string" ? `${tool["description"]}\n\n` : "";
  return {
    ...rest,
    description: `${about}The input is text of this ${typeof format["syntax"] === "string" ? format["syntax"] : "formal"} grammar:\n${format["definition"]}`,
  };
};

const joinNamespace = (item: unknown): unknown => {
  if (!isObject(item) || typeof item["namespace"] !== "string" || typeof item["name"] !== "string") return item;
  const { namespace, ...rest } = item;
  return { ...rest, name: joinedName(String(namespace), item["name"]) };
};

const joinedName = (namespace: string, name: string): string => `${namespace}__${name}`;

const customTools = (tools: readonly unknown[]): ReadonlyMap<string, ClientTool> =>
  new Map(
    tools.flatMap((tool) => {
      if (!isObject(tool) || tool["type"] !== "custom") return [];
      const custom = isObject(tool["custom"]) ? tool["custom"] : tool;
      const { name } = custom;
      return typeof name === "string" ? [[name, { type: "custom", name } as const]] : [];
    }),
  );

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
