import { type ResponsesItem, isCall, isOutput } from "../../rules/openai-responses/walk.ts";
import type { Json, PromptUnit } from "../family.ts";
import { asArray, asObject, asText, isObject } from "../json.ts";
import type { TokensByModality } from "../model/types.ts";
import type { ResponsesSimRequest } from "./providers.ts";
import { contentParts, inputItems, mediaOf, partText } from "./request.ts";
import { decrypt } from "./seals.ts";
import { openSeal } from "../seal.ts";
import { measureFile, countTextTokens } from "../tokens.ts";

/** Splits the prompt into the settings that select the cache, tools, instructions, and the parts of items. */
export const splitPrompt = (request: ResponsesSimRequest): readonly PromptUnit[] => {
  const { body } = request;
  const instructions = asText(body["instructions"]);
  return [
    createUnit(settingsOf(body), {}),
    ...asArray(body["tools"]).map((tool) => createUnit(tool, { text: countTextTokens(JSON.stringify(tool) ?? "") })),
    ...(instructions === "" ? [] : [createUnit({ instructions }, { text: countTextTokens(instructions) })]),
    ...inputItems(request).flatMap((item) => itemUnits(item, request)),
  ];
};

const createUnit = (value: unknown, tokens: TokensByModality, marked = false): PromptUnit => ({
  content: JSON.stringify(value) ?? "",
  tokens,
  isCachePoint: marked,
});

/** The settings that OpenAI documents as reasons for a cache miss. */
const settingsOf = (body: Json): Json => ({
  key: body["prompt_cache_key"],
  tier: body["service_tier"],
  effort: asObject(body["reasoning"])["effort"],
  verbosity: asObject(body["text"])["verbosity"],
  format: asObject(body["text"])["format"],
});

/** The model does not receive ids and states of items. */
const itemUnits = (item: ResponsesItem, request: ResponsesSimRequest): readonly PromptUnit[] => {
  const { id: _id, status: _status, content: _content, output: _output, ...shown } = item.value;
  if (item.type === "message" || isOutput(item))
    return contentParts(item).map((part) => {
      const { prompt_cache_breakpoint: mark, ...rest } = part;
      return createUnit([shown, rest], partTokens(part), isObject(mark));
    });
  if (isCall(item)) {
    const args = asText(shown["arguments"]) || asText(shown["input"]);
    return [createUnit(shown, { text: 8 + countTextTokens(asText(shown["name"])) + countTextTokens(args) })];
  }
  return [createUnit(shown, reasoningTokens(item, request))];
};

const partTokens = (part: Json): TokensByModality => {
  const medium = mediaOf(part);
  return medium === undefined
    ? { text: countTextTokens(partText(part)) }
    : { [medium.kind]: measureFile(medium).tokens };
};

/** Encrypted reasoning is read again and billed by its length. */
const reasoningTokens = ({ value }: ResponsesItem, request: ResponsesSimRequest): TokensByModality => {
  const text = asText(value["encrypted_content"]);
  const seal = text === "" ? undefined : decrypt(text, request)?.seal;
  return { text: seal === undefined ? 0 : (openSeal(seal)?.tokens ?? 0) };
};
