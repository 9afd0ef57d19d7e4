import { type Block, inside } from "../rules/bedrock-body.ts";
import type { BedrockAsk } from "./bedrock-providers.ts";
import { mediumOf, messageBlocks, readBlocks, wordsOf } from "./bedrock-request.ts";
import type { Unit } from "./family.ts";
import { asArray, asObject, asText, isObject } from "./json.ts";
import type { Tokens } from "./model.ts";
import { openSeal } from "./seal.ts";
import { fileTokens, textTokens } from "./tokens.ts";

/** The prompt in the order it is cached, with the number of units before each message. */
export type Prompt = { readonly units: readonly Unit[]; readonly before: readonly number[] };

/** Each tool, each block of the system prompt, then every block of every message. A cache point marks what stands before it. */
export const promptOf = (ask: BedrockAsk): Prompt => {
  const units: Unit[] = [];
  const add = (value: unknown, point: unknown, unit: () => Omit<Unit, "content" | "marked">): void => {
    const last = units.at(-1);
    if (!isObject(point)) units.push({ content: JSON.stringify(value) ?? "", marked: false, ...unit() });
    else if (last !== undefined) units[units.length - 1] = { ...last, marked: true, keep: keepOf(point["ttl"]) };
  };
  const words = (value: unknown) => () => ({ tokens: { text: textTokens(JSON.stringify(value) ?? "") } });

  for (const tool of asArray(asObject(ask.body["toolConfig"])["tools"]))
    add(tool, asObject(tool)["cachePoint"], words(tool));
  for (const block of asArray(ask.body["system"])) add(block, asObject(block)["cachePoint"], words(block));
  const before = messageBlocks(ask).map((blocks) => {
    const count = units.length;
    for (const block of blocks)
      add([block.role, block.value], block.kind === "cachePoint" ? block.data : undefined, () => blockUnit(block, ask));
    return count;
  });
  return { units, before };
};

const keepOf = (ttl: unknown): number => (ttl === "1h" ? 3600 : 300);

/** A thought may be taken out of the history, so later seals are not bound to it. */
const blockUnit = (block: Block, ask: BedrockAsk): Omit<Unit, "content" | "marked"> => ({
  tokens: blockTokens(block, ask),
  ...(block.kind === "reasoningContent" ? { unbound: true } : {}),
});

const blockTokens = (block: Block, ask: BedrockAsk): Tokens => {
  const medium = mediumOf(block);
  if (medium !== undefined) return { [medium.kind]: fileTokens(medium).tokens };
  switch (block.kind) {
    case "toolUse":
      return { text: 8 + textTokens(`${asText(inside(block, "name"))}${JSON.stringify(inside(block, "input"))}`) };
    case "toolResult":
      return sum(readBlocks(block, ask).map((inner) => blockTokens(inner, ask)));
    case "reasoningContent":
      return { text: thoughtTokens(block) };
    default:
      return { text: textTokens(wordsOf(block)) };
  }
};

/** A thought costs what it is long, also where its seal alone comes back. */
const thoughtTokens = (block: Block): number => {
  const { text, signature } = asObject(inside(block, "reasoningText"));
  const sealed = asText(inside(block, "redactedContent")) || asText(signature);
  return asText(text) === "" ? (openSeal(sealed)?.tokens ?? 0) : textTokens(asText(text));
};

const sum = (all: readonly Tokens[]): Tokens => {
  const sums: { -readonly [modality in keyof Tokens]: Tokens[modality] } = {};
  for (const tokens of all)
    for (const [modality, count] of Object.entries(tokens) as [keyof Tokens, number][])
      sums[modality] = (sums[modality] ?? 0) + count;
  return sums;
};
