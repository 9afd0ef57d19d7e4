import { isObject } from "../../conversation/json.ts";
import type { ElicitationAnswer, FormContent, SamplingAnswer } from "./handlers.ts";
import type { FieldValue } from "./form-check.ts";

/** Parses a front end's answer to an elicitation. Anything that is not exactly one of the answers declines it. */
export const parseElicitationAnswer = (answer: unknown): ElicitationAnswer => {
  const { action, content } = isObject(answer) ? answer : {};
  if (action === "cancel") return { action };
  if (action !== "accept") return { action: "decline" };
  if (content === undefined) return { action };
  return isFormContent(content) ? { action, content } : { action: "decline" };
};

/** Parses a front end's answer to a sampling request. Anything that is not a model's text is a refusal. */
export const parseSamplingAnswer = (answer: unknown): SamplingAnswer | "refused" => {
  const { model, text, isTruncated } = isObject(answer) ? answer : {};
  if (typeof model !== "string" || typeof text !== "string") return "refused";
  return { model, text, ...(isTruncated === true ? { isTruncated } : {}) };
};

const isFormContent = (content: unknown): content is FormContent =>
  isObject(content) && Object.values(content).every(isFieldValue);

const isFieldValue = (value: unknown): value is FieldValue =>
  ["string", "number", "boolean"].includes(typeof value) ||
  (Array.isArray(value) && value.every((each) => typeof each === "string"));
