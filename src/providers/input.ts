import type { MediaKind } from "../conversation/parts.ts";
import type { MediaRow, MediaRows } from "../transcript/target.ts";
import type { WireId } from "../wire/wire.ts";
import { asBytes, pdf } from "./traits.ts";

/** The kinds of files a model takes besides text, as a person or its server describes it. */
export type ModelInput = readonly MediaKind[];

/** What a model takes where: only the kinds in `input`. One that its provider does not list goes into user messages. */
export const rowsFor = (rows: MediaRows, input: ModelInput, wire: WireId): MediaRows => {
  const user = { ...pick(usual[wire], input), ...pick(rows.user, input) };
  return {
    result: pick(rows.result, input),
    errorResult: pick(rows.errorResult, input),
    user,
    ...(rows.after === undefined ? {} : { after: { ...user, ...pick(rows.after, input) } }),
    model: pick(rows.model, input),
  };
};

const pick = (row: MediaRow, input: ModelInput): MediaRow =>
  Object.fromEntries(Object.entries(row).filter(([kind]) => input.some((each) => each === kind)));

const image = asBytes(["image/png", "image/jpeg", "image/webp"]);
const document = asBytes(pdf);
const audio = asBytes(["audio/wav", "audio/mpeg"]);
const video = asBytes(["video/mp4"]);

/** What each API can carry in a user message, in the formats that most servers read. */
const usual: Readonly<Record<WireId, MediaRow>> = {
  gemini: { image, document, audio, video },
  anthropic: { image, document },
  bedrock: { image, document, video },
  "openai-chat": { image, document, audio, video },
  "openai-responses": { image, document },
};
