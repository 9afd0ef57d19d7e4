import type { SimRequest, SimUsage, SimResponse, SimResponsePart } from "./family.ts";
import type { SimModelRequest, ModelReply, ReplyPart } from "./model/types.ts";
import { makeSeal, sealedText } from "./seal.ts";
import { measureFile, countTextTokens } from "./tokens.ts";

/** What a model said as an answer: cut to what the caller allows, sealed, and counted. `prefix` is the digest of the prompt. */
export const buildResponse = (
  said: ModelReply,
  { ask, heard, prefix }: { readonly ask: SimRequest; readonly heard: SimModelRequest; readonly prefix: string },
  input: Omit<SimUsage, "output" | "reasoning">,
): SimResponse => {
  const thought = said.parts.filter(({ type }) => type !== "think" || heard.mayThink !== false);
  const { parts, isCut } = truncateParts(thought, heard.maxOutput ?? Infinity);
  const waits = parts.some(({ type }) => type === "call") ? "calls" : "stop";
  return {
    parts: parts.map((part) => sealPart(part, ask, prefix)),
    finish: isCut ? "length" : (said.finish ?? waits),
    usage: { ...input, ...countOutput(parts) },
  };
};

const countOutput = (parts: readonly ReplyPart[]): { readonly output: number; readonly reasoning: number } => {
  const of = (counted: readonly ReplyPart[]): number => counted.reduce((sum, part) => sum + tokensOf(part), 0);
  return { output: of(parts), reasoning: of(parts.filter(({ type }) => type === "think")) };
};

const tokensOf = (part: ReplyPart): number => {
  switch (part.type) {
    case "think":
    case "say":
    case "cite":
      return countTextTokens(part.text);
    case "call":
      return 8 + countTextTokens(part.tool) + countTextTokens(JSON.stringify(part.input) ?? "");
    case "file":
      return measureFile({ kind: "image", mimeType: part.mimeType, base64: part.data }).tokens;
  }
};

/** Words are cut where the limit falls; anything else that does not fit is left out whole. */
const truncateParts = (
  parts: readonly ReplyPart[],
  limit: number,
): { readonly parts: readonly ReplyPart[]; readonly isCut: boolean } => {
  const kept: ReplyPart[] = [];
  let left = limit;
  for (const part of parts) {
    const tokens = tokensOf(part);
    if (tokens > left) {
      if (left > 0 && (part.type === "think" || part.type === "say"))
        kept.push({ ...part, text: truncateText(part.text, left * 4) });
      return { parts: kept, isCut: true };
    }
    kept.push(part);
    left -= tokens;
  }
  return { parts: kept, isCut: false };
};

/** A text cut after so many bytes, and never inside a character. */
const truncateText = (text: string, bytes: number): string =>
  new TextDecoder().decode(Buffer.from(text).subarray(0, bytes), { stream: true });

const sealPart = (part: ReplyPart, { provider, model }: SimRequest, prefix: string): SimResponsePart => {
  switch (part.type) {
    case "think":
    case "say":
    case "call":
      return { ...part, seal: makeSeal({ provider: provider.id, model, text: sealedText(part), prefix }) };
    case "file":
    case "cite":
      return part;
  }
};
