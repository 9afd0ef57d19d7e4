import { modelOf } from "./models.ts";
import { isOpenaiChat, isOpenaiResponses } from "./providers.ts";
import { missingParameter, patternMismatch, tooLong } from "./error-text.ts";
import type { ReportFinding, Rule } from "../rule.ts";
import { asObject, asString, isObject, join, rejectedRule, type Check } from "../walk.ts";

/** `response_format` names its schema, and the model supports the format. */
const responseFormat: Check = (body, report, target) => {
  const { response_format: format } = asObject(body);
  if (!isOpenaiChat(target) || !isObject(format)) return;
  const type = asString(format["type"]) ?? "";
  if (lacksFormat(modelOf(target), type)) {
    report(
      "/response_format",
      `Invalid parameter: 'response_format' of type '${type}' is not supported with this model.${type === "json_schema" ? ` ${guide}` : ""}`,
    );
  } else if (type === "json_schema") {
    const at = "/response_format/json_schema";
    if (isObject(format["json_schema"])) checkName(format["json_schema"], at, report);
    else report("/response_format", missingParameter(at));
  }
};

const guide =
  "Learn more about supported models at the Structured Outputs guide: https://platform.openai.com/docs/guides/structured-outputs";

/** `text.format` names and contains its schema, and the model supports the format. */
const textFormat: Check = (body, report, target) => {
  const { format } = asObject(asObject(body)["text"]);
  if (!isOpenaiResponses(target) || !isObject(format)) return;
  const type = asString(format["type"]) ?? "";
  const model = modelOf(target);
  if (lacksFormat(model, type)) {
    report(
      "/text/format",
      `Invalid parameter: 'text.format' of type '${type}' is not supported with model version \`${model ?? ""}\`.`,
    );
  } else if (type === "json_schema") {
    checkName(format, "/text/format", report);
    if (format["schema"] === undefined) report("/text/format", missingParameter("/text/format/schema"));
  }
};

const checkName = (format: Record<string, unknown>, at: string, report: ReportFinding): void => {
  const { name } = format;
  const where = join(at, "name");
  if (name === undefined || name === null) report(at, missingParameter(where));
  else if (typeof name === "string" && name.length > 64) report(where, tooLong(where, 64, name.length));
  else if (typeof name === "string" && !/^[a-zA-Z0-9_-]+$/.test(name))
    report(where, patternMismatch(where, "^[a-zA-Z0-9_-]+$"));
};

/** Schemas came with gpt-4o-mini and gpt-4o-2024-08-06, plain JSON with the turbo models. */
const lacksFormat = (model: string | undefined, type: string): boolean =>
  (type === "json_schema" && /^(gpt-3\.5|gpt-4($|-)|gpt-4o-2024-05-13|o1-(mini|preview))/.test(model ?? "")) ||
  (type === "json_object" && /^(gpt-4($|-0|-32k)|gpt-3\.5-turbo-(0301|0613|16k)|o1-(mini|preview))/.test(model ?? ""));

/** Rules about the requested response format. */
export const chatFormatRules: readonly Rule<unknown>[] = [rejectedRule("openai-chat/response-format", responseFormat)];
export const responsesFormatRules: readonly Rule<unknown>[] = [
  rejectedRule("openai-responses/text-format", textFormat),
];
