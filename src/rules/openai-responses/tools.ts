import { isCall, itemsOf, toolsOf } from "./walk.ts";
import { isOpenaiResponses, responsesFacts } from "../openai/providers.ts";
import {
  checkAnswerSchema,
  checkParameters,
  checkPortableStrict,
  checkToolCount,
  looseArguments,
  strictWithoutParameters,
  type DeclaredSchema,
} from "../openai/tools.ts";
import {
  missingParameter,
  patternMismatch,
  invalidValue,
  quoteValue,
  tooLong,
  wrongType,
} from "../openai/error-text.ts";
import type { Rule } from "../rule.ts";
import {
  adviceRule,
  asArray,
  asObject,
  asString,
  isJsonObjectText,
  isObject,
  join,
  ignoredRule,
  rejectedRule,
  type Check,
} from "../walk.ts";

/** Reports tools of the wrong JSON type, Chat's nested form included. */
const toolShape: Check = (body, report) => {
  const { tools } = asObject(body);
  if (tools === undefined || tools === null) return;
  if (!Array.isArray(tools)) return report("/tools", wrongType("/tools", "an array of objects", tools));
  tools.forEach((tool, index) => {
    const at = join("/tools", index);
    if (!isObject(tool)) report(at, wrongType(at, "an object", tool));
    else if (tool["type"] === undefined) report(at, missingParameter(join(at, "type")));
  });
  for (const { at, type, name, value } of toolsOf(body)) {
    if (type !== "function" && type !== "custom") continue;
    if (name === undefined) report(at, missingParameter(join(at, "name")));
    const { parameters } = value;
    const where = join(at, "parameters");
    if (parameters !== undefined && parameters !== null && !isObject(parameters))
      report(where, wrongType(where, "an object", parameters));
  }
};

const toolTypes = (
  "function custom namespace tool_search mcp file_search code_interpreter image_generation " +
  "web_search web_search_2025_08_26 web_search_preview web_search_preview_2025_03_11 computer " +
  "computer_use_preview local_shell shell apply_patch programmatic_tool_calling"
).split(" ");

const toolType: Check = (body, report, target) => {
  if (!isOpenaiResponses(target) || target.provider === "azure") return;
  for (const { at, value } of toolsOf(body)) {
    const { type } = value;
    // Dated versions of a known tool come and go.
    const isKnown = typeof type === "string" && (toolTypes.includes(type) || /^(web_search|computer|code)_/.test(type));
    if (type !== undefined && !isKnown) report(join(at, "type"), invalidValue(type, toolTypes));
  }
};

const toolName: Check = (body, report, target) => {
  if (!isOpenaiResponses(target)) return;
  const look = (name: string | undefined, at: string, longest: number): void => {
    if (name === undefined) return;
    if (name.length > longest) report(at, tooLong(at, longest, name.length));
    else if (!/^[a-zA-Z0-9_-]+$/.test(name)) report(at, patternMismatch(at, "^[a-zA-Z0-9_-]+$"));
  };
  for (const { type, name, at } of toolsOf(body)) {
    if (type === "function" || type === "custom") look(name, join(at, "name"), at.split("/").length > 3 ? 128 : 64);
  }
  for (const item of itemsOf(body)) {
    if (isCall(item))
      look(asString(item.value["name"]), join(item.at, "name"), item.value["namespace"] === undefined ? 64 : 128);
  }
};

/** Reports two tools of one name in one list: a call may then mean either. */
const duplicateToolName: Check = (body, report) => {
  const seen = new Set<string>();
  for (const { type, name, at } of toolsOf(body)) {
    if (name === undefined || (type !== "function" && type !== "custom")) continue;
    const key = `${at.slice(0, at.lastIndexOf("/"))} ${name}`;
    if (seen.has(key)) report(join(at, "name"), `Tool names must be unique: '${name}'.`);
    seen.add(key);
  }
};

const tooManyTools: Check = (body, report, target) => {
  if (isOpenaiResponses(target)) checkToolCount(body, report);
};

const emptyTools: Check = (body, report) => {
  const { tools } = asObject(body);
  if (Array.isArray(tools) && tools.length === 0)
    report("/tools", "Chat Completions refuses an empty 'tools'; leave it out.");
};

/** The declared functions with a schema, strict or not. */
const schemasOf = (body: unknown, kind: "strict" | "free"): readonly DeclaredSchema[] =>
  toolsOf(body).flatMap(({ at, type, name, value }) => {
    const { parameters, strict } = value;
    if (type !== "function" || !isObject(parameters) || (strict === true) !== (kind === "strict")) return [];
    return [{ at: join(at, "parameters"), name, parameters }];
  });

const toolSchema: Check = (body, report, target) => {
  const { schema } = responsesFacts(target);
  if (schema === undefined) return;
  for (const declared of schemasOf(body, "free")) checkParameters(declared, schema, report);
};

const strictSchema: Check = (body, report, target) => {
  const { strictSchema: dialect } = responsesFacts(target);
  if (dialect === undefined) return;
  for (const declared of schemasOf(body, "strict")) checkParameters(declared, dialect, report);
  for (const { at, type, name, value } of toolsOf(body)) {
    const { parameters, strict } = value;
    if (type === "function" && strict === true && (parameters === undefined || parameters === null))
      report(at, strictWithoutParameters(name));
  }
};

/** Reports a strict schema that only OpenAI itself accepts. */
const portableStrictSchema: Check = (body, report, target) => {
  if (responsesFacts(target).strictSchema !== "openai-strict") return;
  for (const { at, parameters } of schemasOf(body, "strict")) checkPortableStrict(parameters, at, report);
  const { schema, strict } = asObject(asObject(asObject(body)["text"])["format"]);
  if (strict === true && isObject(schema)) checkPortableStrict(schema, "/text/format/schema", report);
};

const responseSchema: Check = (body, report, target) => {
  const format = asObject(asObject(asObject(body)["text"])["format"]);
  const { strictSchema: dialect } = responsesFacts(target);
  if (!isOpenaiResponses(target) || dialect === undefined || format["type"] !== "json_schema") return;
  checkAnswerSchema(format, "/text/format/schema", dialect, report);
};

const choiceWords = ["none", "auto", "required"];

const toolChoice: Check = (body, report) => {
  const { tool_choice: choice } = asObject(body);
  if (choice === undefined || choice === null) return;
  if (typeof choice === "string") {
    if (!choiceWords.includes(choice)) report("/tool_choice", invalidValue(choice, choiceWords));
    return;
  }
  if (!isObject(choice)) return report("/tool_choice", wrongType("/tool_choice", "one of a string or object", choice));
  const { type, name } = choice;
  if (typeof type !== "string") return report("/tool_choice", missingParameter("/tool_choice/type"));
  if ((type === "function" || type === "custom") && typeof name !== "string")
    report("/tool_choice", missingParameter("/tool_choice/name"));
};

/** The names of every function the model can call: declared, or added by an item. */
const reachable = (body: unknown): ReadonlySet<unknown> =>
  new Set([
    ...toolsOf(body).map(({ name }) => name),
    ...itemsOf(body).flatMap(({ value }) => asArray(value["tools"]).map((tool) => asObject(tool)["name"])),
  ]);

const unknownToolChoice: Check = (body, report) => {
  const { type, name } = asObject(asObject(body)["tool_choice"]);
  const names = reachable(body);
  if (type !== "function" || typeof name !== "string" || names.size === 0 || names.has(name)) return;
  report("/tool_choice", `Tool choice '${name}' not found in 'tools' parameter.`);
};

const choiceWithoutTools: Check = (body, report, target) => {
  const { tool_choice: choice, tools, prompt } = asObject(body);
  const isForced = choice === "required" || isObject(choice);
  if (
    !isOpenaiResponses(target) ||
    !isForced ||
    isObject(prompt) ||
    asArray(tools).length > 0 ||
    reachable(body).size > 0
  )
    return;
  report(
    "/tool_choice",
    `Tool choice '${isObject(choice) ? quoteValue(choice["type"]) : choice}' must be specified with 'tools' parameter.`,
  );
};

/** A call to a tool loaded on demand names its namespace. */
const missingNamespace: Check = (body, report, target) => {
  if (!isOpenaiResponses(target)) return;
  const tools = toolsOf(body).filter(({ type }) => type === "function");
  const present = new Set(tools.filter(({ value }) => value["defer_loading"] !== true).map(({ name }) => name));
  const deferred = new Set(tools.filter(({ value }) => value["defer_loading"] === true).map(({ name }) => name));
  for (const { type, at, value } of itemsOf(body)) {
    const name = asString(value["name"]);
    if (type !== "function_call" || name === undefined || value["namespace"] !== undefined) continue;
    if (!deferred.has(name) || present.has(name)) continue;
    report(at, `Missing namespace for function_call '${name}'. It does not exist in the default namespace.`);
  }
};

const unportableArguments: Check = (body, report) => {
  for (const { type, at, value } of itemsOf(body)) {
    const given = value["arguments"];
    if (type !== "function_call" || typeof given !== "string" || isJsonObjectText(given)) continue;
    report(join(at, "arguments"), looseArguments);
  }
};

/** Rules about declared tools, chosen tools and the arguments of calls. */
export const responsesToolRules: readonly Rule<unknown>[] = [
  rejectedRule("openai-responses/tool-shape", toolShape),
  rejectedRule("openai-responses/tool-type", toolType),
  rejectedRule("openai-responses/tool-name", toolName),
  ignoredRule("openai-responses/duplicate-tool-name", duplicateToolName),
  rejectedRule("openai-responses/too-many-tools", tooManyTools),
  adviceRule("openai-responses/empty-tools", emptyTools),
  rejectedRule("openai-responses/tool-schema", toolSchema),
  rejectedRule("openai-responses/strict-schema", strictSchema),
  adviceRule("openai-responses/portable-strict-schema", portableStrictSchema),
  rejectedRule("openai-responses/response-schema", responseSchema),
  rejectedRule("openai-responses/tool-choice", toolChoice),
  rejectedRule("openai-responses/unknown-tool-choice", unknownToolChoice),
  rejectedRule("openai-responses/choice-without-tools", choiceWithoutTools),
  rejectedRule("openai-responses/missing-namespace", missingNamespace),
  adviceRule("openai-responses/unportable-arguments", unportableArguments),
];
