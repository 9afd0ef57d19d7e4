import { tokens, type Modality, type Usage } from "./decode.ts";
import { arrayOf, objectOf } from "./reader.ts";

/** What a usageMetadata counts, if it counts anything. What tools at the provider read is part of the prompt. */
export const geminiUsage = (counted: Record<string, unknown>): Usage | undefined => {
  const toolUse = tokens(counted["toolUsePromptTokenCount"]);
  const input = tokens(counted["promptTokenCount"]) + toolUse;
  const reasoning = tokens(counted["thoughtsTokenCount"]);
  const output = tokens(counted["candidatesTokenCount"]) + reasoning;
  if (input === 0 && output === 0) return undefined;
  const inputBy = byModality([
    ...arrayOf(counted["promptTokensDetails"]),
    ...arrayOf(counted["toolUsePromptTokensDetails"]),
  ]);
  const cachedRead = tokens(counted["cachedContentTokenCount"]);
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

const byModality = (details: readonly unknown[]): Usage["inputBy"] => {
  const by: { [modality in Modality]?: number } = {};
  for (const detail of details) {
    const { modality, tokenCount } = objectOf(detail);
    const kind = modalities.get(modality);
    if (kind !== undefined) by[kind] = (by[kind] ?? 0) + tokens(tokenCount);
  }
  return Object.keys(by).length === 0 ? undefined : by;
};

const modalities: ReadonlyMap<unknown, Modality> = new Map([
  ["TEXT", "text"],
  ["IMAGE", "image"],
  ["DOCUMENT", "document"],
  ["AUDIO", "audio"],
  ["VIDEO", "video"],
]);
