import type { Origin } from "../conversation/entry.ts";
import { isObject, type JsonObject, type JsonValue } from "../conversation/json.ts";
import type { NewPart } from "../conversation/ledger.ts";
import { kindOf } from "../conversation/media.ts";
import type { Content, Media, Outcome, OutcomeStatus, Seal, UserPart } from "../conversation/parts.ts";
import { geminiFields } from "./gemini-fields.ts";
import { outputOf } from "./function-response.ts";
import { readSettings, readTool } from "./gemini-read-settings.ts";
import { field, known, listOf, type Fields } from "./gemini-spelling.ts";
import { MessageReader, objectOf, Reader, stringOf } from "./reader.ts";
import type { Reading } from "./wire.ts";

/**
 * A generateContent body, with or without the Code Assist envelope, or its
 * bare `contents`, as a conversation. Both spellings of every field are read.
 */
export const readGemini = (body: unknown, from: Origin): Reading => {
  const outer = Array.isArray(body) ? { contents: body } : objectOf(body);
  const wrapped = isObject(outer["request"]) && outer["contents"] === undefined;
  const request = wrapped ? objectOf(outer["request"]) : outer;
  const at = wrapped ? "/request" : "";
  const model = modelOf(outer["model"]) ?? modelOf(request["model"]) ?? modelOf(from.model);
  const reader = new Reader({ ...from, model: model ?? from.model });
  reader.carry(request, geminiFields, at);
  if (wrapped) reader.unread(outer, known.envelope);
  reader.unread(request, known.request, at);
  const contents = listOf(request["contents"]).map(contentOf);
  const firstSaid = contents.findIndex((content) => !isSystem(content));
  const opening = firstSaid === -1 ? contents : contents.slice(0, firstSaid);
  contents.forEach((content, index) => {
    if (index >= opening.length) readContent(reader, content, `${at}/contents/${index}`);
  });
  return reader.finish({
    model,
    system: [field(request, "systemInstruction"), ...opening.map((content) => content["parts"])]
      .map((words) => textOf(words, "\n\n"))
      .filter((words) => words !== "")
      .join("\n\n"),
    tools: listOf(request["tools"]).flatMap((tool, index) => readTool(reader, objectOf(tool), `${at}/tools/${index}`)),
    settings: readSettings(reader, request, at),
  });
};

/** A content; bare words and bare parts, which the vendor's SDK takes too, are the user's. */
const contentOf = (value: unknown): Fields => {
  if (typeof value === "string") return { parts: [value] };
  const content = objectOf(value);
  return "parts" in content || "role" in content ? content : { parts: [content] };
};

const partOf = (value: unknown): Fields => (typeof value === "string" ? { text: value } : objectOf(value));

const roleOf = (content: Fields): string => stringOf(content["role"])?.toLowerCase() ?? "user";

const isSystem = (content: Fields): boolean => roleOf(content) === "system" || roleOf(content) === "developer";

const modelOf = (model: unknown): string | undefined => stringOf(model)?.replace(/^models\//, "") || undefined;

/** The words of a text, a part, a list of parts or a content. */
const textOf = (value: unknown, separator: string): string =>
  listOf(isObject(value) && "parts" in value ? value["parts"] : value)
    .map((part) => stringOf(partOf(part)["text"]) ?? "")
    .filter((words) => words.trim() !== "")
    .join(separator);

const userRoles: readonly string[] = ["user", "function", "tool", ""];

/** Results, the user's words and the model's keep their order, whatever role they were filed under. */
const readContent = (reader: Reader, content: Fields, at: string): void => {
  reader.unread(content, known.content, at);
  const role = roleOf(content);
  if (isSystem(content)) return reader.notice(textOf(content["parts"], "\n"));
  const byModel = role === "model" || role === "assistant";
  if (!byModel && !userRoles.includes(role)) reader.unknown(`The role ${JSON.stringify(role)}`, `${at}/role`);
  const message = new MessageReader(reader);
  listOf(content["parts"]).forEach((value, index) => {
    const part = partOf(value);
    const here = `${at}/parts/${index}`;
    if (isObject(field(part, "functionResponse"))) {
      message.end();
      readResult(reader, part, here);
    } else if (byModel || isOnlyTheModels(part)) message.model(modelPart(reader, part, here));
    else message.user(userPart(reader, part, here));
  });
  message.end();
};

const isOnlyTheModels = (part: Fields): boolean =>
  isObject(field(part, "functionCall")) ||
  isObject(field(part, "executableCode")) ||
  isObject(field(part, "codeExecutionResult"));

const userPart = (reader: Reader, part: Fields, at: string): readonly UserPart[] => {
  const words = wordsOf(part["text"]);
  if (words === undefined) return mediaPart(reader, part, at);
  reader.unread(part, known.words, at);
  return [{ type: "text", text: words }];
};

const modelPart = (reader: Reader, part: Fields, at: string): readonly NewPart[] => {
  const words = wordsOf(part["text"]);
  if (words !== undefined) {
    reader.unread(part, known.words, at);
    const type = part["thought"] === true ? "thinking" : "text";
    const seal = sealOf(part, undefined);
    return [seal === undefined ? { type, text: words } : { type, text: words, seal }];
  }
  const asked = field(part, "functionCall");
  if (isObject(asked)) return [callPart(reader, part, asked, at)];
  const code = codePart(reader, part, at);
  if (code === undefined) return mediaPart(reader, part, at);
  reader.unread(part, known.code, at);
  reader.asText("code", at);
  return [code];
};

const callPart = (reader: Reader, part: Fields, asked: Fields, at: string): NewPart => {
  reader.unread(part, known.call, at);
  reader.unread(asked, known.callFields, `${at}/functionCall`);
  const seal = sealOf(part, idOf(asked["id"]));
  const call = { type: "call", tool: stringOf(asked["name"]) ?? "", input: { value: asked["args"] } } as const;
  return seal === undefined ? call : { ...call, seal };
};

const sealOf = (part: Fields, id: string | undefined): Seal | undefined => {
  const signature = stringOf(field(part, "thoughtSignature")) || undefined;
  if (signature === undefined) return id === undefined ? undefined : { id };
  return id === undefined ? { signature } : { id, signature };
};

const codePart = (reader: Reader, part: Fields, at: string): NewPart | undefined => {
  const run = field(part, "executableCode");
  if (isObject(run)) {
    reader.unread(run, ["language", "code"], `${at}/executableCode`);
    return {
      type: "code",
      language: stringOf(run["language"])?.toLowerCase() ?? "python",
      text: stringOf(run["code"]) ?? "",
    };
  }
  const printed = field(part, "codeExecutionResult");
  if (!isObject(printed)) return undefined;
  reader.unread(printed, ["outcome", "output"], `${at}/codeExecutionResult`);
  const fine = printed["outcome"] === undefined || printed["outcome"] === "OUTCOME_OK";
  return { type: "code", language: fine ? "output" : "error", text: stringOf(printed["output"]) ?? "" };
};

const mediaPart = (reader: Reader, part: Fields, at: string): readonly Media[] => {
  const inline = objectOf(field(part, "inlineData"));
  const file = objectOf(field(part, "fileData"));
  const data = stringOf(inline["data"]);
  const uri = stringOf(field(file, "fileUri"));
  if (data === undefined && uri === undefined) {
    reader.unknown(`A part with ${Object.keys(part).join(", ") || "nothing in it"}`, at);
    return [];
  }
  reader.unread(part, known.media, at);
  const holder = data === undefined ? file : inline;
  const name = stringOf(field(holder, "displayName"));
  const named = name === undefined ? {} : { name };
  const mimeType = stringOf(field(holder, "mimeType")) || undefined;
  if (data !== undefined && !data.startsWith("data:"))
    return [reader.data(data, { ...named, mimeType: mimeType ?? "application/octet-stream" })];
  return [fileAt(reader, data ?? uri ?? "", mimeType, named)];
};

/** A file without a type has the one its address ends in; an address on YouTube is a video's. */
const fileAt = (reader: Reader, uri: string, mimeType: string | undefined, named: { name?: string }): Media => {
  if (mimeType !== undefined) return reader.uri(uri, { ...named, kind: kindOf(mimeType), mimeType });
  if (/^https?:\/\/([a-z]+\.)?(youtube\.com|youtu\.be)\//.test(uri))
    return reader.uri(uri, { ...named, kind: "video" });
  const guess = reader.uri(uri, { ...named, kind: "document" });
  return { ...guess, kind: kindOf(guess.mimeType) };
};

const readResult = (reader: Reader, part: Fields, at: string): void => {
  const answer = objectOf(field(part, "functionResponse"));
  const here = `${at}/functionResponse`;
  reader.unread(part, known.result, at);
  reader.unread(answer, known.resultFields, here);
  const files = listOf(answer["parts"]).flatMap((file, index) =>
    mediaPart(reader, objectOf(file), `${here}/parts/${index}`),
  );
  const { status, content } = outcomeOf(answer["response"], files.length);
  reader.result(idOf(answer["id"]) ?? "", { status, content: [...content, ...files] }, stringOf(answer["name"]));
};

/** `output` and `error` have a meaning of their own; any other object is itself the output. */
const outcomeOf = (response: unknown, files: number): Outcome => {
  if (!isObject(response)) return { status: "complete", content: contentIn(response, files) };
  const { output, error, status, text_result, structured_result, ...rest } = response;
  const isAlone = Object.keys(rest).length === 0;
  const failed = error !== undefined && error !== null && error !== false && error !== "";
  if (isAlone && status === undefined && text_result === undefined && structured_result === undefined)
    return {
      status: failed ? "error" : "complete",
      content: [...contentIn(output, files), ...(failed ? contentIn(error, files) : [])],
    };
  const ended = isAlone && output === undefined && error === undefined ? endedAs(status) : undefined;
  if (ended !== undefined && (text_result !== undefined || structured_result !== undefined || files > 0))
    return { status: ended, content: [...contentIn(text_result, files), ...contentIn(structured_result, files)] };
  return { status: failed ? "error" : "complete", content: [{ type: "structured", value: response as JsonObject }] };
};

/** The sentence that stands for files without words says nothing the files do not. */
const contentIn = (value: unknown, files: number): readonly Content[] => {
  if (value === undefined || value === "" || value === outputOf([], files)) return [];
  return [
    typeof value === "string" ? { type: "text", text: value } : { type: "structured", value: value as JsonValue },
  ];
};

const endedAs = (status: unknown): OutcomeStatus | undefined => {
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

const wordsOf = (value: unknown): string | undefined =>
  typeof value === "number" || typeof value === "boolean" ? String(value) : stringOf(value);

const idOf = (id: unknown): string | undefined => wordsOf(id) || undefined;
