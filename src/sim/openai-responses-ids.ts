import { createHash } from "node:crypto";
import type { SimProvider } from "./family.ts";
import type { ResponsesAsk, ResponsesQuirks } from "./openai-responses-providers.ts";

/** Where an item stands in its response, and where the thought stands that led to it. */
export type Place = { readonly place: number; readonly thought?: number };

/**
 * The id of a response or of one of its items.
 *
 * A server without a memory still knows by its letters what it has made, from
 * which thought it came, and whether it was stored.
 */
export const makeId = (ask: ResponsesAsk, prefix: string, { place, thought }: Place): string => {
  const { provider, ordinal, time, model } = ask;
  const group = hex(`${provider.id} ${model} ${ordinal} ${time}`).slice(0, groupLength(provider));
  return written(
    { group, place, thought: thought ?? none, state: isStored(ask) ? "stored" : "passing" },
    prefix,
    provider,
  );
};

/** Whether an id names an item this provider has made and stored. */
export const isKept = (id: string, provider: SimProvider<ResponsesQuirks>): boolean => read(id, provider) !== undefined;

/** The id of the thought that led to a stored item, if there was one. */
export const thoughtBehind = (id: string, provider: SimProvider<ResponsesQuirks>): string | undefined => {
  const letters = read(id, provider);
  if (letters === undefined || letters.thought === none) return undefined;
  return written({ ...letters, place: letters.thought, thought: none }, "rs_", provider);
};

/** The id of a call, as each vendor writes them. */
export const makeCallId = ({ provider, ordinal, time }: ResponsesAsk, place: number): string => {
  const seed = hex(`${provider.id} ${ordinal} ${time} ${place}`);
  if (provider.quirks.manner === "xai")
    return `call_${(Number.parseInt(seed.slice(0, 12), 16) % 90_000_000) + 10_000_000}`;
  return `call_${Buffer.from(seed, "hex").toString("base64").replaceAll(/[+/=]/g, "").slice(0, 24)}`;
};

/** Nothing is stored when the request says so. */
export const isStored = ({ body }: ResponsesAsk): boolean => body["store"] !== false;

type Letters = {
  readonly group: string;
  readonly place: number;
  readonly thought: number;
  readonly state: "stored" | "passing";
};

/** The place of a thought where there is none. */
const none = 0xfff;

/** Ids of xAI are UUIDs; the others have fifty letters. */
const groupLength = ({ quirks }: SimProvider<ResponsesQuirks>): number => (quirks.manner === "xai" ? 10 : 16);

const written = (
  { group, place, thought, state }: Letters,
  prefix: string,
  provider: SimProvider<ResponsesQuirks>,
): string => {
  const isUuid = provider.quirks.manner === "xai";
  const head = `${group}${threeLetters(place)}${threeLetters(thought)}`;
  const check = hex(`${provider.id} ${state} ${prefix} ${head}`).slice(0, (isUuid ? 32 : 50) - head.length);
  return `${prefix}${isUuid ? asUuid(head + check) : head + check}`;
};

const read = (id: string, provider: SimProvider<ResponsesQuirks>): Letters | undefined => {
  const prefix = /^[a-z]+_/.exec(id)?.[0] ?? "";
  const letters = id.slice(prefix.length).replaceAll("-", "");
  const length = groupLength(provider);
  const found: Letters = {
    group: letters.slice(0, length),
    place: Number.parseInt(letters.slice(length, length + 3), 16),
    thought: Number.parseInt(letters.slice(length + 3, length + 6), 16),
    state: "stored",
  };
  return written(found, prefix, provider) === id ? found : undefined;
};

const threeLetters = (number: number): string => number.toString(16).padStart(3, "0");

const hex = (text: string): string => createHash("sha256").update(text).digest("hex");

const asUuid = (letters: string): string =>
  [letters.slice(0, 8), letters.slice(8, 12), letters.slice(12, 16), letters.slice(16, 20), letters.slice(20)].join(
    "-",
  );
