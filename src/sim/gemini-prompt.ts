import { type Found, type Part, nestedParts, pick, textIn } from "../rules/gemini-body.ts";
import type { Unit } from "./family.ts";
import { reaches } from "./gemini-hear.ts";
import { generation } from "./gemini-providers.ts";
import { type GeminiAsk, contentsIn, decoded, mediumIn, placeOf, requestOf, toolsOf } from "./gemini-request.ts";
import type { Modality, Tokens } from "./model.ts";
import { fileTokens, textTokens } from "./tokens.ts";

/** The prompt in pieces: each tool, the system instruction, then every part of every content. */
export const promptOf = (ask: GeminiAsk): readonly Unit[] => {
  const system = pick(requestOf(ask), "systemInstruction");
  return [
    ...toolsOf(ask).map((tool) => textUnit(tool.value)),
    ...(system === undefined ? [] : [textUnit(system.value)]),
    ...contentsIn(ask).flatMap(({ role, parts }) => parts.map((part) => partUnit(part, role, ask))),
  ];
};

const textUnit = (value: unknown): Unit => {
  const content = JSON.stringify(value) ?? "";
  return { content, tokens: { text: textTokens(content) }, marked: false };
};

const partUnit = (part: Part, role: string, ask: GeminiAsk): Unit => ({
  content: JSON.stringify([role, part.value]),
  tokens: sum([partTokens(part, ask), signatureTokens(part, ask)]),
  marked: false,
});

const partTokens = (part: Part, ask: GeminiAsk): Tokens => {
  switch (part.kind) {
    case "text":
      return { text: textTokens(textIn(placeOf(part), "text") ?? "") };
    case "inlineData":
    case "fileData":
      return mediumTokens(placeOf(part), ask);
    case "functionResponse":
      return sum([
        { text: textTokens(`${textIn(part.data, "name")}${JSON.stringify(pick(part.data, "response")?.value)}`) },
        ...nestedParts(part).map((nested) => (reaches(nested, ask) ? mediumTokens(nested, ask) : {})),
      ]);
    case "functionCall":
      return {
        text: textTokens(`${textIn(part.data, "name")}${JSON.stringify(pick(part.data, "args")?.value ?? {})}`),
      };
    default:
      return { text: textTokens(JSON.stringify(part.data.value) ?? "") };
  }
};

/** From Gemini 3.5 on, the thoughts in signatures are read again, and cost what they are long. */
const signatureTokens = (part: Part, ask: GeminiAsk): Tokens => {
  const signature = textIn(placeOf(part), "thoughtSignature");
  return signature === undefined || generation(ask.model) < 3.5 ? {} : { text: textTokens(signature) };
};

const mediumTokens = (part: Found, ask: GeminiAsk): Tokens => {
  const medium = mediumIn(part);
  if (medium === undefined) return {};
  if (medium.kind === "text") return { text: textTokens(decoded(medium)) };
  const { tokens } = fileTokens({ ...medium, kind: medium.kind });
  return { [countedAs(medium.kind, ask)]: tokens };
};

/** Gemini 3 looks at the pages of a document as pictures. */
const countedAs = (kind: Modality, ask: GeminiAsk): Modality =>
  kind === "document" && generation(ask.model) >= 3 ? "image" : kind;

const modalities: readonly Modality[] = ["text", "image", "document", "audio", "video"];

const sum = (all: readonly Tokens[]): Tokens =>
  Object.fromEntries(
    modalities
      .map((modality) => [modality, all.reduce((total, tokens) => total + (tokens[modality] ?? 0), 0)] as const)
      .filter(([, count]) => count > 0),
  );

/** The first tokens of the prompt by what they stand for. */
export const firstTokens = (ask: GeminiAsk, count: number): Tokens => {
  let left = count;
  const taken = promptOf(ask).flatMap((unit) =>
    modalities.map((modality): Tokens => {
      const tokens = Math.min(left, unit.tokens[modality] ?? 0);
      left -= tokens;
      return { [modality]: tokens };
    }),
  );
  return sum(taken);
};

/** Token counts as the API lists them: what has none is left out. */
export const detailsOf = (tokens: Tokens): readonly { readonly modality: string; readonly tokenCount: number }[] =>
  modalities.flatMap((modality) => {
    const tokenCount = tokens[modality] ?? 0;
    return tokenCount === 0 ? [] : [{ modality: modality.toUpperCase(), tokenCount }];
  });
