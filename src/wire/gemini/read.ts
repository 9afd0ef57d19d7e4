import type { Origin } from "../../conversation/entry.ts";
import { isObject, type JsonObject, type JsonValue } from "../../conversation/json.ts";
import type { NewPart } from "../../conversation/ledger.ts";
import { mediaKindOf } from "../../conversation/media.ts";
import type { Content, Media, Outcome, OutcomeStatus, Seal, UserPart } from "../../conversation/parts.ts";
import { geminiFields } from "./fields.ts";
import { outputText } from "./function-response.ts";
import { readGeminiSettings, readGeminiTool } from "./read-settings.ts";
import { readField, knownFields, toList, type GeminiFields } from "./field-names.ts";
import { MessageReader, objectOf, RequestReader, stringOf } from "../reader.ts";
import type { DecodedRequest } from "../wire.ts";

/**
 * Reads a generateContent body, with or without the Code Assist envelope, or just its `contents`, as a conversation. Both
 * spellings of every field are read.
 */
export const readGemini = (body: unknown, from: Origin): DecodedRequest => {
  const outer = Array.isArray(body) ? { contents: body } : objectOf(body);
  const isWrapped = isObject(outer["request"]) && outer["contents"] === undefined;
  const request = isWrapped ? objectOf(outer["request"]) : outer;
  const at = isWrapped ? "/request" : "";
  const model = modelOf(outer["model"]) ?? modelOf(request["model"]) ?? modelOf(from.model);
  const reader = new RequestReader({ ...from, model: model ?? from.model });
  reader.carryFields(request, geminiFields, at);
  if (isWrapped) reader.noteUnreadFields(outer, knownFields.envelope);
  reader.noteUnreadFields(request, knownFields.request, at);
  const contents = toList(request["contents"]).map(contentOf);
  const firstMessage = contents.findIndex((content) => !isSystem(content));
  const opening = firstMessage === -1 ? contents : contents.slice(0, firstMessage);
  contents.forEach((content, index) => {
    if (index >= opening.length) readContent(reader, content, `${at}/contents/${index}`);
  });
  return reader.finish({
    model,
    system: [readField(request, "systemInstruction"), ...opening.map((content) => content["parts"])]
      .map((text) => textOf(text, "\n\n"))
      .filter((text) => text !== "")
      .join("\n\n"),
    tools: toList(request["tools"]).flatMap((tool, index) =>
      readGeminiTool(reader, objectOf(tool), `${at}/tools/${index}`),
    ),
    settings: readGeminiSettings(reader, request, at),
  });
};

/** Returns a content; plain text and bare parts, which the vendor's SDK accepts too, are user parts. */
const contentOf = (value: unknown): GeminiFields => {
  if (typeof value === "string") return { parts: [value] };
  const content = objectOf(value);
  return "parts" in content || "role" in content ? content : { parts: [content] };
};

const partOf = (value: unknown): GeminiFields => (typeof value === "string" ? { text: value } : objectOf(value));

const roleOf = (content: GeminiFields): string => stringOf(content["role"])?.toLowerCase() ?? "user";

const isSystem = (content: GeminiFields): boolean => roleOf(content) === "system" || roleOf(content) === "developer";

const modelOf = (model: unknown): string | undefined => stringOf(model)?.replace(/^models\//, "") || undefined;

/** Returns the text of a string, a part, a list of parts or a content. */
const textOf = (value: unknown, separator: string): string =>
  toList(isObject(value) && "parts" in value ? value["parts"] : value)
    .map((part) => stringOf(partOf(part)["text"]) ?? "")
    .filter((text) => text.trim() !== "")
    .join(separator);

const userRoles: readonly string[] = ["user", "function", "tool", ""];

/** Reads a content. Results, user parts and model parts keep their order, whatever its role. */
const readContent = (reader: RequestReader, content: GeminiFields, at: string): void => {
  reader.noteUnreadFields(content, knownFields.content, at);
  const role = roleOf(content);
  if (isSystem(content)) return reader.notice(textOf(content["parts"], "\n"));
  const byModel = role === "model" || role === "assistant";
  if (!byModel && !userRoles.includes(role)) reader.noteUnknownPart(`The role ${JSON.stringify(role)}`, `${at}/role`);
  const message = new MessageReader(reader);
  toList(content["parts"]).forEach((value, index) => {
    const part = partOf(value);
    const here = `${at}/parts/${index}`;
    if (isObject(readField(part, "functionResponse"))) {
      message.flush();
      readResult(reader, part, here);
    } else if (byModel || isModelPart(part)) message.model(modelPart(reader, part, here));
    else message.user(userPart(reader, part, here));
  });
  message.flush();
};

const isModelPart = (part: GeminiFields): boolean =>
  isObject(readField(part, "functionCall")) ||
  isObject(readField(part, "executableCode")) ||
  isObject(readField(part, "codeExecutionResult"));

const userPart = (reader: RequestReader, part: GeminiFields, at: string): readonly UserPart[] => {
  const text = scalarText(part["text"]);
  if (text === undefined) return mediaPart(reader, part, at);
  reader.noteUnreadFields(part, knownFields.words, at);
  return [{ type: "text", text }];
};

const modelPart = (reader: RequestReader, part: GeminiFields, at: string): readonly NewPart[] => {
  const text = scalarText(part["text"]);
  if (text !== undefined) {
    reader.noteUnreadFields(part, knownFields.words, at);
    const type = part["thought"] === true ? "thinking" : "text";
    const seal = sealOf(part, undefined);
    return [seal === undefined ? { type, text } : { type, text, seal }];
  }
  const functionCall = readField(part, "functionCall");
  if (isObject(functionCall)) return [callPart(reader, part, functionCall, at)];
  const code = codePart(reader, part, at);
  if (code === undefined) return mediaPart(reader, part, at);
  reader.noteUnreadFields(part, knownFields.code, at);
  reader.noteShownAsText("code", at);
  return [code];
};

const callPart = (reader: RequestReader, part: GeminiFields, functionCall: GeminiFields, at: string): NewPart => {
  reader.noteUnreadFields(part, knownFields.call, at);
  reader.noteUnreadFields(functionCall, knownFields.callFields, `${at}/functionCall`);
  const seal = sealOf(part, idOf(functionCall["id"]));
  const call = {
    type: "call",
    tool: stringOf(functionCall["name"]) ?? "",
    input: { value: functionCall["args"] },
  } as const;
  return seal === undefined ? call : { ...call, seal };
};

const sealOf = (part: GeminiFields, id: string | undefined): Seal | undefined => {
  const signature = stringOf(readField(part, "thoughtSignature")) || undefined;
  if (signature === undefined) return id === undefined ? undefined : { id };
  return id === undefined ? { signature } : { id, signature };
};

const codePart = (reader: RequestReader, part: GeminiFields, at: string): NewPart | undefined => {
  const executed = readField(part, "executableCode");
  if (isObject(executed)) {
    reader.noteUnreadFields(executed, ["language", "code"], `${at}/executableCode`);
    return {
      type: "code",
      language: stringOf(executed["language"])?.toLowerCase() ?? "python",
      text: stringOf(executed["code"]) ?? "",
    };
  }
  const result = readField(part, "codeExecutionResult");
  if (!isObject(result)) return undefined;
  reader.noteUnreadFields(result, ["outcome", "output"], `${at}/codeExecutionResult`);
  const isSuccess = result["outcome"] === undefined || result["outcome"] === "OUTCOME_OK";
  return { type: "code", language: isSuccess ? "output" : "error", text: stringOf(result["output"]) ?? "" };
};

const mediaPart = (reader: RequestReader, part: GeminiFields, at: string): readonly Media[] => {
  const inline = objectOf(readField(part, "inlineData"));
  const file = objectOf(readField(part, "fileData"));
  const data = stringOf(inline["data"]);
  const uri = stringOf(readField(file, "fileUri"));
  if (data === undefined && uri === undefined) {
    reader.noteUnknownPart(`A part with ${Object.keys(part).join(", ") || "nothing in it"}`, at);
    return [];
  }
  reader.noteUnreadFields(part, knownFields.media, at);
  const holder = data === undefined ? file : inline;
  const name = stringOf(readField(holder, "displayName"));
  const nameField = name === undefined ? {} : { name };
  const mimeType = stringOf(readField(holder, "mimeType")) || undefined;
  if (data !== undefined && !data.startsWith("data:"))
    return [reader.mediaFromBase64(data, { ...nameField, mimeType: mimeType ?? "application/octet-stream" })];
  return [fileAt(reader, data ?? uri ?? "", mimeType, nameField)];
};

/** Reads a file by URI. A missing type is guessed from the extension; a YouTube URL is a video. */
const fileAt = (
  reader: RequestReader,
  uri: string,
  mimeType: string | undefined,
  nameField: { name?: string },
): Media => {
  if (mimeType !== undefined) return reader.mediaFromUri(uri, { ...nameField, kind: mediaKindOf(mimeType), mimeType });
  if (/^https?:\/\/([a-z]+\.)?(youtube\.com|youtu\.be)\//.test(uri))
    return reader.mediaFromUri(uri, { ...nameField, kind: "video" });
  const guess = reader.mediaFromUri(uri, { ...nameField, kind: "document" });
  return { ...guess, kind: mediaKindOf(guess.mimeType) };
};

const readResult = (reader: RequestReader, part: GeminiFields, at: string): void => {
  const functionResponse = objectOf(readField(part, "functionResponse"));
  const here = `${at}/functionResponse`;
  reader.noteUnreadFields(part, knownFields.result, at);
  reader.noteUnreadFields(functionResponse, knownFields.resultFields, here);
  const files = toList(functionResponse["parts"]).flatMap((file, index) =>
    mediaPart(reader, objectOf(file), `${here}/parts/${index}`),
  );
  const { status, content } = outcomeOf(functionResponse["response"], files.length);
  reader.result(
    idOf(functionResponse["id"]) ?? "",
    { status, content: [...content, ...files] },
    stringOf(functionResponse["name"]),
  );
};

/** Reads the response of a call: `output` and `error` have a defined meaning; any other object is itself the output. */
const outcomeOf = (response: unknown, files: number): Outcome => {
  if (!isObject(response)) return { status: "complete", content: contentIn(response, files) };
  const { output, error, status, text_result, structured_result, ...rest } = response;
  const isAlone = Object.keys(rest).length === 0;
  const isError = error !== undefined && error !== null && error !== false && error !== "";
  if (isAlone && status === undefined && text_result === undefined && structured_result === undefined)
    return {
      status: isError ? "error" : "complete",
      content: [...contentIn(output, files), ...(isError ? contentIn(error, files) : [])],
    };
  const outcomeStatus = isAlone && output === undefined && error === undefined ? statusOf(status) : undefined;
  if (outcomeStatus !== undefined && (text_result !== undefined || structured_result !== undefined || files > 0))
    return {
      status: outcomeStatus,
      content: [...contentIn(text_result, files), ...contentIn(structured_result, files)],
    };
  return { status: isError ? "error" : "complete", content: [{ type: "structured", value: response as JsonObject }] };
};

/** Reads result content. The sentence used for files without text is dropped. */
const contentIn = (value: unknown, files: number): readonly Content[] => {
  if (value === undefined || value === "" || value === outputText([], files)) return [];
  return [
    typeof value === "string" ? { type: "text", text: value } : { type: "structured", value: value as JsonValue },
  ];
};

const statusOf = (status: unknown): OutcomeStatus | undefined => {
  switch (status) {
    case "success":
      return "complete";
    case "error":
    case "cancelled":
    case "interrupted":
      return status;
    default:
      return undefined;
  }
};

const scalarText = (value: unknown): string | undefined =>
  typeof value === "number" || typeof value === "boolean" ? String(value) : stringOf(value);

const idOf = (id: unknown): string | undefined => scalarText(id) || undefined;
