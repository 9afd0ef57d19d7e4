import type { Ask, SimUsage, Spoken, SpokenPart } from "./family.ts";
import type { Heard, Said, SaidPart } from "./model.ts";
import { makeSeal, sealedText } from "./seal.ts";
import { fileTokens, textTokens } from "./tokens.ts";

/** What a model said as an answer: cut to what the caller allows, sealed, and counted. `prefix` is the digest of the prompt. */
export const answerOf = (
  said: Said,
  { ask, heard, prefix }: { readonly ask: Ask; readonly heard: Heard; readonly prefix: string },
  input: Omit<SimUsage, "output" | "reasoning">,
): Spoken => {
  const thought = said.parts.filter(({ type }) => type !== "think" || heard.thinks !== false);
  const { parts, isCut } = cutTo(thought, heard.maxOutput ?? Infinity);
  const waits = parts.some(({ type }) => type === "call") ? "calls" : "stop";
  return {
    parts: parts.map((part) => sealed(part, ask, prefix)),
    finish: isCut ? "length" : (said.finish ?? waits),
    usage: { ...input, ...spent(parts) },
  };
};

const spent = (parts: readonly SaidPart[]): { readonly output: number; readonly reasoning: number } => {
  const of = (counted: readonly SaidPart[]): number => counted.reduce((sum, part) => sum + tokensOf(part), 0);
  return { output: of(parts), reasoning: of(parts.filter(({ type }) => type === "think")) };
};

const tokensOf = (part: SaidPart): number => {
  switch (part.type) {
    case "think":
    case "say":
    case "cite":
      return textTokens(part.text);
    case "call":
      return 8 + textTokens(part.tool) + textTokens(JSON.stringify(part.input) ?? "");
    case "file":
      return fileTokens({ kind: "image", mimeType: part.mimeType, base64: part.data }).tokens;
  }
};

/** Words are cut where the limit falls; anything else that does not fit is left out whole. */
const cutTo = (
  parts: readonly SaidPart[],
  limit: number,
): { readonly parts: readonly SaidPart[]; readonly isCut: boolean } => {
  const kept: SaidPart[] = [];
  let left = limit;
  for (const part of parts) {
    const tokens = tokensOf(part);
    if (tokens > left) {
      if (left > 0 && (part.type === "think" || part.type === "say"))
        kept.push({ ...part, text: firstBytes(part.text, left * 4) });
      return { parts: kept, isCut: true };
    }
    kept.push(part);
    left -= tokens;
  }
  return { parts: kept, isCut: false };
};

/** A text cut after so many bytes, and never inside a character. */
const firstBytes = (text: string, bytes: number): string =>
  new TextDecoder().decode(Buffer.from(text).subarray(0, bytes), { stream: true });

const sealed = (part: SaidPart, { provider, model }: Ask, prefix: string): SpokenPart => {
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
