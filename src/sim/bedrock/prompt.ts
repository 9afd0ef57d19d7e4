import { type BedrockBlock, fieldOf } from "../../rules/bedrock/body.ts";
import type { BedrockSimRequest } from "./providers.ts";
import { mediaOf, messageBlocks, visibleBlocks, blockText } from "./request.ts";
import type { PromptUnit } from "../family.ts";
import { asArray, asObject, asText, isObject } from "../json.ts";
import type { TokensByModality } from "../model/types.ts";
import { openSeal } from "../seal.ts";
import { measureFile, countTextTokens } from "../tokens.ts";

/** The prompt in caching order, with the number of units before each message. */
export type BedrockPrompt = { readonly units: readonly PromptUnit[]; readonly unitsBeforeMessage: readonly number[] };

/** Splits the prompt into tools, system blocks and message blocks. A cache point marks the unit before it. */
export const splitPrompt = (request: BedrockSimRequest): BedrockPrompt => {
  const units: PromptUnit[] = [];
  const add = (value: unknown, point: unknown, unit: () => Omit<PromptUnit, "content" | "isCachePoint">): void => {
    const last = units.at(-1);
    if (!isObject(point)) units.push({ content: JSON.stringify(value) ?? "", isCachePoint: false, ...unit() });
    else if (last !== undefined)
      units[units.length - 1] = { ...last, isCachePoint: true, ttlSeconds: ttlOf(point["ttl"]) };
  };
  const words = (value: unknown) => () => ({ tokens: { text: countTextTokens(JSON.stringify(value) ?? "") } });

  for (const tool of asArray(asObject(request.body["toolConfig"])["tools"]))
    add(tool, asObject(tool)["cachePoint"], words(tool));
  for (const block of asArray(request.body["system"])) add(block, asObject(block)["cachePoint"], words(block));
  const before = messageBlocks(request).map((blocks) => {
    const count = units.length;
    for (const block of blocks)
      add([block.role, block.value], block.kind === "cachePoint" ? block.data : undefined, () =>
        blockUnit(block, request),
      );
    return count;
  });
  return { units, unitsBeforeMessage: before };
};

const ttlOf = (ttl: unknown): number => (ttl === "1h" ? 3600 : 300);

/** Reasoning may be removed from the history, so later seals are not bound to it. */
const blockUnit = (block: BedrockBlock, request: BedrockSimRequest): Omit<PromptUnit, "content" | "isCachePoint"> => ({
  tokens: blockTokens(block, request),
  ...(block.kind === "reasoningContent" ? { isUnbound: true } : {}),
});

const blockTokens = (block: BedrockBlock, request: BedrockSimRequest): TokensByModality => {
  const medium = mediaOf(block);
  if (medium !== undefined) return { [medium.kind]: measureFile(medium).tokens };
  switch (block.kind) {
    case "toolUse":
      return {
        text: 8 + countTextTokens(`${asText(fieldOf(block, "name"))}${JSON.stringify(fieldOf(block, "input"))}`),
      };
    case "toolResult":
      return addTokens(visibleBlocks(block, request).map((inner) => blockTokens(inner, request)));
    case "reasoningContent":
      return { text: thoughtTokens(block) };
    default:
      return { text: countTextTokens(blockText(block)) };
  }
};

/** Reasoning is billed by its length, also when only its seal is sent back. */
const thoughtTokens = (block: BedrockBlock): number => {
  const { text, signature } = asObject(fieldOf(block, "reasoningText"));
  const sealed = asText(fieldOf(block, "redactedContent")) || asText(signature);
  return asText(text) === "" ? (openSeal(sealed)?.tokens ?? 0) : countTextTokens(asText(text));
};

const addTokens = (all: readonly TokensByModality[]): TokensByModality => {
  const sums: { -readonly [modality in keyof TokensByModality]: TokensByModality[modality] } = {};
  for (const tokens of all)
    for (const [modality, count] of Object.entries(tokens) as [keyof TokensByModality, number][])
      sums[modality] = (sums[modality] ?? 0) + count;
  return sums;
};
