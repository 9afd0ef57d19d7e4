import { createHash } from "node:crypto";
import type { SimProvider } from "../family.ts";
import type { ResponsesSimRequest, ResponsesQuirks } from "./providers.ts";

/** The position of an item in its response, and of the reasoning that led to it. */
export type ItemPosition = { readonly position: number; readonly reasoning?: number };

/**
 * Creates the id of a response or of one of its items. The id encodes whether the item was stored and which reasoning
 * it belongs to, so the server needs no storage.
 */
export const makeId = (request: ResponsesSimRequest, prefix: string, { position, reasoning }: ItemPosition): string => {
  const { provider, ordinal, time, model } = request;
  const group = hex(`${provider.id} ${model} ${ordinal} ${time}`).slice(0, groupLength(provider));
  return formatId(
    { group, position, reasoning: reasoning ?? noReasoning, state: isStored(request) ? "stored" : "passing" },
    prefix,
    provider,
  );
};

/** True if the id names an item this provider created and stored. */
export const isStoredId = (id: string, provider: SimProvider<ResponsesQuirks>): boolean =>
  parseId(id, provider) !== undefined;

/** The id of the reasoning that led to a stored item, if any. */
export const reasoningIdFor = (id: string, provider: SimProvider<ResponsesQuirks>): string | undefined => {
  const parts = parseId(id, provider);
  if (parts === undefined || parts.reasoning === noReasoning) return undefined;
  return formatId({ ...parts, position: parts.reasoning, reasoning: noReasoning }, "rs_", provider);
};

/** Creates the id of a call in the vendor's format. */
export const makeCallId = ({ provider, ordinal, time }: ResponsesSimRequest, position: number): string => {
  const seed = hex(`${provider.id} ${ordinal} ${time} ${position}`);
  if (provider.quirks.vendor === "xai")
    return `call_${(Number.parseInt(seed.slice(0, 12), 16) % 90_000_000) + 10_000_000}`;
  return `call_${Buffer.from(seed, "hex").toString("base64").replaceAll(/[+/=]/g, "").slice(0, 24)}`;
};

/** False if the request sets `store: false`. */
export const isStored = ({ body }: ResponsesSimRequest): boolean => body["store"] !== false;

type IdParts = {
  readonly group: string;
  readonly position: number;
  readonly reasoning: number;
  readonly state: "stored" | "passing";
};

/** The position value that means no reasoning. */
const noReasoning = 0xfff;

/** xAI's ids are UUIDs; the others have fifty characters. */
const groupLength = ({ quirks }: SimProvider<ResponsesQuirks>): number => (quirks.vendor === "xai" ? 10 : 16);

const formatId = (
  { group, position, reasoning, state }: IdParts,
  prefix: string,
  provider: SimProvider<ResponsesQuirks>,
): string => {
  const isUuid = provider.quirks.vendor === "xai";
  const head = `${group}${threeDigits(position)}${threeDigits(reasoning)}`;
  const check = hex(`${provider.id} ${state} ${prefix} ${head}`).slice(0, (isUuid ? 32 : 50) - head.length);
  return `${prefix}${isUuid ? asUuid(head + check) : head + check}`;
};

const parseId = (id: string, provider: SimProvider<ResponsesQuirks>): IdParts | undefined => {
  const prefix = /^[a-z]+_/.exec(id)?.[0] ?? "";
  const digits = id.slice(prefix.length).replaceAll("-", "");
  const length = groupLength(provider);
  const found: IdParts = {
    group: digits.slice(0, length),
    position: Number.parseInt(digits.slice(length, length + 3), 16),
    reasoning: Number.parseInt(digits.slice(length + 3, length + 6), 16),
    state: "stored",
  };
  return formatId(found, prefix, provider) === id ? found : undefined;
};

const threeDigits = (number: number): string => number.toString(16).padStart(3, "0");

const hex = (text: string): string => createHash("sha256").update(text).digest("hex");

const asUuid = (letters: string): string =>
  [letters.slice(0, 8), letters.slice(8, 12), letters.slice(12, 16), letters.slice(16, 20), letters.slice(20)].join(
    "-",
  );
