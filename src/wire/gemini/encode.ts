import type { ProviderField, ToolDeclaration } from "../../conversation/entry.ts";
import { isObject, type JsonObject, type JsonValue } from "../../conversation/json.ts";
import { note, type Note } from "../../conversation/notes.ts";
import type { OutcomeStatus, Structured, Text } from "../../conversation/parts.ts";
import { hasExchange, type CallExchange, type MediaFile, type ModelStep, type Step } from "../../transcript/step.ts";
import type { ToolResponseLayout } from "../../transcript/target.ts";
import { functionResponsePart, outputText, statusResponse } from "./function-response.ts";
import { cacheDeclarations } from "../tool-declarations.ts";
import { decodeGemini } from "./decode.ts";
import { readGemini } from "./read.ts";
import { toGeminiSchema } from "./schema.ts";
import { addProviderFields, addToolFields, unenforcedNote } from "../provider-fields.ts";
import type { EncodedBody, RequestSettings, ThoughtSummaries, ToolChoice, Wire, WireRequest } from "../wire.ts";

/** Differences between the models and hosts of Gemini's generateContent. */
export type GeminiDialect = {
  /** `code-assist` wraps the request and puts the model beside it; elsewhere the model is in the URL. */
  readonly envelope: "none" | "code-assist";
  /** Code Assist: the Cloud project to charge. */
  readonly project?: string;
  /** Code Assist: id of the prompt a request belongs to. */
  readonly userPromptId?: string;
  /** Code Assist: id of the session a request belongs to. */
  readonly sessionId?: string;
  /** `level` models take a thinking level, `budget` models a token budget, `none` do not think. */
  readonly thinking: "level" | "budget" | "none";
  /** The range of thinking budgets a `budget` model accepts, in tokens; `off` says whether zero is accepted. */
  readonly budget?: { readonly least: number; readonly most: number; readonly off: boolean };
  /** When `includeThoughts` is accepted: it is refused while the model does not think. Default: never. */
  readonly summaries?: ThoughtSummaries;
  /** Whether temperature is accepted. */
  readonly sampling: boolean;
  /** When a JSON Schema for the answer is accepted. Default: never. */
  readonly output?: "without-tools" | "always";
  /** Whether server tools beside functions are refused without `toolConfig.includeServerSideToolInvocations`. Default: no. */
  readonly serverToolSwitch?: boolean;
};

/** Google's generateContent, as used by the Gemini API, Vertex and Code Assist. */
export const gemini: Wire<GeminiDialect> = {
  id: "gemini",
  encodeHead: () => [],
  encodeStep: (step, _, layout) => encodeStep(step, layout),
  mergeMessages: () => undefined,
  markCachePoints: () => [],
  encodeRequest: (messages, request) => encodeRequest(messages, request),
  extractMessages: (body) => ((body["request"] ?? body) as JsonObject)["contents"] as readonly JsonObject[],
  read: readGemini,
  decode: decodeGemini,
};

/** Encodes a step. All results of a batch share one content without other parts: Gemini 3.6 and later refuse anything after a result. */
const encodeStep = (step: Step, layout: ToolResponseLayout = "output"): readonly JsonObject[] => {
  if (step.role === "user") return [{ role: "user", parts: step.parts.map(userPart) }];
  const message = { role: "model", parts: step.parts.map(modelPart) };
  if (!hasExchange(step)) return [message];
  const results: JsonObject[] = [];
  for (const part of step.parts) if (part.type === "exchange") results.push(functionResponse(part, layout));
  return [message, { role: "user", parts: results }];
};

const userPart = (part: Text | MediaFile): JsonObject => (part.type === "text" ? { text: part.text } : mediaPart(part));

/** Encodes a model part. A signature is a sibling of what it signs; it makes an empty text legal. */
const modelPart = (part: ModelStep["parts"][number]): JsonObject => {
  switch (part.type) {
    case "text":
      return signed({ text: part.text }, part.seal?.signature);
    case "thinking":
      return signed({ text: part.text, thought: true }, part.seal?.signature);
    case "file":
      return mediaPart(part);
    case "exchange":
      return functionCall(part);
  }
};

const functionCall = ({ id, tool, input, seal }: CallExchange): JsonObject => {
  const call = { id, name: tool, args: input };
  return seal?.signature === undefined
    ? { functionCall: call }
    : { functionCall: call, thoughtSignature: seal.signature };
};

const signed = (part: JsonObject, signature: string | undefined): JsonObject =>
  signature === undefined ? part : { ...part, thoughtSignature: signature };

const mediaPart = (file: MediaFile): JsonObject =>
  file.source.type === "uri"
    ? { fileData: { mimeType: file.mimeType, fileUri: file.source.uri } }
    : { inlineData: { mimeType: file.mimeType, data: file.source.base64 } };

const functionResponse = ({ id, tool, result }: CallExchange, layout: ToolResponseLayout): JsonObject => {
  const content: (Text | Structured)[] = [];
  const parts: JsonObject[] = [];
  for (const part of result.content) {
    if (part.type === "file") parts.push(mediaPart(part));
    else content.push(part);
  }
  const response = layout === "status" ? statusLayout : outputLayout;
  return functionResponsePart({ id, name: tool, response: response(result.status, content, parts.length), parts });
};

const outputLayout = (status: OutcomeStatus, content: readonly (Text | Structured)[], files: number): JsonObject => {
  const field = status === "complete" ? "output" : "error";
  if (content.length === 1) return { [field]: singleOutput(content[0]!, status) };
  return { [field]: mixedOutput(content) ?? outputText(content.map(partText), files) ?? "" };
};

/** Returns text mixed with JSON values as a list, so that values keep their type and everything its order. */
const mixedOutput = (content: readonly (Text | Structured)[]): JsonValue | undefined =>
  content.some(({ type }) => type === "structured")
    ? content.map((part) => (part.type === "text" ? part.text : part.value))
    : undefined;

/** Returns a single value unchanged, unless it would look empty: a blank output, or an error that is null or false. */
const singleOutput = (part: Text | Structured, status: OutcomeStatus): JsonValue => {
  if (part.type === "text") return part.text;
  const isInformative =
    status === "complete"
      ? typeof part.value !== "string" || part.value.trim() !== ""
      : typeof part.value === "object" && part.value !== null;
  return isInformative ? part.value : partText(part);
};

const partText = (part: Text | Structured): string => (part.type === "text" ? part.text : JSON.stringify(part.value));

/** Builds the `status` layout. Objects without duplicate keys are merged; other values become text, so that nothing is overwritten. */
const statusLayout = (status: OutcomeStatus, content: readonly (Text | Structured)[]): JsonObject => {
  const texts: string[] = [];
  const objects: JsonObject[] = [];
  const usedKeys = new Set<string>();
  for (const part of content) {
    if (
      part.type === "structured" &&
      isObject(part.value) &&
      !Object.keys(part.value).some((key) => usedKeys.has(key))
    ) {
      objects.push(part.value as JsonObject);
      for (const key of Object.keys(part.value)) usedKeys.add(key);
    } else texts.push(partText(part));
  }
  return statusResponse(status === "complete" ? "success" : status, texts, objects);
};

/** Encodes the body. Streaming is chosen by the URL, and prompt caching is implicit, so neither is in the body. */
const encodeRequest = (contents: readonly JsonObject[], request: WireRequest<GeminiDialect>): EncodedBody => {
  const { model, system, tools, settings, dialect } = request;
  const notes: Note[] = [];
  const choice = tools.length === 0 ? undefined : callingConfig(settings.toolChoice);
  const config = generationConfig(request, notes);
  const own: JsonObject = {
    ...(system === undefined || system.trim() === "" ? {} : { systemInstruction: { parts: [{ text: system }] } }),
    ...(tools.length === 0 ? {} : { tools: declareTools(request, notes) }),
    ...(choice === undefined ? {} : { toolConfig: { functionCallingConfig: choice } }),
    ...(Object.keys(config).length === 0 ? {} : { generationConfig: config }),
    contents,
  };
  const isBarred = tools.length > 0 && dialect.serverToolSwitch === true && !hasServerToolSwitch(settings);
  const takes = (field: ProviderField): boolean =>
    (dialect.sampling || field.sampling !== true) && !(isBarred && isServerTool(field));
  const content = addProviderFields(own, settings.extra, { takes, notes });
  if (dialect.envelope === "none") return { body: content, notes };
  const body: JsonObject = {
    model,
    ...(dialect.project === undefined ? {} : { project: dialect.project }),
    ...(dialect.userPromptId === undefined ? {} : { user_prompt_id: dialect.userPromptId }),
    request: { ...content, ...(dialect.sessionId === undefined ? {} : { session_id: dialect.sessionId }) },
  };
  return { body, notes };
};

/** Whether the request allows server tools beside functions. */
const hasServerToolSwitch = ({ extra }: RequestSettings): boolean =>
  extra?.fields.some(({ at, value }) => at === "toolConfig/includeServerSideToolInvocations" && value === true) ===
  true;

/** Whether a field is a server tool that needs the switch. Computer use, where the caller runs the actions, does not. */
const isServerTool = ({ at, value }: ProviderField): boolean =>
  at === "tools/-" && !(isObject(value) && Object.keys(value).every((kind) => /^computer/i.test(kind)));

const callingConfig = (choice: ToolChoice | undefined): JsonObject | undefined => {
  switch (choice) {
    case undefined:
      return undefined;
    case "auto":
      return { mode: "AUTO" };
    case "none":
      return { mode: "NONE" };
    case "required":
      return { mode: "ANY" };
    default:
      return { mode: "ANY", allowedFunctionNames: [choice.tool] };
  }
};

const generationConfig = (request: WireRequest<GeminiDialect>, notes: Note[]): JsonObject => {
  const { settings, dialect } = request;
  const thinkingSettings = thinkingConfig(request, notes);
  if (settings.temperature !== undefined && !dialect.sampling)
    notes.push(note("setting-adapted", "This model takes no temperature; it is left out."));
  return {
    ...(settings.maxTokens === undefined ? {} : { maxOutputTokens: settings.maxTokens }),
    ...(settings.temperature === undefined || !dialect.sampling ? {} : { temperature: settings.temperature }),
    ...(thinkingSettings === undefined ? {} : { thinkingConfig: thinkingSettings }),
    ...answerSchema(request, notes),
  };
};

const answerSchema = ({ settings, tools, dialect }: WireRequest<GeminiDialect>, notes: Note[]): JsonObject => {
  if (settings.output === undefined) return {};
  const { enforced } = settings.output;
  const isTaken = dialect.output === "always" || (dialect.output === "without-tools" && tools.length === 0);
  if (isTaken && enforced !== undefined) return { responseMimeType: "application/json", responseJsonSchema: enforced };
  notes.push(unenforcedNote);
  return {};
};

const budgets = { low: 1024, medium: 8192, high: 24576 } as const;
const defaultBudget = { least: 1, most: 24576, off: true } as const;

const thinkingConfig = (request: WireRequest<GeminiDialect>, notes: Note[]): JsonObject | undefined => {
  const { settings, dialect } = request;
  const amount = thinkingAmount(request, notes);
  const thinks = amount === undefined ? dialect.summaries === "always" : amount["thinkingBudget"] !== 0;
  const isTaken = dialect.thinking !== "none" && (dialect.summaries ?? "never") !== "never";
  if (settings.thoughts === undefined || !isTaken || !thinks) return amount;
  return { ...amount, includeThoughts: settings.thoughts };
};

const thinkingAmount = ({ settings, dialect }: WireRequest<GeminiDialect>, notes: Note[]): JsonObject | undefined => {
  const requested = settings.thinking;
  if (requested === undefined) return undefined;
  const adapted = (message: string): void => void notes.push(note("setting-adapted", message));
  if (dialect.thinking === "none") {
    if (requested.effort !== "none") adapted("This model does not think; the setting is left out.");
    return undefined;
  }
  if (dialect.thinking === "level") {
    if (requested.effort !== "none") return { thinkingLevel: requested.effort };
    adapted("This model cannot stop thinking; it thinks as little as it can.");
    return { thinkingLevel: "low" };
  }
  const { least, most, off } = dialect.budget ?? defaultBudget;
  if (requested.effort === "none") {
    if (off) return { thinkingBudget: 0 };
    adapted("This model cannot stop thinking; it thinks as little as it can.");
    return { thinkingBudget: least };
  }
  const budget = requested.budget ?? budgets[requested.effort];
  const clamped = Math.min(Math.max(budget, least), most);
  if (clamped !== requested.budget && requested.budget !== undefined)
    adapted(`This model takes a thinking budget from ${least} to ${most}; it is given ${clamped}.`);
  return { thinkingBudget: clamped };
};

const declareTools = cacheDeclarations<GeminiDialect>(({ tools }, notes) => [
  { functionDeclarations: tools.map((tool) => declareFunction(tool, notes)) },
]);

const declareFunction = (tool: ToolDeclaration, notes: Note[]): JsonObject => {
  const adapted = toGeminiSchema(tool.parameters);
  if (adapted?.changed !== undefined)
    notes.push(note("schema-adapted", `The parameters of ${tool.name}: ${adapted.changed}.`));
  const declared = {
    name: tool.name,
    ...(tool.description === undefined || tool.description.trim() === "" ? {} : { description: tool.description }),
    ...(adapted === undefined ? {} : { parametersJsonSchema: adapted.schema }),
  };
  return addToolFields(declared, tool, { adapted, notes });
};
