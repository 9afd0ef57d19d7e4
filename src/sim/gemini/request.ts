import {
  type GeminiBodyContent,
  type LocatedValue,
  type GeminiBodyPart,
  contentsOf,
  pick,
  repeatedField,
  requestIn,
  textIn,
} from "../../rules/gemini/body.ts";
import type { RuleTarget } from "../../rules/rule.ts";
import type { SimRequest } from "../family.ts";
import type { GeminiQuirks } from "./providers.ts";
import type { RequestFile } from "../model/types.ts";

/** A request to one of the Gemini endpoints. */
export type GeminiSimRequest = SimRequest<GeminiQuirks>;

/** The target whose rules apply to a request. */
export const targetOf = (request: GeminiSimRequest): RuleTarget => ({
  wire: "gemini",
  provider: request.provider.id,
  model: request.model,
});

/** The GenerateContent request, without Code Assist's envelope. */
export const requestOf = (request: GeminiSimRequest): LocatedValue => requestIn(request.body, targetOf(request));

/** The contents of a request. */
export const contentsIn = (request: GeminiSimRequest): readonly GeminiBodyContent[] =>
  contentsOf(request.body, targetOf(request));

/** A field of the request by its path, in either spelling. */
export const fieldOf = (request: GeminiSimRequest, ...path: readonly string[]): unknown =>
  path.reduce<LocatedValue | undefined>(
    (from, name) => (from === undefined ? undefined : pick(from, name)),
    requestOf(request),
  )?.value;

/** The tools of a request, each an object with the kinds it offers. */
export const toolsOf = (request: GeminiSimRequest): readonly LocatedValue[] =>
  repeatedField(pick(requestOf(request), "tools"));

/** A file of a request. `base64` is empty for a file given by URL. */
export type GeminiMedia = {
  readonly kind: RequestFile["kind"] | "text";
  readonly mimeType: string;
  readonly base64: string;
};

/** The file in a part of a content or of a functionResponse. */
export const mediaIn = (part: LocatedValue): GeminiMedia | undefined => {
  const inline = pick(part, "inlineData");
  const file = pick(part, "fileData");
  const found = inline ?? file;
  if (found === undefined) return undefined;
  const mimeType = textIn(found, "mimeType") ?? "video/mp4";
  return { kind: kindOf(mimeType), mimeType, base64: inline === undefined ? "" : (textIn(inline, "data") ?? "") };
};

const kindOf = (mimeType: string): GeminiMedia["kind"] => {
  const family = mimeType.split("/")[0];
  return family === "image" || family === "audio" || family === "video" || family === "text" ? family : "document";
};

/** Decodes a text file. */
export const decodeText = (medium: GeminiMedia): string => Buffer.from(medium.base64, "base64").toString();

/** A part as a located value, for field lookups. */
export const toLocated = (part: GeminiBodyPart): LocatedValue => ({ value: part.value, pointer: part.pointer });
