import type { RequestInfo } from "../agent/events.ts";
import type { UserPart } from "../conversation/parts.ts";
import { lazyProviders } from "../providers/lazy.data.ts";
import type { FinishedCall, ToolCallRecord } from "../scheduler/events.ts";
import type { TokenUsage } from "../wire/decode/events.ts";
import type { ContentFormatter } from "./content.ts";
import type { TelemetryAttributes } from "./otlp.ts";

/** Attributes of a request by the GenAI conventions. `model` is `provider/model`. */
export const requestAttributes = ({ model, url }: Pick<RequestInfo, "model" | "url">): TelemetryAttributes => {
  const { hostname, port, protocol } = URL.canParse(url) ? new URL(url) : emptyAddress;
  return {
    "gen_ai.operation.name": "chat",
    ...modelAttributes(model),
    "server.address": hostname === "" ? undefined : hostname,
    "server.port": hostname === "" ? undefined : Number(port || (protocol === "http:" ? 80 : 443)),
  };
};

const emptyAddress = { hostname: "", port: "", protocol: "" };

const modelAttributes = (model: string): TelemetryAttributes => {
  const [provider = "", ...rest] = model.split("/");
  return { "gen_ai.provider.name": findTelemetryName(provider), "gen_ai.request.model": rest.join("/") };
};

/**
 * The provider's name in the GenAI conventions; its id if they have none.
 *
 * @internal Exported for its tests.
 */
export const findTelemetryName = (provider: string): string =>
  lazyProviders.find(({ id }) => id === provider)?.telemetryName ?? provider;

/** Token counts for a span. */
export const usageAttributes = (usage: TokenUsage | undefined): TelemetryAttributes =>
  usage === undefined
    ? {}
    : {
        "gen_ai.usage.input_tokens": usage.input,
        "gen_ai.usage.output_tokens": usage.output,
        "gen_ai.usage.cache_read.input_tokens": usage.cachedRead,
        "gen_ai.usage.cache_creation.input_tokens": usage.cachedWrite,
        "gen_ai.usage.reasoning.output_tokens": usage.reasoning,
      };

/** Token counts for a log record, with the names Gemini CLI uses. */
export const tokenCounts = (usage: TokenUsage | undefined): TelemetryAttributes =>
  usage === undefined
    ? {}
    : {
        input_token_count: usage.input,
        output_token_count: usage.output,
        cached_content_token_count: usage.cachedRead,
        thoughts_token_count: usage.reasoning,
        ...(usage.toolUse === undefined ? {} : { tool_token_count: usage.toolUse }),
        total_token_count: usage.input + usage.output,
      };

/** Attributes of the span of a finished tool call. */
export const toolCallAttributes = (
  { call, outcome, record }: FinishedCall,
  content: ContentFormatter,
): TelemetryAttributes => ({
  "gen_ai.operation.name": "execute_tool",
  "gen_ai.tool.name": call.tool,
  "gen_ai.tool.call.id": call.id,
  "gen_ai.tool.type": "function",
  "error.type": record.success ? undefined : (record.error_type ?? outcome.status),
  "gen_ai.tool.call.arguments": content.arguments(record.function_args),
  "gen_ai.tool.call.result": content.result(outcome.content),
});

/** Totals of a running turn. */
export type TurnTotals = {
  readonly prompts: (readonly UserPart[])[];
  /** The last model used. */
  model: string | undefined;
  input: number;
  output: number;
};

/** How a turn ended: with a final text, or with an error. */
export type RecordedTurnEnd =
  | { readonly finish: string; readonly text: string; readonly error?: undefined }
  | { readonly error: string };

/** Attributes of the span of a finished turn. */
export const turnAttributes = (
  turn: TurnTotals,
  end: RecordedTurnEnd,
  content: ContentFormatter,
): TelemetryAttributes => ({
  "gen_ai.operation.name": "invoke_agent",
  ...(turn.model === undefined ? {} : modelAttributes(turn.model)),
  "gen_ai.usage.input_tokens": turn.input,
  "gen_ai.usage.output_tokens": turn.output,
  "gen_ai.input.messages": turn.prompts.length === 0 ? undefined : content.input(turn.prompts),
  ...(end.error === undefined
    ? {
        "gen_ai.response.finish_reasons": [end.finish],
        "gen_ai.output.messages": content.output({ ...end, thought: "", media: [], calls: [] }),
      }
    : { "error.type": end.error }),
});

/** Attributes of the log record of a finished tool call. Arguments and error text only if content is exported. */
export const toolCallLogAttributes = (record: ToolCallRecord, content: ContentFormatter): TelemetryAttributes => {
  const { function_args, error, metadata, duration_ms, ...facts } = record;
  return {
    ...facts,
    duration_ms: Math.round(duration_ms),
    function_args: content.arguments(function_args),
    error: error === undefined ? undefined : content.text(error),
    ...(metadata === undefined
      ? {}
      : Object.fromEntries(Object.entries(metadata).map(([name, count]) => [`metadata.${name}`, count]))),
  };
};
