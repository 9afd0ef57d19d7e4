import type { JsonObject } from "../../conversation/json.ts";
import type { ContentEvent } from "../../transport/events.ts";
import type { FinishReason, TokenUsage } from "../../wire/decode/events.ts";
import type { AnswerContext, AnswerEncoder, AnswerStream } from "./answer.ts";
import { openaiError, openaiErrorObject } from "./errors.ts";
import type { GatewayFailure } from "./failure.ts";
import { createCompactionItem, createItems, type ItemEvent } from "./response-items.ts";
import { createSequencer, type SequenceEvent } from "./sequence.ts";
import { encodeNamedEvent, sequenceEvents } from "./shared.ts";

/** Encodes answers of the Responses API. */
export const openaiResponsesAnswers: AnswerEncoder = {
  api: "openai-responses",
  contentType: () => "text/event-stream; charset=utf-8",
  openStream: (context) => openStream(context),
  encodeComplete: (context, events) => encodeComplete(context, events),
  encodeError: (failure, requestId) => openaiError(failure, requestId, "input"),
  encodeTokenCount: (tokens) => ({ object: "response.input_tokens", input_tokens: tokens }),
  encodeModels: (models) => ({
    object: "list",
    data: models.map(({ id, created = 0 }) => ({ id, object: "model", created, owned_by: "parley" })),
  }),
};

const openStream = (context: AnswerContext): AnswerStream => {
  const sequence = createSequencer();
  const encodeItem = itemEncoder(context);
  let output: readonly JsonObject[] = [];
  let usage: TokenUsage | undefined;
  let number = 0;
  let isStarted = false;

  const encode = (type: string, fields: JsonObject): string => {
    const event = encodeNamedEvent(type, { type, ...fields, sequence_number: number });
    number += 1;
    return event;
  };
  const start = (): string => {
    if (isStarted) return "";
    isStarted = true;
    const response = responseOf(context, { status: "in_progress", output: [], usage: undefined });
    return encode("response.created", { response }) + encode("response.in_progress", { response });
  };
  const fail: AnswerStream["fail"] = (failure) =>
    start() + encode("response.failed", { response: responseOf(context, { ...failedEnd(failure), output, usage }) });
  const encodeItemEvent = ({ type, fields, done }: ItemEvent): string => {
    if (done !== undefined) output = [...output, done];
    return encode(type, fields);
  };
  const encodeEvent = (event: SequenceEvent): string => {
    switch (event.type) {
      case "usage":
        ({ usage } = event);
        return start();
      case "mismatch":
        return fail({ kind: "internal", detail: `The arguments of ${event.tool} changed while they were streamed` });
      case "finish": {
        const end = endOf(event.reason, output);
        return start() + encode(`response.${end.status}`, { response: responseOf(context, { ...end, output, usage }) });
      }
      case "open":
      case "delta":
      case "close":
      case "cut":
      case "whole":
      case "late-seal":
        return start() + encodeItem(event).map(encodeItemEvent).join("");
    }
  };
  return {
    push: (event) => sequence(event).map(encodeEvent).join(""),
    fail,
    // Clients that watch for silence count events, not comments. OpenAI's SDK throws unless the first event is response.created.
    ping: () => start() + encode("keepalive", {}),
    end: () => "",
  };
};

const itemEncoder = (context: AnswerContext): ReturnType<typeof createItems> =>
  context.options.isSummary === true ? createCompactionItem(context) : createItems(context);

const encodeComplete = (context: AnswerContext, events: readonly ContentEvent[]): JsonObject => {
  const encodeItem = itemEncoder(context);
  const output: JsonObject[] = [];
  let usage: TokenUsage | undefined;
  let finish: FinishReason = "stop";
  for (const event of sequenceEvents(events)) {
    if (event.type === "usage") ({ usage } = event);
    else if (event.type === "finish") finish = event.reason;
    else if (event.type !== "mismatch")
      for (const { done } of encodeItem(event)) if (done !== undefined) output.push(done);
  }
  return responseOf(context, { ...endOf(finish, output), output, usage });
};

/** The end of a response. */
type ResponseEnd = {
  readonly status: "in_progress" | "completed" | "incomplete" | "failed";
  readonly incomplete?: "max_output_tokens" | "content_filter";
  readonly error?: JsonObject;
};

const endOf = (reason: FinishReason, output: readonly JsonObject[]): ResponseEnd => {
  switch (reason) {
    case "length":
    case "context":
      return { status: "incomplete", incomplete: "max_output_tokens" };
    case "filtered":
      return { status: "incomplete", incomplete: "content_filter" };
    case "refused":
      return output.length === 0 ? { status: "incomplete", incomplete: "content_filter" } : { status: "completed" };
    case "malformed":
      return output.length === 0
        ? { status: "failed", error: { code: "server_error", message: "The model wrote a malformed tool call." } }
        : { status: "completed" };
    case "stop":
    case "calls":
    case "paused":
    case "other":
      return { status: "completed" };
  }
};

const failedEnd = (failure: GatewayFailure): ResponseEnd => {
  const { code, message } = openaiErrorObject(failure, "input");
  return { status: "failed", error: { code: code ?? "server_error", message: message ?? "" } };
};

const responseOf = (
  { id, created, model, options }: AnswerContext,
  {
    status,
    incomplete,
    error,
    output,
    usage,
  }: ResponseEnd & { readonly output: readonly JsonObject[]; readonly usage: TokenUsage | undefined },
): JsonObject => ({
  id: `resp_${id}`,
  object: "response",
  created_at: created,
  status,
  background: false,
  error: error ?? null,
  incomplete_details: incomplete === undefined ? null : { reason: incomplete },
  instructions: null,
  max_output_tokens: null,
  parallel_tool_calls: true,
  previous_response_id: null,
  reasoning: { effort: null, summary: null },
  store: false,
  temperature: 1,
  text: { format: { type: "text" } },
  tool_choice: "auto",
  tools: [],
  top_p: 1,
  truncation: "disabled",
  metadata: {},
  ...options.echo,
  model,
  output,
  usage: status === "in_progress" ? null : encodeUsage(usage),
});

const encodeUsage = (usage: TokenUsage | undefined): JsonObject | null =>
  usage === undefined
    ? null
    : {
        input_tokens: usage.input,
        input_tokens_details: { cached_tokens: usage.cachedRead, cache_write_tokens: usage.cachedWrite },
        output_tokens: usage.output,
        output_tokens_details: { reasoning_tokens: usage.reasoning },
        total_tokens: usage.input + usage.output,
      };
