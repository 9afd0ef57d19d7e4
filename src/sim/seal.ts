import { createHash, createHmac } from "node:crypto";
import type { SealUse, SealVerdict } from "./family.ts";
import { asNumber, asObject, asText } from "./json.ts";
import type { ReplyPart } from "./model/types.ts";
import { countTextTokens } from "./tokens.ts";

/** What a seal is bound to: who made it, for which text, and what stood before it. `prefix` is any digest. */
export type SealContent = {
  readonly provider: string;
  readonly model: string;
  readonly text: string;
  readonly prefix: string;
};

/** A seal as a vendor would put it on a thought: opaque base64 that only its maker can have written. */
export const makeSeal = ({ provider, model, text, prefix }: SealContent): string => {
  const payload = JSON.stringify({ provider, model, text: digest(text), tokens: countTextTokens(text), prefix });
  return Buffer.concat([mac(provider, payload), Buffer.from(payload)]).toString("base64");
};

/** The text that the seal of a part is bound to. */
export const sealedText = (part: Extract<ReplyPart, { type: "think" | "say" | "call" }>): string =>
  part.type === "call" ? `${part.tool} ${JSON.stringify(part.input)}` : part.text;

/**
 * What a seal in a request is worth to this provider and model. `prefix` gives the digest of the first units.
 *
 * A message that was paused and continued holds seals of several answers, so each may be bound to what stands in it before.
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

/** What stands in a genuine seal of any simulated provider. `text` is a digest, `tokens` the size of that text. */
export const openSeal = (
  value: string,
): { provider: string; model: string; text: string; tokens: number; prefix: string } | undefined => {
  const bytes = Buffer.from(value, "base64");
  // A changed last letter can stand for the same bytes. A vendor compares letters.
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

/** A digest of a text, short enough to stand in a seal. */
export const digest = (text: string): string => createHash("sha256").update(text).digest("base64url").slice(0, 22);

const macLength = 32;

/** The secret is no secret: nothing here guards anything but the honesty of a test. */
const mac = (provider: string, payload: string): Buffer =>
  createHmac("sha256", `seal of ${provider}`).update(payload).digest();
