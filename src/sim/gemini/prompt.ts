import { type LocatedValue, type GeminiBodyPart, nestedParts, pick, textIn } from "../../rules/gemini/body.ts";
import type { PromptUnit } from "../family.ts";
import { reachesModel } from "./parse-request.ts";
import { generation } from "./providers.ts";
import { type GeminiSimRequest, contentsIn, decodeText, mediaIn, toLocated, requestOf, toolsOf } from "./request.ts";
import type { SimModality, TokensByModality } from "../model/types.ts";
import { measureFile, countTextTokens } from "../tokens.ts";

/** Splits the prompt into tools, the system instruction and the parts of contents. */
export const splitPrompt = (request: GeminiSimRequest): readonly PromptUnit[] => {
  const system = pick(requestOf(request), "systemInstruction");
  return [
    ...toolsOf(request).map((tool) => textUnit(tool.value)),
    ...(system === undefined ? [] : [textUnit(system.value)]),
    ...contentsIn(request).flatMap(({ role, parts }) => parts.map((part) => partUnit(part, role, request))),
  ];
};

const textUnit = (value: unknown): PromptUnit => {
  const content = JSON.stringify(value) ?? "";
  return { content, tokens: { text: countTextTokens(content) }, isCachePoint: false };
};

const partUnit = (part: GeminiBodyPart, role: string, request: GeminiSimRequest): PromptUnit => ({
  content: JSON.stringify([role, part.value]),
  tokens: addTokens([partTokens(part, request), signatureTokens(part, request)]),
  isCachePoint: false,
});

const partTokens = (part: GeminiBodyPart, request: GeminiSimRequest): TokensByModality => {
  switch (part.kind) {
    case "text":
      return { text: countTextTokens(textIn(toLocated(part), "text") ?? "") };
    case "inlineData":
    case "fileData":
      return mediaTokens(toLocated(part), request);
    case "functionResponse":
      return addTokens([
        { text: countTextTokens(`${textIn(part.data, "name")}${JSON.stringify(pick(part.data, "response")?.value)}`) },
        ...nestedParts(part).map((nested) => (reachesModel(nested, request) ? mediaTokens(nested, request) : {})),
      ]);
    case "functionCall":
      return {
        text: countTextTokens(`${textIn(part.data, "name")}${JSON.stringify(pick(part.data, "args")?.value ?? {})}`),
      };
    default:
      return { text: countTextTokens(JSON.stringify(part.data.value) ?? "") };
  }
};

/** From Gemini 3.5 on, thoughts in signatures are read again and billed by length. */
const signatureTokens = (part: GeminiBodyPart, request: GeminiSimRequest): TokensByModality => {
  const signature = textIn(toLocated(part), "thoughtSignature");
  return signature === undefined || generation(request.model) < 3.5 ? {} : { text: countTextTokens(signature) };
};

const mediaTokens = (part: LocatedValue, request: GeminiSimRequest): TokensByModality => {
  const medium = mediaIn(part);
  if (medium === undefined) return {};
  if (medium.kind === "text") return { text: countTextTokens(decodeText(medium)) };
  const { tokens } = measureFile({ ...medium, kind: medium.kind });
  return { [modalityOf(medium.kind, request)]: tokens };
};

/** Gemini 3 counts the pages of a document as images. */
const modalityOf = (kind: SimModality, request: GeminiSimRequest): SimModality =>
  kind === "document" && generation(request.model) >= 3 ? "image" : kind;

const modalities: readonly SimModality[] = ["text", "image", "document", "audio", "video"];

const addTokens = (all: readonly TokensByModality[]): TokensByModality =>
  Object.fromEntries(
    modalities
      .map((modality) => [modality, all.reduce((total, tokens) => total + (tokens[modality] ?? 0), 0)] as const)
      .filter(([, count]) => count > 0),
  );

/** The first `count` tokens of the prompt, by modality. */
export const firstTokens = (request: GeminiSimRequest, count: number): TokensByModality => {
  let left = count;
  const taken = splitPrompt(request).flatMap((unit) =>
    modalities.map((modality): TokensByModality => {
      const tokens = Math.min(left, unit.tokens[modality] ?? 0);
      left -= tokens;
      return { [modality]: tokens };
    }),
  );
  return addTokens(taken);
};

/** Token counts as the API lists them, without zero entries. */
export const detailsOf = (
  tokens: TokensByModality,
): readonly { readonly modality: string; readonly tokenCount: number }[] =>
  modalities.flatMap((modality) => {
    const tokenCount = tokens[modality] ?? 0;
    return tokenCount === 0 ? [] : [{ modality: modality.toUpperCase(), tokenCount }];
  });
