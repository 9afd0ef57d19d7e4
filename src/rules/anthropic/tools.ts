import { blocksOf } from "./body.ts";
import { claudeModel } from "./models.ts";
import { type Check, asArray, asObject, asString, isObject, join } from "../walk.ts";

/** A tool the client runs, with its place as the vendor's messages name it. */
export type CustomTool = { readonly value: Record<string, unknown>; readonly pointer: string; readonly path: string };

/** The tools of a body that the client runs. */
export function* customTools(body: unknown): Generator<CustomTool> {
  for (const [index, value] of asArray(asObject(body)["tools"]).entries()) {
    if (!isObject(value)) continue;
    const type = value["type"];
    if (type === undefined || type === null || type === "custom")
      yield { value, pointer: join("/tools", index), path: `tools.${index}.custom` };
  }
}

/** `tools` is a list of client tools and server tools. */
export const checkToolShape: Check = (body, report) => {
  const tools = asObject(body)["tools"];
  if (tools === undefined || tools === null) return;
  if (!Array.isArray(tools)) report("/tools", "tools: Input should be a valid list");
  asArray(tools).forEach((tool, index) => {
    const type = asObject(tool)["type"];
    if (!isObject(tool)) report(join("/tools", index), `tools.${index}: Input should be a valid dictionary`);
    else if (type !== undefined && type !== null && (typeof type !== "string" || !builtIn.test(type))) {
      report(
        join("/tools", index, "type"),
        `tools.${index}: Input tag '${typeof type === "string" ? type : typeof type}' found using 'type' does not match any of the expected tags: 'custom', ...`,
      );
    }
  });
  for (const { value, pointer, path } of customTools(body)) {
    for (const key of Object.keys(value))
      if (!toolFields.has(key)) report(join(pointer, key), `${path}.${key}: Extra inputs are not permitted`);
  }
};

/** Server tools carry the date of their version in their type. */
const builtIn = /^(custom|mcp_toolset|tool_search_tool_(bm25|regex)|[a-z0-9_]+_20\d{6})$/;

const toolFields: ReadonlySet<string> = new Set(
  "name description input_schema type cache_control strict defer_loading allowed_callers eager_input_streaming input_examples".split(
    " ",
  ),
);

/** Tool names match the API's pattern, in declarations and in history. */
export const checkToolName: Check = (body, report) => {
  for (const { value, pointer, path } of customTools(body)) {
    const name = value["name"];
    if (typeof name !== "string") report(pointer, `${path}.name: Field required`);
    else if (!toolName.test(name))
      report(join(pointer, "name"), `${path}.name: String should match pattern '${toolName.source}'`);
  }
  for (const block of blocksOf(body)) {
    const name = block.type === "tool_use" ? asString(block.value["name"]) : undefined;
    if (name !== undefined && !toolName.test(name))
      report(
        join(block.pointer, "name"),
        `${block.path}.tool_use.name: String should match pattern '${toolName.source}'`,
      );
  }
};

const toolName = /^[a-zA-Z0-9_-]{1,128}$/;

/** Tool names are unique. */
export const checkDuplicateTool: Check = (body, report) => {
  const seen = new Set<string>();
  asArray(asObject(body)["tools"]).forEach((tool, index) => {
    const name = asString(asObject(tool)["name"]);
    if (name === undefined) return;
    if (seen.has(name)) report(join("/tools", index, "name"), "tools: Tool names must be unique.");
    seen.add(name);
  });
};

/** The input of a tool is described by a schema of type object. */
export const checkInputSchema: Check = (body, report) => {
  for (const { value, pointer, path } of customTools(body)) {
    const schema = value["input_schema"];
    const here = join(pointer, "input_schema");
    if (schema === undefined) report(pointer, `${path}.input_schema: Field required`);
    else if (!isObject(schema)) report(here, `${path}.input_schema: Input should be a valid dictionary`);
    else if (schema["type"] === undefined) report(here, `${path}.input_schema.type: Field required`);
    else if (schema["type"] !== "object")
      report(join(here, "type"), `${path}.input_schema.type: Input should be 'object'`);
  }
};

/** `anyOf`, `oneOf` and `allOf` are not allowed at the top level of a schema. */
export const checkTopUnion: Check = (body, report) => {
  for (const { value, pointer, path } of customTools(body)) {
    const schema = asObject(value["input_schema"]);
    const union = ["oneOf", "allOf", "anyOf"].find((key) => Object.hasOwn(schema, key));
    if (union === undefined) continue;
    report(
      join(pointer, "input_schema", union),
      `${path}.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level`,
    );
  }
};

/** Property names match the API's pattern. */
export const checkPropertyKeys: Check = (body, report) => {
  for (const { value, pointer, path } of customTools(body)) {
    for (const key of Object.keys(asObject(asObject(value["input_schema"])["properties"]))) {
      if (/^[a-zA-Z0-9_.-]{1,64}$/.test(key)) continue;
      report(
        join(pointer, "input_schema", "properties", key),
        `${path}.input_schema.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'`,
      );
    }
  }
};

/** The tool choice is one of four kinds and names a declared tool. */
export const checkToolChoice: Check = (body, report) => {
  const { tool_choice: choice, tools, mcp_servers: servers } = asObject(body);
  if (choice === undefined || choice === null) return;
  const { type, name } = asObject(choice);
  if (typeof type !== "string" || !["auto", "any", "tool", "none"].includes(type)) {
    report(
      "/tool_choice",
      `tool_choice: Input tag '${String(type)}' found using 'type' does not match any of the expected tags: 'auto', 'any', 'tool', 'none'`,
    );
  } else if (asArray(tools).length === 0 && asArray(servers).length === 0) {
    if (type !== "none") report("/tool_choice", "tool_choice: tool_choice may only be specified while providing tools");
  } else if (type === "tool" && typeof name !== "string")
    report("/tool_choice", "tool_choice.tool.name: Field required");
  else if (type === "tool" && !mayHold(tools, name))
    report("/tool_choice/name", `tool_choice: Tool '${String(name)}' not found in provided tools`);
};

const mayHold = (tools: unknown, name: unknown): boolean =>
  asArray(tools).some(
    (tool) => asObject(tool)["name"] === name || /toolset/.test(asString(asObject(tool)["type"]) ?? ""),
  );

/** Some models do not accept a forced tool call. */
export const checkForcedTool: Check = (body, report, target) => {
  const type = asObject(asObject(body)["tool_choice"])["type"];
  if ((type === "any" || type === "tool") && !claudeModel(body, target).forcedTool)
    report("/tool_choice/type", 'tool_choice: type "tool" and "any" are not supported for this model');
};
