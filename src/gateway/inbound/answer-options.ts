import { isObject, toPlainJson, type JsonObject } from "../../conversation/json.ts";
import type { AnswerOptions, ClientTool, InboundApi } from "../answers/answer.ts";
import type { GatewayEndpoint } from "../endpoints.ts";
import type { Fields } from "./normalize.ts";

/** Returns the parts of a request that its answer depends on. */
export const answerOptionsOf = (
  { api, vendor }: GatewayEndpoint,
  body: Fields,
  tools: ReadonlyMap<string, ClientTool>,
): AnswerOptions => ({
  thinking: thinkingOf(api, body),
  ...(tools.size === 0 ? {} : { tools }),
  ...(api === "openai-chat"
    ? {
        includeUsage: isOpenRouterClient(body) || objectOf(body["stream_options"])["include_usage"] === true,
        ...(isOpenRouterClient(body) ? { thinkingField: "reasoning" as const } : {}),
        ...(vendor === undefined ? {} : vendorOptions[vendor]),
      }
    : {}),
  ...(api === "openai-responses" ? { echo: echoOf(body) } : {}),
});

const vendorOptions: { readonly [vendor in NonNullable<GatewayEndpoint["vendor"]>]: Partial<AnswerOptions> } = {
  groq: { thinkingField: "reasoning", finalUsage: "x_groq" },
  mistral: { thinkingField: "content", finalUsage: "usage", wholeCalls: true },
};

/** Only clients of OpenRouter send these. They read the field of thinking that OpenRouter has, and always get the usage. */
const isOpenRouterClient = (body: Fields): boolean =>
  body["reasoning"] !== undefined || body["include_reasoning"] !== undefined;

/**
 * A client that did not ask for thinking gets the seals alone while it uses tools: the target needs them in the next
 * request of the loop.
 */
const thinkingOf = (api: InboundApi, body: Fields): AnswerOptions["thinking"] => {
  const hasTools = Array.isArray(body["tools"]) && body["tools"].length > 0;
  switch (api) {
    case "anthropic": {
      const { type, display } = objectOf(body["thinking"]);
      if (type === undefined || type === "disabled") return hasTools ? "sealed" : "none";
      return display === "omitted" ? "sealed" : "shown";
    }
    case "openai-responses":
      return objectOf(body["reasoning"])["summary"] === undefined ? "sealed" : "shown";
    case "openai-chat": {
      const isAsked = ["reasoning_effort", "reasoning", "thinking", "include_reasoning", "enable_thinking"].some(
        (field) => body[field] !== undefined && body[field] !== false,
      );
      return isAsked || hasTools ? "shown" : "none";
    }
    case "gemini":
      return objectOf(objectOf(body["generationConfig"])["thinkingConfig"])["includeThoughts"] === true
        ? "shown"
        : "sealed";
  }
};

/** The fields of a request that a Responses object repeats. */
const echoOf = (body: Fields): JsonObject =>
  Object.fromEntries(
    echoed.flatMap((field) => (body[field] === undefined ? [] : [[field, toPlainJson(body[field]).value]])),
  );

const echoed = [
  "instructions",
  "max_output_tokens",
  "metadata",
  "parallel_tool_calls",
  "prompt_cache_key",
  "reasoning",
  "service_tier",
  "store",
  "temperature",
  "text",
  "tool_choice",
  "tools",
  "top_p",
  "truncation",
  "user",
];

const objectOf = (value: unknown): Fields => (isObject(value) ? value : {});
