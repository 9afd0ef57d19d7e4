import type { Origin } from "../conversation/entry.ts";
import { isObject } from "../conversation/json.ts";
import type { Seal, Thinking } from "../conversation/parts.ts";
import type { SealCargo } from "./answers/answer.ts";

/*
 * Clients keep the whole history and know one API. The opaque state of another provider rides in the opaque fields of
 * that API, which clients return untouched: Anthropic `signature` and `redacted_thinking.data`, Responses
 * `encrypted_content`, Gemini `thoughtSignature`, chat `reasoning_details[].data`. The text is valid base64, because some
 * SDKs decode these fields.
 */

/** The model that wrote a response, and the hash of the request it responds to. */
export type SealSource = { readonly origin: Origin; readonly prefix?: string };

/** Wraps seals for an opaque field of the client. An empty cargo carries the origin alone. */
export const wrapSeal = (
  { origin, prefix }: SealSource,
  { seal, text, next, previous, thinking, before, first }: SealCargo = {},
): string => {
  const { provider, model, account } = origin;
  const carried = {
    p: provider,
    m: model,
    ...(account === undefined ? {} : { a: account }),
    ...(prefix === undefined ? {} : { x: prefix }),
    ...(seal === undefined ? {} : { s: seal }),
    ...(text === undefined ? {} : { t: text }),
    ...(next === undefined ? {} : { n: next }),
    ...(previous === undefined ? {} : { l: previous }),
    ...(thinking === undefined ? {} : { k: thinking }),
    ...(before === undefined ? {} : { b: before }),
    ...(first === undefined ? {} : { f: first }),
  };
  return mark + Buffer.from(JSON.stringify(carried)).toString("base64");
};

/** Unwraps seals; undefined for anything that `wrapSeal` did not make, such as a vendor's own signature. */
export const unwrapSeal = (field: string): (SealSource & SealCargo) | undefined => {
  if (!field.startsWith(mark)) return undefined;
  const carried = parseObject(Buffer.from(field.slice(mark.length), "base64").toString());
  if (carried === undefined) return undefined;
  const {
    p: provider,
    m: model,
    a: account,
    x: prefix,
    s: seal,
    t: text,
    n: next,
    l: previous,
    k: thinking,
    b: before,
    f: first,
  } = carried;
  if (typeof provider !== "string" || typeof model !== "string") return undefined;
  return {
    origin: { provider, model, ...(typeof account === "string" ? { account } : {}) },
    ...(typeof prefix === "string" ? { prefix } : {}),
    ...(isObject(seal) ? { seal: readSeal(seal) } : {}),
    ...(typeof text === "string" ? { text } : {}),
    ...(isObject(next) ? { next: readSeal(next) } : {}),
    ...(isObject(previous) ? { previous: readSeal(previous) } : {}),
    ...(isObject(thinking) ? { thinking: readSeal(thinking) } : {}),
    ...(Array.isArray(before) ? { before: before.flatMap(readThinking) } : {}),
    ...(Array.isArray(first) ? { first: first.flatMap(readThinking) } : {}),
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

const readThinking = (value: unknown): readonly Thinking[] =>
  isObject(value) && typeof value["text"] === "string"
    ? [
        {
          type: "thinking",
          text: value["text"],
          ...(isObject(value["seal"]) ? { seal: readSeal(value["seal"]) } : {}),
        },
      ]
    : [];
