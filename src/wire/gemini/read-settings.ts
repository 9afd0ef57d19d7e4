import type { ToolDeclaration } from "../../conversation/entry.ts";
import { isObject, type JsonObject, type JsonValue } from "../../conversation/json.ts";
import { fromOpenApi } from "./schema.ts";
import { bothSpellings, readField, knownFields, toList, type GeminiFields } from "./field-names.ts";
import { arrayOf, numberOf, objectOf, stringOf, type RequestReader } from "../reader.ts";
import type { RequestSettings, ToolChoice } from "../wire.ts";

/** Reads the function declarations of a tool entry; server tools, which Google runs, are carried over. */
export const readGeminiTool = (reader: RequestReader, tool: GeminiFields, at: string): readonly ToolDeclaration[] => {
  for (const [kind, value] of Object.entries(tool))
    if (!bothSpellings("functionDeclarations").includes(kind) && value !== null) {
      if (serverTools.test(kind) && isObject(value)) reader.carryTool("tools", { [kind]: value }, at);
      else reader.noteUnknownPart(`A tool of the kind ${kind}`, at);
    }
  return toList(readField(tool, "functionDeclarations")).flatMap((value, index): readonly ToolDeclaration[] => {
    const declared = objectOf(value);
    const here = `${at}/functionDeclarations/${index}`;
    const name = stringOf(declared["name"]);
    if (name === undefined) {
      reader.noteUnknownPart("A function without a name", here);
      return [];
    }
    reader.noteUnreadFields(declared, [...knownFields.declaration, ...declarationFields], here);
    const description = stringOf(declared["description"]);
    const schema = readField(declared, "parametersJsonSchema") ?? fromOpenApi(declared["parameters"]);
    return [
      {
        name,
        ...(description === undefined ? {} : { description }),
        ...(isObject(schema) ? { parameters: schema as JsonObject } : {}),
        ...reader.toolFields(declared, declarationFields, here),
      },
    ];
  });
};

/** Server tools, in either spelling. */
const serverTools =
  /^(google_?search(_?retrieval)?|code_?execution|url_?context|google_?maps|file_?search|computer_?use|enterprise_?web_?search|retrieval|mcp_?servers)$/i;

const declarationFields = ["behavior", "response", "responseJsonSchema", "response_json_schema"];

/** Reads the settings of a body. */
export const readGeminiSettings = (reader: RequestReader, request: GeminiFields, at: string): RequestSettings => {
  const config = objectOf(readField(request, "generationConfig"));
  reader.noteUnreadFields(config, knownFields.generation, `${at}/generationConfig`);
  const maxTokens = numberOf(readField(config, "maxOutputTokens"));
  const temperature = numberOf(config["temperature"]);
  const choice = readToolChoice(reader, objectOf(readField(request, "toolConfig")), `${at}/toolConfig`);
  const thinkingConfig = objectOf(readField(config, "thinkingConfig"));
  reader.noteUnreadFields(thinkingConfig, knownFields.thinking, `${at}/generationConfig/thinkingConfig`);
  const budget = numberOf(readField(thinkingConfig, "thinkingBudget"));
  const thinking = thinkingOf(readField(thinkingConfig, "thinkingLevel"), budget);
  if (budget !== undefined && budget < 0)
    reader.carryField(
      { at: "generationConfig/thinkingConfig/thinkingBudget", value: budget, translated: true },
      `${at}/generationConfig/thinkingConfig/thinkingBudget`,
    );
  return {
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(choice === undefined ? {} : { toolChoice: choice }),
    ...(thinking === undefined ? {} : { thinking }),
  };
};

const readToolChoice = (reader: RequestReader, config: GeminiFields, at: string): ToolChoice | undefined => {
  reader.noteUnreadFields(config, knownFields.toolConfig, at);
  const calling = objectOf(readField(config, "functionCallingConfig"));
  const here = `${at}/functionCallingConfig`;
  reader.noteUnreadFields(calling, knownFields.calling, here);
  const names = arrayOf(readField(calling, "allowedFunctionNames")).filter((name) => typeof name === "string");
  const [only] = names;
  const mode = stringOf(calling["mode"])?.toUpperCase();
  if (mode === "ANY" && only !== undefined && names.length === 1) return { tool: only };
  if (names.length > 0)
    reader.carryField(
      {
        at: "toolConfig/functionCallingConfig/allowedFunctionNames",
        value: names as JsonValue,
        needs: "toolConfig/functionCallingConfig/mode",
      },
      `${here}/allowedFunctionNames`,
    );
  switch (mode) {
    case "AUTO":
      return "auto";
    case "ANY":
      return "required";
    case "NONE":
      return "none";
    case "VALIDATED":
      reader.carryField({ at: "toolConfig/functionCallingConfig/mode", value: mode, needs: "tools" }, `${here}/mode`);
      return undefined;
    default:
      return undefined;
  }
};

/** Reads the thinking setting. A negative budget means the model's own choice, as without a setting. */
const thinkingOf = (level: unknown, budget: number | undefined): RequestSettings["thinking"] => {
  switch (stringOf(level)?.toLowerCase()) {
    case "minimal":
    case "low":
      return { effort: "low" };
    case "medium":
      return { effort: "medium" };
    case "high":
      return { effort: "high" };
    default:
      if (budget === undefined || budget < 0) return undefined;
      return budget === 0 ? { effort: "none" } : { effort: "medium", budget };
  }
};
