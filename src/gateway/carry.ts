import type { Origin } from "../conversation/entry.ts";
import { isObject } from "../conversation/json.ts";
import type { Seal } from "../conversation/parts.ts";

/*
 * Clients keep the whole history and know one API. The opaque state of another provider rides in the opaque fields of
 * that API, which clients return untouched: Anthropic `signature` and `redacted_thinking.data`, Responses
 * `encrypted_content`, Gemini `thoughtSignature`, chat `reasoning_details[].data`. The text is valid base64, because some
 * SDKs decode these fields.
 */

/** The model that wrote a response, and the hash of the request it responds to. */
export type SealSource = { readonly origin: Origin; readonly prefix?: string };

/**
 * The part a carried seal belongs to: the part whose field it is in (default), the part before it, or the call with this
 * id (the id the client got). A carrier for another part is a thinking part without text.
 */
export type SealOwner = "this" | "previous" | { readonly call: string };

/** A seal unwrapped from a field of the client. */
export type CarriedSeal = SealSource & { readonly seal: Seal; readonly owner: SealOwner };

/** Wraps a seal for an opaque field of the client. An empty seal carries the origin alone. */
export const wrapSeal = ({ origin, prefix }: SealSource, seal: Seal = {}, owner: SealOwner = "this"): string => {
  const { provider, model, account } = origin;
  const carried = {
    p: provider,
    m: model,
    ...(account === undefined ? {} : { a: account }),
    ...(prefix === undefined ? {} : { x: prefix }),
    ...(owner === "this" ? {} : owner === "previous" ? { b: 1 } : { c: owner.call }),
    s: seal,
  };
  return mark + Buffer.from(JSON.stringify(carried)).toString("base64");
};

/** Unwraps a seal; undefined for anything that `wrapSeal` did not make, such as a vendor's own signature. */
export const unwrapSeal = (text: string): CarriedSeal | undefined => {
  if (!text.startsWith(mark)) return undefined;
  const carried = parseObject(Buffer.from(text.slice(mark.length), "base64").toString());
  if (carried === undefined) return undefined;
  const { p: provider, m: model, a: account, x: prefix, b: previous, c: call, s: seal } = carried;
  if (typeof provider !== "string" || typeof model !== "string" || !isObject(seal)) return undefined;
  return {
    origin: { provider, model, ...(typeof account === "string" ? { account } : {}) },
    ...(typeof prefix === "string" ? { prefix } : {}),
    seal: readSeal(seal),
    owner: typeof call === "string" ? { call } : previous === 1 ? "previous" : "this",
  };
};

/** Whether a body holds wrapped seals. */
export const hasWrappedSeals = (body: string): boolean => body.includes(mark);

/** Eight characters, so that the base64 after it stays aligned. */
const mark = "parley1/";

const parseObject = (json: string): Record<string, unknown> | undefined => {
  try {
    const value: unknown = JSON.parse(json);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
};

/** Keeps the fields of a seal that have the right type: clients can change what they return. */
const readSeal = (seal: Record<string, unknown>): Seal => ({
  ...Object.fromEntries(
    ["id", "item", "signature", "encrypted", "phase"].flatMap((key) =>
      typeof seal[key] === "string" ? [[key, seal[key]]] : [],
    ),
  ),
  ...(Array.isArray(seal["details"]) ? { details: seal["details"] as NonNullable<Seal["details"]> } : {}),
});
