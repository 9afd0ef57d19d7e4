import { toDataUrl } from "../../conversation/data-url.ts";
import type { ProviderField, ToolDeclaration } from "../../conversation/entry.ts";
import type { JsonObject, JsonValue } from "../../conversation/json.ts";
import { note, type Note } from "../../conversation/notes.ts";
import type { Structured, Text } from "../../conversation/parts.ts";
import type { MediaFile, RenderedResult } from "../../transcript/step.ts";
import { addProviderFields, addToolFields, unenforcedNote } from "../provider-fields.ts";
import { kimiSchema, mistralSchema, openaiSchema, type AdaptedSchema } from "../schema/adapt.ts";
import type { ThinkingSetting, ToolChoice, WireRequest } from "../wire.ts";

/** Differences between hosts that both OpenAI families share. */
export type OpenaiDialect = {
  /** The accepted tool choices; any other becomes `auto`. */
  readonly toolChoice: readonly ("auto" | "none" | "required" | "named")[];
  /** The JSON Schema dialect of tools. */
  readonly schema: "openai" | "kimi" | "mistral";
  /** Whether tools have `strict: false`; without it OpenAI's Responses decides by itself. */
  readonly strict: boolean;
  /** Whether temperature is accepted. */
  readonly sampling: boolean;
  /** The smallest accepted limit of the tokens of an answer. */
  readonly leastTokens: number;
  /** Whether `prompt_cache_key` is accepted. */
  readonly cacheKey: boolean;
  /** Whether a JSON Schema for the answer is accepted, with tools and streams too. Default: no. */
  readonly output?: boolean;
};

/**
 * The API's name for each effort level. A name must be read back as the same level: `minimal` and `low` as low, `default`
 * and `medium` as medium, `high`, `xhigh` and `max` as high.
 */
export type Efforts = { readonly [effort in ThinkingSetting["effort"]]?: string };

/** The limit of the tokens of an answer, in a field of this name. It is raised to the smallest that is accepted. */
export const tokenLimit = (
  { settings: { maxTokens }, dialect: { leastTokens } }: WireRequest<OpenaiDialect>,
  field: string,
  notes: Note[],
): JsonObject => {
  if (maxTokens === undefined) return {};
  if (maxTokens < leastTokens)
    notes.push(note("setting-adapted", `This API wants room for at least ${leastTokens} tokens.`));
  return { [field]: Math.max(maxTokens, leastTokens) };
};

/** Encodes a tool result as one text, or as a list of parts if it has files. Failures are stated in the text: there is no flag. */
export const resultContent = (
  { status, content }: RenderedResult,
  write: (part: Text | MediaFile) => JsonObject,
): string | readonly JsonObject[] => {
  const [only] = content;
  if (content.length === 1 && only?.type === "text") return status === "complete" ? only.text : markAsError(only.text);
  if (content.some((part) => part.type === "file")) return resultParts(status, content, write);
  let text = partText(content[0] as Text | Structured);
  for (let index = 1; index < content.length; index++) text += `\n${partText(content[index] as Text | Structured)}`;
  return status === "complete" ? text : markAsError(text);
};

const resultParts = (
  status: RenderedResult["status"],
  content: RenderedResult["content"],
  write: (part: Text | MediaFile) => JsonObject,
): readonly JsonObject[] => {
  const parts = content.map((part): Text | MediaFile =>
    part.type === "structured" ? { type: "text", text: partText(part) } : part,
  );
  if (status === "complete") return parts.map(write);
  const [first] = parts;
  return first?.type === "text"
    ? parts.with(0, { type: "text", text: markAsError(first.text) }).map(write)
    : [{ type: "text" as const, text: "Error:" }, ...parts].map(write);
};

const partText = (part: Text | Structured): string => (part.type === "text" ? part.text : JSON.stringify(part.value));

const markAsError = (text: string): string => (/^\s*error/i.test(text) ? text : `Error: ${text}`);

/** Returns the URL of a file, or its bytes as a `data:` URL. */
export const fileUrl = ({ source, mimeType }: MediaFile): string =>
  source.type === "uri" ? source.uri : toDataUrl(mimeType, source.base64);

/** Returns the id of a file uploaded to this provider, which a conversation stores as `openai-file:ID`. */
export const uploadedFileId = ({ source }: MediaFile): string | undefined =>
  source.type === "uri" ? /^[^/:]+-file:(.+)$/s.exec(source.uri)?.[1] : undefined;

/** Returns the name of a file, or one made of its id: these APIs refuse bytes without a name. */
export const fileName = ({ name, id, mimeType }: MediaFile): string =>
  name === undefined || name === "" ? `${id}.${fileExtensions.get(mimeType) ?? "bin"}` : name;

const fileExtensions: ReadonlyMap<string, string> = new Map([
  ["application/pdf", "pdf"],
  ["application/msword", "doc"],
  ["application/vnd.openxmlformats-officedocument.wordprocessingml.document", "docx"],
  ["application/vnd.ms-excel", "xls"],
  ["application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xlsx"],
  ["application/vnd.ms-powerpoint", "ppt"],
  ["application/vnd.openxmlformats-officedocument.presentationml.presentation", "pptx"],
  ["application/rtf", "rtf"],
  ["application/epub+zip", "epub"],
  ["text/plain", "txt"],
  ["text/markdown", "md"],
  ["text/html", "html"],
  ["text/csv", "csv"],
]);

/** Returns the audio format of a MIME type, such as `wav` or `mp3`. */
export const audioFormatOf = (mimeType: string): string => {
  const subtype = /^[^/]*\/(?:x-)?([^;,\s]*)/.exec(mimeType)?.[1] ?? "";
  return formats.get(subtype) ?? subtype;
};

/** Returns the MIME type of an audio format; the inverse of `audioFormatOf`. */
export const audioTypeOf = (format: string): string => `audio/${subtypes.get(format) ?? format}`;

const formats: ReadonlyMap<string, string> = new Map([
  ["mpeg", "mp3"],
  ["mp4", "m4a"],
  ["wave", "wav"],
  ["vnd.wave", "wav"],
]);

const subtypes: ReadonlyMap<string, string> = new Map([
  ["mp3", "mpeg"],
  ["m4a", "mp4"],
]);

/** Declares a tool: name, description and parameters, as both families have them. */
export const declareTool = (tool: ToolDeclaration, dialect: OpenaiDialect, notes: Note[]): JsonObject => {
  const adapted = schemas[dialect.schema](tool.parameters);
  if (adapted.changed !== undefined)
    notes.push(note("schema-adapted", `The parameters of ${tool.name}: ${adapted.changed}.`));
  const declared = {
    name: tool.name,
    ...(tool.description === undefined || tool.description === "" ? {} : { description: tool.description }),
    parameters: adapted.schema,
  };
  const whole = addToolFields(declared, tool, { adapted, notes });
  return { ...whole, name: tool.name, ...(dialect.strict && !("strict" in whole) ? { strict: false } : {}) };
};

const schemas: Readonly<Record<OpenaiDialect["schema"], (schema: JsonObject | undefined) => AdaptedSchema>> = {
  openai: openaiSchema,
  kimi: kimiSchema,
  mistral: mistralSchema,
};

/** Adapts the tool choice to the dialect; undefined without tools. */
export const adaptToolChoice = (
  { tools, settings, dialect }: WireRequest<OpenaiDialect>,
  notes: Note[],
): ToolChoice | undefined => {
  const choice = settings.toolChoice;
  if (choice === undefined || tools.length === 0) return undefined;
  const kind = typeof choice === "object" ? "named" : choice;
  const isThere = typeof choice !== "object" || tools.some((tool) => tool.name === choice.tool);
  if (isThere && (kind === "auto" || dialect.toolChoice.includes(kind))) return choice;
  const reason = isThere ? `This API takes no tool choice "${kind}" here` : "The chosen tool is not declared";
  notes.push(note("setting-adapted", `${reason}; the model may choose.`));
  return "auto";
};

/** Adds carried-over fields to a body. */
export const addOwnFields = (
  body: JsonObject,
  { settings, dialect }: WireRequest<OpenaiDialect & { readonly serverTools?: boolean }>,
  notes: Note[],
): JsonObject => {
  const takes = ({ at, value, sampling }: ProviderField): boolean =>
    (dialect.sampling || sampling !== true) &&
    (dialect.serverTools !== false || at !== "tools/-") &&
    (at !== "text" || !JSON.stringify(value).includes('"json_object"') || asksForJson(body));
  return addProviderFields(body, settings.extra, { takes, notes });
};

/** Responses refuses `json_object` unless its input, and not only the instructions, contains the word "json". */
const asksForJson = ({ input }: JsonObject): boolean => /json/i.test(JSON.stringify(input ?? ""));

/** The JSON Schema of the answer, as both families write it. `strict` is for schemas without optional properties. */
export const answerSchema = (
  { settings, dialect }: WireRequest<OpenaiDialect>,
  notes: Note[],
): JsonObject | undefined => {
  const { output } = settings;
  if (output === undefined) return undefined;
  if (dialect.output !== true || output.schema["type"] !== "object") {
    notes.push(unenforcedNote);
    return undefined;
  }
  const { name, schema, enforced, isComplete } = output;
  return enforced !== undefined && isComplete === true
    ? { name, strict: true, schema: enforced }
    : { name, strict: false, schema };
};

/** Returns the temperature, if the model accepts one. */
export const temperature = (
  { settings, dialect }: WireRequest<OpenaiDialect>,
  notes: Note[],
): { readonly temperature?: number } => {
  if (settings.temperature === undefined) return {};
  if (dialect.sampling) return { temperature: settings.temperature };
  notes.push(note("setting-adapted", "This model takes no temperature; it is left out."));
  return {};
};

/** Returns the API's name for an effort level, or for the nearest one it has; undefined if thinking cannot be requested. */
export const effortName = (
  requested: ThinkingSetting["effort"],
  efforts: Efforts,
  notes: Note[],
): string | undefined => {
  const own = efforts[requested];
  if (own !== undefined) return own;
  const at = effortOrder.indexOf(requested);
  const nearest =
    effortOrder.find((effort, index) => index > at && efforts[effort] !== undefined) ??
    effortOrder.findLast((effort, index) => index < at && efforts[effort] !== undefined);
  if (nearest === undefined) {
    if (requested !== "none") notes.push(note("setting-adapted", "How hard this model thinks cannot be set."));
    return undefined;
  }
  notes.push(
    note("setting-adapted", `This model knows no effort "${requested}"; "${efforts[nearest]}" stands for it.`),
  );
  return efforts[nearest];
};

const effortOrder = ["none", "low", "medium", "high"] as const;

/** The format of texts in a user message: the type of a part, and whether texts are joined into one string. */
type TextStyle = { readonly type: "text" | "input_text"; readonly joined: boolean };

/** Merges two user messages. Model messages need no merging: a transcript never has two in a row. */
export const mergeUserMessages = (before: JsonObject, next: JsonObject, style: TextStyle): JsonObject | undefined => {
  if (before["role"] !== "user" || next["role"] !== "user") return undefined;
  const { content } = before;
  const { content: more } = next;
  if (style.joined && typeof content === "string" && typeof more === "string")
    return { ...before, content: `${content}\n\n${more}` };
  return { ...before, content: [...userParts(content, style), ...userParts(more, style)] };
};

const userParts = (content: JsonValue | undefined, { type }: TextStyle): readonly JsonValue[] =>
  typeof content === "string" ? [{ type, text: content }] : ((content ?? []) as readonly JsonValue[]);
