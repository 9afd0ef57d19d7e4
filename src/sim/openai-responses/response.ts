import { isNonReasoning } from "../../rules/openai/models.ts";
import type { Json, SimUsage, SimResponse } from "../family.ts";
import { asArray, asNumber, asObject, asText, isObject } from "../json.ts";
import { makeId } from "./ids.ts";
import { itemJson, itemsOf } from "./items.ts";
import { type ResponsesSimRequest, servedModel } from "./providers.ts";

/** How far a response has come. */
export type ResponseState = {
  readonly status: "in_progress" | "completed" | "incomplete" | "failed";
  readonly output: readonly Json[];
  readonly usage?: SimUsage;
  readonly incomplete?: "max_output_tokens" | "content_filter";
  readonly error?: { readonly code: string; readonly message: string };
};

/** A response that has begun. */
export const initialState: ResponseState = { status: "in_progress", output: [] };

/** A response that has ended, as its last words and its end have it. */
export const finalState = (spoken: SimResponse, ask: ResponsesSimRequest): ResponseState => {
  const output = itemsOf(spoken, ask).map((item) => itemJson(item, ask));
  const { usage } = spoken;
  switch (spoken.finish) {
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

/** The response object, which repeats what was asked for. */
export const responseJson = (progress: ResponseState, ask: ResponsesSimRequest): Json => {
  switch (ask.provider.quirks.vendor) {
    case "openai":
      return openaiResponse(progress, ask, {});
    case "azure":
      return openaiResponse(progress, ask, {
        content_filters: progress.status === "in_progress" ? null : contentFilters,
      });
    case "xai":
      return xaiResponse(progress, ask);
  }
};

/** The same object as a whole answer, which says who pays. */
export const encodeResponse = (spoken: SimResponse, ask: ResponsesSimRequest): Json => {
  const response = responseJson(finalState(spoken, ask), ask);
  return ask.provider.quirks.vendor === "openai" ? { ...response, billing: { payer: "developer" } } : response;
};

const openaiResponse = (progress: ResponseState, ask: ResponsesSimRequest, more: Json): Json => {
  const { body } = ask;
  const time = Math.floor(ask.time);
  const isOver = progress.status !== "in_progress";
  return {
    id: makeId(ask, "resp_", { position: 0 }),
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
    model: servedModel(ask),
    moderation: null,
    output: progress.output,
    parallel_tool_calls: body["parallel_tool_calls"] ?? true,
    presence_penalty: 0,
    previous_response_id: null,
    prompt_cache_key: body["prompt_cache_key"] ?? null,
    prompt_cache_retention: body["prompt_cache_retention"] ?? "24h",
    reasoning: reasoningOf(ask),
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
    usage: progress.usage === undefined ? null : usageJson(progress.usage, ask),
    user: body["user"] ?? null,
    metadata: body["metadata"] ?? {},
  };
};

const reasoningOf = ({ body, model }: ResponsesSimRequest): Json => {
  const { effort, summary } = asObject(body["reasoning"]);
  return { effort: effort ?? (isNonReasoning(model) ? null : "medium"), summary: summary ?? null };
};

/** Every field of a function is repeated, also those the request left out. */
const toolJson = (tool: unknown): unknown => {
  if (!isObject(tool) || tool["type"] !== "function") return tool;
  const { type, description = null, name, parameters = null, strict = false, ...rest } = tool;
  return { type, ...rest, description, name, parameters, strict };
};

const usageJson = (usage: SimUsage, { model }: ResponsesSimRequest): Json => ({
  input_tokens: usage.input,
  input_tokens_details: {
    cached_tokens: usage.cachedRead,
    // Before gpt-5.6 writing to the cache was neither told nor charged.
    cache_write_tokens: /^gpt-(5\.[6-9]|[6-9])/.test(model) ? usage.cachedWrite : 0,
  },
  output_tokens: usage.output,
  output_tokens_details: { reasoning_tokens: usage.reasoning },
  total_tokens: usage.input + usage.output,
});

const safeResult = { filtered: false, severity: "safe" };

/** What Azure's content filter thought of the prompt and of the answer. */
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

/** xAI repeats less, and in another order. */
const xaiResponse = (progress: ResponseState, ask: ResponsesSimRequest): Json => {
  const { body } = ask;
  const time = Math.floor(ask.time);
  const { effort, summary } = asObject(body["reasoning"]);
  return {
    created_at: time,
    id: makeId(ask, "", { position: 0 }),
    max_output_tokens: body["max_output_tokens"] ?? null,
    model: servedModel(ask),
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
