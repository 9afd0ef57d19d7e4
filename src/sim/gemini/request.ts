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

/** A request at one of the doors to Gemini. */
export type GeminiSimRequest = SimRequest<GeminiQuirks>;

/** Whose rules a request stands under. */
export const targetOf = (ask: GeminiSimRequest): RuleTarget => ({
  wire: "gemini",
  provider: ask.provider.id,
  model: ask.model,
});

/** The request proper, out of the envelope that Code Assist puts around it. */
export const requestOf = (ask: GeminiSimRequest): LocatedValue => requestIn(ask.body, targetOf(ask));

/** The contents of a request. */
export const contentsIn = (ask: GeminiSimRequest): readonly GeminiBodyContent[] => contentsOf(ask.body, targetOf(ask));

/** A field of the request by its path, in either spelling. */
export const fieldOf = (ask: GeminiSimRequest, ...path: readonly string[]): unknown =>
  path.reduce<LocatedValue | undefined>(
    (from, name) => (from === undefined ? undefined : pick(from, name)),
    requestOf(ask),
  )?.value;

/** The tools of a request, each an object with the kinds it offers. */
export const toolsOf = (ask: GeminiSimRequest): readonly LocatedValue[] => repeatedField(pick(requestOf(ask), "tools"));

/** A file of a request. `base64` is empty where only its address is given. */
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

/** A text file as the model reads it. */
export const decodeText = (medium: GeminiMedia): string => Buffer.from(medium.base64, "base64").toString();

/** A part as a place to look things up in. */
export const toLocated = (part: GeminiBodyPart): LocatedValue => ({ value: part.value, pointer: part.pointer });
