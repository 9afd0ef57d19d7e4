import { type ResponsesItem, isCall, isOutput } from "../../rules/openai-responses/walk.ts";
import type { Json, PromptUnit } from "../family.ts";
import { asArray, asObject, asText, isObject } from "../json.ts";
import type { TokensByModality } from "../model/types.ts";
import type { ResponsesSimRequest } from "./providers.ts";
import { contentParts, inputItems, mediaOf, partText } from "./request.ts";
import { decrypt } from "./seals.ts";
import { openSeal } from "../seal.ts";
import { measureFile, countTextTokens } from "../tokens.ts";

/**
 * The prompt in pieces: settings that decide whose cache is asked, each tool,
 * the instructions, then every part of every item.
 */
export const splitPrompt = (ask: ResponsesSimRequest): readonly PromptUnit[] => {
  const { body } = ask;
  const instructions = asText(body["instructions"]);
  return [
    createUnit(settingsOf(body), {}),
    ...asArray(body["tools"]).map((tool) => createUnit(tool, { text: countTextTokens(JSON.stringify(tool) ?? "") })),
    ...(instructions === "" ? [] : [createUnit({ instructions }, { text: countTextTokens(instructions) })]),
    ...inputItems(ask).flatMap((item) => itemUnits(item, ask)),
  ];
};

const createUnit = (value: unknown, tokens: TokensByModality, marked = false): PromptUnit => ({
  content: JSON.stringify(value) ?? "",
  tokens,
  isCachePoint: marked,
});

/** OpenAI names a change of any of these as a reason for a miss. */
const settingsOf = (body: Json): Json => ({
  key: body["prompt_cache_key"],
  tier: body["service_tier"],
  effort: asObject(body["reasoning"])["effort"],
  verbosity: asObject(body["text"])["verbosity"],
  format: asObject(body["text"])["format"],
});

/** Ids and states of items are not shown to the model. */
const itemUnits = (item: ResponsesItem, ask: ResponsesSimRequest): readonly PromptUnit[] => {
  const { id: _id, status: _status, content: _content, output: _output, ...shown } = item.value;
  if (item.type === "message" || isOutput(item))
    return contentParts(item).map((part) => {
      const { prompt_cache_breakpoint: mark, ...rest } = part;
      return createUnit([shown, rest], partTokens(part), isObject(mark));
    });
  if (isCall(item)) {
    const said = asText(shown["arguments"]) || asText(shown["input"]);
    return [createUnit(shown, { text: 8 + countTextTokens(asText(shown["name"])) + countTextTokens(said) })];
  }
  return [createUnit(shown, reasoningTokens(item, ask))];
};

const partTokens = (part: Json): TokensByModality => {
  const medium = mediaOf(part);
  return medium === undefined
    ? { text: countTextTokens(partText(part)) }
    : { [medium.kind]: measureFile(medium).tokens };
};

/** A sealed thought is read again, and costs what it is long. */
const reasoningTokens = ({ value }: ResponsesItem, ask: ResponsesSimRequest): TokensByModality => {
  const text = asText(value["encrypted_content"]);
  const seal = text === "" ? undefined : decrypt(text, ask)?.seal;
  return { text: seal === undefined ? 0 : (openSeal(seal)?.tokens ?? 0) };
};
