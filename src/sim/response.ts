import type { SimRequest, SimUsage, SimResponse, SimResponsePart } from "./family.ts";
import type { SimModelRequest, ModelReply, ReplyPart } from "./model/types.ts";
import { makeSeal, sealedText } from "./seal.ts";
import { measureFile, countTextTokens } from "./tokens.ts";

/**
 * Builds the response to a model's reply: truncates it to the output limit, adds seals and counts tokens. `prefix` is
 * the digest of the prompt.
 */
export const buildResponse = (
  reply: ModelReply,
  {
    request,
    modelRequest,
    prefix,
  }: { readonly request: SimRequest; readonly modelRequest: SimModelRequest; readonly prefix: string },
  input: Omit<SimUsage, "output" | "reasoning">,
): SimResponse => {
  const allowed = reply.parts.filter(({ type }) => type !== "think" || modelRequest.mayThink !== false);
  const { parts, isTruncated } = truncateParts(allowed, modelRequest.maxOutput ?? Infinity);
  const finish = parts.some(({ type }) => type === "call") ? "calls" : "stop";
  return {
    parts: parts.map((part) => sealPart(part, request, prefix)),
    finish: isTruncated ? "length" : (reply.finish ?? finish),
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

/** Truncates text at the limit; a part of another kind that does not fit is dropped. */
const truncateParts = (
  parts: readonly ReplyPart[],
  limit: number,
): { readonly parts: readonly ReplyPart[]; readonly isTruncated: boolean } => {
  const kept: ReplyPart[] = [];
  let left = limit;
  for (const part of parts) {
    const tokens = tokensOf(part);
    if (tokens > left) {
      if (left > 0 && (part.type === "think" || part.type === "say"))
        kept.push({ ...part, text: truncateText(part.text, left * 4) });
      return { parts: kept, isTruncated: true };
    }
    kept.push(part);
    left -= tokens;
  }
  return { parts: kept, isTruncated: false };
};

/** Truncates a text to a number of bytes, never inside a character. */
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
