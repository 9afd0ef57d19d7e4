import { checkStrict } from "../anthropic/strict.ts";
import { blocksOf, fieldOf, turnsOf } from "./body.ts";
import { bedrockFamily } from "./models.ts";
import { type Check, asArray, asObject, asString, isObject, join } from "../walk.ts";

/** One tool of the tool configuration. */
type BedrockTool = { readonly value: Record<string, unknown>; readonly pointer: string; readonly index: number };

/** Every tool of the body that is an object. */
export function* toolsOf(body: unknown): Generator<BedrockTool> {
  const tools = asArray(asObject(asObject(body)["toolConfig"])["tools"]);
  for (const [index, value] of tools.entries())
    if (isObject(value)) yield { value, pointer: join("/toolConfig/tools", index), index };
}

function* specsOf(body: unknown): Generator<BedrockTool> {
  for (const { value, pointer, index } of toolsOf(body)) {
    if (isObject(value["toolSpec"])) yield { value: value["toolSpec"], pointer: join(pointer, "toolSpec"), index };
  }
}

/** A history with calls needs the tools declared. */
export const checkToolConfig: Check = (body, report) => {
  if (!isObject(body) || isObject(body["toolConfig"])) return;
  for (const block of blocksOf(body)) {
    if (block.kind !== "toolUse" && block.kind !== "toolResult") continue;
    report("", "The toolConfig field must be defined when using toolUse and toolResult content blocks.");
    return;
  }
};

/** Some models call no tools. */
export const checkToolSupport: Check = (body, report, target) => {
  if (isObject(asObject(body)["toolConfig"]) && toolless.test(target.model ?? ""))
    report("/toolConfig", "This model doesn't support tool use.");
};

/** From the vendor's feature table; Llama 3.2 3B from a recorded response. */
const toolless =
  /llama3-2-[13]b|llama2|llama3-(8|70)b|titan-text|mistral-7b|mixtral|jamba-instruct|claude-(v2|instant)|command-(light-)?text/;

/** The first Claude 3 models do not continue prefilled text while tools are declared. */
export const checkPrefillWithTools: Check = (body, report, target) => {
  if (!isObject(asObject(body)["toolConfig"]) || !/claude-3-(haiku|sonnet|opus)/.test(target.model ?? "")) return;
  const last = turnsOf(body).at(-1);
  if (last?.role !== "assistant" || last.blocks.some(({ kind }) => kind === "toolUse")) return;
  report(
    join("/messages", last.first),
    "Your API request included an `assistant` message in the final position, which would pre-fill the `assistant` response. When using tools, pre-filling the `assistant` response is not supported.",
  );
};

/** A tool configuration has tools, each of one kind. */
export const checkToolShape: Check = (body, report) => {
  const config = asObject(body)["toolConfig"];
  if (config === undefined || config === null) return;
  const tools = asObject(config)["tools"];
  if (!Array.isArray(tools) || tools.length === 0) {
    report(
      "/toolConfig",
      "1 validation error detected: Value at 'toolConfig.tools' failed to satisfy constraint: Member must have length greater than or equal to 1",
    );
  }
  asArray(tools).forEach((tool, index) => {
    const known =
      isObject(tool) && ["toolSpec", "systemTool", "cachePoint"].filter((name) => isObject(tool[name])).length === 1;
    if (!known)
      report(
        join("/toolConfig/tools", index),
        `The Tool object at toolConfig.tools.${index} must set one of the following keys: toolSpec, systemTool, cachePoint.`,
      );
  });
};

/** Tool names match the API's pattern, in declarations and in history. */
export const checkToolName: Check = (body, report) => {
  const complain = (name: unknown, pointer: string, path: string): void => {
    if (typeof name === "string" && /^[a-zA-Z0-9_-]{1,64}$/.test(name)) return;
    const rule =
      typeof name === "string" && name.length > 64
        ? "Member must have length less than or equal to 64"
        : "Member must satisfy regular expression pattern: [a-zA-Z0-9_-]+";
    report(
      pointer,
      `1 validation error detected: Value '${String(name).slice(0, 80)}' at '${path}' failed to satisfy constraint: ${rule}`,
    );
  };
  for (const { value, pointer, index } of specsOf(body))
    complain(value["name"], join(pointer, "name"), `toolConfig.tools.${index}.toolSpec.name`);
  for (const block of blocksOf(body)) {
    const name = block.kind === "toolUse" ? fieldOf(block, "name") : undefined;
    if (name !== undefined) complain(name, join(block.pointer, "toolUse", "name"), `${block.path}.toolUse.name`);
  }
};

/** A description is left out rather than empty. */
export const checkDescription: Check = (body, report) => {
  for (const { value, pointer, index } of specsOf(body)) {
    if (value["description"] !== "") continue;
    report(
      join(pointer, "description"),
      `1 validation error detected: Value '' at 'toolConfig.tools.${index}.toolSpec.description' failed to satisfy constraint: Member must have length greater than or equal to 1`,
    );
  }
};

/** Tool names are unique. */
export const checkDuplicateTool: Check = (body, report) => {
  const seen = new Set<string>();
  for (const { value, pointer } of specsOf(body)) {
    const name = asString(value["name"]);
    if (name === undefined) continue;
    if (seen.has(name))
      report(join(pointer, "name"), `The tool name ${name} is already defined. Tool names must be unique.`);
    seen.add(name);
  }
};

/** The input of a tool is described by a schema of type object. */
export const checkInputSchema: Check = (body, report) => {
  for (const { value, pointer, index } of specsOf(body)) {
    const schema = asObject(value["inputSchema"])["json"];
    const where = join(pointer, "inputSchema");
    if (!isObject(schema))
      report(
        where,
        `The format of the value at toolConfig.tools.${index}.toolSpec.inputSchema.json is invalid. Provide a json object for the field and try again.`,
      );
    else if (schema["type"] !== "object")
      report(
        join(where, "json"),
        `The value at toolConfig.tools.${index}.toolSpec.inputSchema.json.type must be one of the following: object.`,
      );
  }
};

/** On Claude, `anyOf`, `oneOf` and `allOf` are not allowed at the top level of a schema. */
export const checkTopUnion: Check = (body, report, target) => {
  if (bedrockFamily(target).id !== "claude") return;
  for (const { value, pointer, index } of specsOf(body)) {
    const schema = asObject(asObject(value["inputSchema"])["json"]);
    const union = ["oneOf", "allOf", "anyOf"].find((key) => Object.hasOwn(schema, key));
    if (union !== undefined)
      report(
        join(pointer, "inputSchema", "json", union),
        `tools.${index}.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level`,
      );
  }
};

/** On Claude, property names match the API's pattern. */
export const checkPropertyKeys: Check = (body, report, target) => {
  if (bedrockFamily(target).id !== "claude") return;
  for (const { value, pointer, index } of specsOf(body)) {
    for (const key of Object.keys(asObject(asObject(asObject(value["inputSchema"])["json"])["properties"]))) {
      if (/^[a-zA-Z0-9_.-]{1,64}$/.test(key)) continue;
      report(
        join(pointer, "inputSchema", "json", "properties", key),
        `The model returned the following errors: tools.${index}.custom.input_schema.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'`,
      );
    }
  }
};

/** A strict tool's schema is closed and uses only keywords that can be enforced. */
export const checkStrictSchema: Check = (body, report, target) => {
  if (bedrockFamily(target).id !== "claude") return;
  for (const { value, pointer, index } of specsOf(body)) {
    if (value["strict"] === true)
      checkStrict(
        asObject(value["inputSchema"])["json"],
        join(pointer, "inputSchema", "json"),
        `tools.${index}.custom`,
        report,
      );
  }
};

/** The tool choice is auto, any or one declared tool. There is no none. */
export const checkToolChoice: Check = (body, report) => {
  const choice = asObject(asObject(body)["toolConfig"])["toolChoice"];
  if (choice === undefined || choice === null) return;
  const kinds = Object.keys(asObject(choice));
  const name = asObject(asObject(choice)["tool"])["name"];
  if (kinds.length !== 1 || !["auto", "any", "tool"].includes(kinds[0] ?? ""))
    report(
      "/toolConfig/toolChoice",
      "The ToolChoice object at toolConfig.toolChoice must set one of the following keys: auto, any, tool.",
    );
  else if (kinds[0] === "tool" && !declared(body, name))
    report(
      "/toolConfig/toolChoice/tool",
      `The tool ${String(name)} at toolConfig.toolChoice.tool is not defined in toolConfig.tools.`,
    );
};

const declared = (body: unknown, name: unknown): boolean =>
  [...toolsOf(body)].some(
    ({ value }) => asObject(value["toolSpec"])["name"] === name || asObject(value["systemTool"])["name"] === name,
  );
