import { callsOf, messagesOf, toolsOf } from "./walk.ts";
import { isDeepseekThinking, isKimiThinking } from "../openai/models.ts";
import { chatFacts, isOpenaiChat, type ChatFacts } from "../openai/providers.ts";
import {
  checkAnswerSchema,
  checkParameters,
  checkPortableStrict,
  checkToolCount,
  looseArguments,
  strictWithoutParameters,
} from "../openai/tools.ts";
import {
  emptyArray,
  isOneOf,
  listNames,
  missingParameter,
  patternMismatch,
  invalidValue,
  quoteValue,
  tooLong,
} from "../openai/error-text.ts";
import type { Rule } from "../rule.ts";
import {
  adviceRule,
  asObject,
  asString,
  isJsonObjectText,
  isObject,
  join,
  ignoredRule,
  rejectedRule,
  type Check,
} from "../walk.ts";

/** Calls back for every function name of the body: declared, called, and chosen. */
const eachName = (body: unknown, look: (name: string, at: string) => void): void => {
  for (const { name, at } of toolsOf(body)) if (name !== undefined) look(name, join(at, "function", "name"));
  for (const message of messagesOf(body)) {
    for (const { name, at } of callsOf(message)) if (name !== undefined) look(name, join(at, "function", "name"));
  }
};

const toolName: Check = (body, report, target) => {
  const { toolName: pattern, errorStyle } = chatFacts(target);
  if (pattern === undefined) return;
  eachName(body, (name, at) => {
    if (!pattern.test(name)) report(at, nameText(name, at, errorStyle));
  });
};

const nameText = (name: string, at: string, errorStyle: ChatFacts["errorStyle"]): string => {
  if (errorStyle === "mistral") {
    return `Function name was ${name} but must be a-z, A-Z, 0-9, or contain underscores and dashes, with a maximum length of 64.`;
  }
  if (name.length > 64) return tooLong(at, 64, name.length);
  return errorStyle === "kimi"
    ? patternMismatch(at, "^[a-zA-Z_][a-zA-Z0-9_-]*$")
    : patternMismatch(at, "^[a-zA-Z0-9_-]+$");
};

/** OpenAI silently accepts two tools of one name, and a call may then mean either. DeepSeek refuses them. */
const duplicateToolName: Check = (body, report) => {
  const seen = new Set<string>();
  for (const { name, at } of toolsOf(body)) {
    if (name !== undefined && seen.has(name))
      report(join(at, "function", "name"), `Tool names must be unique: '${name}'.`);
    if (name !== undefined) seen.add(name);
  }
};

const emptyTools: Check = (body, report, target) => {
  const { tools } = asObject(body);
  if (chatFacts(target).emptyListsRefused && Array.isArray(tools) && tools.length === 0)
    report("/tools", emptyArray("/tools"));
};

const emptyToolCalls: Check = (body, report, target) => {
  if (!chatFacts(target).emptyListsRefused) return;
  for (const { at, value } of messagesOf(body)) {
    const calls = value["tool_calls"];
    if (Array.isArray(calls) && calls.length === 0) report(join(at, "tool_calls"), emptyArray(join(at, "tool_calls")));
  }
};

/** Most vendors refuse empty lists. */
const emptyLists: Check = (body, report, target) => {
  if (chatFacts(target).emptyListsRefused) return;
  const { tools } = asObject(body);
  if (Array.isArray(tools) && tools.length === 0)
    report("/tools", "OpenAI and DeepSeek refuse an empty 'tools'; leave it out.");
  for (const { at, value } of messagesOf(body)) {
    const calls = value["tool_calls"];
    if (!Array.isArray(calls) || calls.length > 0) continue;
    report(join(at, "tool_calls"), "OpenAI and DeepSeek refuse an empty 'tool_calls'; leave it out.");
  }
};

/** OpenAI supports functions and custom tools, DeepSeek only functions; other vendors have further types. */
const toolType: Check = (body, report, target) => {
  const types = isOpenaiChat(target)
    ? ["function", "custom"]
    : target.provider === "deepseek"
      ? ["function"]
      : undefined;
  if (types === undefined) return;
  for (const { value, at } of toolsOf(body)) {
    const { type } = value;
    if (type === undefined || isOneOf(type, types)) continue;
    const message =
      target.provider === "deepseek"
        ? `unknown variant \`${quoteValue(type)}\`, expected \`function\``
        : invalidValue(type, types);
    report(join(at, "type"), message);
  }
};

const tooManyTools: Check = (body, report, target) => {
  if (isOpenaiChat(target)) checkToolCount(body, report);
};

/** Reports schemas outside the dialect the provider reads; `strict: true` has its own. */
const toolSchema: Check = (body, report, target) => {
  const { schema, strictSchema: strictest } = chatFacts(target);
  if (schema === undefined) return;
  for (const { at, name, function: declared } of toolsOf(body)) {
    const { parameters, strict } = declared;
    if (!isObject(parameters) || (strict === true && strictest !== undefined)) continue;
    checkParameters({ at: join(at, "function", "parameters"), name, parameters }, schema, report);
  }
};

const strictSchema: Check = (body, report, target) => {
  const { strictSchema: dialect } = chatFacts(target);
  if (dialect === undefined) return;
  for (const { at, name, function: declared } of toolsOf(body)) {
    const { parameters, strict } = declared;
    if (strict !== true) continue;
    if (parameters === undefined || parameters === null) report(join(at, "function"), strictWithoutParameters(name));
    else if (isObject(parameters))
      checkParameters({ at: join(at, "function", "parameters"), name, parameters }, dialect, report);
  }
};

/** Reports a strict schema that only OpenAI itself accepts. */
const portableStrictSchema: Check = (body, report, target) => {
  if (chatFacts(target).strictSchema !== "openai-strict") return;
  for (const { at, function: declared } of toolsOf(body)) {
    const { parameters, strict } = declared;
    if (strict === true && isObject(parameters))
      checkPortableStrict(parameters, join(at, "function", "parameters"), report);
  }
  const { schema, strict } = asObject(asObject(asObject(body)["response_format"])["json_schema"]);
  if (strict === true && isObject(schema)) checkPortableStrict(schema, "/response_format/json_schema/schema", report);
};

/** Checks `response_format` against the same dialect. */
const responseSchema: Check = (body, report, target) => {
  const format = asObject(asObject(body)["response_format"]);
  const { strictSchema: dialect } = chatFacts(target);
  if (!isOpenaiChat(target) || dialect === undefined || format["type"] !== "json_schema") return;
  checkAnswerSchema(asObject(format["json_schema"]), "/response_format/json_schema/schema", dialect, report);
};

const choiceTypes = ["function", "allowed_tools", "custom"];

const toolChoice: Check = (body, report, target) => {
  const { errorStyle, choiceTypes: more = [] } = chatFacts(target);
  const choice = asObject(body)["tool_choice"];
  if (choice === undefined || choice === null || errorStyle === "local") return;
  const words = errorStyle === "mistral" ? ["none", "auto", "required", "any"] : ["none", "auto", "required"];
  if (typeof choice === "string") {
    if (!words.includes(choice)) report("/tool_choice", invalidValue(choice, words));
    return;
  }
  if (!isObject(choice)) return report("/tool_choice", invalidValue(choice, words));
  const type = choice["type"] ?? (errorStyle === "mistral" ? "function" : undefined);
  if (type === undefined) return report("/tool_choice", missingParameter("/tool_choice/type"));
  if (isOneOf(type, more)) return;
  if (!isOneOf(type, choiceTypes)) return report("/tool_choice/type", invalidValue(type, choiceTypes));
  if (type !== "function") return;
  if (!isObject(choice["function"])) return report("/tool_choice", missingParameter("/tool_choice/function"));
  if (typeof choice["function"]["name"] !== "string")
    report("/tool_choice/function", missingParameter("/tool_choice/function/name"));
};

const chosenName = (body: unknown): string | undefined =>
  asString(asObject(asObject(asObject(body)["tool_choice"])["function"])["name"]);

const unknownToolChoice: Check = (body, report) => {
  const chosen = chosenName(body);
  const tools = toolsOf(body);
  if (chosen === undefined || tools.length === 0 || tools.some(({ name }) => name === chosen)) return;
  report(
    "/tool_choice/function/name",
    `Invalid value for 'tool_choice': Tool choice '${chosen}' not found in 'tools' parameter.`,
  );
};

/** Reports tool settings in a request without tools. */
const choiceWithoutTools: Check = (body, report, target) => {
  if (!isOpenaiChat(target)) return;
  const request = asObject(body);
  if (request["tools"] !== undefined && request["tools"] !== null) return;
  for (const field of ["tool_choice", "parallel_tool_calls"]) {
    if (request[field] === undefined || request[field] === null) continue;
    report(join("", field), `Invalid value for '${field}': '${field}' is only allowed when 'tools' are specified.`);
  }
};

/** DeepSeek and Kimi refuse a forced tool choice while they think; K3 still accepts `required`. */
const forcedToolChoice: Check = (body, report, target) => {
  const choice = asObject(body)["tool_choice"];
  const isNamed = isObject(choice);
  if (!isNamed && choice !== "required") return;
  if (target.provider === "deepseek" && isDeepseekThinking(body, target)) {
    report("/tool_choice", "Thinking mode does not support this tool_choice");
  }
  if (target.provider !== "kimi" || !isKimiThinking(body, target)) return;
  if (!isNamed && /\bk3/i.test(target.model ?? "")) return;
  report("/tool_choice", `tool_choice '${isNamed ? "specified" : "required"}' is incompatible with thinking enabled`);
};

/** GLM documents only `auto`. */
const onlyAutoChoice: Check = (body, report, target) => {
  const choice = asObject(body)["tool_choice"];
  if (target.provider !== "zai" || choice === undefined || choice === null || choice === "auto") return;
  report("/tool_choice", `GLM documents only ${listNames(["auto"])} as tool_choice.`);
};

/** Calls back for earlier calls whose arguments are not the text of a JSON object. */
const eachBadArguments = (body: unknown, look: (at: string, id: string) => void): void => {
  for (const message of messagesOf(body)) {
    for (const call of callsOf(message)) {
      const given = asObject(call.value["function"])["arguments"];
      if (typeof given === "string" && !isJsonObjectText(given))
        look(join(call.at, "function", "arguments"), call.id ?? "");
    }
  }
};

const badArguments: Check = (body, report, target) => {
  const { argumentsParsed, errorStyle } = chatFacts(target);
  if (!argumentsParsed) return;
  eachBadArguments(body, (at, id) => report(at, argumentsText(at, id, errorStyle)));
};

const argumentsText = (at: string, id: string, errorStyle: ChatFacts["errorStyle"]): string => {
  if (errorStyle === "minimax")
    return `invalid params, invalid function arguments json string, tool_call_id: ${id} (2013)`;
  if (errorStyle === "qwen") {
    return '<400> InternalError.Algo.InvalidParameter: The "function.arguments" parameter of the code model must be in JSON format.';
  }
  if (errorStyle === "local") return "invalid tool call arguments";
  return `${at.slice(1).replaceAll("/", ".")}: arguments must be a valid JSON object string`;
};

const unportableArguments: Check = (body, report, target) => {
  if (chatFacts(target).argumentsParsed) return;
  eachBadArguments(body, (at) => report(at, looseArguments));
};

/** Some APIs behind OpenRouter refuse calls in the history of a request without declared tools. */
const undeclaredTools: Check = (body, report, target) => {
  if (target.provider !== "openrouter" || toolsOf(body).length > 0) return;
  const caller = messagesOf(body).find((message) => callsOf(message).length > 0);
  if (caller !== undefined) report(caller.at, "A conversation with tool calls needs 'tools' on every request.");
};

/** Rules about declared tools, chosen tools and the arguments of calls. */
export const chatToolRules: readonly Rule<unknown>[] = [
  rejectedRule("openai-chat/tool-name", toolName),
  ignoredRule("openai-chat/duplicate-tool-name", duplicateToolName),
  rejectedRule("openai-chat/empty-tools", emptyTools),
  rejectedRule("openai-chat/empty-tool-calls", emptyToolCalls),
  adviceRule("openai-chat/empty-list", emptyLists),
  rejectedRule("openai-chat/tool-type", toolType),
  rejectedRule("openai-chat/too-many-tools", tooManyTools),
  rejectedRule("openai-chat/tool-schema", toolSchema),
  rejectedRule("openai-chat/strict-schema", strictSchema),
  adviceRule("openai-chat/portable-strict-schema", portableStrictSchema),
  rejectedRule("openai-chat/response-schema", responseSchema),
  rejectedRule("openai-chat/tool-choice", toolChoice),
  rejectedRule("openai-chat/unknown-tool-choice", unknownToolChoice),
  rejectedRule("openai-chat/choice-without-tools", choiceWithoutTools),
  rejectedRule("openai-chat/forced-tool-choice", forcedToolChoice),
  adviceRule("openai-chat/only-auto-choice", onlyAutoChoice),
  rejectedRule("openai-chat/bad-arguments", badArguments),
  adviceRule("openai-chat/unportable-arguments", unportableArguments),
  adviceRule("openai-chat/untool-declarations", undeclaredTools),
];
