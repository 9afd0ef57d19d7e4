import { type GeminiBodyContent, pick } from "../../rules/gemini/body.ts";
import { geminiModel } from "../../rules/gemini/models.ts";
import type { ApiRefusal, SealUse, SealVerdict } from "../family.ts";
import { splitPrompt } from "./prompt.ts";
import { type GeminiSimRequest, contentsIn, toLocated, targetOf } from "./request.ts";

/**
 * Finds the thought signatures that are validated: those of the current turn, if the model requires any. The documented
 * placeholder values always pass.
 */
export const findSeals = (request: GeminiSimRequest): readonly SealUse[] => {
  if (!geminiModel(request.body, targetOf(request)).needsSignature) return [];
  const contents = contentsIn(request);
  const begin = startOfCurrentTurn(contents);
  let after = splitPrompt(request).length - contents.slice(begin).reduce((sum, { parts }) => sum + parts.length, 0);
  return contents.slice(begin).flatMap((content) => {
    const seals = sealsIn(content, after);
    after += content.parts.length;
    return seals;
  });
};

/** The current turn starts after the last user content that is more than responses. */
const startOfCurrentTurn = (contents: readonly GeminiBodyContent[]): number =>
  1 +
  contents.findLastIndex(
    ({ role, parts }) => role !== "model" && parts.some((part) => part.kind !== "functionResponse"),
  );

const sealsIn = ({ parts }: GeminiBodyContent, unitsBefore: number): readonly SealUse[] =>
  parts.flatMap((part) => {
    const signature = pick(toLocated(part), "thoughtSignature");
    if (typeof signature?.value !== "string" || isPlaceholder(signature.value)) return [];
    return [{ pointer: signature.pointer, value: toStandardBase64(signature.value), unitsBefore }];
  });

/** Placeholders are accepted as plain text and as the base64 an SDK makes of it. */
const isPlaceholder = (signature: string): boolean =>
  placeholders.includes(signature) || placeholders.includes(Buffer.from(signature, "base64").toString());

const placeholders = ["skip_thought_signature_validator", "context_engineering_is_the_way_to_go"];

/** Converts either base64 alphabet, with or without padding, to padded standard base64. */
const toStandardBase64 = (base64: string): string => {
  const letters = base64.replaceAll("-", "+").replaceAll("_", "/").replace(/=+$/, "");
  return letters.padEnd(Math.ceil(letters.length / 4) * 4, "=");
};

/**
 * Decides what Gemini does with a signature. It contains the thoughts themselves, so neither its part nor the prompt
 * before it is compared.
 */
export const judgeSeal = (use: SealUse, verdict: Exclude<SealVerdict, "genuine">): ApiRefusal | "accepted" => {
  switch (verdict) {
    case "forged":
      return sealRefusal("Corrupted thought signature.", use);
    case "other-model":
      return sealRefusal("Invalid thought signature", use);
    case "other-text":
    case "prefix":
      return "accepted";
  }
};

const sealRefusal = (message: string, { pointer }: SealUse): ApiRefusal => ({
  status: 400,
  kind: "bad-request",
  message,
  pointer,
});
