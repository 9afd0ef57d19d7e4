import type { RequestFacts } from "../agent/events.ts";
import type { ToolCallRecord } from "../scheduler/events.ts";
import type { Usage } from "../wire/decode.ts";
import type { Content } from "./content.ts";
import type { Attributes } from "./otlp.ts";
import { providerName } from "./provider-names.ts";

/** Who is asked, in the words of the GenAI conventions. `model` is `provider/model`. */
export const askedAttributes = ({ model, url }: Pick<RequestFacts, "model" | "url">): Attributes => {
  const { hostname, port, protocol } = URL.canParse(url) ? new URL(url) : noAddress;
  return {
    "gen_ai.operation.name": "chat",
    ...modelAttributes(model),
    "server.address": hostname === "" ? undefined : hostname,
    "server.port": hostname === "" ? undefined : Number(port || (protocol === "http:" ? 80 : 443)),
  };
};

const noAddress = { hostname: "", port: "", protocol: "" };

/** A model, as `provider/model`. */
export const modelAttributes = (model: string): Attributes => {
  const [provider = "", ...rest] = model.split("/");
  return { "gen_ai.provider.name": providerName(provider), "gen_ai.request.model": rest.join("/") };
};

/** Tokens, on a span. */
export const usageAttributes = (usage: Usage | undefined): Attributes =>
  usage === undefined
    ? {}
    : {
        "gen_ai.usage.input_tokens": usage.input,
        "gen_ai.usage.output_tokens": usage.output,
        "gen_ai.usage.cache_read.input_tokens": usage.cachedRead,
        "gen_ai.usage.cache_creation.input_tokens": usage.cachedWrite,
        "gen_ai.usage.reasoning.output_tokens": usage.reasoning,
      };

/** Tokens, on a log record, in the words of Gemini CLI. */
export const tokenCounts = (usage: Usage | undefined): Attributes =>
  usage === undefined
    ? {}
    : {
        input_token_count: usage.input,
        output_token_count: usage.output,
        cached_content_token_count: usage.cachedRead,
        thoughts_token_count: usage.reasoning,
        total_token_count: usage.input + usage.output,
      };

/** A call that has ended, on a log record. What it was called with, and what it said, only where content is shared. */
export const callRecord = (record: ToolCallRecord, content: Content): Attributes => {
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
