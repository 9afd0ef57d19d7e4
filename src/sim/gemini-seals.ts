import { type Content, pick } from "../rules/gemini-body.ts";
import { geminiModel } from "../rules/gemini-models.ts";
import type { Refusal, SealUse, SealVerdict } from "./family.ts";
import { promptOf } from "./gemini-prompt.ts";
import { type GeminiAsk, contentsIn, placeOf, targetOf } from "./gemini-request.ts";

/**
 * The thought signatures that are looked at: those of the current turn, where the model asks for any.
 *
 * The documented stand-ins are no signatures, and always pass.
 */
export const sealsOf = (ask: GeminiAsk): readonly SealUse[] => {
  if (!geminiModel(ask.body, targetOf(ask)).needsSignature) return [];
  const contents = contentsIn(ask);
  const begin = currentTurn(contents);
  let after = promptOf(ask).length - contents.slice(begin).reduce((sum, { parts }) => sum + parts.length, 0);
  return contents.slice(begin).flatMap((content) => {
    const seals = sealsIn(content, after);
    after += content.parts.length;
    return seals;
  });
};

/** The current turn begins with the last user content that is more than responses. */
const currentTurn = (contents: readonly Content[]): number =>
  1 +
  contents.findLastIndex(
    ({ role, parts }) => role !== "model" && parts.some((part) => part.kind !== "functionResponse"),
  );

const sealsIn = ({ parts }: Content, after: number): readonly SealUse[] =>
  parts.flatMap((part) => {
    const signature = pick(placeOf(part), "thoughtSignature");
    if (typeof signature?.value !== "string" || isStandIn(signature.value)) return [];
    return [{ pointer: signature.pointer, value: standard(signature.value), after }];
  });

/** Accepted as they stand, and as the base64 that an SDK makes of them. */
const isStandIn = (signature: string): boolean =>
  standIns.includes(signature) || standIns.includes(Buffer.from(signature, "base64").toString());

const standIns = ["skip_thought_signature_validator", "context_engineering_is_the_way_to_go"];

/** Both base64 alphabets are read, with or without padding. */
const standard = (base64: string): string => {
  const letters = base64.replaceAll("-", "+").replaceAll("_", "/").replace(/=+$/, "");
  return letters.padEnd(Math.ceil(letters.length / 4) * 4, "=");
};

/** A signature holds the thoughts themselves: neither the part it stands on nor what stood before is compared. */
export const judgeSeal = (use: SealUse, verdict: Exclude<SealVerdict, "genuine">): Refusal | "accepted" => {
  switch (verdict) {
    case "forged":
      return refused("Corrupted thought signature.", use);
    case "other-model":
      return refused("Invalid thought signature", use);
    case "other-text":
    case "prefix":
      return "accepted";
  }
};

const refused = (message: string, { pointer }: SealUse): Refusal => ({
  status: 400,
  kind: "bad-request",
  message,
  pointer,
});
