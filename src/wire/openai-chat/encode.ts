import type { JsonObject, JsonValue } from "../../conversation/json.ts";
import { note, type Note } from "../../conversation/notes.ts";
import type { Text } from "../../conversation/parts.ts";
import type { MediaFile, ModelStep, Step, UserStep } from "../../transcript/step.ts";
import { decodeOpenaiChat } from "./decode.ts";
import { readOpenaiChat } from "./read.ts";
import {
  fileUrl,
  adaptToolChoice,
  audioFormatOf,
  declareTools,
  effortName,
  fileName,
  mergeUserMessages,
  resultContent,
  temperature,
  uploadedFileId,
  addOwnFields,
  type Efforts,
  type OpenaiDialect,
} from "../openai/encode.ts";
import type { CacheSetting, EncodedBody, MarkedMessage, Wire, WireRequest } from "../wire.ts";

/** What differs between the many servers that speak Chat Completions. */
export type ChatDialect = OpenaiDialect & {
  /** Whose words the system text is; `user` for models that know no instructions. */
  readonly system: "system" | "developer" | "user";
  /**
   * Where an assistant message has its reasoning. `reasoning_details` goes back
   * as it came and only where it came; Mistral's thinking chunks lead the content.
   */
  readonly reasoning: "none" | "reasoning_content" | "reasoning" | "reasoning_details" | "thinking_chunk";
  /** The content of an assistant message that only calls tools. */
  readonly emptyContent: "null" | "omitted" | "empty";
  /** Whether a result says which tool it is of. */
  readonly resultNames: boolean;
  /** Whether a user message of several texts may be a list; where not, they are joined. */
  readonly textLists: boolean;
  /** How documents, sounds and uploaded files are written: OpenAI's way, or Mistral's flat one. */
  readonly parts: "openai" | "mistral";
  /** The field that limits the answer. */
  readonly maxTokens: "max_tokens" | "max_completion_tokens";
  /** Whether a stream can be asked to end with the usage. */
  readonly streamOptions: boolean;
  /** How thinking is asked for. */
  readonly thinking: ChatThinking;
  /**
   * What `reasoning_effort` may be in a request that declares tools. `absent`: not even there. `none`: it has to say so,
   * as the model reasons otherwise.
   */
  readonly effortWithTools: "any" | "absent" | "none";
  /** Whether content parts take `cache_control`. */
  readonly cacheMarks: boolean;
  /** Whether it runs tools of its own, declared beside the caller's. */
  readonly serverTools?: boolean;
  /** Fields that every request carries. */
  readonly extraFields?: JsonObject;
  /** What makes a stream whole: its `[DONE]` line; or, where that may be missing, a reason to finish and then a clean end. */
  readonly ends: "done" | "finish";
  /** Whether a piece of a stream may begin with all that was said before it. */
  readonly repeatsText: boolean;
};

/** The ways of asking for thinking, by the field that does it. */
type ChatThinking =
  | { readonly field: "none" }
  /** A word. */
  | { readonly field: "reasoning_effort"; readonly efforts: Efforts }
  /** An object with the word; or, with `budgets`, with a number of tokens where one is asked for. */
  | { readonly field: "reasoning"; readonly efforts: Efforts; readonly budgets?: true }
  /** `{type: "enabled" | "disabled"}`; `enabled` stands beside the type, `efforts` for a `reasoning_effort` beside it all. */
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

/** Words as one string; a list where files or thinking chunks are among them. */
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
  const named = file.name === undefined || file.name === "" ? {} : { document_name: file.name };
  return { type: "document_url", document_url: fileUrl(file), ...named };
};

const encodeRequest = (messages: readonly JsonObject[], request: WireRequest<ChatDialect>): EncodedBody => {
  const { model, tools, settings, dialect } = request;
  const { maxTokens, stream, cache } = settings;
  const notes: Note[] = [];
  const body: JsonObject = {
    model,
    ...(tools.length === 0
      ? {}
      : { tools: declareTools(request, notes).map((tool) => ({ type: "function", function: tool })) }),
    ...toolChoice(request, notes),
    ...thinking(request, notes),
    ...(maxTokens === undefined ? {} : { [dialect.maxTokens]: maxTokens }),
    ...temperature(request, notes),
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
  const asked = settings.thinking;
  if (tools.length > 0 && dialect.effortWithTools !== "any") {
    if (asked !== undefined && asked.effort !== "none")
      notes.push(
        note("setting-adapted", "In Chat Completions this model thinks only without tools; it does not think here."),
      );
    return dialect.effortWithTools === "none" ? { reasoning_effort: "none" } : {};
  }
  if (asked === undefined) return {};
  const way = dialect.thinking;
  switch (way.field) {
    case "none":
      if (asked.effort !== "none")
        notes.push(note("setting-adapted", "How hard this model thinks cannot be set; the setting is left out."));
      return {};
    case "reasoning_effort": {
      const word = effortName(asked.effort, way.efforts, notes);
      return word === undefined ? {} : { reasoning_effort: word };
    }
    case "reasoning": {
      if (way.budgets === true && asked.budget !== undefined && asked.effort !== "none")
        return { reasoning: { max_tokens: asked.budget } };
      const word = effortName(asked.effort, way.efforts, notes);
      return word === undefined ? {} : { reasoning: { effort: word } };
    }
    case "thinking": {
      if (asked.effort === "none") return { thinking: { type: "disabled" } };
      const word = way.efforts === undefined ? undefined : effortName(asked.effort, way.efforts, notes);
      return {
        thinking: { type: "enabled", ...way.enabled },
        ...(word === undefined ? {} : { reasoning_effort: word }),
      };
    }
    case "enable_thinking":
      return {
        enable_thinking: asked.effort !== "none",
        ...(asked.effort === "none" || asked.budget === undefined ? {} : { thinking_budget: asked.budget }),
      };
  }
};

/** The system text and the last message get a marker each. */
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

/** The last text of a message is marked: other parts take no marker everywhere. A string becomes a list for it. */
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
