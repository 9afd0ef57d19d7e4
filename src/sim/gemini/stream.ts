import type { Json, SimResponse } from "../family.ts";
import { blockedResponse, candidateOf, finishFields, wrapResponse, tokensSpent } from "./response.ts";
import { groundingOf } from "./grounding.ts";
import { type GeminiResponsePart, emptyOnMismatch, responseParts } from "./response-parts.ts";
import { generation } from "./providers.ts";
import type { GeminiSimRequest } from "./request.ts";
import { type GeminiTokens, usageOf } from "./usage.ts";
import { asText, isObject } from "../json.ts";
import { splitIntoDeltas } from "../split-text.ts";
import { countTextTokens } from "../tokens.ts";

/** An answer as it streams: server-sent events, or the elements of one JSON list. A call comes whole in one chunk. */
export const encodeStream = (said: SimResponse, ask: GeminiSimRequest): readonly string[] => {
  const spoken = emptyOnMismatch(said, ask);
  const chunks = spoken.finish === "refused" ? [blockedResponse(spoken, ask)] : chunksOf(spoken, ask);
  return isList(ask)
    ? chunks.map((chunk, index) => encodeListItem(chunk, { isFirst: index === 0, isLast: index === chunks.length - 1 }))
    : chunks.map(encodeEvent);
};

/** A failure within a stream. */
export const encodeStreamError = (envelope: Json, ask: GeminiSimRequest): string =>
  isList(ask) ? encodeListItem(envelope, { isFirst: false, isLast: true }) : encodeEvent(envelope);

const isList = ({ route }: GeminiSimRequest): boolean => route.kind === "stream" && route.streamType !== undefined;

const encodeEvent = (chunk: Json): string => `data: ${encodeSpacedJson(chunk)}\r\n\r\n`;

const encodeListItem = (
  chunk: Json,
  { isFirst, isLast }: { readonly isFirst: boolean; readonly isLast: boolean },
): string => `${isFirst ? "[" : ",\r\n"}${JSON.stringify(chunk, undefined, 2)}\n${isLast ? "]\n" : ""}`;

/** JSON with a blank after each colon and none after commas, which is how Google writes events. */
const encodeSpacedJson = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(encodeSpacedJson).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? "null";
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}: ${encodeSpacedJson(field)}`).join(",")}}`;
};

const chunksOf = (spoken: SimResponse, ask: GeminiSimRequest): readonly Json[] => {
  const { hasUsageInEveryChunk: countsInEveryChunk, tier } = ask.provider.quirks;
  const { groundingMetadata, urlContextMetadata } = groundingOf(spoken, ask);
  const pieces = splitParts(responseParts(spoken, ask), ask);
  const usage = usageOf(spoken.usage, ask);
  const total = tokensSpent(spoken, ask);
  let spent: GeminiTokens = { thoughts: 0, answer: 0, pictures: 0, tools: total.tools };
  return pieces.map((parts, index) => {
    const isLast = index === pieces.length - 1;
    spent = isLast ? total : addSpent(parts, spent, total);
    const ending = {
      ...(isLast ? { ...finishFields(spoken, ask), groundingMetadata } : {}),
      ...(index === 0 ? { urlContextMetadata } : {}),
    };
    const head = { candidates: [candidateOf(parts, ending, ask)] };
    return wrapResponse(head, isLast || countsInEveryChunk ? usage(spent) : tier, ask);
  });
};

/** The parts of each chunk. There is always a last one, if an empty one, to end on. */
const splitParts = (shown: readonly GeminiResponsePart[], ask: GeminiSimRequest): readonly (readonly Json[])[] => {
  const isNew = generation(ask.model) >= 3;
  const first = shown.findIndex(({ kind }) => kind === "call");
  const pieces = shown.flatMap((part, index): readonly (readonly Json[])[] => {
    switch (part.kind) {
      case "thought":
      case "text":
        return splitTextPart(part.json, isNew);
      // The first call comes alone, and those made beside it together.
      case "call":
        return index > first + 1 && shown[index - 1]?.kind === "call" ? [] : [callsFrom(shown, index, first)];
      case "other":
        return [[part.json]];
    }
  });
  const closes = pieces.length === 0 ? [[]] : first !== -1 && isNew ? [[{ text: "" }]] : [];
  return [...pieces, ...closes];
};

const callsFrom = (shown: readonly GeminiResponsePart[], index: number, first: number): readonly Json[] => {
  const after = shown.findIndex(({ kind }, at) => at > index && kind !== "call");
  const end = index === first ? index + 1 : after === -1 ? shown.length : after;
  return shown.slice(index, end).map(({ json }) => json);
};

/** Gemini 3 sends the signature of a text after it, on a part without words. */
const splitTextPart = ({ text, thoughtSignature, ...rest }: Json, isNew: boolean): readonly (readonly Json[])[] => {
  const pieces = splitIntoDeltas(asText(text)).map((piece) => ({ text: piece, ...rest }));
  if (thoughtSignature === undefined) return pieces.map((piece) => [piece]);
  if (isNew || pieces.length === 0) return [...pieces.map((piece) => [piece]), [{ text: "", thoughtSignature }]];
  return pieces.map((piece, index) => [index === pieces.length - 1 ? { ...piece, thoughtSignature } : piece]);
};

/** What is spent with some more parts said. Thoughts are all counted once the answer itself begins. */
const addSpent = (parts: readonly Json[], before: GeminiTokens, total: GeminiTokens): GeminiTokens => {
  const tokens = parts.reduce(
    (sum, { text, functionCall }) =>
      sum + countTextTokens(asText(text)) + countTextTokens(JSON.stringify(functionCall) ?? ""),
    0,
  );
  const isThought = parts.some(({ thought }) => thought === true);
  return isThought
    ? { ...before, thoughts: Math.min(total.thoughts, before.thoughts + tokens) }
    : { ...before, thoughts: total.thoughts, answer: Math.min(total.answer, before.answer + tokens) };
};
