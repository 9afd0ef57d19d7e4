import { type BedrockBlock, blocksIn, fieldOf, resultBlocks } from "../../rules/bedrock/body.ts";
import { findBedrockClaude } from "../../rules/bedrock/models.ts";
import { messagesOf } from "../../rules/turns.ts";
import type { Json } from "../family.ts";
import { asArray, asObject, asText, isObject } from "../json.ts";
import type { RequestFile } from "../model/types.ts";
import { type BedrockSimRequest, familyOf } from "./providers.ts";

/** The blocks of a request, message by message. */
export const messageBlocks = ({ body }: BedrockSimRequest): readonly (readonly BedrockBlock[])[] =>
  messagesOf(body).map(blocksIn);

/** The blocks of a result that reach the model. Claude does not see a PDF in a result of documents only. */
export const visibleBlocks = (result: BedrockBlock, request: BedrockSimRequest): readonly BedrockBlock[] => {
  const blocks = resultBlocks(result);
  const isUnread = familyOf(request).nested.pdf === "unread" && blocks.every(({ kind }) => kind === "document");
  return isUnread ? blocks.filter((block) => fieldOf(block, "format") !== "pdf") : blocks;
};

/** The text of a block that is not a file. */
export const blockText = (block: BedrockBlock): string => {
  switch (block.kind) {
    case "text":
      return asText(block.data);
    case "json":
      return JSON.stringify(block.data) ?? "";
    case "searchResult":
    case "citationsContent":
      return asArray(fieldOf(block, "content"))
        .map((part) => asText(asObject(part)["text"]))
        .join("\n");
    case "guardContent":
      return asText(asObject(fieldOf(block, "text"))["text"]);
    default:
      return "";
  }
};

/** A file of a request. `base64` is empty for a file given by URL. */
export type BedrockMedia = { readonly kind: RequestFile["kind"]; readonly mimeType: string; readonly base64: string };

/** The file in a block. A document may also contain text instead of bytes. */
export const mediaOf = (block: BedrockBlock): BedrockMedia | undefined => {
  const { kind } = block;
  if (kind !== "image" && kind !== "document" && kind !== "video" && kind !== "audio") return undefined;
  const source = asObject(fieldOf(block, "source"));
  const text =
    asText(source["text"]) ||
    asArray(source["content"])
      .map((part) => asText(asObject(part)["text"]))
      .join("\n");
  const base64 = asText(source["bytes"]) || Buffer.from(text).toString("base64");
  return { kind, mimeType: mimeType(kind, asText(fieldOf(block, "format"))), base64 };
};

const mimeType = (kind: BedrockMedia["kind"], format: string): string => {
  if (format.includes("/")) return format;
  return mimeTypes.get(format) ?? (kind === "document" ? "text/plain" : `${kind}/${format}`);
};

const mimeTypes: ReadonlyMap<string, string> = new Map([
  ["pdf", "application/pdf"],
  ["csv", "text/csv"],
  ["html", "text/html"],
  ["md", "text/markdown"],
  ["doc", "application/msword"],
  ["docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"],
  ["xls", "application/vnd.ms-excel"],
  ["xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"],
  ["mkv", "video/x-matroska"],
  ["mov", "video/quicktime"],
  ["flv", "video/x-flv"],
  ["mpg", "video/mpeg"],
  ["wmv", "video/x-ms-wmv"],
  ["three_gp", "video/3gpp"],
]);

/** The request's thinking configuration for the model. */
export const thinkingConfig = ({ body }: BedrockSimRequest): Json =>
  asObject(asObject(body["additionalModelRequestFields"])["thinking"]);

/** True if the model thinks: Claude if enabled or always, Nova if enabled, open models always. */
export const isThinking = (request: BedrockSimRequest): boolean => {
  const { type } = thinkingConfig(request);
  const claude = findBedrockClaude({ wire: "bedrock", model: request.model });
  if (claude !== undefined)
    return type === undefined
      ? claude.thinking.length > 0 && !claude.thinking.includes("disabled")
      : type !== "disabled";
  const config = asObject(request.body["additionalModelRequestFields"])["reasoningConfig"];
  switch (familyOf(request).id) {
    case "nova":
      return isObject(config) && config["type"] === "enabled";
    case "claude":
    case "llama":
    case "mistral":
    case "writer":
      return false;
    case "qwen":
    case "other":
    case "unknown":
      return true;
  }
};
