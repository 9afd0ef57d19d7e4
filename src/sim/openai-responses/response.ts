import { isNonReasoning } from "../../rules/openai/models.ts";
import type { Json, SimUsage, SimResponse } from "../family.ts";
import { asArray, asNumber, asObject, asText, isObject } from "../json.ts";
import { makeId } from "./ids.ts";
import { itemJson, itemsOf } from "./items.ts";
import { type ResponsesSimRequest, servedModel } from "./providers.ts";

/** The state of a response. */
export type ResponseState = {
  readonly status: "in_progress" | "completed" | "incomplete" | "failed";
  readonly output: readonly Json[];
  readonly usage?: SimUsage;
  readonly incomplete?: "max_output_tokens" | "content_filter";
  readonly error?: { readonly code: string; readonly message: string };
};

/** The state of a response that has started. */
export const initialState: ResponseState = { status: "in_progress", output: [] };

/** The state of a finished response. */
export const finalState = (response: SimResponse, request: ResponsesSimRequest): ResponseState => {
  const output = itemsOf(response, request).map((item) => itemJson(item, request));
  const { usage } = response;
  switch (response.finish) {
    case "length":
      return { status: "incomplete", output, usage, incomplete: "max_output_tokens" };
    case "filtered":
      return { status: "incomplete", output, usage, incomplete: "content_filter" };
    case "malformed":
      return failedState(
        "server_error",
        "The model produced invalid content. Consider modifying your prompt if you are seeing this error persistently.",
      );
    case "context":
      return failedState(
        "context_length_exceeded",
        "Your input exceeds the context window of this model. Please adjust your input and try again.",
      );
    case "stop":
    case "calls":
    case "refused":
    case "paused":
      return { status: "completed", output, usage };
  }
};

const failedState = (code: string, message: string): ResponseState => ({
  status: "failed",
  output: [],
  error: { code, message },
});

/** Encodes the response object, which repeats the request's settings. */
export const responseJson = (progress: ResponseState, request: ResponsesSimRequest): Json => {
  switch (request.provider.quirks.vendor) {
    case "openai":
      return openaiResponse(progress, request, {});
    case "azure":
      return openaiResponse(progress, request, {
        content_filters: progress.status === "in_progress" ? null : contentFilters,
      });
    case "xai":
      return xaiResponse(progress, request);
  }
};

/** Encodes a complete response, which includes billing. */
export const encodeResponse = (response: SimResponse, request: ResponsesSimRequest): Json => {
  const json = responseJson(finalState(response, request), request);
  return request.provider.quirks.vendor === "openai" ? { ...json, billing: { payer: "developer" } } : json;
};

const openaiResponse = (progress: ResponseState, request: ResponsesSimRequest, more: Json): Json => {
  const { body } = request;
  const time = Math.floor(request.time);
  const isOver = progress.status !== "in_progress";
  return {
    id: makeId(request, "resp_", { position: 0 }),
    object: "response",
    created_at: time,
    status: progress.status,
    background: false,
    completed_at: progress.status === "completed" ? time : null,
    ...more,
    error: progress.error ?? null,
    frequency_penalty: 0,
    incomplete_details: progress.incomplete === undefined ? null : { reason: progress.incomplete },
    instructions: body["instructions"] ?? null,
    max_output_tokens: body["max_output_tokens"] ?? null,
    max_tool_calls: body["max_tool_calls"] ?? null,
    model: servedModel(request),
    moderation: null,
    output: progress.output,
    parallel_tool_calls: body["parallel_tool_calls"] ?? true,
    presence_penalty: 0,
    previous_response_id: null,
    prompt_cache_key: body["prompt_cache_key"] ?? null,
    prompt_cache_retention: body["prompt_cache_retention"] ?? "24h",
    reasoning: reasoningOf(request),
    safety_identifier: body["safety_identifier"] ?? null,
    service_tier: body["service_tier"] ?? (isOver ? "default" : "auto"),
    store: body["store"] ?? true,
    temperature: body["temperature"] ?? 1,
    text: { format: { type: "text" }, verbosity: "medium", ...asObject(body["text"]) },
    tool_choice: body["tool_choice"] ?? "auto",
    tools: asArray(body["tools"]).map(toolJson),
    top_logprobs: body["top_logprobs"] ?? 0,
    top_p: body["top_p"] ?? 1,
    truncation: body["truncation"] ?? "disabled",
    usage: progress.usage === undefined ? null : usageJson(progress.usage, request),
    user: body["user"] ?? null,
    metadata: body["metadata"] ?? {},
  };
};

const reasoningOf = ({ body, model }: ResponsesSimRequest): Json => {
  const { effort, summary } = asObject(body["reasoning"]);
  return { effort: effort ?? (isNonReasoning(model) ? null : "medium"), summary: summary ?? null };
};

/** Every field of a function is repeated, including omitted ones. */
const toolJson = (tool: unknown): unknown => {
  if (!isObject(tool) || tool["type"] !== "function") return tool;
  const { type, description = null, name, parameters = null, strict = false, ...rest } = tool;
  return { type, ...rest, description, name, parameters, strict };
};

const usageJson = (usage: SimUsage, { model }: ResponsesSimRequest): Json => ({
  input_tokens: usage.input,
  input_tokens_details: {
    cached_tokens: usage.cachedRead,
    // Before gpt-5.6, cache writes were neither reported nor billed.
    cache_write_tokens: /^gpt-(5\.[6-9]|[6-9])/.test(model) ? usage.cachedWrite : 0,
  },
  output_tokens: usage.output,
  output_tokens_details: { reasoning_tokens: usage.reasoning },
  total_tokens: usage.input + usage.output,
});

const safeResult = { filtered: false, severity: "safe" };

/** The results of Azure's content filter. */
const contentFilters: readonly Json[] = [
  {
    blocked: false,
    source_type: "prompt",
    content_filter_raw: null,
    content_filter_results: {
      jailbreak: { filtered: false, detected: false },
      hate: safeResult,
      sexual: safeResult,
      self_harm: safeResult,
      violence: safeResult,
    },
    content_filter_offsets: { start_offset: 0, end_offset: 64, check_offset: 0 },
  },
];

/** xAI repeats fewer settings, in another order. */
const xaiResponse = (progress: ResponseState, request: ResponsesSimRequest): Json => {
  const { body } = request;
  const time = Math.floor(request.time);
  const { effort, summary } = asObject(body["reasoning"]);
  return {
    created_at: time,
    id: makeId(request, "", { position: 0 }),
    max_output_tokens: body["max_output_tokens"] ?? null,
    model: servedModel(request),
    object: "response",
    output: progress.output,
    parallel_tool_calls: body["parallel_tool_calls"] ?? true,
    previous_response_id: null,
    reasoning: { effort: effort ?? null, summary: summary ?? null },
    temperature: asNumber(body["temperature"]) ?? null,
    text: { format: asObject(asObject(body["text"])["format"] ?? { type: "text" }) },
    tool_choice: body["tool_choice"] ?? "auto",
    tools: asArray(body["tools"]).map(toolJson),
    top_p: body["top_p"] ?? null,
    ...(progress.usage === undefined ? {} : { usage: xaiUsage(progress.usage) }),
    user: asText(body["user"]) || null,
    incomplete_details: progress.incomplete === undefined ? null : { reason: progress.incomplete },
    status: progress.status,
    ...(progress.error === undefined ? {} : { error: progress.error }),
    store: body["store"] ?? true,
    metadata: {},
  };
};

const xaiUsage = (usage: SimUsage): Json => ({
  input_tokens: usage.input,
  input_tokens_details: { cached_tokens: usage.cachedRead },
  output_tokens: usage.output,
  output_tokens_details: { reasoning_tokens: usage.reasoning },
  total_tokens: usage.input + usage.output,
  num_sources_used: 0,
  num_server_side_tools_used: 0,
});
