import type { Json, ApiRefusal } from "../family.ts";
import { asArray, asObject, asText, isObject } from "../json.ts";
import type { RequestFile } from "../model/types.ts";
import { fileIn } from "./files.ts";
import type { ChatSimRequest } from "./quirks.ts";

/** One parsed message. */
export type SimChatMessage = {
  readonly index: number;
  readonly role: string;
  readonly value: Json;
  /** Its text, from a string or from parts. */
  readonly text: string;
  readonly parts: readonly SimChatPart[];
  readonly calls: readonly Json[];
};

/** One part of a content list. `isLost`: a file that does not reach the model. */
type SimChatPart = {
  readonly value: Json;
  readonly text: string;
  readonly file?: RequestFile;
  readonly tokens: number;
  readonly isLost: boolean;
  readonly isAddress: boolean;
};

/** Parses the messages of a request into what reaches the model. */
export const messagesOf = (request: ChatSimRequest): readonly SimChatMessage[] =>
  asArray(request.body["messages"]).map((message, index) => {
    const value = asObject(message);
    const role = asText(value["role"]);
    const parts = asArray(value["content"]).map((part) => partOf(asObject(part), role, request));
    return {
      index,
      role,
      value,
      text: asText(value["content"]) + parts.map(({ text }) => text).join("") + asText(value["refusal"]),
      parts,
      calls: asArray(value["tool_calls"]).filter(isObject),
    };
  });

const partOf = (value: Json, role: string, request: ChatSimRequest): SimChatPart => {
  const found = fileIn(value);
  if (found === undefined) return { value, text: partText(value), tokens: 0, isLost: false, isAddress: false };
  const { acceptsFile, fetchesUrls, losesListIds } = request.provider.quirks;
  const place = role === "tool" ? "tool" : "user";
  const isSeen =
    acceptsFile(found.file.kind, place, request.model) &&
    (fetchesUrls || !found.isUrl) &&
    !(place === "tool" && losesListIds === true);
  const { isUrl } = found;
  return isSeen
    ? { value, text: "", file: found.file, tokens: found.tokens, isLost: false, isAddress: isUrl }
    : { value, text: "", tokens: 0, isLost: true, isAddress: isUrl };
};

/** The text of a part. Some vendors' documents count as text; thinking does not. */
const partText = (part: Json): string => {
  switch (part["type"]) {
    case "document":
    case "reference":
      return JSON.stringify(part["document"] ?? part);
    case "refusal":
      return asText(part["refusal"]);
    default:
      return asText(part["text"]);
  }
};

/** Refuses the first file that cannot reach the model, if the vendor does. */
export const checkFiles = (request: ChatSimRequest): ApiRefusal | undefined => {
  const { refuseFile } = request.provider.quirks;
  if (refuseFile === undefined) return undefined;
  for (const { index, parts } of messagesOf(request)) {
    for (const [place, part] of parts.entries()) {
      const refused = part.isLost ? refuseFile(index, part) : undefined;
      if (refused !== undefined) return { ...refused, pointer: `/messages/${index}/content/${place}` };
    }
  }
  return undefined;
};
