import { messagesOf, partsOf, type ChatMessage } from "./walk.ts";
import {
  usesMaxCompletionTokens,
  isNonReasoning,
  effortLevels,
  rejectsInstructions,
  modelOf,
  supportsWebSearch,
} from "../openai/models.ts";
import { checkBounds, halfSurrogate, loneSurrogate, mentionsWord, type NumberBounds } from "../openai/parameters.ts";
import { chatFacts, isOpenaiChat } from "../openai/providers.ts";
import { unsupportedOnChat } from "../openai/sampling.ts";
import { toDottedPath, listNames, quoteValue, tooMany, unknownParameter, wrongType } from "../openai/error-text.ts";
import type { Rule } from "../rule.ts";
import { adviceRule, asArray, asObject, has, isObject, join, rejectedRule, type Check } from "../walk.ts";

const reasoningFields: readonly string[] = ["reasoning_content", "reasoning", "reasoning_details", "thinking"];

/** Calls back for every message field that is not in the vendor's closed list. */
const eachForeignField = (
  body: unknown,
  fields: ReadonlyMap<string, ReadonlySet<string>> | undefined,
  look: (field: string, message: ChatMessage) => void,
): void => {
  if (fields === undefined) return;
  for (const message of messagesOf(body)) {
    const allowed = fields.get(message.role ?? "");
    if (allowed === undefined) continue;
    for (const field of Object.keys(message.value)) if (!allowed.has(field)) look(field, message);
  }
};

const refusalText = (field: string, { at, role }: ChatMessage, errorStyle: string): string =>
  errorStyle === "groq"
    ? `'${toDottedPath(at)}' : for 'role:${role}' the following must be satisfied[('${toDottedPath(at)}' : property '${field}' is unsupported)]`
    : `Extra inputs are not permitted: ${toDottedPath(join(at, field))} (extra_forbidden)`;

/** Reports reasoning in a field that this vendor does not have. */
const reasoningField: Check = (body, report, target) => {
  const { messageFields, errorStyle } = chatFacts(target);
  eachForeignField(body, messageFields, (field, message) => {
    if (reasoningFields.includes(field)) report(join(message.at, field), refusalText(field, message, errorStyle));
  });
};

const unknownField: Check = (body, report, target) => {
  const { messageFields, requestFields, errorStyle } = chatFacts(target);
  eachForeignField(body, messageFields, (field, message) => {
    if (!reasoningFields.includes(field)) report(join(message.at, field), refusalText(field, message, errorStyle));
  });
  if (requestFields === undefined || !isObject(body)) return;
  for (const field of Object.keys(body)) {
    if (!requestFields.has(field))
      report(join("", field), `Extra inputs are not permitted: body.${field} (extra_forbidden)`);
  }
};

/** OpenAI reads no reasoning field on Chat; its content is meant for another vendor. */
const unreadReasoning: Check = (body, report, target) => {
  if (!isOpenaiChat(target)) return;
  for (const { role, at, value } of messagesOf(body)) {
    for (const field of reasoningFields) {
      if (role === "assistant" && has(value, field)) report(join(at, field), `'${field}' is not read by this API.`);
    }
  }
};

/** Groq refuses an assistant field that is null; `content` may be. */
const nullField: Check = (body, report, target) => {
  const { messageFields, errorStyle } = chatFacts(target);
  if (errorStyle !== "groq") return;
  for (const message of messagesOf(body)) {
    if (message.role !== "assistant") continue;
    for (const [field, value] of Object.entries(message.value)) {
      if (value !== null || field === "content" || messageFields?.get("assistant")?.has(field) !== true) continue;
      report(join(message.at, field), refusalText(field, message, errorStyle));
    }
  }
};

const instructionRoles: ReadonlySet<string> = new Set(["system", "developer"]);

const unsupportedRole: Check = (body, report, target) => {
  const { developer, errorStyle } = chatFacts(target);
  const isDeaf = isOpenaiChat(target) && rejectsInstructions(modelOf(target));
  messagesOf(body).forEach(({ role, at, index }) => {
    if (role === undefined || !instructionRoles.has(role)) return;
    if (isDeaf) {
      report(
        join(at, "role"),
        `Unsupported value: 'messages[${index}].role' does not support '${role}' with this model.`,
      );
    } else if (role === "developer" && developer === "refused") {
      report(join(at, "role"), developerText(index, errorStyle));
    }
  });
};

const developerText = (index: number, errorStyle: string): string =>
  errorStyle === "deepseek"
    ? `Failed to deserialize the JSON body into the target type: messages[${index}].role: unknown variant \`developer\`, expected one of \`system\`, \`user\`, \`assistant\`, \`tool\``
    : `Unsupported value: 'messages[${index}].role' does not support 'developer'. Supported values are: ${listNames(["system", "user", "assistant", "tool"])}.`;

const developerRole: Check = (body, report, target) => {
  if (chatFacts(target).developer !== "untested") return;
  for (const { role, at } of messagesOf(body)) {
    if (role === "developer") report(join(at, "role"), "The 'developer' role is OpenAI's own; 'system' works here.");
  }
};

const bounds: ReadonlyMap<string, NumberBounds> = new Map([
  ["temperature", { least: 0, most: 2 }],
  ["top_p", { least: 0, most: 1 }],
  ["presence_penalty", { least: -2, most: 2 }],
  ["frequency_penalty", { least: -2, most: 2 }],
  ["n", { least: 1, most: 128 }],
  ["max_tokens", { least: 1 }],
  ["max_completion_tokens", { least: 1 }],
  ["top_logprobs", { least: 0, most: 20 }],
]);

const mostStops = 4;

const parameterRange: Check = (body, report, target) => {
  const request = asObject(body);
  if (chatFacts(target).errorStyle === "local") return;
  checkBounds(request, bounds, report);
  const stops = asArray(request["stop"]).length;
  if (isOpenaiChat(target) && stops > mostStops) report("/stop", tooMany("/stop", mostStops, stops));
};

/** Reports settings an OpenAI model does not support. */
const unsupportedParameter: Check = (body, report, target) => {
  if (!isOpenaiChat(target)) return;
  const request = asObject(body);
  const model = modelOf(target);
  const isSet = (field: string): boolean => request[field] !== undefined && request[field] !== null;
  if (isSet("web_search_options") && !supportsWebSearch(model)) {
    report("/web_search_options", "Web search options not supported with this model.");
  }
  if (isSet("max_tokens") && usesMaxCompletionTokens(model)) {
    report(
      "/max_tokens",
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    );
  }
  if (isSet("reasoning_effort") && isNonReasoning(model)) {
    report("/reasoning_effort", "Unrecognized request argument supplied: reasoning_effort");
  }
  for (const { field, message } of unsupportedOnChat(request, model)) report(join("", field), message);
};

/** Numeric parameters are numbers. */
const parameterType: Check = (body, report, target) => {
  const request = asObject(body);
  const { errorStyle } = chatFacts(target);
  for (const field of bounds.keys()) {
    const value = request[field];
    if (value === undefined || value === null || typeof value === "number") continue;
    const at = join("", field);
    report(
      at,
      errorStyle === "local"
        ? `Field '${field}': [json.exception.type_error.302] type must be number, but is ${typeof value}`
        : wrongType(at, /^(n|max_|top_l)/.test(field) ? "an integer" : "a decimal", value),
    );
  }
};

const effort: Check = (body, report, target) => {
  const given = asObject(body)["reasoning_effort"];
  const model = modelOf(target);
  const provider = target.provider ?? "openai-chat";
  if (given === undefined || given === null || (isOpenaiChat(target) && isNonReasoning(model))) return;
  const levels = effortLevels(model, provider);
  if (levels === undefined || (typeof given === "string" && levels.includes(given))) return;
  report(
    "/reasoning_effort",
    provider === "groq"
      ? `\`reasoning_effort\` must be one of ${levels.map((level) => `\`${level}\``).join(", ")}`
      : `Unsupported value: 'reasoning_effort' does not support '${quoteValue(given)}' with this model. Supported values are: ${listNames(levels)}.`,
  );
};

const streamOptions: Check = (body, report, target) => {
  const { stream, stream_options: options } = asObject(body);
  if (!isOpenaiChat(target) || options === undefined || options === null || stream === true) return;
  report("/stream_options", "The 'stream_options' parameter is only allowed when 'stream' is enabled.");
};

/** Reports fields of the Responses API sent to Chat. */
const responsesFields: readonly string[] = [
  "input",
  "instructions",
  "max_output_tokens",
  "reasoning",
  "previous_response_id",
  "text",
];

const foreignParameter: Check = (body, report, target) => {
  if (!isOpenaiChat(target)) return;
  for (const field of responsesFields) if (has(body, field)) report(join("", field), unknownParameter(join("", field)));
};

/** OpenAI requires the word "json" in the messages for JSON mode; without it the model may write blanks forever. */
const jsonWord: Check = (body, report, target) => {
  const request = asObject(body);
  if (!isOpenaiChat(target) || asObject(request["response_format"])["type"] !== "json_object") return;
  if (mentionsWord(request["messages"], "json")) return;
  report(
    "/response_format",
    "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
  );
};

/** OpenRouter accepts an effort or a budget, not both. */
const effortAndBudget: Check = (body, report, target) => {
  const { effort: level, max_tokens: budget } = asObject(asObject(body)["reasoning"]);
  if (target.provider !== "openrouter" || typeof level !== "string" || typeof budget !== "number") return;
  report("/reasoning", 'Only one of "reasoning.effort" and "reasoning.max_tokens" can be specified');
};

const mostMarks = 4;

/** Reports more cache marks than the caches behind these gateways accept. */
const cacheMarks: Check = (body, report, target) => {
  if (!isOpenaiChat(target) && target.provider !== "openrouter") return;
  const marked = messagesOf(body).flatMap((message) =>
    partsOf(message).flatMap(({ at, value }) =>
      isObject(value["cache_control"]) || isObject(value["prompt_cache_breakpoint"]) ? [at] : [],
    ),
  );
  for (const at of marked.slice(mostMarks)) report(at, `Only ${mostMarks} cache marks of a request are sure to count.`);
};

/** Rules about fields a vendor does not know and values a model does not accept. */
export const chatFieldRules: readonly Rule<unknown>[] = [
  rejectedRule("openai-chat/reasoning-field", reasoningField),
  rejectedRule("openai-chat/unknown-field", unknownField),
  adviceRule("openai-chat/unread-reasoning", unreadReasoning),
  rejectedRule("openai-chat/null-field", nullField),
  rejectedRule("openai-chat/unsupported-role", unsupportedRole),
  adviceRule("openai-chat/developer-role", developerRole),
  rejectedRule("openai-chat/parameter-range", parameterRange),
  rejectedRule("openai-chat/parameter-type", parameterType),
  rejectedRule("openai-chat/unsupported-parameter", unsupportedParameter),
  rejectedRule("openai-chat/effort", effort),
  rejectedRule("openai-chat/stream-options", streamOptions),
  rejectedRule("openai-chat/foreign-parameter", foreignParameter),
  rejectedRule("openai-chat/json-word", jsonWord),
  rejectedRule("openai-chat/effort-and-budget", effortAndBudget),
  adviceRule("openai-chat/cache-marks", cacheMarks),
  rejectedRule("openai-chat/lone-surrogate", loneSurrogate),
  adviceRule("openai-chat/half-surrogate", halfSurrogate),
];
