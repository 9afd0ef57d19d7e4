import type { MediaKind } from "../conversation/parts.ts";
import type { MediaRow, MediaRows } from "../transcript/target.ts";
import type { WireId } from "../wire/wire.ts";
import { inlineOnly, pdfTypes } from "./traits.ts";

/** The kinds of files a model takes besides text, as settings or its server describe it. */
export type ModelInput = readonly MediaKind[];

/** Restricts media rows to the kinds in `input`. A kind that the provider does not list is allowed in user messages. */
export const describedMediaRows = (rows: MediaRows, input: ModelInput, wire: WireId): MediaRows => {
  const user = { ...pickKinds(usualMedia[wire], input), ...pickKinds(rows.user, input) };
  return {
    result: pickKinds(rows.result, input),
    errorResult: pickKinds(rows.errorResult, input),
    user,
    ...(rows.after === undefined ? {} : { after: { ...user, ...pickKinds(rows.after, input) } }),
    model: pickKinds(rows.model, input),
  };
};

const pickKinds = (row: MediaRow, input: ModelInput): MediaRow =>
  Object.fromEntries(Object.entries(row).filter(([kind]) => input.some((each) => each === kind)));

const image = inlineOnly(["image/png", "image/jpeg", "image/webp"]);
const document = inlineOnly(pdfTypes);
const audio = inlineOnly(["audio/wav", "audio/mpeg"]);
const video = inlineOnly(["video/mp4"]);

/** The media of user messages by API family, in formats that most servers read. */
const usualMedia: Readonly<Record<WireId, MediaRow>> = {
  gemini: { image, document, audio, video },
  anthropic: { image, document },
  bedrock: { image, document, video },
  "openai-chat": { image, document, audio, video },
  "openai-responses": { image, document },
};
