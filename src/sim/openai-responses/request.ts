import { dataUrl } from "../../rules/openai/media.ts";
import { type ResponsesItem, itemsOf } from "../../rules/openai-responses/walk.ts";
import type { Json } from "../family.ts";
import { asArray, asText, isObject } from "../json.ts";
import type { RequestFile } from "../model/types.ts";
import type { ResponsesSimRequest } from "./providers.ts";

/** The items of a request. Plain text counts as one user message. */
export const inputItems = ({ body }: ResponsesSimRequest): readonly ResponsesItem[] => {
  const { input } = body;
  if (typeof input !== "string") return itemsOf(body);
  return [{ at: "/input", index: 0, type: "message", id: undefined, value: { role: "user", content: input } }];
};

/** The parts of a message or an output. Plain text counts as one part. */
export const contentParts = ({ value }: ResponsesItem): readonly Json[] => {
  const content = value["content"] ?? value["output"];
  return typeof content === "string" ? [{ type: "input_text", text: content }] : asArray(content).filter(isObject);
};

/** The text of a part. */
export const partText = (part: Json): string => asText(part["text"]) || asText(part["refusal"]);

/** A file of a request. `base64` is empty for a file given by URL. */
export type ResponsesMedia = { readonly kind: RequestFile["kind"]; readonly mimeType: string; readonly base64: string };

/** The file in a part. */
export const mediaOf = (part: Json): ResponsesMedia | undefined => {
  switch (part["type"]) {
    case "input_image":
      return createMedia("image", asText(part["image_url"]), "image/png");
    case "input_file":
      return createMedia("document", asText(part["file_data"]) || asText(part["file_url"]), "application/pdf");
    default:
      return undefined;
  }
};

const createMedia = (kind: RequestFile["kind"], url: string, usual: string): ResponsesMedia => {
  const data = dataUrl(url);
  return { kind, mimeType: data?.mime || usual, base64: data?.payload ?? "" };
};
