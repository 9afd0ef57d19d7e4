import type { NewPart } from "../conversation/ledger.ts";
import { isObject, toPlainJson } from "../conversation/json.ts";
import type { Content, Media, Outcome, OutcomeStatus, UserPart } from "../conversation/parts.ts";
import { textContent, type ConversationBuilder } from "./builder.ts";
import { listOf, objectOf, objectsOf, textOf, wordOf, type ForeignRecord } from "./json.ts";

/** The result of a call in Gemini's form. */
export type PartResult = { readonly id: string; readonly tool: string | undefined; readonly outcome: Outcome };

/** Returns the parts of a content in Gemini's form: one text, one part, or a list. */
export const partsOf = (content: unknown): readonly ForeignRecord[] =>
  (Array.isArray(content) ? listOf(content) : content === undefined || content === null ? [] : [content]).map((part) =>
    typeof part === "string" ? { text: part } : objectOf(part),
  );

/** Reads parts a person wrote. Results among them are not read here. */
export const readUserParts = (builder: ConversationBuilder, parts: readonly ForeignRecord[]): readonly UserPart[] =>
  parts.flatMap((part): readonly UserPart[] => {
    if (typeof part["text"] === "string") return [{ type: "text", text: part["text"] }];
    return isResult(part) ? [] : readMedia(builder, part);
  });

/** Reads parts a model wrote: text, thoughts with their signatures, calls, code. */
export const readModelParts = (builder: ConversationBuilder, parts: readonly ForeignRecord[]): readonly NewPart[] =>
  parts.flatMap((part): readonly NewPart[] => {
    const signature = wordOf(part["thoughtSignature"]);
    const seal = signature === undefined ? {} : { seal: { signature } };
    if (typeof part["text"] === "string")
      return [{ type: part["thought"] === true ? "thinking" : "text", text: part["text"], ...seal }];
    if (isObject(part["functionCall"])) {
      const { id, name, args } = part["functionCall"];
      return [
        {
          type: "call",
          tool: textOf(name),
          input: { value: args ?? {} },
          seal: { id: textOf(id), ...(signature === undefined ? {} : { signature }) },
        },
      ];
    }
    const { code, language } = objectOf(part["executableCode"]);
    if (typeof code === "string") return [{ type: "code", language: textOf(language).toLowerCase(), text: code }];
    const { output } = objectOf(part["codeExecutionResult"]);
    if (typeof output === "string") return [{ type: "code", language: "output", text: output }];
    return isResult(part) ? [] : readMedia(builder, part);
  });

/**
 * Reads the results among parts. Files inside a result belong to it; files that follow results belong to the last one,
 * since the API takes them beside it.
 */
export const readPartResults = (
  builder: ConversationBuilder,
  parts: readonly ForeignRecord[],
  status?: OutcomeStatus,
): readonly PartResult[] => {
  const results: { id: string; tool: string | undefined; status: OutcomeStatus; content: Content[] }[] = [];
  for (const part of parts) {
    const last = results.at(-1);
    if (isResult(part)) {
      const response = objectOf(part["functionResponse"]);
      const files = objectsOf(response["parts"]).flatMap((file) => readMedia(builder, file));
      const { isError, content } = readResponse(response["response"]);
      results.push({
        id: textOf(response["id"]),
        tool: wordOf(response["name"]),
        status: status ?? (isError ? "error" : "complete"),
        content: [...content, ...files],
      });
    } else if (last !== undefined && (isObject(part["inlineData"]) || isObject(part["fileData"])))
      last.content.push(...readMedia(builder, part));
  }
  return results.map(({ id, tool, ...outcome }) => ({ id, tool, outcome }));
};

/** Whether a part is the result of a call. */
export const isResult = (part: ForeignRecord): boolean => isObject(part["functionResponse"]);

const readResponse = (response: unknown): { readonly isError: boolean; readonly content: readonly Content[] } => {
  if (!isObject(response)) return { isError: false, content: toContent(response) };
  const { output, error, ...rest } = response;
  const isError = error !== undefined && error !== null && error !== false && error !== "";
  const content =
    Object.keys(rest).length === 0 ? [...toContent(output), ...(isError ? toContent(error) : [])] : toContent(response);
  return { isError, content };
};

const toContent = (value: unknown): readonly Content[] => {
  if (value === undefined || value === null) return [];
  return typeof value === "string" ? textContent(value) : [{ type: "structured", value: toPlainJson(value).value }];
};

const readMedia = (builder: ConversationBuilder, part: ForeignRecord): readonly Media[] => {
  const inline = objectOf(part["inlineData"]);
  const file = objectOf(part["fileData"]);
  if (file["fileUri"] !== undefined) return builder.mediaFromUrl(file["fileUri"]);
  if (inline["data"] !== undefined)
    return builder.mediaFromBase64(inline["data"], inline["mimeType"], wordOf(inline["displayName"]));
  builder.omit(`parts of the unknown kind ${JSON.stringify(Object.keys(part)[0] ?? "")}`);
  return [];
};
