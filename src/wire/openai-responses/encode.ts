import type { JsonObject } from "../../conversation/json.ts";
import type { Note } from "../../conversation/notes.ts";
import type { Text, Thinking } from "../../conversation/parts.ts";
import type { CallExchange, MediaFile, ModelStep, Step, UserStep } from "../../transcript/step.ts";
import { cacheDeclarations } from "../tool-declarations.ts";
import { decodeOpenaiResponses } from "./decode.ts";
import { readOpenaiResponses } from "./read.ts";
import {
  fileUrl,
  adaptToolChoice,
  answerSchema,
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
import type { EncodedBody, ThoughtSummaries, Wire, WireRequest } from "../wire.ts";

/** Differences between the servers of Responses. */
export type ResponsesDialect = OpenaiDialect & {
  /** Where the system prompt goes: into its own field, or into the first message with this role. */
  readonly system: "instructions" | "system" | "developer";
  /**
   * How thinking is sent back: `encrypted` items, which are also requested; `text` items as plain text; `none`: not at
   * all.
   */
  readonly reasoning: "encrypted" | "text" | "none";
  /**
   * Whether the item directly after a reasoning item is sent back with its own id. OpenAI has refused reasoning whose
   * following item had no known id.
   */
  readonly pairedIds?: boolean;
  /** Whether all calls of a step must come after its text, with nothing between them. */
  readonly callsLast: boolean;
  /** Whether thinking summaries can be requested. Default: never. */
  readonly summaries?: Exclude<ThoughtSummaries, "with-thinking">;
  /** Effort levels; empty where thinking cannot be requested. */
  readonly efforts: Efforts;
};

/** OpenAI's Responses API, and what is modelled on it. Nothing is stored on the server. */
export const openaiResponses: Wire<ResponsesDialect> = {
  id: "openai-responses",
  encodeHead: ({ system, dialect }) =>
    system === undefined || system.trim() === "" || dialect.system === "instructions"
      ? []
      : [{ role: dialect.system, content: system }],
  encodeStep: (step, dialect) => encodeStep(step, dialect),
  mergeMessages: (before, next) => mergeUserMessages(before, next, { type: "input_text", joined: false }),
  markCachePoints: () => [],
  encodeRequest: (messages, request) => encodeRequest(messages, request),
  extractMessages: (body) => body["input"] as readonly JsonObject[],
  read: readOpenaiResponses,
  decode: decodeOpenaiResponses,
};

const encodeStep = (step: Step, dialect: ResponsesDialect): readonly JsonObject[] => {
  if (step.role === "user") return [{ role: "user", content: userContent(step) }];
  const items: JsonObject[] = [];
  let isPaired = false;
  for (const part of dialect.callsLast
    ? step.parts.toSorted((one, other) => partOrder[one.type] - partOrder[other.type])
    : step.parts) {
    const item = modelItem(part, dialect, isPaired ? itemId(part) : undefined);
    if (item === undefined) continue;
    // Reasoning with an id is refused if the next item has none; without an id nothing is checked.
    const before = items.at(-1);
    if (isPaired && item["id"] === undefined && before !== undefined) items[items.length - 1] = withoutId(before);
    items.push(item);
    isPaired = dialect.pairedIds === true && part.type === "thinking" && itemId(part) !== undefined;
  }
  for (const part of step.parts) if (part.type === "exchange") items.push(callOutput(part));
  return items;
};

const withoutId = (item: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(item).filter(([name]) => name !== "id"));

const partOrder: Readonly<Record<ModelStep["parts"][number]["type"], number>> = {
  thinking: 0,
  text: 1,
  file: 1,
  exchange: 2,
};

const userContent = ({ parts }: UserStep): string | readonly JsonObject[] => {
  const [first] = parts;
  return parts.length === 1 && first?.type === "text" ? first.text : parts.map(inputPart);
};

/** Returns the provider's own id of an item, if OpenAI's checks accept it. */
const itemId = (part: ModelStep["parts"][number]): string | undefined => {
  const prefix = itemIdPrefixes[part.type];
  const id = part.type === "file" ? undefined : part.seal?.item;
  return id !== undefined && id.startsWith(prefix) && /^[\w-]{4,64}$/.test(id) ? id : undefined;
};

const itemIdPrefixes = { text: "msg_", thinking: "rs_", exchange: "fc_", file: "msg_" } as const;

/** Encodes an item. Items are sent without ids, so that the API does not check which items came with them; `id` is for the one that needs it. */
const modelItem = (
  part: ModelStep["parts"][number],
  dialect: ResponsesDialect,
  id: string | undefined,
): JsonObject | undefined => {
  switch (part.type) {
    case "text":
      return id === undefined
        ? { role: "assistant", content: part.text, ...phaseOf(part) }
        : { ...outputMessage(part, id), ...phaseOf(part) };
    case "file":
      return { role: "assistant", content: [inputPart(part)] };
    case "thinking":
      return reasoningItem(part, dialect);
    case "exchange":
      return functionCall(part, id);
  }
};

const outputMessage = ({ text }: Text, id: string): JsonObject => ({
  type: "message",
  id,
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text, annotations: [] }],
});

/** Newer models give worse responses if `phase` is not sent back. */
const phaseOf = ({ seal }: Text): JsonObject => (seal?.phase === undefined ? {} : { phase: seal.phase });

const reasoningItem = (part: Thinking, { reasoning }: ResponsesDialect): JsonObject | undefined => {
  const { text, seal } = part;
  const id = itemId(part);
  // OpenAI reads encrypted reasoning without its id, as its own Codex sends it.
  if (reasoning === "encrypted" && seal?.encrypted !== undefined)
    return {
      type: "reasoning",
      ...(id === undefined ? {} : { id }),
      summary: text === "" ? [] : [{ type: "summary_text", text }],
      encrypted_content: seal.encrypted,
    };
  if (reasoning !== "text" || text.trim() === "") return undefined;
  return {
    type: "reasoning",
    ...(seal?.item === undefined ? {} : { id: seal.item }),
    summary: [],
    content: [{ type: "reasoning_text", text }],
  };
};

const functionCall = (part: CallExchange, id: string | undefined): JsonObject => {
  const argumentText = part.inputText ?? JSON.stringify(part.input);
  return id === undefined
    ? { type: "function_call", call_id: part.id, name: part.tool, arguments: argumentText }
    : { type: "function_call", id, call_id: part.id, name: part.tool, arguments: argumentText };
};

const callOutput = ({ id, result }: CallExchange): JsonObject => ({
  type: "function_call_output",
  call_id: id,
  output: resultContent(result, inputPart),
});

const inputPart = (part: Text | MediaFile): JsonObject => {
  if (part.type === "text") return { type: "input_text", text: part.text };
  const fileId = uploadedFileId(part);
  if (part.kind === "image")
    return {
      type: "input_image",
      ...(fileId === undefined ? { image_url: fileUrl(part) } : { file_id: fileId }),
      detail: "auto",
    };
  if (fileId !== undefined) return { type: "input_file", file_id: fileId };
  return part.source.type === "uri"
    ? { type: "input_file", file_url: part.source.uri }
    : { type: "input_file", filename: fileName(part), file_data: fileUrl(part) };
};

const declareTools = cacheDeclarations<ResponsesDialect>(({ tools, dialect }, notes) =>
  tools.map((tool) => ({ type: "function", ...declareTool(tool, dialect, notes) })),
);

const encodeRequest = (input: readonly JsonObject[], request: WireRequest<ResponsesDialect>): EncodedBody => {
  const { model, system, tools, settings, dialect } = request;
  const { stream, cache } = settings;
  const notes: Note[] = [];
  const schema = answerSchema(request, notes);
  const isInstructed = dialect.system === "instructions" && system !== undefined && system.trim() !== "";
  const body: JsonObject = {
    model,
    ...(isInstructed ? { instructions: system } : {}),
    ...(tools.length === 0 ? {} : { tools: declareTools(request, notes) }),
    ...toolChoice(request, notes),
    ...reasoning(request, notes),
    ...tokenLimit(request, "max_output_tokens", notes),
    ...temperature(request, notes),
    ...(schema === undefined ? {} : { text: { format: { type: "json_schema", ...schema } } }),
    ...(stream === undefined ? {} : { stream }),
    ...(cache?.key === undefined || !dialect.cacheKey ? {} : { prompt_cache_key: cache.key }),
    store: false,
    ...(dialect.reasoning === "encrypted" ? { include: ["reasoning.encrypted_content"] } : {}),
    input,
  };
  return { body: addOwnFields(body, request, notes), notes };
};

const toolChoice = (request: WireRequest<ResponsesDialect>, notes: Note[]): JsonObject => {
  const choice = adaptToolChoice(request, notes);
  if (choice === undefined) return {};
  return { tool_choice: typeof choice === "string" ? choice : { type: "function", name: choice.tool } };
};

const reasoning = ({ settings, dialect }: WireRequest<ResponsesDialect>, notes: Note[]): JsonObject => {
  const { thinking, thoughts } = settings;
  const effort = thinking === undefined ? undefined : effortName(thinking.effort, dialect.efforts, notes);
  const isSummarized = thoughts === true && dialect.summaries === "always" && effort !== "none";
  if (effort === undefined && !isSummarized) return {};
  return {
    reasoning: { ...(effort === undefined ? {} : { effort }), ...(isSummarized ? { summary: "auto" } : {}) },
  };
};
