import { type Item, isCall, isOutput } from "../rules/openai-responses-walk.ts";
import type { Json, Unit } from "./family.ts";
import { asArray, asObject, asText, isObject } from "./json.ts";
import type { Tokens } from "./model.ts";
import type { ResponsesAsk } from "./openai-responses-providers.ts";
import { contentOf, inputOf, mediumOf, wordsOf } from "./openai-responses-request.ts";
import { decrypt } from "./openai-responses-seals.ts";
import { openSeal } from "./seal.ts";
import { fileTokens, textTokens } from "./tokens.ts";

/**
 * The prompt in pieces: settings that decide whose cache is asked, each tool,
 * the instructions, then every part of every item.
 */
export const promptOf = (ask: ResponsesAsk): readonly Unit[] => {
  const { body } = ask;
  const instructions = asText(body["instructions"]);
  return [
    unit(settingsOf(body), {}),
    ...asArray(body["tools"]).map((tool) => unit(tool, { text: textTokens(JSON.stringify(tool) ?? "") })),
    ...(instructions === "" ? [] : [unit({ instructions }, { text: textTokens(instructions) })]),
    ...inputOf(ask).flatMap((item) => itemUnits(item, ask)),
  ];
};

const unit = (value: unknown, tokens: Tokens, marked = false): Unit => ({
  content: JSON.stringify(value) ?? "",
  tokens,
  marked,
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
const itemUnits = (item: Item, ask: ResponsesAsk): readonly Unit[] => {
  const { id: _id, status: _status, content: _content, output: _output, ...shown } = item.value;
  if (item.type === "message" || isOutput(item))
    return contentOf(item).map((part) => {
      const { prompt_cache_breakpoint: mark, ...rest } = part;
      return unit([shown, rest], partTokens(part), isObject(mark));
    });
  if (isCall(item)) {
    const said = asText(shown["arguments"]) || asText(shown["input"]);
    return [unit(shown, { text: 8 + textTokens(asText(shown["name"])) + textTokens(said) })];
  }
  return [unit(shown, sealedTokens(item, ask))];
};

const partTokens = (part: Json): Tokens => {
  const medium = mediumOf(part);
  return medium === undefined ? { text: textTokens(wordsOf(part)) } : { [medium.kind]: fileTokens(medium).tokens };
};

/** A sealed thought is read again, and costs what it is long. */
const sealedTokens = ({ value }: Item, ask: ResponsesAsk): Tokens => {
  const text = asText(value["encrypted_content"]);
  const seal = text === "" ? undefined : decrypt(text, ask)?.seal;
  return { text: seal === undefined ? 0 : (openSeal(seal)?.tokens ?? 0) };
};
