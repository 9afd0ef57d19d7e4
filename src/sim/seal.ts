import { createHash, createHmac } from "node:crypto";
import type { SealUse, SealVerdict } from "./family.ts";
import { asNumber, asObject, asText } from "./json.ts";
import type { ReplyPart } from "./model/types.ts";
import { countTextTokens } from "./tokens.ts";

/** The data a seal is bound to: provider, model, text and the prompt before it. `prefix` is a digest. */
export type SealContent = {
  readonly provider: string;
  readonly model: string;
  readonly text: string;
  readonly prefix: string;
};

/** Creates a seal as a vendor attaches it to thinking: opaque base64 that only the issuer can create. */
export const makeSeal = ({ provider, model, text, prefix }: SealContent): string => {
  const payload = JSON.stringify({ provider, model, text: digest(text), tokens: countTextTokens(text), prefix });
  return Buffer.concat([mac(provider, payload), Buffer.from(payload)]).toString("base64");
};

/** The text that a part's seal is bound to. */
export const sealedText = (part: Extract<ReplyPart, { type: "think" | "say" | "call" }>): string =>
  part.type === "call" ? `${part.tool} ${JSON.stringify(part.input)}` : part.text;

/**
 * Checks a seal of a request for this provider and model. `prefix` returns the digest of the first units. A message
 * that was paused and continued contains seals of several responses, so each may also be bound to units inside the
 * message.
 */
export const checkSeal = (
  use: SealUse,
  here: { readonly provider: string; readonly model: string; readonly prefix: (after: number) => string },
): SealVerdict => {
  const seal = openSeal(use.value);
  if (seal === undefined || seal.provider !== here.provider) return "forged";
  if (use.text !== undefined && seal.text !== digest(use.text)) return "other-text";
  if (seal.model !== here.model) return "other-model";
  for (let before = use.unitsBefore; before <= (use.unit ?? use.unitsBefore); before++)
    if (seal.prefix === here.prefix(before)) return "genuine";
  return "prefix";
};

/**
 * Decodes a genuine seal of any simulated provider; undefined for any other text. `text` is a digest, `tokens` the size
 * of that text.
 */
export const openSeal = (
  value: string,
): { provider: string; model: string; text: string; tokens: number; prefix: string } | undefined => {
  const bytes = Buffer.from(value, "base64");
  // A changed last character can decode to the same bytes. Vendors compare the text.
  if (bytes.length <= macLength || bytes.toString("base64") !== value) return undefined;
  const payload = bytes.subarray(macLength).toString();
  const content = parsed(payload);
  const provider = asText(content["provider"]);
  if (!mac(provider, payload).equals(bytes.subarray(0, macLength))) return undefined;
  const [model, text, prefix] = [asText(content["model"]), asText(content["text"]), asText(content["prefix"])];
  return { provider, model, text, tokens: asNumber(content["tokens"]) ?? 0, prefix };
};

const parsed = (text: string): { readonly [key: string]: unknown } => {
  try {
    return asObject(JSON.parse(text));
  } catch {
    return {};
  }
};

/** A digest of a text, short enough for a seal. */
export const digest = (text: string): string => createHash("sha256").update(text).digest("base64url").slice(0, 22);

const macLength = 32;

/** The key is public: seals only protect tests from accidental changes. */
const mac = (provider: string, payload: string): Buffer =>
  createHmac("sha256", `seal of ${provider}`).update(payload).digest();
