import type { ToolDeclaration } from "../../conversation/entry.ts";
import { isObject, toPlainJson, type JsonObject } from "../../conversation/json.ts";
import { note } from "../../conversation/notes.ts";
import type { OpenaiReader } from "./read.ts";
import { numberOf, objectOf, stringOf } from "../reader.ts";
import type { RequestSettings, ThinkingSetting, ToolChoice } from "../wire.ts";

/** Reads a declared tool, flat or nested. A custom tool, which takes free text, becomes one with a single text parameter. */
export const readOpenaiTool = (reader: OpenaiReader, value: unknown, at: string): readonly ToolDeclaration[] => {
  const tool = objectOf(value);
  const type = tool["type"] ?? "function";
  const field = type === "custom" ? "custom" : "function";
  const declared = isObject(tool[field]) ? tool[field] : tool;
  const here = declared === tool ? at : `${at}/${field}`;
  const name = stringOf(declared["name"]);
  if (name === undefined || (type !== "function" && type !== "custom")) {
    if (serverTools.test(stringOf(type) ?? "")) reader.carryTool("tools", tool, at);
    else reader.noteUnknownPart(`A tool of type ${JSON.stringify(type)}`, at);
    return [];
  }
  reader.noteCacheMarker(tool["cache_control"], `${at}/cache_control`);
  if (declared !== tool) reader.noteUnreadFields(tool, ["type", field, "cache_control"], at);
  reader.noteUnreadFields(
    declared,
    ["type", "name", "description", "parameters", "cache_control", ...toolFields],
    here,
  );
  if (type === "custom")
    reader.notes.push(note("schema-adapted", `The tool ${name} at ${at} takes free text; it has one text parameter.`));
  const description = stringOf(declared["description"]);
  const parameters = type === "custom" ? freeText : declared["parameters"];
  return [
    {
      name,
      ...(description === undefined ? {} : { description }),
      ...(isObject(parameters) ? { parameters: toPlainJson(parameters).value as JsonObject } : {}),
      ...(type === "custom" ? {} : reader.toolFields(declared, toolFields, here)),
    },
  ];
};

const toolFields = ["strict"];

/** Server tools of both families. */
const serverTools =
  /^(openrouter:\w+|web_search(_preview)?(_\d{4}_\d\d_\d\d|_premium)?|browser_search|x_search|collections_search|file_search|document_library|code_interpreter|image_generation|computer(_use_preview)?|mcp|local_shell|shell|apply_patch|builtin_function|retrieval)$/;

const freeText: JsonObject = { type: "object", properties: { input: { type: "string" } }, required: ["input"] };

/** Reads the settings that both families have; those that differ are passed in. */
export const readOpenaiSettings = (
  reader: OpenaiReader,
  request: Record<string, unknown>,
  own: { maxTokens: unknown; toolChoice: unknown; thinking: ThinkingSetting | undefined },
): RequestSettings => {
  const maxTokens = numberOf(own.maxTokens);
  const temperature = numberOf(request["temperature"]);
  const toolChoice = choiceOf(reader, own.toolChoice);
  const key = stringOf(request["prompt_cache_key"]);
  return {
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(typeof request["stream"] === "boolean" ? { stream: request["stream"] } : {}),
    ...(toolChoice === undefined ? {} : { toolChoice }),
    ...(own.thinking === undefined ? {} : { thinking: own.thinking }),
    ...(key === undefined ? {} : { cache: { key } }),
  };
};

const choiceOf = (reader: OpenaiReader, value: unknown): ToolChoice | undefined => {
  if (value === undefined || value === null) return undefined;
  if (value === "auto" || value === "none" || value === "required") return value;
  if (value === "any") return "required";
  const choice = objectOf(value);
  const tool = [choice, objectOf(choice["function"]), objectOf(choice["custom"])].map((at) => stringOf(at["name"]));
  const name = tool.find((found) => found !== undefined);
  if (name !== undefined) return { tool: name };
  reader.noteUnknownPart("A tool choice", "/tool_choice");
  return undefined;
};

/** Returns the effort level for an API's name. */
export const effortOf = (word: unknown): ThinkingSetting["effort"] | undefined =>
  typeof word === "string" ? efforts.get(word) : undefined;

const efforts: ReadonlyMap<string, ThinkingSetting["effort"]> = new Map([
  ["none", "none"],
  ["minimal", "low"],
  ["low", "low"],
  ["default", "medium"],
  ["medium", "medium"],
  ["high", "high"],
  ["xhigh", "high"],
  ["max", "high"],
]);
