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

/** Encodes a stream: server-sent events, or the elements of one JSON list. A call is complete in one chunk. */
export const encodeStream = (original: SimResponse, request: GeminiSimRequest): readonly string[] => {
  const response = emptyOnMismatch(original, request);
  const chunks = response.finish === "refused" ? [blockedResponse(response, request)] : chunksOf(response, request);
  return isList(request)
    ? chunks.map((chunk, index) => encodeListItem(chunk, { isFirst: index === 0, isLast: index === chunks.length - 1 }))
    : chunks.map(encodeEvent);
};

/** Encodes an error inside a stream. */
export const encodeStreamError = (envelope: Json, request: GeminiSimRequest): string =>
  isList(request) ? encodeListItem(envelope, { isFirst: false, isLast: true }) : encodeEvent(envelope);

const isList = ({ route }: GeminiSimRequest): boolean => route.kind === "stream" && route.streamType !== undefined;

const encodeEvent = (chunk: Json): string => `data: ${encodeSpacedJson(chunk)}\r\n\r\n`;

const encodeListItem = (
  chunk: Json,
  { isFirst, isLast }: { readonly isFirst: boolean; readonly isLast: boolean },
): string => `${isFirst ? "[" : ",\r\n"}${JSON.stringify(chunk, undefined, 2)}\n${isLast ? "]\n" : ""}`;

/** Encodes JSON with a space after colons and none after commas, as Google does. */
const encodeSpacedJson = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(encodeSpacedJson).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? "null";
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}: ${encodeSpacedJson(field)}`).join(",")}}`;
};

const chunksOf = (response: SimResponse, request: GeminiSimRequest): readonly Json[] => {
  const { hasUsageInEveryChunk, tier } = request.provider.quirks;
  const { groundingMetadata, urlContextMetadata } = groundingOf(response, request);
  const pieces = splitParts(responseParts(response, request), request);
  const usage = usageOf(response.usage, request);
  const total = tokensSpent(response, request);
  let spent: GeminiTokens = { thoughts: 0, answer: 0, images: 0, tools: total.tools };
  return pieces.map((parts, index) => {
    const isLast = index === pieces.length - 1;
    spent = isLast ? total : addSpent(parts, spent, total);
    const ending = {
      ...(isLast ? { ...finishFields(response, request), groundingMetadata } : {}),
      ...(index === 0 ? { urlContextMetadata } : {}),
    };
    const head = { candidates: [candidateOf(parts, ending, request)] };
    return wrapResponse(head, isLast || hasUsageInEveryChunk ? usage(spent) : tier, request);
  });
};

/** Splits parts into chunks. The last chunk may be empty. */
const splitParts = (shown: readonly GeminiResponsePart[], request: GeminiSimRequest): readonly (readonly Json[])[] => {
  const isNew = generation(request.model) >= 3;
  const first = shown.findIndex(({ kind }) => kind === "call");
  const pieces = shown.flatMap((part, index): readonly (readonly Json[])[] => {
    switch (part.kind) {
      case "thought":
      case "text":
        return splitTextPart(part.json, isNew);
      // The first call has its own chunk; the parallel ones share the next.
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

/** Splits a text part. Gemini 3 sends the signature of a text in a separate, empty part after it. */
const splitTextPart = ({ text, thoughtSignature, ...rest }: Json, isNew: boolean): readonly (readonly Json[])[] => {
  const pieces = splitIntoDeltas(asText(text)).map((piece) => ({ text: piece, ...rest }));
  if (thoughtSignature === undefined) return pieces.map((piece) => [piece]);
  if (isNew || pieces.length === 0) return [...pieces.map((piece) => [piece]), [{ text: "", thoughtSignature }]];
  return pieces.map((piece, index) => [index === pieces.length - 1 ? { ...piece, thoughtSignature } : piece]);
};

/** Adds the tokens of further parts. All thinking tokens count once the answer starts. */
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
