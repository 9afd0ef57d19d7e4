import type { JsonObject } from "../../conversation/json.ts";

/** Inline bytes of a Gemini part, as base64. */
type GeminiBlob = { readonly mimeType?: string; readonly data?: string; readonly displayName?: string };

/** A file of a Gemini part, by URI. */
type GeminiFileData = { readonly mimeType?: string; readonly fileUri?: string; readonly displayName?: string };

/** A tool result in a Gemini part. */
type GeminiFunctionResponse = {
  readonly id?: string;
  readonly name?: string;
  readonly response?: Record<string, unknown>;
  readonly parts?: GeminiPart[];
};

/** A Gemini part, as far as tools return them. One of the fields is set. */
export type GeminiPart = {
  readonly text?: string | undefined;
  readonly inlineData?: GeminiBlob | undefined;
  readonly fileData?: GeminiFileData | undefined;
  readonly functionResponse?: GeminiFunctionResponse | undefined;
  readonly functionCall?: { readonly id?: string; readonly name?: string; readonly args?: object } | undefined;
};

/** A tool's output: text, a part, or a list of either. */
export type GeminiPartList = string | GeminiPart | readonly (string | GeminiPart)[];

/** Options for converting a tool's output to parts. */
export type ToolOutputSettings = {
  /** Maximum characters of its text; longer text is truncated in the middle. */
  readonly maxCharacters?: number;
  /** Receives the warning about parts that are left out; default: `console.warn`. */
  readonly warn?: (message: string) => void;
};

/**
 * Converts a tool's output to Gemini parts: the functionResponse first, then the files beside it, in their order. Inline
 * bytes go inside the response for models that read them there; files by URI are always beside it.
 *
 * An output that is a functionResponse already keeps its response and gets the id and name of the call; other parts
 * returned with it are left out, with a warning.
 */
export const convertToFunctionResponse = (
  toolName: string,
  callId: string,
  llmContent: GeminiPartList,
  model: string,
  config?: ToolOutputSettings,
): GeminiPart[] => {
  const parts = (Array.isArray(llmContent) ? llmContent : [llmContent]).map((part: string | GeminiPart): GeminiPart =>
    typeof part === "string" ? { text: part } : part,
  );
  const given = parts.find((part) => part.functionResponse !== undefined)?.functionResponse;
  if (given !== undefined && parts.length > 1) (config?.warn ?? console.warn)(ignoredPartsWarning);
  const files = (given === undefined ? parts : (given.parts ?? [])).filter(isFile);
  const inside = supportsMultimodalFunctionResponse(model) ? files.filter(isInline) : [];
  const output = outputText(
    parts.flatMap(({ text }) => text ?? []),
    files.length,
  );
  const response = given === undefined ? (output === undefined ? {} : { output }) : (given.response ?? {});
  const answer = functionResponsePart({ id: callId, name: toolName, response, parts: inside });
  return [
    given === undefined ? limitFunctionResponsePart(answer, toolName, config) : answer,
    ...(inside.length === 0 ? files : files.filter((part) => !isInline(part))),
  ];
};

const ignoredPartsWarning =
  "convertToFunctionResponse received multiple parts with a functionResponse. " +
  "Only the functionResponse will be used, other parts will be ignored";

/** Whether a model reads media inside a functionResponse: Gemini 3 and later, under any resource name. */
export const supportsMultimodalFunctionResponse = (model: string): boolean =>
  Number(/(?:^|\/)gemini-(\d+)\b[^/]*$/.exec(model)?.[1]) >= 3;

/** A tool result in the `status` layout: text, objects and files in any order. */
export type GeminiToolResult = {
  readonly status?: string;
  readonly details: readonly (string | GeminiBlob | GeminiFileData | JsonObject)[];
};

/**
 * Converts a tool result to Gemini parts: one functionResponse with the status, the text as `text_result` and the objects
 * merged as `structured_result`, then inline bytes, then files by URI, each in its own part and without its display name,
 * which the Gemini API refuses there.
 */
export const toolResultToParts = (
  { status = "success", details }: GeminiToolResult,
  { name, id }: { readonly name: string; readonly id: string },
): GeminiPart[] => {
  const texts: string[] = [];
  const objects: JsonObject[] = [];
  const blobs: GeminiPart[] = [];
  const files: GeminiPart[] = [];
  for (const detail of details) {
    if (typeof detail === "string") texts.push(detail);
    else if (isMedia(detail, "data")) blobs.push({ inlineData: { mimeType: detail.mimeType, data: detail.data } });
    else if (isMedia(detail, "fileUri"))
      files.push({ fileData: { mimeType: detail.mimeType, fileUri: detail.fileUri } });
    else objects.push(detail as JsonObject);
  }
  return [
    functionResponsePart({ id, name, response: statusResponse(status, texts, objects), parts: [] }),
    ...blobs,
    ...files,
  ];
};

/** Builds a functionResponse part. Media inside it is in `parts`, which is left out when there is none. */
export const functionResponsePart = <Response, Media>({
  id,
  name,
  response,
  parts,
}: {
  readonly id: string;
  readonly name: string;
  readonly response: Response;
  readonly parts: Media[];
}): { functionResponse: { id: string; name: string; response: Response; parts?: Media[] } } => ({
  functionResponse: parts.length === 0 ? { id, name, response } : { id, name, response, parts },
});

/** Returns the text of a result, or the number of its files if there is no text; undefined when there is neither. */
export const outputText = (texts: readonly string[], files: number): string | undefined => {
  if (texts.length > 0) return texts.join("\n");
  return files > 0 ? `Binary content provided (${files} item(s)).` : undefined;
};

/** Builds the response object of the `status` layout. Of duplicate keys the last one wins. */
export const statusResponse = (
  status: string,
  texts: readonly string[],
  objects: readonly JsonObject[],
): { status: string; text_result?: string; structured_result?: JsonObject } => ({
  status,
  ...(texts.length === 0 ? {} : { text_result: texts.join("\n") }),
  ...(objects.length === 0 ? {} : { structured_result: Object.fromEntries(objects.flatMap(Object.entries)) }),
});

const isInline = (part: GeminiPart): boolean => part.inlineData !== undefined;

const isFile = (part: GeminiPart): boolean =>
  part.text === undefined && (part.inlineData !== undefined || part.fileData !== undefined);

/** Whether an object is inline bytes or a file by URI: a MIME type, that one field, and nothing else. */
const isMedia = <Field extends "data" | "fileUri">(
  detail: object,
  field: Field,
): detail is { mimeType: string } & Record<Field, string> =>
  "mimeType" in detail &&
  field in detail &&
  Object.entries(detail).every(
    ([key, value]) => (key === "mimeType" || key === field || key === "displayName") && typeof value === "string",
  );

const limitFunctionResponsePart = (
  part: { functionResponse: GeminiFunctionResponse },
  toolName: string,
  config: ToolOutputSettings | undefined,
): GeminiPart => {
  const { functionResponse } = part;
  const output = functionResponse.response?.["output"];
  if (typeof output !== "string") return part;
  return {
    functionResponse: { ...functionResponse, response: { output: limitStringOutput(output, toolName, config) } },
  };
};

/** Truncates a text in its middle, never splitting a character, and says there how much is missing. */
const limitStringOutput = (text: string, toolName: string, config: ToolOutputSettings | undefined): string => {
  const limit = config?.maxCharacters;
  if (limit === undefined || !(text.length > limit)) return text;
  const head = text.slice(0, Math.ceil(Math.max(0, limit) / 2)).replace(/[\uD800-\uDBFF]$/, "");
  const tail = text.slice(text.length - Math.floor(Math.max(0, limit) / 2)).replace(/^[\uDC00-\uDFFF]/, "");
  const cut = text.length - head.length - tail.length;
  return `${head}\n[${cut} of ${text.length} characters of the output of ${toolName} are left out here.]\n${tail}`;
};
