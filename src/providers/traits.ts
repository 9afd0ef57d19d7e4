import type {
  IdFormat,
  MediaCell,
  MediaRow,
  MediaRows,
  OrderRule,
  ThinkingReader,
  ThinkingRule,
} from "../transcript/target.ts";

/** Tool names every API accepts; some allow more, but a conversation may switch APIs at any time. */
export const portableName: RegExp = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

/** Ids with a prefix and the call's ordinal. */
export const prefixedIds = (name: string, prefix: string, legal: RegExp): IdFormat => ({
  name,
  legal,
  project: (ordinal, _tool, attempt) => `${prefix}${ordinal}${attempt === 0 ? "" : `-${attempt}`}`,
});

/** Chat Completions has refused ids over forty characters. */
export const chatIds: IdFormat = prefixedIds("openai-chat", "call_", /^[A-Za-z0-9_-]{1,40}$/);

/** Responses accepts up to 64 characters, but no trailing underscore. */
export const responsesIds: IdFormat = prefixedIds("openai-responses", "call_", /^[A-Za-z0-9_-]{0,63}[A-Za-z0-9-]$/);

/** Mistral requires exactly nine letters or digits. */
export const mistralIds: IdFormat = {
  name: "mistral",
  legal: /^[A-Za-z0-9]{9}$/,
  project: (ordinal, _tool, attempt) => `c${(ordinal + attempt * 36 ** 6).toString(36).padStart(8, "0")}`,
};

/** Kimi's models expect their own id format in the history, with an index that never restarts. */
export const kimiIds: IdFormat = {
  name: "kimi",
  legal: /^functions\.[A-Za-z_][A-Za-z0-9_-]{0,63}:\d+$/,
  project: (ordinal, tool, attempt) => `functions.${tool}:${ordinal + attempt * 1_000_000}`,
};

/** Kimi's ids for Responses, where an id has at most 64 characters: a long tool name is truncated. */
const shortKimiIds: IdFormat = {
  name: "kimi",
  legal: /^(?=.{1,64}$)functions\.[A-Za-z_][A-Za-z0-9_-]*:\d+$/,
  project: (ordinal, tool, attempt) => kimiIds.project(ordinal, tool.slice(0, 40), attempt),
};

const mistralModels = /mistral|mixtral|codestral|devstral|magistral|ministral|pixtral|voxtral/i;
const kimiModels = /kimi|moonshot/i;

type IdFamily = { readonly match: RegExp; readonly traits: { readonly ids: IdFormat } };

/** Models that expect their vendor's id format at any provider, over Chat Completions. */
export const chatIdFamilies: readonly IdFamily[] = [
  { match: mistralModels, traits: { ids: mistralIds } },
  { match: kimiModels, traits: { ids: kimiIds } },
];

/** Models that expect their vendor's id format at any provider, over Responses. */
export const responsesIdFamilies: readonly IdFamily[] = [
  { match: mistralModels, traits: { ids: mistralIds } },
  { match: kimiModels, traits: { ids: shortKimiIds } },
];

/** No thinking is sent to this target. */
export const noThinking: ThinkingRule = { form: "none", readers: [], bound: false };

/** All models of a provider read each other's thinking. */
export const anyReader: readonly ThinkingReader[] = [{ reader: /./, of: /./ }];

/** Either side may be first and last. */
export const anyOrder: OrderRule = { userFirst: false, userLast: false, alternate: false, bridgeAfterResults: false };

/** The user is first and last. */
export const userFirstAndLast: OrderRule = {
  userFirst: true,
  userLast: true,
  alternate: false,
  bridgeAfterResults: false,
};

/** The user is first and last, and consecutive messages of one side are merged. */
export const alternateTurns: OrderRule = { ...userFirstAndLast, alternate: true };

/** Alternating turns, with results as a separate turn. */
export const strictTurns: OrderRule = { ...alternateTurns, bridgeAfterResults: true };

/** A target that accepts text only. */
export const textOnly: MediaRows = { result: {}, errorResult: {}, user: {}, model: {} };

/** Every kind of file in user messages. */
export const anyUserMedia: MediaRow = {
  image: { types: ["image/"], uri: ["https://", "http://"] },
  document: { types: ["application/", "text/"], uri: ["https://", "http://"] },
  audio: { types: ["audio/"], uri: ["https://", "http://"] },
  video: { types: ["video/"], uri: ["https://", "http://"] },
};

/** The URL schemes of the web. */
const web: readonly string[] = ["https://", "http://"];

/** The four image formats most APIs support. */
export const imageTypes: readonly string[] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/** PDF only. */
export const pdfTypes: readonly string[] = ["application/pdf"];

/** Office documents, for APIs that extract their text. */
export const officeTypes: readonly string[] = [
  "application/msword",
  "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  "application/vnd.ms-excel",
  "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
];

/** Files of these types, as inline bytes or web URLs. */
export const inlineOrUrl = (types: readonly string[], limits: Partial<MediaCell> = {}): MediaCell => ({
  types,
  uri: web,
  ...limits,
});

/** Files of these types, as inline bytes only. */
export const inlineOnly = (types: readonly string[], limits: Partial<MediaCell> = {}): MediaCell => ({
  types,
  ...limits,
});

/** OpenAI's models that can be held to a JSON Schema: from gpt-4o-2024-08-06 on, except those for audio, search and images. */
export const schemaModels: RegExp =
  /^(?!.*(audio|search|realtime|transcribe|image|tts|deep-research))(gpt-4o(?!-2024-05)|gpt-4\.[1-9]|gpt-[5-9]|o1(?!-mini|-preview)|o[3-9])/;
