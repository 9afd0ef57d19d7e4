import { toTokenCount, type UsageModality, type TokenUsage } from "../decode/events.ts";
import { arrayOf, objectOf } from "../reader.ts";

/** Parses a usageMetadata; undefined if it counts nothing. Tokens read by server tools are part of the input. */
export const geminiUsage = (metadata: Record<string, unknown>): TokenUsage | undefined => {
  const toolUse = toTokenCount(metadata["toolUsePromptTokenCount"]);
  const input = toTokenCount(metadata["promptTokenCount"]) + toolUse;
  const reasoning = toTokenCount(metadata["thoughtsTokenCount"]);
  const output = toTokenCount(metadata["candidatesTokenCount"]) + reasoning;
  if (input === 0 && output === 0) return undefined;
  const inputBy = byModality([
    ...arrayOf(metadata["promptTokensDetails"]),
    ...arrayOf(metadata["toolUsePromptTokensDetails"]),
  ]);
  const cachedRead = toTokenCount(metadata["cachedContentTokenCount"]);
  return {
    input,
    cachedRead,
    cachedWrite: 0,
    output,
    reasoning,
    ...(toolUse === 0 ? {} : { toolUse }),
    ...(inputBy === undefined ? {} : { inputBy }),
  };
};

const byModality = (details: readonly unknown[]): TokenUsage["inputBy"] => {
  const by: { [modality in UsageModality]?: number } = {};
  for (const detail of details) {
    const { modality, tokenCount } = objectOf(detail);
    const kind = modalities.get(modality);
    if (kind !== undefined) by[kind] = (by[kind] ?? 0) + toTokenCount(tokenCount);
  }
  return Object.keys(by).length === 0 ? undefined : by;
};

const modalities: ReadonlyMap<unknown, UsageModality> = new Map([
  ["TEXT", "text"],
  ["IMAGE", "image"],
  ["DOCUMENT", "document"],
  ["AUDIO", "audio"],
  ["VIDEO", "video"],
]);
