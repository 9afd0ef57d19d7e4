import { type Block, callId, inside } from "../rules/bedrock-body.ts";
import { toolsOf } from "../rules/bedrock-tools.ts";
import type { BedrockAsk } from "./bedrock-providers.ts";
import { mediumOf, messageBlocks, readBlocks, thinks, wordsOf } from "./bedrock-request.ts";
import { asArray, asNumber, asObject, asText, isObject } from "./json.ts";
import type { Heard, HeardCall, HeardFile, HeardResult, HeardTool, HeardTurn } from "./model.ts";
import { fileTokens } from "./tokens.ts";

/** What the model hears. Thoughts of earlier turns are not said aloud. */
export const hearBedrock = (ask: BedrockAsk): Heard => {
  const { body, model } = ask;
  const maxOutput = asNumber(asObject(body["inferenceConfig"])["maxTokens"]);
  const specs = [...toolsOf(body)].map(({ value }) => value["toolSpec"]).filter(isObject);
  return {
    model,
    system: asArray(body["system"])
      .map((block) => asText(asObject(block)["text"]))
      .filter((text) => text !== "")
      .join("\n"),
    tools: specs.map(({ name, description, inputSchema }): HeardTool => ({
      name: asText(name),
      description: asText(description),
      parameters: asObject(inputSchema)["json"],
    })),
    turns: turnsOf(ask),
    serverTools: [],
    ...(maxOutput === undefined ? {} : { maxOutput }),
    thinks: thinks(ask),
  };
};

/** Blocks of one side in a row are a turn; results are one of their own. */
const turnsOf = (ask: BedrockAsk): readonly HeardTurn[] => {
  const runs: { by: HeardTurn["by"]; blocks: Block[] }[] = [];
  for (const block of messageBlocks(ask).flat()) {
    if (block.kind === "cachePoint") continue;
    const by = block.role === "assistant" ? "model" : block.kind === "toolResult" ? "tools" : "user";
    const last = runs.at(-1);
    if (last?.by === by) last.blocks.push(block);
    else runs.push({ by, blocks: [block] });
  }
  let calls: readonly HeardCall[] = [];
  return runs.map(({ by, blocks }): HeardTurn => {
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

const textOf = (blocks: readonly Block[]): string =>
  blocks
    .map(wordsOf)
    .filter((text) => text !== "")
    .join("\n");

const filesOf = (blocks: readonly Block[]): readonly HeardFile[] =>
  blocks.flatMap((block) => {
    const medium = mediumOf(block);
    if (medium === undefined) return [];
    const { bytes, width, height } = fileTokens(medium);
    const size = width === undefined || height === undefined ? {} : { width, height };
    return [{ kind: medium.kind, mimeType: medium.mimeType, bytes, ...size }];
  });

const callOf = (block: Block): HeardCall => ({
  id: callId(block),
  tool: asText(inside(block, "name")),
  input: inside(block, "input"),
});

const resultOf = (block: Block, calls: readonly HeardCall[], ask: BedrockAsk): HeardResult => {
  const id = callId(block);
  const read = readBlocks(block, ask);
  return {
    id,
    tool: calls.find((call) => call.id === id)?.tool ?? "",
    text: textOf(read),
    isError: inside(block, "status") === "error",
    files: filesOf(read),
  };
};
