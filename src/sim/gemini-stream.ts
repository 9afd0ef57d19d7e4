import type { Json, Spoken } from "./family.ts";
import { blocked, candidateOf, endOf, enveloped, spentOn } from "./gemini-answer.ts";
import { groundingOf } from "./gemini-grounding.ts";
import { type Shown, heardRight, partsOf } from "./gemini-parts.ts";
import { generation } from "./gemini-providers.ts";
import type { GeminiAsk } from "./gemini-request.ts";
import { type Spent, usageOf } from "./gemini-usage.ts";
import { asText, isObject } from "./json.ts";
import { deltas } from "./split.ts";
import { textTokens } from "./tokens.ts";

/** An answer as it streams: server-sent events, or the elements of one JSON list. A call comes whole in one chunk. */
export const streamGemini = (said: Spoken, ask: GeminiAsk): readonly string[] => {
  const spoken = heardRight(said, ask);
  const chunks = spoken.finish === "refused" ? [blocked(spoken, ask)] : chunksOf(spoken, ask);
  return isList(ask)
    ? chunks.map((chunk, index) => listed(chunk, { isFirst: index === 0, isLast: index === chunks.length - 1 }))
    : chunks.map(event);
};

/** A failure within a stream. */
export const streamErrorOf = (envelope: Json, ask: GeminiAsk): string =>
  isList(ask) ? listed(envelope, { isFirst: false, isLast: true }) : event(envelope);

const isList = ({ route }: GeminiAsk): boolean => route.kind === "stream" && route.streamType !== undefined;

const event = (chunk: Json): string => `data: ${spaced(chunk)}\r\n\r\n`;

const listed = (chunk: Json, { isFirst, isLast }: { readonly isFirst: boolean; readonly isLast: boolean }): string =>
  `${isFirst ? "[" : ",\r\n"}${JSON.stringify(chunk, undefined, 2)}\n${isLast ? "]\n" : ""}`;

/** JSON with a blank after each colon and none after commas, which is how Google writes events. */
const spaced = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(spaced).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? "null";
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}: ${spaced(field)}`).join(",")}}`;
};

const chunksOf = (spoken: Spoken, ask: GeminiAsk): readonly Json[] => {
  const { countsInEveryChunk, tier } = ask.provider.quirks;
  const { groundingMetadata, urlContextMetadata } = groundingOf(spoken, ask);
  const pieces = piecesOf(partsOf(spoken, ask), ask);
  const usage = usageOf(spoken.usage, ask);
  const total = spentOn(spoken, ask);
  let spent: Spent = { thoughts: 0, answer: 0, pictures: 0, tools: total.tools };
  return pieces.map((parts, index) => {
    const isLast = index === pieces.length - 1;
    spent = isLast ? total : spentWith(parts, spent, total);
    const ending = {
      ...(isLast ? { ...endOf(spoken, ask), groundingMetadata } : {}),
      ...(index === 0 ? { urlContextMetadata } : {}),
    };
    const head = { candidates: [candidateOf(parts, ending, ask)] };
    return enveloped(head, isLast || countsInEveryChunk ? usage(spent) : tier, ask);
  });
};

/** The parts of each chunk. There is always a last one, if an empty one, to end on. */
const piecesOf = (shown: readonly Shown[], ask: GeminiAsk): readonly (readonly Json[])[] => {
  const isNew = generation(ask.model) >= 3;
  const first = shown.findIndex(({ kind }) => kind === "call");
  const pieces = shown.flatMap((part, index): readonly (readonly Json[])[] => {
    switch (part.kind) {
      case "thought":
      case "text":
        return words(part.json, isNew);
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

const callsFrom = (shown: readonly Shown[], index: number, first: number): readonly Json[] => {
  const after = shown.findIndex(({ kind }, at) => at > index && kind !== "call");
  const end = index === first ? index + 1 : after === -1 ? shown.length : after;
  return shown.slice(index, end).map(({ json }) => json);
};

/** Gemini 3 sends the signature of a text after it, on a part without words. */
const words = ({ text, thoughtSignature, ...rest }: Json, isNew: boolean): readonly (readonly Json[])[] => {
  const pieces = deltas(asText(text)).map((piece) => ({ text: piece, ...rest }));
  if (thoughtSignature === undefined) return pieces.map((piece) => [piece]);
  if (isNew || pieces.length === 0) return [...pieces.map((piece) => [piece]), [{ text: "", thoughtSignature }]];
  return pieces.map((piece, index) => [index === pieces.length - 1 ? { ...piece, thoughtSignature } : piece]);
};

/** What is spent with some more parts said. Thoughts are all counted once the answer itself begins. */
const spentWith = (parts: readonly Json[], before: Spent, total: Spent): Spent => {
  const tokens = parts.reduce(
    (sum, { text, functionCall }) => sum + textTokens(asText(text)) + textTokens(JSON.stringify(functionCall) ?? ""),
    0,
  );
  const isThought = parts.some(({ thought }) => thought === true);
  return isThought
    ? { ...before, thoughts: Math.min(total.thoughts, before.thoughts + tokens) }
    : { ...before, thoughts: total.thoughts, answer: Math.min(total.answer, before.answer + tokens) };
};
