import { isNonReasoning, effortLevels, modelOf, isTextOnly } from "../openai/models.ts";
import { checkBounds, halfSurrogate, loneSurrogate, mentionsWord, type NumberBounds } from "../openai/parameters.ts";
import { isOpenaiResponses, responsesFacts } from "../openai/providers.ts";
import { isContinued, partsOf } from "./walk.ts";
import { unsupportedOnResponses } from "../openai/sampling.ts";
import { listNames, quoteValue } from "../openai/error-text.ts";
import type { Rule } from "../rule.ts";
import { adviceRule, asArray, asObject, isObject, join, rejectedRule, type Check } from "../walk.ts";

const bounds: ReadonlyMap<string, NumberBounds> = new Map([
  ["temperature", { least: 0, most: 2 }],
  ["top_p", { least: 0, most: 1 }],
  ["top_logprobs", { least: 0, most: 20 }],
  ["max_tool_calls", { least: 1 }],
]);

const openaiBounds: ReadonlyMap<string, NumberBounds> = new Map([...bounds, ["max_output_tokens", { least: 16 }]]);

const parameterRange: Check = (body, report, target) =>
  checkBounds(asObject(body), isOpenaiResponses(target) ? openaiBounds : bounds, report);

/** Reports settings an OpenAI model does not support. */
const unsupportedParameter: Check = (body, report, target) => {
  if (!isOpenaiResponses(target)) return;
  const request = asObject(body);
  const model = modelOf(target);
  const { include } = request;
  const reasoning = asObject(request["reasoning"]);
  for (const { field, message } of unsupportedOnResponses(request, model)) report(join("", field), message);
  if (!isNonReasoning(model)) return;
  for (const field of ["effort", "summary"]) {
    if (reasoning[field] === undefined || reasoning[field] === null) continue;
    report(join("/reasoning", field), `Unsupported parameter: 'reasoning.${field}' is not supported with this model.`);
  }
  const place = asArray(include).indexOf("reasoning.encrypted_content");
  if (place >= 0) report(join("/include", place), "Encrypted content is not supported with this model.");
};

const effort: Check = (body, report, target) => {
  const given = asObject(asObject(body)["reasoning"])["effort"];
  const model = modelOf(target);
  if (given === undefined || given === null || isNonReasoning(model)) return;
  const levels = effortLevels(model, target.provider ?? "openai");
  if (levels === undefined || (typeof given === "string" && levels.includes(given))) return;
  report(
    "/reasoning/effort",
    `Unsupported value: '${quoteValue(given)}' is not supported with the '${model ?? ""}' model. Supported values are: ${listNames(levels)}.`,
  );
};

const imageModel: Check = (body, report, target) => {
  if (!isOpenaiResponses(target) || !isTextOnly(modelOf(target))) return;
  for (const { type, at } of partsOf(body)) {
    if (type === "input_image") report(at, "Invalid content type. image_url is only supported by certain models.");
  }
};

/** Reports OpenAI fields that a compatible API refuses. */
const refusedField: Check = (body, report, target) => {
  const request = asObject(body);
  for (const field of responsesFacts(target).refusedFields) {
    if (request[field] !== undefined && request[field] !== null)
      report(join("", field), `Argument not supported: ${field}`);
  }
};

const streamOptions: Check = (body, report, target) => {
  const { stream, stream_options: options } = asObject(body);
  if (!isOpenaiResponses(target) || options === undefined || options === null || stream === true) return;
  report("/stream_options", "The 'stream_options' parameter is only allowed when 'stream' is enabled.");
};

/** OpenAI requires the word "json" in the input; `instructions` do not count. */
const jsonWord: Check = (body, report, target) => {
  const { text, input } = asObject(body);
  if (!isOpenaiResponses(target) || isContinued(body) || asObject(asObject(text)["format"])["type"] !== "json_object")
    return;
  if (mentionsWord(input, "json")) return;
  report(
    "/text/format",
    "Response input messages must contain the word 'json' in some form to use 'text.format' of type 'json_object'.",
  );
};

const mostMarks = 4;

const cacheMarks: Check = (body, report) => {
  const marked = partsOf(body).filter(({ value }) => isObject(value["prompt_cache_breakpoint"]));
  for (const { at } of marked.slice(mostMarks))
    report(at, `Only ${mostMarks} cache marks of a request are sure to count.`);
};

/** Rules about values a model or a vendor does not accept. */
export const responsesFieldRules: readonly Rule<unknown>[] = [
  rejectedRule("openai-responses/parameter-range", parameterRange),
  rejectedRule("openai-responses/unsupported-parameter", unsupportedParameter),
  rejectedRule("openai-responses/effort", effort),
  rejectedRule("openai-responses/image-model", imageModel),
  rejectedRule("openai-responses/refused-field", refusedField),
  rejectedRule("openai-responses/stream-options", streamOptions),
  rejectedRule("openai-responses/json-word", jsonWord),
  adviceRule("openai-responses/cache-marks", cacheMarks),
  rejectedRule("openai-responses/lone-surrogate", loneSurrogate),
  adviceRule("openai-responses/half-surrogate", halfSurrogate),
];
