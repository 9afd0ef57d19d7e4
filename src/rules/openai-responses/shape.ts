import { isCall, isContinued, isOutput, itemsOf, partsOf, type ResponsesItem } from "./walk.ts";
import { isOpenaiResponses, responsesFacts } from "../openai/providers.ts";
import { missingParameter, invalidValue, unknownParameter, wrongType } from "../openai/error-text.ts";
import type { ReportFinding, Rule } from "../rule.ts";
import { asArray, asObject, has, isObject, join, rejectedRule, type Check } from "../walk.ts";

/** Reports bodies, items and parts of the wrong JSON type. */
const shape: Check = (body, report, target) => {
  if (!isObject(body)) return report("", wrongType("/body", "an object", body));
  const { model, input, instructions } = body;
  if (model !== undefined && model !== null && typeof model !== "string")
    report("/model", wrongType("/model", "a string", model));
  if (
    instructions !== undefined &&
    instructions !== null &&
    typeof instructions !== "string" &&
    !Array.isArray(instructions)
  ) {
    report("/instructions", wrongType("/instructions", "a string", instructions));
  }
  if (input === undefined || input === null || typeof input === "string") return;
  if (!Array.isArray(input))
    return report("/input", wrongType("/input", "one of a string or array of input items", input));
  input.forEach((item, index) => {
    const at = join("/input", index);
    if (!isObject(item)) report(at, wrongType(at, "an object", item));
  });
  const { checksItems } = responsesFacts(target);
  for (const item of itemsOf(body)) checkItem(item, { report, checksItems });
  for (const part of partsOf(body)) checkPart(part.value, part.at, report);
};

/** The reporter, and whether the server checks each item's fields. */
type ItemChecks = { readonly report: ReportFinding; readonly checksItems: boolean };

const checkItem = (item: ResponsesItem, { report, checksItems }: ItemChecks): void => {
  const { at, type, value } = item;
  if (value["type"] !== undefined && value["type"] !== null && type === undefined) {
    return report(join(at, "type"), wrongType(join(at, "type"), "a string", value["type"]));
  }
  if (type === undefined) return report(at, missingParameter(join(at, "type")));
  if (type === "message") return checkMessage(item, report);
  if (isCall(item)) return checkCall(item, report);
  if (isOutput(item)) return checkOutput(item, report);
  if (type === "reasoning" && checksItems && !Array.isArray(value["summary"]))
    report(at, missingParameter(join(at, "summary")));
};

const checkMessage = ({ at, value }: ResponsesItem, report: ReportFinding): void => {
  const { role } = value;
  if (role === undefined) return report(at, missingParameter(join(at, "role")));
  if (typeof role !== "string") report(join(at, "role"), wrongType(join(at, "role"), "a string", role));
  checkParts({ at, value }, "content", report);
};

const checkCall = ({ at, type, value }: ResponsesItem, report: ReportFinding): void => {
  for (const field of ["call_id", "name", type === "function_call" ? "arguments" : "input"]) {
    const where = join(at, field);
    if (value[field] === undefined) report(at, missingParameter(where));
    else if (typeof value[field] !== "string") report(where, wrongType(where, "a string", value[field]));
  }
};

const checkOutput = ({ at, value }: ResponsesItem, report: ReportFinding): void => {
  const { call_id: id } = value;
  if (id === undefined) report(at, missingParameter(join(at, "call_id")));
  else if (typeof id !== "string" && id !== null)
    report(join(at, "call_id"), wrongType(join(at, "call_id"), "a string", id));
  checkParts({ at, value }, "output", report);
};

/** A field that is text or a list of parts. */
const checkParts = ({ at, value }: Pick<ResponsesItem, "at" | "value">, field: string, report: ReportFinding): void => {
  const given = value[field];
  const where = join(at, field);
  if (given === undefined || given === null) return report(at, missingParameter(where));
  if (typeof given !== "string" && !Array.isArray(given)) {
    return report(where, wrongType(where, "one of an array of objects or string", given));
  }
  asArray(given).forEach((part, index) => {
    if (!isObject(part)) report(join(where, index), wrongType(join(where, index), "an object", part));
  });
};

const textFieldsByType: ReadonlyMap<unknown, string> = new Map([
  ["input_text", "text"],
  ["output_text", "text"],
  ["refusal", "refusal"],
]);

const checkPart = (part: Record<string, unknown>, at: string, report: ReportFinding): void => {
  if (part["type"] === undefined) return report(at, missingParameter(join(at, "type")));
  const field = textFieldsByType.get(part["type"]);
  if (field === undefined || typeof part[field] === "string") return;
  const where = join(at, field);
  report(at, part[field] === undefined ? missingParameter(where) : wrongType(where, "a string", part[field]));
};

const noInput: Check = (body, report) => {
  if (!isObject(body) || isContinued(body)) return;
  const { input } = body;
  if (input !== undefined && input !== null && !(Array.isArray(input) && input.length === 0)) return;
  report(
    input === undefined ? "" : "/input",
    "One of 'input' or 'previous_response_id' or 'prompt' or 'conversation_id' must be provided.",
  );
};

/** The item types of the public API; items of server tools end in `_call` or `_call_output`. */
const knownItems: ReadonlySet<string> = new Set(
  (
    "message reasoning item_reference compaction compaction_trigger context_compaction " +
    "additional_tools tool_search_output mcp_list_tools mcp_approval_request mcp_approval_response " +
    "program program_output"
  ).split(" "),
);

const isKnownItem = (type: string): boolean =>
  knownItems.has(type) || /_call(_output)?$/.test(type) || type.includes(":");

const unknownItem: Check = (body, report) => {
  for (const { type, at } of itemsOf(body)) {
    if (type === undefined || isKnownItem(type)) continue;
    report(
      join(at, "type"),
      invalidValue(type, ["message", "reasoning", "function_call", "function_call_output", "item_reference"]),
    );
  }
};

const roles = ["assistant", "system", "developer", "user"];

const unknownRole: Check = (body, report) => {
  for (const { type, at, value } of itemsOf(body)) {
    const { role } = value;
    if (type !== "message" || typeof role !== "string" || roles.includes(role)) continue;
    report(join(at, "role"), invalidValue(role, roles));
  }
};

const knownParts = (
  "input_text input_image output_text refusal input_file input_audio computer_screenshot " +
  "summary_text reasoning_text"
).split(" ");

const unknownPart: Check = (body, report) => {
  for (const { type, at, value } of partsOf(body)) {
    if (value["type"] === undefined || (type !== undefined && knownParts.includes(type))) continue;
    report(join(at, "type"), invalidValue(value["type"], knownParts));
  }
};

const outputParts = ["output_text", "refusal"];
const inputParts = ["input_text", "input_image", "input_file"];

/** The model's text is in output parts, text for the model in input parts. */
const partRole: Check = (body, report, target) => {
  if (!isOpenaiResponses(target)) return;
  for (const { type, at, owner } of partsOf(body)) {
    if (type === undefined || owner === "output") continue;
    const isWrong = owner === "assistant" ? inputParts.includes(type) : outputParts.includes(type);
    if (isWrong) report(join(at, "type"), invalidValue(type, owner === "assistant" ? outputParts : inputParts));
  }
};

/** Fields of Chat Completions and their names in this API. */
const movedParameters: ReadonlyMap<string, string | undefined> = new Map([
  ["messages", "input"],
  ["max_tokens", "max_output_tokens"],
  ["max_completion_tokens", "max_output_tokens"],
  ["response_format", "text.format"],
  ["reasoning_effort", "reasoning.effort"],
  ["functions", "tools"],
  ["function_call", "tool_choice"],
  ["n", undefined],
  ["stop", undefined],
]);

const foreignParameter: Check = (body, report, target) => {
  if (!isOpenaiResponses(target)) return;
  for (const [field, home] of movedParameters) {
    if (!has(body, field)) continue;
    const at = join("", field);
    report(
      at,
      home === undefined
        ? unknownParameter(at)
        : `Unsupported parameter: '${field}'. In the Responses API, this parameter has moved to '${home}'. Try again with the new parameter.`,
    );
  }
};

const chatFields = ["tool_calls", "tool_call_id", "function_call", "reasoning_content"];

const foreignField: Check = (body, report, target) => {
  if (!isOpenaiResponses(target)) return;
  for (const { type, at, value } of itemsOf(body)) {
    if (type !== "message") continue;
    for (const field of chatFields) if (has(value, field)) report(join(at, field), unknownParameter(join(at, field)));
  }
};

const twoHistories: Check = (body, report) => {
  const { previous_response_id: previous, conversation } = asObject(body);
  if (typeof previous !== "string" || conversation === undefined || conversation === null) return;
  report(
    "/conversation",
    "Mutually exclusive parameters: 'previous_response_id' and 'conversation'. Ensure you are only providing one of them.",
  );
};

/** Rules about JSON types, item types, roles and part types. */
export const responsesShapeRules: readonly Rule<unknown>[] = [
  rejectedRule("openai-responses/shape", shape),
  rejectedRule("openai-responses/no-input", noInput),
  rejectedRule("openai-responses/unknown-item", unknownItem),
  rejectedRule("openai-responses/unknown-role", unknownRole),
  rejectedRule("openai-responses/unknown-part", unknownPart),
  rejectedRule("openai-responses/part-role", partRole),
  rejectedRule("openai-responses/foreign-parameter", foreignParameter),
  rejectedRule("openai-responses/foreign-field", foreignField),
  rejectedRule("openai-responses/two-histories", twoHistories),
];
