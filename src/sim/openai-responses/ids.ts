import { createHash } from "node:crypto";
import type { SimProvider } from "../family.ts";
import type { ResponsesSimRequest, ResponsesQuirks } from "./providers.ts";

/** Where an item stands in its response, and where the thought stands that led to it. */
export type ItemPosition = { readonly position: number; readonly reasoning?: number };

/**
 * The id of a response or of one of its items.
 *
 * A server without a memory still knows by its letters what it has made, from
 * which thought it came, and whether it was stored.
 */
export const makeId = (
  ask: ResponsesSimRequest,
  prefix: string,
  { position: place, reasoning: thought }: ItemPosition,
): string => {
  const { provider, ordinal, time, model } = ask;
  const group = hex(`${provider.id} ${model} ${ordinal} ${time}`).slice(0, groupLength(provider));
  return formatId(
    { group, place, thought: thought ?? noReasoning, state: isStored(ask) ? "stored" : "passing" },
    prefix,
    provider,
  );
};

/** Whether an id names an item this provider has made and stored. */
export const isStoredId = (id: string, provider: SimProvider<ResponsesQuirks>): boolean =>
  parseId(id, provider) !== undefined;

/** The id of the thought that led to a stored item, if there was one. */
export const reasoningIdFor = (id: string, provider: SimProvider<ResponsesQuirks>): string | undefined => {
  const letters = parseId(id, provider);
  if (letters === undefined || letters.thought === noReasoning) return undefined;
  return formatId({ ...letters, place: letters.thought, thought: noReasoning }, "rs_", provider);
};

/** The id of a call, as each vendor writes them. */
export const makeCallId = ({ provider, ordinal, time }: ResponsesSimRequest, place: number): string => {
  const seed = hex(`${provider.id} ${ordinal} ${time} ${place}`);
  if (provider.quirks.vendor === "xai")
    return `call_${(Number.parseInt(seed.slice(0, 12), 16) % 90_000_000) + 10_000_000}`;
  return `call_${Buffer.from(seed, "hex").toString("base64").replaceAll(/[+/=]/g, "").slice(0, 24)}`;
};

/** Nothing is stored when the request says so. */
export const isStored = ({ body }: ResponsesSimRequest): boolean => body["store"] !== false;

type IdParts = {
  readonly group: string;
  readonly place: number;
  readonly thought: number;
  readonly state: "stored" | "passing";
};

/** The place of a thought where there is none. */
const noReasoning = 0xfff;

/** Ids of xAI are UUIDs; the others have fifty letters. */
const groupLength = ({ quirks }: SimProvider<ResponsesQuirks>): number => (quirks.vendor === "xai" ? 10 : 16);

const formatId = (
  { group, place, thought, state }: IdParts,
  prefix: string,
  provider: SimProvider<ResponsesQuirks>,
): string => {
  const isUuid = provider.quirks.vendor === "xai";
  const head = `${group}${threeLetters(place)}${threeLetters(thought)}`;
  const check = hex(`${provider.id} ${state} ${prefix} ${head}`).slice(0, (isUuid ? 32 : 50) - head.length);
  return `${prefix}${isUuid ? asUuid(head + check) : head + check}`;
};

const parseId = (id: string, provider: SimProvider<ResponsesQuirks>): IdParts | undefined => {
  const prefix = /^[a-z]+_/.exec(id)?.[0] ?? "";
  const letters = id.slice(prefix.length).replaceAll("-", "");
  const length = groupLength(provider);
  const found: IdParts = {
    group: letters.slice(0, length),
    place: Number.parseInt(letters.slice(length, length + 3), 16),
    thought: Number.parseInt(letters.slice(length + 3, length + 6), 16),
    state: "stored",
  };
  return formatId(found, prefix, provider) === id ? found : undefined;
};

const threeLetters = (number: number): string => number.toString(16).padStart(3, "0");

const hex = (text: string): string => createHash("sha256").update(text).digest("hex");

const asUuid = (letters: string): string =>
  [letters.slice(0, 8), letters.slice(8, 12), letters.slice(12, 16), letters.slice(16, 20), letters.slice(20)].join(
    "-",
  );
