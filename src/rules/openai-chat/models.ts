import { messagesOf, partsOf, toolsOf } from "./walk.ts";
import { missingParameter } from "../openai/error-text.ts";
import type { Rule } from "../rule.ts";
import { asObject, asString, has, isObject, join, rejectedRule, type Check } from "../walk.ts";

/** A feature a model does not support: where it occurs in the body, and the vendor's message. */
type MissingFeature = {
  readonly provider: string;
  readonly model: RegExp;
  readonly find: (body: Record<string, unknown>) => string | undefined;
  readonly message: (at: string, body: Record<string, unknown>) => string;
};

const modelFeatures: Check = (body, report, target) => {
  if (!isObject(body) || target.model === undefined) return;
  for (const { provider, model, find, message } of missingFeatures) {
    if (target.provider !== provider || !model.test(target.model)) continue;
    const at = find(body);
    if (at !== undefined) report(at, message(at, body));
  }
};

const declaredTools = (body: Record<string, unknown>): string | undefined =>
  toolsOf(body).length > 0 ? "/tools" : undefined;

const namedChoice = (body: Record<string, unknown>): string | undefined =>
  isObject(body["tool_choice"]) ? "/tool_choice" : undefined;

const field =
  (name: string) =>
  (body: Record<string, unknown>): string | undefined =>
    has(body, name) && body[name] !== null ? join("", name) : undefined;

const firstPart =
  (...types: readonly string[]) =>
  (body: Record<string, unknown>): string | undefined =>
    messagesOf(body)
      .flatMap(partsOf)
      .find(({ type }) => types.includes(type ?? ""))?.at;

const systemMessage = (body: Record<string, unknown>): string | undefined =>
  messagesOf(body).find(({ role }) => role === "system" || role === "developer")?.at;

/** A file given only as a URL: OpenRouter passes it on, and OpenAI's Chat accepts no URLs. */
const fileByUrl = (body: Record<string, unknown>): string | undefined => {
  if (has(body, "plugins")) return undefined;
  return messagesOf(body)
    .flatMap(partsOf)
    .find(({ value }) => /^https?:/.test(asString(asObject(value["file"])["file_data"]) ?? ""))?.at;
};

const fewTokens = (body: Record<string, unknown>): string | undefined => {
  const { max_tokens: most } = body;
  return typeof most === "number" && most < 16 ? "/max_tokens" : undefined;
};

/** From recorded responses. A gateway passes on the upstream vendor's message. */
const missingFeatures: readonly MissingFeature[] = [
  {
    provider: "groq",
    model: /llama-guard/,
    find: declaredTools,
    message: () => "`tool calling` is not supported with this model",
  },
  {
    provider: "openrouter",
    model: /^x-ai\//,
    find: namedChoice,
    message: () => "Invalid request content: Required function  is not present in the provided tools.",
  },
  {
    provider: "openrouter",
    model: /^openai\/gpt-5-image/,
    find: field("temperature"),
    message: () => "Unsupported parameter: 'temperature' is not supported with this model.",
  },
  {
    provider: "openrouter",
    model: /^openai\/(gpt-4\.1|gpt-5|o[134])/,
    find: fewTokens,
    message: (_, body) =>
      `Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got ${String(body["max_tokens"])} instead.`,
  },
  {
    provider: "openrouter",
    model: /^openai\/gpt-4o/,
    find: fileByUrl,
    message: (at) => missingParameter(join(at, "file", "file_id")),
  },
  {
    provider: "openrouter",
    model: /^google\/gemma-3n/,
    find: systemMessage,
    message: () => "Developer instruction is not enabled for this model",
  },
  {
    provider: "azure",
    model: /^mai-/i,
    find: namedChoice,
    message: () => "body.tool_choice: Input should be a valid string",
  },
  {
    provider: "mistral",
    model: /./,
    find: field("logprobs"),
    message: () => "Logprobs are not enabled for this model",
  },
  {
    provider: "mistral",
    model: /ministral|pixtral|voxtral|codestral/,
    find: firstPart("thinking"),
    message: () => "Reasoning input is not enabled for this model",
  },
  {
    provider: "mistral",
    model: /^(mistral-(tiny|small)$|mistral-saba|open-mistral-7b|open-mixtral|codestral|open-codestral)/,
    find: firstPart("image_url"),
    message: () => "A request containing images has been given to a model which does not have the 'vision' capability.",
  },
];

/** Rules about features a model does not support. */
export const chatModelRules: readonly Rule<unknown>[] = [rejectedRule("openai-chat/model-features", modelFeatures)];
