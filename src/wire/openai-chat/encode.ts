import type { JsonObject, JsonValue } from "../../conversation/json.ts";
import { note, type Note } from "../../conversation/notes.ts";
import type { Text } from "../../conversation/parts.ts";
import type { MediaFile, ModelStep, Step, UserStep } from "../../transcript/step.ts";
import { cacheDeclarations } from "../tool-declarations.ts";
import { decodeOpenaiChat } from "./decode.ts";
import { readOpenaiChat } from "./read.ts";
import {
  fileUrl,
  adaptToolChoice,
  answerSchema,
  audioFormatOf,
  declareTool,
  effortName,
  fileName,
  mergeUserMessages,
  resultContent,
  temperature,
  tokenLimit,
  uploadedFileId,
  addOwnFields,
  type Efforts,
  type OpenaiDialect,
} from "../openai/encode.ts";
import type { CacheSetting, EncodedBody, MarkedMessage, Wire, WireRequest } from "../wire.ts";

/** Differences between the servers of Chat Completions. */
export type ChatDialect = OpenaiDialect & {
  /** The role of the system prompt; `user` for models without instructions. */
  readonly system: "system" | "developer" | "user";
  /**
   * The field for reasoning in an assistant message. `reasoning_details` are sent back verbatim and only where received;
   * Mistral's thinking chunks come first in the content.
   */
  readonly reasoning: "none" | "reasoning_content" | "reasoning" | "reasoning_details" | "thinking_chunk";
  /** The content of an assistant message with nothing but tool calls. */
  readonly emptyContent: "null" | "omitted" | "empty";
  /** Whether a tool result names its tool. */
  readonly resultNames: boolean;
  /** Whether several texts of a user message may be a list; if not, they are joined. */
  readonly textLists: boolean;
  /** The format of documents, audio and uploaded files: OpenAI's, or Mistral's flat one. */
  readonly parts: "openai" | "mistral";
  /** The field for the token limit. */
  readonly maxTokens: "max_tokens" | "max_completion_tokens";
  /** Whether `stream_options` can request the usage at the end. */
  readonly streamOptions: boolean;
  /** How thinking is requested. */
  readonly thinking: ChatThinking;
  /**
   * `reasoning_effort` in a request with tools. `absent`: the field is not accepted. `none`: it must be `none`, since the
   * model reasons by default.
   */
  readonly effortWithTools: "any" | "absent" | "none";
  /** Whether content parts accept `cache_control`. */
  readonly cacheMarks: boolean;
  /** Whether it has server tools, declared beside functions. */
  readonly serverTools?: boolean;
  /** Fields added to every request. */
  readonly extraFields?: JsonObject;
  /** The end of a stream: the `[DONE]` line; or, where that may be missing, a finish reason and a clean end. */
  readonly ends: "done" | "finish";
  /** Whether a piece of a stream may repeat all previous text. */
  readonly repeatsText: boolean;
};

/** How thinking is requested, by field. */
type ChatThinking =
  | { readonly field: "none" }
  /** An effort level. */
  | { readonly field: "reasoning_effort"; readonly efforts: Efforts }
  /** An object with the effort level; or, with `budgets`, with a token budget where one is set. */
  | { readonly field: "reasoning"; readonly efforts: Efforts; readonly budgets?: true }
  /** `{type: "enabled" | "disabled"}`; `enabled` has further fields beside the type, `efforts` the values of a `reasoning_effort` beside the object. */
  | { readonly field: "thinking"; readonly enabled?: JsonObject; readonly efforts?: Efforts }
  /** A boolean, with `thinking_budget` beside it. */
  | { readonly field: "enable_thinking" };

/** OpenAI's Chat Completions, and everything modelled on it. */
export const openaiChat: Wire<ChatDialect> = {
  id: "openai-chat",
  encodeHead: ({ system, dialect }) =>
    system === undefined || system.trim() === "" ? [] : [{ role: dialect.system, content: system }],
  encodeStep: (step, dialect) => encodeStep(step, dialect),
  mergeMessages: (before, next, { textLists }) => mergeUserMessages(before, next, { type: "text", joined: !textLists }),
  markCachePoints: (messages, request) => markMessages(messages, request),
  encodeRequest: (messages, request) => encodeRequest(messages, request),
  extractMessages: (body) => (body["messages"] as readonly JsonObject[]).map(stripCacheMarker),
  read: readOpenaiChat,
  decode: decodeOpenaiChat,
};

const encodeStep = (step: Step, dialect: ChatDialect): readonly JsonObject[] => {
  if (step.role === "user") return [{ role: "user", content: userContent(step, dialect) }];
  const messages: JsonObject[] = [assistantMessage(step, dialect)];
  for (const part of step.parts)
    if (part.type === "exchange")
      messages.push({
        role: "tool",
        tool_call_id: part.id,
        ...(dialect.resultNames ? { name: part.tool } : {}),
        content: resultContent(part.result, (item) => contentPart(item, dialect)),
      });
  return messages;
};

const userContent = ({ parts }: UserStep, dialect: ChatDialect): JsonValue => {
  const [first] = parts;
  if (parts.length === 1 && first?.type === "text") return first.text;
  if (!dialect.textLists && parts.every((part) => part.type === "text"))
    return parts.map((part) => (part as Text).text).join("\n\n");
  return parts.map((part) => contentPart(part, dialect));
};

const assistantMessage = ({ parts }: ModelStep, dialect: ChatDialect): JsonObject => {
  const calls: JsonObject[] = [];
  for (const part of parts)
    if (part.type === "exchange")
      calls.push({
        id: part.id,
        type: "function",
        function: { name: part.tool, arguments: part.inputText ?? JSON.stringify(part.input) },
      });
  const message: Record<string, JsonValue> = { role: "assistant" };
  const content = assistantContent(parts, dialect);
  if (content !== undefined) message["content"] = content;
  else if (dialect.emptyContent !== "omitted") message["content"] = dialect.emptyContent === "null" ? null : "";
  addReasoning(message, parts, dialect);
  if (calls.length > 0) message["tool_calls"] = calls;
  return message;
};

/** Returns the content as one string, or as a list where it has files or thinking chunks. */
const assistantContent = (parts: ModelStep["parts"], dialect: ChatDialect): JsonValue | undefined => {
  let text: string | undefined;
  for (const part of parts) {
    if (part.type === "text") text = text === undefined ? part.text : `${text}\n\n${part.text}`;
    else if (part.type === "file" || isChunk(part, dialect)) return contentList(parts, dialect);
  }
  return text;
};

const isChunk = (part: ModelStep["parts"][number], dialect: ChatDialect): boolean =>
  dialect.reasoning === "thinking_chunk" && part.type === "thinking" && part.text.trim() !== "";

const contentList = (parts: ModelStep["parts"], dialect: ChatDialect): readonly JsonObject[] => {
  const list: JsonObject[] = [];
  for (const part of parts)
    if (part.type === "thinking" && isChunk(part, dialect))
      list.push({
        type: "thinking",
        thinking: [{ type: "text", text: part.text }],
        ...(part.seal?.signature === undefined ? {} : { signature: part.seal.signature }),
      });
  for (const part of parts) if (part.type === "text" || part.type === "file") list.push(contentPart(part, dialect));
  return list;
};

const addReasoning = (
  message: Record<string, JsonValue>,
  parts: ModelStep["parts"],
  { reasoning: field }: ChatDialect,
): void => {
  if (field === "none" || field === "thinking_chunk") return;
  for (const part of parts) {
    if (part.type !== "thinking") continue;
    const before = message[field];
    if (field === "reasoning_details") {
      const details = part.seal?.details;
      if (details !== undefined)
        message[field] = before === undefined ? details : [...(before as readonly JsonValue[]), ...details];
    } else message[field] = joinParagraphs(before as string | undefined, part.text);
  }
};

const joinParagraphs = (before: string | undefined, text: string): string => {
  if (before === undefined || before === "") return text;
  return text === "" ? before : `${before}\n\n${text}`;
};

const contentPart = (part: Text | MediaFile, dialect: ChatDialect): JsonObject =>
  part.type === "text" ? { type: "text", text: part.text } : filePart(part, dialect);

const filePart = (file: MediaFile, { parts }: ChatDialect): JsonObject => {
  switch (file.kind) {
    case "image":
      return { type: "image_url", image_url: { url: fileUrl(file) } };
    case "video":
      return { type: "video_url", video_url: { url: fileUrl(file) } };
    case "audio": {
      const data = file.source.type === "uri" ? file.source.uri : file.source.base64;
      return {
        type: "input_audio",
        input_audio: parts === "mistral" ? data : { data, format: audioFormatOf(file.mimeType) },
      };
    }
    case "document":
      return parts === "mistral" ? mistralDocument(file) : { type: "file", file: documentFile(file) };
  }
};

const documentFile = (file: MediaFile): JsonObject => {
  const uploaded = uploadedFileId(file);
  return uploaded === undefined ? { filename: fileName(file), file_data: fileUrl(file) } : { file_id: uploaded };
};

const mistralDocument = (file: MediaFile): JsonObject => {
  const uploaded = uploadedFileId(file);
  if (uploaded !== undefined) return { type: "file", file_id: uploaded };
  const nameField = file.name === undefined || file.name === "" ? {} : { document_name: file.name };
  return { type: "document_url", document_url: fileUrl(file), ...nameField };
};

const declareTools = cacheDeclarations<ChatDialect>(({ tools, dialect }, notes) =>
  tools.map((tool) => ({ type: "function", function: declareTool(tool, dialect, notes) })),
);

const encodeRequest = (messages: readonly JsonObject[], request: WireRequest<ChatDialect>): EncodedBody => {
  const { model, tools, settings, dialect } = request;
  const { stream, cache } = settings;
  const notes: Note[] = [];
  const schema = answerSchema(request, notes);
  const body: JsonObject = {
    model,
    ...(tools.length === 0 ? {} : { tools: declareTools(request, notes) }),
    ...toolChoice(request, notes),
    ...thinking(request, notes),
    ...tokenLimit(request, dialect.maxTokens, notes),
    ...temperature(request, notes),
    ...(schema === undefined ? {} : { response_format: { type: "json_schema", json_schema: schema } }),
    ...(stream === undefined ? {} : { stream }),
    ...(stream === true && dialect.streamOptions ? { stream_options: { include_usage: true } } : {}),
    ...(cache?.key === undefined || !dialect.cacheKey ? {} : { prompt_cache_key: cache.key }),
    ...dialect.extraFields,
    messages,
  };
  return { body: addOwnFields(body, request, notes), notes };
};

const toolChoice = (request: WireRequest<ChatDialect>, notes: Note[]): JsonObject => {
  const choice = adaptToolChoice(request, notes);
  if (choice === undefined) return {};
  return {
    tool_choice: typeof choice === "string" ? choice : { type: "function", function: { name: choice.tool } },
  };
};

const thinking = ({ settings, tools, dialect }: WireRequest<ChatDialect>, notes: Note[]): JsonObject => {
  const requested = settings.thinking;
  if (tools.length > 0 && dialect.effortWithTools !== "any") {
    if (requested !== undefined && requested.effort !== "none")
      notes.push(
        note("setting-adapted", "In Chat Completions this model thinks only without tools; it does not think here."),
      );
    return dialect.effortWithTools === "none" ? { reasoning_effort: "none" } : {};
  }
  if (requested === undefined) return {};
  const format = dialect.thinking;
  switch (format.field) {
    case "none":
      if (requested.effort !== "none")
        notes.push(note("setting-adapted", "How hard this model thinks cannot be set; the setting is left out."));
      return {};
    case "reasoning_effort": {
      const level = effortName(requested.effort, format.efforts, notes);
      return level === undefined ? {} : { reasoning_effort: level };
    }
    case "reasoning": {
      if (format.budgets === true && requested.budget !== undefined && requested.effort !== "none")
        return { reasoning: { max_tokens: requested.budget } };
      const level = effortName(requested.effort, format.efforts, notes);
      return level === undefined ? {} : { reasoning: { effort: level } };
    }
    case "thinking": {
      if (requested.effort === "none") return { thinking: { type: "disabled" } };
      const level = format.efforts === undefined ? undefined : effortName(requested.effort, format.efforts, notes);
      return {
        thinking: { type: "enabled", ...format.enabled },
        ...(level === undefined ? {} : { reasoning_effort: level }),
      };
    }
    case "enable_thinking":
      return {
        enable_thinking: requested.effort !== "none",
        ...(requested.effort === "none" || requested.budget === undefined ? {} : { thinking_budget: requested.budget }),
      };
  }
};

/** Puts a prompt cache point on the system prompt and on the last message. */
const markMessages = (
  messages: readonly JsonObject[],
  { settings, dialect }: WireRequest<ChatDialect>,
): readonly MarkedMessage[] => {
  const [first] = messages;
  const last = messages.at(-1);
  if (first === undefined || last === undefined || settings.cache?.marks !== true || !dialect.cacheMarks) return [];
  const isSystem = first["role"] === "system" || first["role"] === "developer";
  return [
    ...(isSystem && messages.length > 1 ? [{ at: 0, message: withCacheMarker(first, settings.cache) }] : []),
    { at: messages.length - 1, message: withCacheMarker(last, settings.cache) },
  ];
};

/** Puts the cache point on the last text of a message: not every server accepts it on other parts. A string becomes a list. */
const withCacheMarker = (message: JsonObject, { ttl }: CacheSetting): JsonObject => {
  const marker = ttl === undefined ? { type: "ephemeral" } : { type: "ephemeral", ttl };
  const { content } = message;
  if (typeof content === "string")
    return { ...message, content: [{ type: "text", text: content, cache_control: marker }] };
  if (!Array.isArray(content)) return message;
  const parts = content as readonly JsonObject[];
  const at = parts.findLastIndex((part) => part["type"] === "text");
  if (at === -1) return message;
  return { ...message, content: parts.with(at, { ...parts[at], cache_control: marker }) };
};

const stripCacheMarker = (message: JsonObject): JsonObject => {
  const { content } = message;
  if (!Array.isArray(content)) return message;
  const parts = content as readonly JsonObject[];
  const at = parts.findLastIndex((part) => part["cache_control"] !== undefined);
  if (at === -1) return message;
  const { cache_control: _, ...part } = parts[at]!;
  return { ...message, content: parts.length === 1 ? part["text"]! : parts.with(at, part) };
};
