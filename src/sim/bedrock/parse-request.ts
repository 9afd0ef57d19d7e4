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

/** What the model hears. Thoughts of earlier turns are not said aloud. */
export const parseRequest = (ask: BedrockSimRequest): SimModelRequest => {
  const { body, model } = ask;
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
    turns: splitTurns(ask),
    serverTools: [],
    ...(maxOutput === undefined ? {} : { maxOutput }),
    mayThink: isThinking(ask),
  };
};

/** Blocks of one side in a row are a turn; results are one of their own. */
const splitTurns = (ask: BedrockSimRequest): readonly RequestTurn[] => {
  const runs: { by: RequestTurn["by"]; blocks: BedrockBlock[] }[] = [];
  for (const block of messageBlocks(ask).flat()) {
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
        return { by, results: blocks.map((block) => resultOf(block, calls, ask)) };
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

const resultOf = (block: BedrockBlock, calls: readonly RequestCall[], ask: BedrockSimRequest): RequestResult => {
  const id = callId(block);
  const read = visibleBlocks(block, ask);
  return {
    id,
    tool: calls.find((call) => call.id === id)?.tool ?? "",
    text: textOf(read),
    isError: fieldOf(block, "status") === "error",
    files: filesOf(read),
  };
};
