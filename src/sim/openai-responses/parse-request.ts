import { isNonReasoning } from "../../rules/openai/models.ts";
import { type ResponsesItem, isCall, isOutput, toolsOf } from "../../rules/openai-responses/walk.ts";
import type { Json } from "../family.ts";
import { asArray, asNumber, asObject, asText } from "../json.ts";
import type {
  SimModelRequest,
  RequestCall,
  RequestFile,
  RequestResult,
  RequestTurn,
  SimServerTool,
} from "../model/types.ts";
import type { ResponsesSimRequest } from "./providers.ts";
import { contentParts, inputItems, mediaOf, partText } from "./request.ts";
import { measureFile } from "../tokens.ts";

/**
 * Converts a Responses request to what the model receives. System and developer messages in any position are part of
 * the instructions.
 */
export const parseRequest = (request: ResponsesSimRequest): SimModelRequest => {
  const { body, model } = request;
  const maxOutput = asNumber(body["max_output_tokens"]);
  const effort = asObject(body["reasoning"])["effort"];
  return {
    model,
    system: [asText(body["instructions"]), ...inputItems(request).filter(isInstruction).map(textOf)]
      .filter((text) => text !== "")
      .join("\n"),
    tools: toolsOf(body).flatMap(({ type, name, value }) =>
      type === "function" && name !== undefined
        ? [{ name, description: asText(value["description"]), parameters: value["parameters"] }]
        : [],
    ),
    turns: splitTurns(inputItems(request)),
    serverTools: serverToolsOf(body),
    ...(maxOutput === undefined ? {} : { maxOutput }),
    mayThink: effort !== "none" && !isNonReasoning(model),
  };
};

const isInstruction = ({ type, value }: ResponsesItem): boolean =>
  type === "message" && (value["role"] === "system" || value["role"] === "developer");

const textOf = (item: ResponsesItem): string =>
  contentParts(item)
    .map(partText)
    .filter((text) => text !== "")
    .join("\n");

const serverToolsOf = (body: Json): readonly SimServerTool[] =>
  asArray(body["tools"]).some((tool) => asText(asObject(tool)["type"]).startsWith("web_search")) ? ["search"] : [];

/** Groups consecutive items of one side into turns; outputs are separate turns. */
const splitTurns = (items: readonly ResponsesItem[]): readonly RequestTurn[] => {
  const runs: { by: RequestTurn["by"]; items: ResponsesItem[] }[] = [];
  for (const item of items) {
    const by = turnOwner(item);
    const last = runs.at(-1);
    if (by === undefined) continue;
    if (last?.by === by) last.items.push(item);
    else runs.push({ by, items: [item] });
  }
  const calls = items.filter(isCall).map(callOf);
  return runs.map(({ by, items: run }): RequestTurn => {
    switch (by) {
      case "user":
        return { by, text: run.map(textOf).join("\n"), files: run.flatMap(filesOf) };
      case "model":
        return { by, text: run.map(textOf).join(""), calls: run.filter(isCall).map(callOf) };
      case "tools":
        return { by, results: run.map((item) => resultOf(item, calls)) };
    }
  });
};

/** The side an item belongs to; undefined for reasoning and server-side items, which the model does not receive. */
const turnOwner = (item: ResponsesItem): RequestTurn["by"] | undefined => {
  if (isOutput(item)) return "tools";
  if (isCall(item)) return "model";
  if (item.type !== "message" || isInstruction(item)) return undefined;
  return item.value["role"] === "assistant" ? "model" : "user";
};

const filesOf = (item: ResponsesItem): readonly RequestFile[] =>
  contentParts(item).flatMap((part) => {
    const medium = mediaOf(part);
    if (medium === undefined) return [];
    const { bytes, width, height } = measureFile(medium);
    const size = width === undefined || height === undefined ? {} : { width, height };
    return [{ kind: medium.kind, mimeType: medium.mimeType, bytes, ...size }];
  });

const callOf = ({ value }: ResponsesItem): RequestCall => ({
  id: asText(value["call_id"]),
  tool: asText(value["name"]),
  input: parseArguments(asText(value["arguments"]) || asText(value["input"])),
});

/** This API accepts any text as arguments. */
const parseArguments = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

/** This API has no failed results: errors are plain text. */
const resultOf = (item: ResponsesItem, calls: readonly RequestCall[]): RequestResult => {
  const id = asText(item.value["call_id"]);
  const tool = calls.find((call) => call.id === id)?.tool ?? "";
  return { id, tool, text: textOf(item), isError: false, files: filesOf(item) };
};
