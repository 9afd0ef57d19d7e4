import { type BedrockBlock, callId, fieldOf } from "../../rules/bedrock/body.ts";
import { toolsOf } from "../../rules/bedrock/tools.ts";
import type { BedrockSimRequest } from "./providers.ts";
import { mediaOf, messageBlocks, visibleBlocks, isThinking, blockText } from "./request.ts";
import { asArray, asNumber, asObject, asText, isObject } from "../json.ts";
import type {
  SimModelRequest,
  RequestCall,
  RequestFile,
  RequestResult,
  RequestTool,
  RequestTurn,
} from "../model/types.ts";
import { measureFile } from "../tokens.ts";

/** Converts a Converse request to what the model receives, without earlier reasoning. */
export const parseRequest = (request: BedrockSimRequest): SimModelRequest => {
  const { body, model } = request;
  const maxOutput = asNumber(asObject(body["inferenceConfig"])["maxTokens"]);
  const specs = [...toolsOf(body)].map(({ value }) => value["toolSpec"]).filter(isObject);
  return {
    model,
    system: asArray(body["system"])
      .map((block) => asText(asObject(block)["text"]))
      .filter((text) => text !== "")
      .join("\n"),
    tools: specs.map(({ name, description, inputSchema }): RequestTool => ({
      name: asText(name),
      description: asText(description),
      parameters: asObject(inputSchema)["json"],
    })),
    turns: splitTurns(request),
    serverTools: [],
    ...(maxOutput === undefined ? {} : { maxOutput }),
    mayThink: isThinking(request),
  };
};

/** Groups consecutive blocks of one side into turns; results are separate turns. */
const splitTurns = (request: BedrockSimRequest): readonly RequestTurn[] => {
  const runs: { by: RequestTurn["by"]; blocks: BedrockBlock[] }[] = [];
  for (const block of messageBlocks(request).flat()) {
    if (block.kind === "cachePoint") continue;
    const by = block.role === "assistant" ? "model" : block.kind === "toolResult" ? "tools" : "user";
    const last = runs.at(-1);
    if (last?.by === by) last.blocks.push(block);
    else runs.push({ by, blocks: [block] });
  }
  let calls: readonly RequestCall[] = [];
  return runs.map(({ by, blocks }): RequestTurn => {
    switch (by) {
      case "user":
        return { by, text: textOf(blocks), files: filesOf(blocks) };
      case "model":
        calls = blocks.filter(({ kind }) => kind === "toolUse").map(callOf);
        return { by, text: textOf(blocks), calls };
      case "tools":
        return { by, results: blocks.map((block) => resultOf(block, calls, request)) };
    }
  });
};

const textOf = (blocks: readonly BedrockBlock[]): string =>
  blocks
    .map(blockText)
    .filter((text) => text !== "")
    .join("\n");

const filesOf = (blocks: readonly BedrockBlock[]): readonly RequestFile[] =>
  blocks.flatMap((block) => {
    const medium = mediaOf(block);
    if (medium === undefined) return [];
    const { bytes, width, height } = measureFile(medium);
    const size = width === undefined || height === undefined ? {} : { width, height };
    return [{ kind: medium.kind, mimeType: medium.mimeType, bytes, ...size }];
  });

const callOf = (block: BedrockBlock): RequestCall => ({
  id: callId(block),
  tool: asText(fieldOf(block, "name")),
  input: fieldOf(block, "input"),
});

const resultOf = (block: BedrockBlock, calls: readonly RequestCall[], request: BedrockSimRequest): RequestResult => {
  const id = callId(block);
  const read = visibleBlocks(block, request);
  return {
    id,
    tool: calls.find((call) => call.id === id)?.tool ?? "",
    text: textOf(read),
    isError: fieldOf(block, "status") === "error",
    files: filesOf(read),
  };
};
