import type { ToolDeclaration } from "../conversation/entry.ts";
import { isObject, type JsonObject, type JsonValue } from "../conversation/json.ts";
import { fromOpenApi } from "./gemini-schema.ts";
import { both, field, known, listOf, type Fields } from "./gemini-spelling.ts";
import { arrayOf, numberOf, objectOf, stringOf, type Reader } from "./reader.ts";
import type { Settings, ToolChoice } from "./wire.ts";

/** The tools of a list entry that are functions; those that Google runs are carried along. */
export const readTool = (reader: Reader, tool: Fields, at: string): readonly ToolDeclaration[] => {
  for (const [kind, value] of Object.entries(tool))
    if (!both("functionDeclarations").includes(kind) && value !== null) {
      if (serverTools.test(kind) && isObject(value)) reader.carryTool("tools", { [kind]: value }, at);
      else reader.unknown(`A tool of the kind ${kind}`, at);
    }
  return listOf(field(tool, "functionDeclarations")).flatMap((value, index): readonly ToolDeclaration[] => {
    const declared = objectOf(value);
    const here = `${at}/functionDeclarations/${index}`;
    const name = stringOf(declared["name"]);
    if (name === undefined) {
      reader.unknown("A function without a name", here);
      return [];
    }
    reader.unread(declared, [...known.declaration, ...declarationFields], here);
    const description = stringOf(declared["description"]);
    const schema = field(declared, "parametersJsonSchema") ?? fromOpenApi(declared["parameters"]);
    return [
      {
        name,
        ...(description === undefined ? {} : { description }),
        ...(isObject(schema) ? { parameters: schema as JsonObject } : {}),
        ...reader.toolExtra(declared, declarationFields, here),
      },
    ];
  });
};

/** What Google runs itself, in either spelling. */
const serverTools =
  /^(google_?search(_?retrieval)?|code_?execution|url_?context|google_?maps|file_?search|computer_?use|enterprise_?web_?search|retrieval|mcp_?servers)$/i;

const declarationFields = ["behavior", "response", "responseJsonSchema", "response_json_schema"];

/** What a body asks for besides its contents and tools. */
export const readSettings = (reader: Reader, request: Fields, at: string): Settings => {
  const config = objectOf(field(request, "generationConfig"));
  reader.unread(config, known.generation, `${at}/generationConfig`);
  const maxTokens = numberOf(field(config, "maxOutputTokens"));
  const temperature = numberOf(config["temperature"]);
  const choice = readChoice(reader, objectOf(field(request, "toolConfig")), `${at}/toolConfig`);
  const thought = objectOf(field(config, "thinkingConfig"));
  reader.unread(thought, known.thinking, `${at}/generationConfig/thinkingConfig`);
  const budget = numberOf(field(thought, "thinkingBudget"));
  const thinking = thinkingOf(field(thought, "thinkingLevel"), budget);
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

const readChoice = (reader: Reader, config: Fields, at: string): ToolChoice | undefined => {
  reader.unread(config, known.toolConfig, at);
  const calling = objectOf(field(config, "functionCallingConfig"));
  const here = `${at}/functionCallingConfig`;
  reader.unread(calling, known.calling, here);
  const names = arrayOf(field(calling, "allowedFunctionNames")).filter((name) => typeof name === "string");
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

/** A budget below zero leaves the length to the model, which is what no setting does. */
const thinkingOf = (level: unknown, budget: number | undefined): Settings["thinking"] => {
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
