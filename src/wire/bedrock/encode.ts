import type { ProviderField } from "../../conversation/entry.ts";
import { isObject, type JsonObject, type JsonValue } from "../../conversation/json.ts";
import { note, type Note } from "../../conversation/notes.ts";
import type { Structured, Text, Thinking } from "../../conversation/parts.ts";
import type { CallExchange, MediaFile, ModelStep, RenderedResult, UserStep } from "../../transcript/step.ts";
import { isBlank, fileReference } from "../../transcript/words.ts";
import { withDisplay } from "../anthropic/encode.ts";
import { cacheDeclarations } from "../tool-declarations.ts";
import { decodeBedrock } from "./decode.ts";
import { formatOf } from "./formats.ts";
import { readBedrock } from "./read.ts";
import { mergeBlocks } from "../merge-blocks.ts";
import { addProviderFields, addToolFields, unenforcedNote } from "../provider-fields.ts";
import { anthropicSchema, bedrockSchema, type SchemaAdapter } from "../schema/adapt.ts";
import type {
  EncodedBody,
  MarkedMessage,
  RequestSettings,
  ThoughtSummaries,
  ToolChoice,
  Wire,
  WireRequest,
} from "../wire.ts";

/** Differences between the model families on Bedrock Converse. */
export type BedrockDialect = {
  /**
   * How thinking is requested. `adaptive` and `budget`: Claude's `thinking`, with an effort or a number of tokens; `always` cannot be turned off.
   * `config`: Nova's `reasoningConfig`. `effort`: a plain `reasoning_effort`. `none`: not supported.
   */
  readonly thinking: "adaptive" | "always" | "budget" | "config" | "effort" | "none";
  /** When Claude's `thinking.display` is written: `always` for models that think by default. Default: never. */
  readonly summaries?: ThoughtSummaries;
  /** Whether reasoning is sent back with its signature; all but Claude refuse the field and accept plain text at most. */
  readonly signatures: boolean;
  /** Whether argument names must match Anthropic's pattern, as Claude requires. */
  readonly plainKeys: boolean;
  /** Whether `toolResult.status` is accepted; if not, a failure is stated in the text. */
  readonly status: boolean;
  /** Which tool choices are accepted: all, only `auto`, or not even the field. */
  readonly toolChoice: "all" | "auto" | "none";
  /** Whether temperature is accepted. */
  readonly sampling: boolean;
  /** Where prompt cache points are accepted: `all` includes the tools, `text` is system and messages only. */
  readonly cachePoints: "all" | "text" | "none";
};

/** Amazon Bedrock's Converse API. The model is in the URL, so the body does not name it. */
export const bedrock: Wire<BedrockDialect> = {
  id: "bedrock",
  encodeHead: () => [],
  encodeStep: (step, dialect) => (step.role === "user" ? [userMessage(step)] : modelMessages(step, dialect)),
  mergeMessages: mergeBlocks,
  markCachePoints: (messages, request) => markMessages(messages, request),
  encodeRequest: (messages, request) => encodeRequest(messages, request),
  extractMessages: (body) => (body["messages"] as readonly JsonObject[]).map(stripCachePoints),
  read: readBedrock,
  argumentNames: (parameters, dialect) => schemaFor(dialect)(parameters).renamed,
  decode: decodeBedrock,
};

/** Encodes a user message. Bedrock refuses a document without text in its message, so a reference is added where there is none. */
const userMessage = ({ parts }: UserStep): JsonObject => {
  const blocks: JsonObject[] = [];
  let documents = "";
  let hasText = false;
  for (const part of parts) {
    blocks.push(contentBlock(part));
    if (part.type === "text") hasText = true;
    else if (part.kind === "document") documents += documents === "" ? part.id : ` and ${part.id}`;
  }
  if (documents !== "" && !hasText) blocks.unshift({ text: fileReference(documents) });
  return { role: "user", content: blocks };
};

const modelMessages = ({ parts }: ModelStep, dialect: BedrockDialect): readonly JsonObject[] => {
  const blocks: JsonObject[] = [];
  const results: JsonObject[] = [];
  for (const part of parts) {
    if (part.type === "exchange") {
      blocks.push({ toolUse: { toolUseId: part.id, name: part.tool, input: part.input } });
      results.push(toolResult(part, dialect));
    } else if (part.type === "thinking") {
      const reasoning = reasoningContent(part, dialect);
      if (reasoning !== undefined) blocks.push({ reasoningContent: reasoning });
    } else blocks.push(contentBlock(part));
  }
  const message = { role: "assistant", content: blocks };
  return results.length === 0 ? [message] : [message, { role: "user", content: results }];
};

const reasoningContent = ({ text, seal }: Thinking, dialect: BedrockDialect): JsonObject | undefined => {
  if (seal?.encrypted !== undefined) return { redactedContent: seal.encrypted };
  if (dialect.signatures && seal?.signature !== undefined)
    return { reasoningText: { text, signature: seal.signature } };
  return isBlank(text) ? undefined : { reasoningText: { text } };
};

const toolResult = ({ id, result }: CallExchange, dialect: BedrockDialect): JsonObject => {
  const complete = result.status === "complete";
  const blocks = result.content.map(complete ? resultBlock : contentBlock);
  if (dialect.status) return { toolResult: { toolUseId: id, content: blocks, status: complete ? "success" : "error" } };
  return { toolResult: { toolUseId: id, content: complete ? blocks : markAsError(blocks) } };
};

const markAsError = (blocks: readonly JsonObject[]): readonly JsonObject[] => {
  const text = blocks[0]?.["text"];
  if (typeof text !== "string") return [{ text: "Error:" }, ...blocks];
  return /^\s*error/i.test(text) ? blocks : blocks.with(0, { text: `Error: ${text}` });
};

/** Encodes result content. A JSON block must be an object; failures are text, since Claude accepts only text there. */
const resultBlock = (part: RenderedResult["content"][number]): JsonObject =>
  part.type === "structured" && isObject(part.value) && !hasEmptyKey(part.value)
    ? { json: part.value }
    : contentBlock(part);

const contentBlock = (part: Text | Structured | MediaFile): JsonObject => {
  switch (part.type) {
    case "text":
      return { text: part.text };
    case "structured":
      return { text: JSON.stringify(part.value) };
    case "file":
      return part.kind === "document"
        ? {
            document: {
              format: formatOf(part.kind, part.mimeType),
              name: documentName(part),
              source: mediaSource(part),
            },
          }
        : { [part.kind]: { format: formatOf(part.kind, part.mimeType), source: mediaSource(part) } };
  }
};

const mediaSource = (file: MediaFile): JsonObject =>
  file.source.type === "uri" ? { s3Location: { uri: file.source.uri } } : { bytes: file.source.base64 };

const hasEmptyKey = (value: JsonValue): boolean => {
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return value.some(hasEmptyKey);
  const object = value as JsonObject;
  for (const key in object) if (key === "" || hasEmptyKey(object[key]!)) return true;
  return false;
};

const encodeRequest = (messages: readonly JsonObject[], request: WireRequest<BedrockDialect>): EncodedBody => {
  const { system, tools, settings, dialect } = request;
  const notes: Note[] = [];
  const marks = settings.cache?.marks === true ? dialect.cachePoints : "none";
  const additional = thinking(request, notes);
  if (settings.output !== undefined) notes.push(unenforcedNote);
  const inference = inferenceConfig(request, additional, notes);
  const body: JsonObject = {
    ...(system === undefined || isBlank(system)
      ? {}
      : { system: marks === "none" ? [{ text: system }] : [{ text: system }, cachePoint(settings)] }),
    ...(tools.length === 0 ? {} : { toolConfig: toolConfig(request, marks, notes) }),
    ...(inference === undefined ? {} : { inferenceConfig: inference }),
    ...(additional === undefined ? {} : { additionalModelRequestFields: additional }),
    messages,
  };
  const takes = ({ sampling }: ProviderField): boolean => dialect.sampling || sampling !== true;
  return { body: addProviderFields(body, settings.extra, { takes, notes }), notes };
};

/** Claude validates argument names; the others do not. */
const schemaFor = ({ plainKeys }: BedrockDialect): SchemaAdapter => (plainKeys ? anthropicSchema : bedrockSchema);

const toolConfig = (
  request: WireRequest<BedrockDialect>,
  marks: BedrockDialect["cachePoints"],
  notes: Note[],
): JsonObject => {
  const declared = declareTools(request, notes);
  const choice = toolChoice(request.settings.toolChoice, request.dialect, notes);
  return {
    tools: marks === "all" ? [...declared, cachePoint(request.settings)] : declared,
    ...(choice === undefined ? {} : { toolChoice: choice }),
  };
};

const declareTools = cacheDeclarations<BedrockDialect>(({ tools, dialect }, notes) =>
  tools.map((tool) => {
    const adapted = schemaFor(dialect)(tool.parameters);
    if (adapted.changed !== undefined)
      notes.push(note("schema-adapted", `The parameters of ${tool.name}: ${adapted.changed}.`));
    const { description } = tool;
    const spec = {
      name: tool.name,
      ...(description === undefined || isBlank(description) ? {} : { description }),
      inputSchema: { json: adapted.schema },
    };
    return { toolSpec: addToolFields(spec, tool, { adapted, notes }) };
  }),
);

const toolChoice = (choice: ToolChoice | undefined, dialect: BedrockDialect, notes: Note[]): JsonObject | undefined => {
  if (choice === undefined) return undefined;
  if (choice === "none") {
    notes.push(note("setting-adapted", "This API has no way to forbid tools; the model may choose."));
    return undefined;
  }
  if (dialect.toolChoice === "all" && choice !== "auto")
    return choice === "required" ? { any: {} } : { tool: { name: choice.tool } };
  if (choice !== "auto")
    notes.push(note("setting-adapted", "This model cannot be made to call a tool; it may choose."));
  return dialect.toolChoice === "none" ? undefined : { auto: {} };
};

const isForced = ({ tools, settings, dialect }: WireRequest<BedrockDialect>): boolean =>
  tools.length > 0 &&
  dialect.toolChoice === "all" &&
  (settings.toolChoice === "required" || typeof settings.toolChoice === "object");

const inferenceConfig = (
  { settings, dialect }: WireRequest<BedrockDialect>,
  additional: JsonObject | undefined,
  notes: Note[],
): JsonObject | undefined => {
  const { maxTokens, temperature } = settings;
  if (dialect.thinking === "config" && settings.thinking?.effort === "high") {
    if (maxTokens !== undefined || temperature !== undefined)
      notes.push(note("setting-adapted", "Thinking hard, this model takes neither max_tokens nor temperature."));
    return undefined;
  }
  const adaptedTemperature =
    temperature === undefined ? undefined : adaptTemperature(temperature, { dialect, additional, notes });
  if (maxTokens === undefined && adaptedTemperature === undefined) return undefined;
  return {
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(adaptedTemperature === undefined ? {} : { temperature: adaptedTemperature }),
  };
};

/** Adapts the temperature: between 0 and 1, and Claude accepts none while it thinks. */
const adaptTemperature = (
  temperature: number,
  { dialect, additional, notes }: { dialect: BedrockDialect; additional: JsonObject | undefined; notes: Note[] },
): number | undefined => {
  const thought = additional?.["thinking"] as JsonObject | undefined;
  if (!dialect.sampling || (thought !== undefined && thought["type"] !== "disabled")) {
    notes.push(
      note(
        "setting-adapted",
        `This model takes no temperature${dialect.sampling ? " while it thinks" : ""}; it is left out.`,
      ),
    );
    return undefined;
  }
  const within = Math.min(1, Math.max(0, temperature));
  if (within !== temperature)
    notes.push(note("setting-adapted", `The temperature ${temperature} is out of range; ${within} is sent.`));
  return within;
};

const budgets = { low: 2048, medium: 8192, high: 16384 } as const;

/** Converse has no thinking setting of its own: each model family gets its own field. */
const thinking = (request: WireRequest<BedrockDialect>, notes: Note[]): JsonObject | undefined =>
  withDisplay(thinkingAmount(request, notes), request);

const thinkingAmount = (request: WireRequest<BedrockDialect>, notes: Note[]): JsonObject | undefined => {
  const { settings, dialect } = request;
  const requested = settings.thinking;
  if (requested === undefined) return undefined;
  const { effort } = requested;
  if (effort === "none") {
    if (dialect.thinking === "always") {
      notes.push(note("setting-adapted", "This model always thinks; it is asked for as little as it can."));
      return { thinking: { type: "adaptive" }, output_config: { effort: "low" } };
    }
    if (dialect.thinking === "config") return { reasoningConfig: { type: "disabled" } };
    return dialect.thinking === "adaptive" || dialect.thinking === "budget"
      ? { thinking: { type: "disabled" } }
      : undefined;
  }
  switch (dialect.thinking) {
    case "none":
      notes.push(note("setting-adapted", "This model does not think; the setting is left out."));
      return undefined;
    case "adaptive":
    case "always":
      return { thinking: { type: "adaptive" }, output_config: { effort } };
    case "config":
      return { reasoningConfig: { type: "enabled", maxReasoningEffort: effort } };
    case "effort":
      return { reasoning_effort: effort };
    case "budget": {
      if (isForced(request)) {
        notes.push(note("setting-adapted", "This model cannot think when it has to call a tool; it does not think."));
        return undefined;
      }
      const most = settings.maxTokens ?? Number.MAX_SAFE_INTEGER;
      // A default budget leaves half of the limit for the response.
      const budget = Math.min(
        requested.budget ?? Math.min(budgets[effort], Math.max(1024, Math.floor(most / 2))),
        most - 1,
      );
      if (budget >= 1024) return { thinking: { type: "enabled", budget_tokens: budget } };
      notes.push(
        note("setting-adapted", "There is no room to think: the budget must be at least 1024 and below max_tokens."),
      );
      return undefined;
    }
  }
};

const cachePoint = ({ cache }: RequestSettings): JsonObject => ({
  cachePoint: { type: "default", ...(cache?.ttl === undefined ? {} : { ttl: cache.ttl }) },
});

/** Puts a cache point at the end of the last message, and of the one before the last model message, where the previous request ended. */
const markMessages = (
  messages: readonly JsonObject[],
  { settings, dialect }: WireRequest<BedrockDialect>,
): readonly MarkedMessage[] => {
  if (settings.cache?.marks !== true || dialect.cachePoints === "none") return [];
  const answered = messages.findLastIndex((message) => message["role"] === "assistant") - 1;
  // A message with nothing but files cannot have one; the user message before it gets it, in this request and the next.
  const places = [answered, messages.length - 1].map((end) =>
    messages.findLastIndex((message, at) => at <= end && message["role"] === "user" && canTakeCachePoint(message)),
  );
  return [...new Set(places)].flatMap((at) => {
    const message = messages[at];
    const pointed = message === undefined ? undefined : withCachePoint(message, settings);
    return pointed === undefined ? [] : [{ at, message: pointed }];
  });
};

const isFile = (block: JsonObject): boolean => block["document"] !== undefined || block["video"] !== undefined;

/** Whether a message contains a block that a cache point may follow. */
const canTakeCachePoint = (message: JsonObject): boolean =>
  !(message["content"] as readonly JsonObject[]).every(isFile);

/** Adds a cache point. Directly after a document or video it is refused, so it goes before them. */
const withCachePoint = (message: JsonObject, settings: RequestSettings): JsonObject | undefined => {
  const blocks = message["content"] as readonly JsonObject[];
  const end = blocks.findLastIndex((block) => !isFile(block));
  return end === -1 ? undefined : { ...message, content: blocks.toSpliced(end + 1, 0, cachePoint(settings)) };
};

const stripCachePoints = (message: JsonObject): JsonObject => {
  const blocks = message["content"] as readonly JsonObject[];
  const kept = blocks.filter((block) => block["cachePoint"] === undefined);
  return kept.length === blocks.length ? message : { ...message, content: kept };
};

/** Returns a neutral name, since the model reads names (prompt injection); numbered, since two documents of one name in a request are refused. */
const documentName = ({ id, copy }: MediaFile): string => (copy === undefined ? id : `${id} (${copy})`);
