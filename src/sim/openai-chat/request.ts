import type { Json, ApiRefusal } from "../family.ts";
import { asArray, asObject, asText, isObject } from "../json.ts";
import type { RequestFile } from "../model/types.ts";
import { fileIn } from "./files.ts";
import type { ChatSimRequest } from "./quirks.ts";

/** One message as the vendor takes it apart. */
export type SimChatMessage = {
  readonly index: number;
  readonly role: string;
  readonly value: Json;
  /** Its words, whatever form they came in. */
  readonly text: string;
  readonly parts: readonly SimChatPart[];
  readonly calls: readonly Json[];
};

/** One part of a content list. `isLost`: a file that never reaches the model. */
type SimChatPart = {
  readonly value: Json;
  readonly text: string;
  readonly file?: RequestFile;
  readonly tokens: number;
  readonly isLost: boolean;
  readonly isAddress: boolean;
};

/** The messages of a request, with what of each reaches the model. */
export const messagesOf = (ask: ChatSimRequest): readonly SimChatMessage[] =>
  asArray(ask.body["messages"]).map((message, index) => {
    const value = asObject(message);
    const role = asText(value["role"]);
    const parts = asArray(value["content"]).map((part) => partOf(asObject(part), role, ask));
    return {
      index,
      role,
      value,
      text: asText(value["content"]) + parts.map(({ text }) => text).join("") + asText(value["refusal"]),
      parts,
      calls: asArray(value["tool_calls"]).filter(isObject),
    };
  });

const partOf = (value: Json, role: string, ask: ChatSimRequest): SimChatPart => {
  const found = fileIn(value);
  if (found === undefined) return { value, text: partText(value), tokens: 0, isLost: false, isAddress: false };
  const { acceptsFile: sees, fetchesUrls: fetches, losesListIds } = ask.provider.quirks;
  const place = role === "tool" ? "tool" : "user";
  const isSeen =
    sees(found.file.kind, place, ask.model) &&
    (fetches || !found.isUrl) &&
    !(place === "tool" && losesListIds === true);
  const { isUrl: isAddress } = found;
  return isSeen
    ? { value, text: "", file: found.file, tokens: found.tokens, isLost: false, isAddress }
    : { value, text: "", tokens: 0, isLost: true, isAddress };
};

/** The words of a part. Documents of some vendors are words too; a thought is not said. */
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

/** The vendor's refusal of the first file that cannot reach the model, where it refuses those. */
export const checkFiles = (ask: ChatSimRequest): ApiRefusal | undefined => {
  const { refuseFile: unseen } = ask.provider.quirks;
  if (unseen === undefined) return undefined;
  for (const { index, parts } of messagesOf(ask)) {
    for (const [place, part] of parts.entries()) {
      const refused = part.isLost ? unseen(index, part) : undefined;
      if (refused !== undefined) return { ...refused, pointer: `/messages/${index}/content/${place}` };
    }
  }
  return undefined;
};
