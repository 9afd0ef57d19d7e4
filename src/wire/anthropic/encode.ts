import type { ProviderField } from "../../conversation/entry.ts";
import type { JsonObject, JsonValue } from "../../conversation/json.ts";
import { note, type Note } from "../../conversation/notes.ts";
import type { Structured, Text } from "../../conversation/parts.ts";
import { hasExchange, type CallExchange, type MediaFile, type ModelStep, type Step } from "../../transcript/step.ts";
import { cacheDeclarations } from "../tool-declarations.ts";
import { decodeAnthropic } from "./decode.ts";
import { readAnthropic } from "./read.ts";
import { mergeBlocks } from "../merge-blocks.ts";
import { addProviderFields, addToolFields, unenforcedNote } from "../provider-fields.ts";
import { anthropicSchema } from "../schema/adapt.ts";
import type {
  CacheSetting,
  EncodedBody,
  MarkedMessage,
  RequestSettings,
  ThoughtSummaries,
  ToolChoice,
  Wire,
  WireRequest,
} from "../wire.ts";

/** Differences between the models and hosts of Anthropic Messages. */
export type AnthropicDialect = {
  /** `adaptive` models choose their own budget, `always` ones cannot turn thinking off, `budget` models get a token budget, `none` do not think. */
  readonly thinking: "adaptive" | "always" | "budget" | "none";
  /** Whether tool choice `any` and a named tool are accepted. */
  readonly forcedTools: boolean;
  /** Whether temperature is accepted. */
  readonly sampling: boolean;
  /** When `thinking.display` is written: `always` for models that think by default. Default: never. */
  readonly summaries?: ThoughtSummaries;
  /** Whether `output_config.format` is accepted. Default: no. */
  readonly output?: boolean;
  /** The maximum output tokens. The API requires a limit, and refuses a higher one. */
  readonly maxTokens: number;
};

/** Anthropic's Messages API. */
export const anthropic: Wire<AnthropicDialect> = {
  id: "anthropic",
  encodeHead: () => [],
  encodeStep: (step) => encodeStep(step),
  mergeMessages: mergeBlocks,
  markCachePoints: (messages, request) => markLastBlock(messages, request),
  encodeRequest: (messages, request) => encodeRequest(messages, request),
  extractMessages: (body) =>
    (body["messages"] as readonly JsonObject[]).map((message) => stripCacheMarkers(message) as JsonObject),
  read: readAnthropic,
  argumentNames: (parameters) => anthropicSchema(parameters).renamed,
  decode: decodeAnthropic,
};

const encodeStep = (step: Step): readonly JsonObject[] => {
  if (step.role === "user") return [{ role: "user", content: step.parts.map(contentBlock) }];
  const message = { role: "assistant", content: step.parts.map(modelBlock) };
  if (!hasExchange(step)) return [message];
  return [message, { role: "user", content: step.parts.filter(isExchange).map(toolResult) }];
};

const isExchange = (part: ModelStep["parts"][number]): part is CallExchange => part.type === "exchange";

const modelBlock = (part: ModelStep["parts"][number]): JsonObject => {
  switch (part.type) {
    case "text":
    case "file":
      return contentBlock(part);
    case "thinking":
      return part.seal?.encrypted !== undefined
        ? { type: "redacted_thinking", data: part.seal.encrypted }
        : { type: "thinking", thinking: part.text, signature: part.seal?.signature ?? "" };
    case "exchange":
      return { type: "tool_use", id: part.id, name: part.tool, input: part.input };
  }
};

const toolResult = ({ id, result }: CallExchange): JsonObject => ({
  type: "tool_result",
  tool_use_id: id,
  content: result.content.map(contentBlock),
  ...(result.status === "complete" ? {} : { is_error: true }),
});

const contentBlock = (part: Text | Structured | MediaFile): JsonObject => {
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text };
    case "structured":
      return { type: "text", text: JSON.stringify(part.value) };
    case "file":
      return part.kind === "image" ? { type: "image", source: mediaSource(part) } : documentBlock(part);
  }
};

const documentBlock = (file: MediaFile): JsonObject => ({
  type: "document",
  source: mediaSource(file),
  ...(file.name === undefined ? {} : { title: file.name }),
});

const mediaSource = ({ source: from, mimeType }: MediaFile): JsonObject => {
  if (from.type === "data") return { type: "base64", media_type: mimeType, data: from.base64 };
  const uploaded = /^anthropic-file:(.*)$/s.exec(from.uri);
  return uploaded === null ? { type: "url", url: from.uri } : { type: "file", file_id: uploaded[1] ?? "" };
};

const encodeRequest = (messages: readonly JsonObject[], request: WireRequest<AnthropicDialect>): EncodedBody => {
  const { model, system, tools, settings, dialect } = request;
  const notes: Note[] = [];
  const mark = settings.cache?.marks === true ? { cache_control: cacheMarker(settings.cache) } : {};
  const maxTokens = outputLimit(request, notes);
  const thinkingFields = thinking(request, maxTokens, notes);
  const thinks = isThinking(thinkingFields);
  const choice = toolChoice(settings.toolChoice, request, thinks, notes);
  const adaptedTemperature = temperature(request, thinks, notes);
  const body: JsonObject = {
    model,
    max_tokens: maxTokens,
    ...(system === undefined ? {} : { system: [{ type: "text", text: system, ...mark }] }),
    ...(tools.length === 0 ? {} : { tools: declareTools(request, notes) }),
    ...(choice === undefined ? {} : { tool_choice: choice }),
    ...withAnswerSchema(thinkingFields, request, notes),
    ...(adaptedTemperature === undefined ? {} : { temperature: adaptedTemperature }),
    ...(settings.stream === undefined ? {} : { stream: settings.stream }),
    messages,
  };
  const hasEffort = dialect.thinking === "adaptive" || dialect.thinking === "always";
  const takes = ({ at, sampling }: ProviderField): boolean =>
    (dialect.sampling || sampling !== true) && (hasEffort || at !== "output_config/effort");
  return { body: addProviderFields(body, settings.extra, { takes, notes }), notes };
};

/** Adds the JSON Schema of the answer, which is beside the effort in `output_config`. */
const withAnswerSchema = (
  fields: JsonObject,
  { settings, dialect }: WireRequest<AnthropicDialect>,
  notes: Note[],
): JsonObject => {
  if (settings.output === undefined) return fields;
  const { enforced } = settings.output;
  if (dialect.output !== true || enforced === undefined) {
    notes.push(unenforcedNote);
    return fields;
  }
  const { output_config: config } = fields;
  return { ...fields, output_config: { ...(config as JsonObject), format: { type: "json_schema", schema: enforced } } };
};

/** Returns the required token limit: as requested, capped by the model's maximum and the room in the context window. */
const outputLimit = ({ settings, dialect }: WireRequest<AnthropicDialect>, notes: Note[]): number => {
  const requested = settings.maxTokens;
  if (requested === undefined) return Math.min(dialect.maxTokens, settings.contextLeft ?? dialect.maxTokens);
  if (requested > dialect.maxTokens)
    notes.push(
      note("setting-adapted", `This model writes at most ${dialect.maxTokens} tokens; ${requested} were asked for.`),
    );
  return Math.min(requested, dialect.maxTokens);
};

const declareTools = cacheDeclarations<AnthropicDialect>(({ tools }, notes) =>
  tools.map((tool) => {
    const adapted = anthropicSchema(tool.parameters);
    if (adapted.changed !== undefined)
      notes.push(note("schema-adapted", `The parameters of ${tool.name}: ${adapted.changed}.`));
    const declared = {
      name: tool.name,
      ...(tool.description === undefined || tool.description === "" ? {} : { description: tool.description }),
      input_schema: adapted.schema,
    };
    return addToolFields(declared, tool, { adapted, notes });
  }),
);

const toolChoice = (
  choice: ToolChoice | undefined,
  { tools, dialect }: WireRequest<AnthropicDialect>,
  thinks: boolean,
  notes: Note[],
): JsonObject | undefined => {
  if (choice === undefined || tools.length === 0) return undefined;
  if (choice === "auto" || choice === "none") return { type: choice };
  if (!dialect.forcedTools || thinks) {
    const why = dialect.forcedTools ? "A model that thinks" : "This model";
    notes.push(note("setting-adapted", `${why} cannot be made to call a tool; it may choose.`));
    return { type: "auto" };
  }
  return choice === "required" ? { type: "any" } : { type: "tool", name: choice.tool };
};

/** Adapts the temperature: 0 to 1 here, and not accepted with thinking. */
const temperature = (
  { settings, dialect }: WireRequest<AnthropicDialect>,
  thinks: boolean,
  notes: Note[],
): number | undefined => {
  const requested = settings.temperature;
  if (requested === undefined) return undefined;
  if (!dialect.sampling || thinks) {
    notes.push(
      note(
        "setting-adapted",
        `${thinks ? "With thinking on, no" : "This model takes no"} temperature; it is left out.`,
      ),
    );
    return undefined;
  }
  const taken = Math.min(1, Math.max(0, requested));
  if (taken !== requested)
    notes.push(note("setting-adapted", `The temperature ${requested} is out of range; ${taken} is sent.`));
  return taken;
};

const isThinking = ({ thinking }: JsonObject): boolean =>
  typeof thinking === "object" && thinking !== null && "type" in thinking && thinking["type"] !== "disabled";

const budgets = { low: 2048, medium: 8192, high: 16384 } as const;

const thinking = (request: WireRequest<AnthropicDialect>, maxTokens: number, notes: Note[]): JsonObject =>
  withDisplay(thinkingAmount(request, maxTokens, notes), request) ?? {};

/** Adds `display`: from Claude 4.7 on, thinking text is only returned where it is requested. */
export const withDisplay = (
  amount: JsonObject | undefined,
  { settings, dialect }: Pick<WireRequest<{ readonly summaries?: ThoughtSummaries }>, "settings" | "dialect">,
): JsonObject | undefined => {
  if (settings.thoughts === undefined || (dialect.summaries ?? "never") === "never") return amount;
  const display = settings.thoughts ? "summarized" : "omitted";
  const { thinking: set } = amount ?? {};
  if (isThinking(amount ?? {})) return { ...amount, thinking: { ...(set as JsonObject), display } };
  const isForced = settings.toolChoice === "required" || typeof settings.toolChoice === "object";
  const thinksUnasked = settings.thinking === undefined && dialect.summaries === "always" && !isForced;
  return thinksUnasked && settings.thoughts ? { ...amount, thinking: { type: "adaptive", display } } : amount;
};

const thinkingAmount = (
  { settings, dialect }: WireRequest<AnthropicDialect>,
  maxTokens: number,
  notes: Note[],
): JsonObject => {
  const requested = settings.thinking;
  if (requested === undefined) return {};
  if (dialect.thinking === "always" && requested.effort === "none") {
    notes.push(note("setting-adapted", "This model always thinks; it is asked for as little as it can."));
    return { thinking: { type: "adaptive" }, output_config: { effort: "low" } };
  }
  if (dialect.thinking === "none" || requested.effort === "none") {
    if (requested.effort !== "none")
      notes.push(note("setting-adapted", "This model does not think; the setting is left out."));
    return dialect.thinking === "none" ? {} : { thinking: { type: "disabled" } };
  }
  if (dialect.thinking === "adaptive" || dialect.thinking === "always")
    return { thinking: { type: "adaptive" }, output_config: { effort: requested.effort } };
  // A default budget leaves half of the limit for the response.
  const budget = Math.min(
    requested.budget ?? Math.min(budgets[requested.effort], Math.max(1024, maxTokens >> 1)),
    maxTokens - 1,
  );
  if (budget < 1024) {
    notes.push(
      note("setting-adapted", "There is no room to think: the budget must be at least 1024 and below max_tokens."),
    );
    return {};
  }
  return { thinking: { type: "enabled", budget_tokens: budget } };
};

/** Puts a cache point on the last block of the last message. Thinking cannot carry one, and no message ends with it. */
const markLastBlock = (
  messages: readonly JsonObject[],
  { settings }: WireRequest<AnthropicDialect>,
): readonly MarkedMessage[] => {
  const last = messages.at(-1);
  if (last === undefined || settings.cache?.marks !== true || usesAutomaticCaching(settings)) return [];
  const blocks = last["content"] as readonly JsonObject[];
  const content = blocks.with(-1, { ...blocks.at(-1), cache_control: cacheMarker(settings.cache) });
  return [{ at: messages.length - 1, message: { ...last, content } }];
};

const cacheMarker = ({ ttl }: CacheSetting): JsonObject =>
  ttl === undefined ? { type: "ephemeral" } : { type: "ephemeral", ttl };

/** Whether the request uses automatic caching, where the API refuses a cache point with another TTL at the end. */
const usesAutomaticCaching = ({ extra }: RequestSettings): boolean =>
  extra?.fields.some(({ at }) => at === "cache_control") === true;

const stripCacheMarkers = (value: JsonValue): JsonValue => {
  if (Array.isArray(value)) return value.map(stripCacheMarkers);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, item]) => (key === "cache_control" ? [] : [[key, stripCacheMarkers(item)]])),
  );
};
