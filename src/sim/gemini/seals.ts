import { type GeminiBodyContent, pick } from "../../rules/gemini/body.ts";
import { geminiModel } from "../../rules/gemini/models.ts";
import type { ApiRefusal, SealUse, SealVerdict } from "../family.ts";
import { splitPrompt } from "./prompt.ts";
import { type GeminiSimRequest, contentsIn, toLocated, targetOf } from "./request.ts";

/**
 * The thought signatures that are looked at: those of the current turn, where the model asks for any.
 *
 * The documented stand-ins are no signatures, and always pass.
 */
export const findSeals = (ask: GeminiSimRequest): readonly SealUse[] => {
  if (!geminiModel(ask.body, targetOf(ask)).needsSignature) return [];
  const contents = contentsIn(ask);
  const begin = startOfCurrentTurn(contents);
  let after = splitPrompt(ask).length - contents.slice(begin).reduce((sum, { parts }) => sum + parts.length, 0);
  return contents.slice(begin).flatMap((content) => {
    const seals = sealsIn(content, after);
    after += content.parts.length;
    return seals;
  });
};

/** The current turn begins with the last user content that is more than responses. */
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

/** Accepted as they stand, and as the base64 that an SDK makes of them. */
const isPlaceholder = (signature: string): boolean =>
  placeholders.includes(signature) || placeholders.includes(Buffer.from(signature, "base64").toString());

const placeholders = ["skip_thought_signature_validator", "context_engineering_is_the_way_to_go"];

/** Both base64 alphabets are read, with or without padding. */
const toStandardBase64 = (base64: string): string => {
  const letters = base64.replaceAll("-", "+").replaceAll("_", "/").replace(/=+$/, "");
  return letters.padEnd(Math.ceil(letters.length / 4) * 4, "=");
};

/** A signature holds the thoughts themselves: neither the part it stands on nor what stood before is compared. */
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
