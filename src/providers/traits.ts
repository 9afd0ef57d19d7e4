import type {
  IdFormat,
  MediaCell,
  MediaRow,
  MediaRows,
  OrderRule,
  ThinkingReader,
  ThinkingRule,
} from "../transcript/target.ts";

/** Tool names every API accepts; some allow more, but no conversation stays on one API for sure. */
export const portableName: RegExp = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

/** Ids with a prefix and the call's ordinal. */
export const prefixedIds = (name: string, prefix: string, legal: RegExp): IdFormat => ({
  name,
  legal,
  project: (ordinal, _tool, attempt) => `${prefix}${ordinal}${attempt === 0 ? "" : `-${attempt}`}`,
});

/** Chat Completions has refused ids over forty characters. */
export const chatIds: IdFormat = prefixedIds("openai-chat", "call_", /^[A-Za-z0-9_-]{1,40}$/);

/** Responses takes up to 64 characters, but not an underscore at the end. */
export const responsesIds: IdFormat = prefixedIds("openai-responses", "call_", /^[A-Za-z0-9_-]{0,63}[A-Za-z0-9-]$/);

/** Mistral wants exactly nine letters or digits. */
export const mistralIds: IdFormat = {
  name: "mistral",
  legal: /^[A-Za-z0-9]{9}$/,
  project: (ordinal, _tool, attempt) => `c${(ordinal + attempt * 36 ** 6).toString(36).padStart(8, "0")}`,
};

/** Kimi's weights expect their own spelling in history, with an index that never restarts. */
export const kimiIds: IdFormat = {
  name: "kimi",
  legal: /^functions\.[A-Za-z_][A-Za-z0-9_-]{0,63}:\d+$/,
  project: (ordinal, tool, attempt) => `functions.${tool}:${ordinal + attempt * 1_000_000}`,
};

/** The same for Responses, where an id has at most 64 characters: the name of a long tool is cut. */
const shortKimiIds: IdFormat = {
  name: "kimi",
  legal: /^(?=.{1,64}$)functions\.[A-Za-z_][A-Za-z0-9_-]*:\d+$/,
  project: (ordinal, tool, attempt) => kimiIds.project(ordinal, tool.slice(0, 40), attempt),
};

const mistralModels = /mistral|mixtral|codestral|devstral|magistral|ministral|pixtral|voxtral/i;
const kimiModels = /kimi|moonshot/i;

type IdFamily = { readonly match: RegExp; readonly traits: { readonly ids: IdFormat } };

/** Models that expect the ids of their maker, whoever serves them over Chat Completions. */
export const chatIdFamilies: readonly IdFamily[] = [
  { match: mistralModels, traits: { ids: mistralIds } },
  { match: kimiModels, traits: { ids: kimiIds } },
];

/** The same over Responses. */
export const responsesIdFamilies: readonly IdFamily[] = [
  { match: mistralModels, traits: { ids: mistralIds } },
  { match: kimiModels, traits: { ids: shortKimiIds } },
];

/** No thinking goes to this target. */
export const noThinking: ThinkingRule = { form: "none", readers: [], bound: false };

/** All models of a provider read each other. */
export const anyReader: readonly ThinkingReader[] = [{ reader: /./, of: /./ }];

/** Either side may begin and end. */
export const anyOrder: OrderRule = { userFirst: false, userLast: false, alternate: false, bridgeAfterResults: false };

/** The user begins, and has the word last. */
export const userFirstAndLast: OrderRule = {
  userFirst: true,
  userLast: true,
  alternate: false,
  bridgeAfterResults: false,
};

/** The user begins and ends, and what one side says in a row is one message. */
export const alternateTurns: OrderRule = { ...userFirstAndLast, alternate: true };

/** The same, and results are a turn of their own. */
export const strictTurns: OrderRule = { ...alternateTurns, bridgeAfterResults: true };

/** A target that takes words only. */
export const textOnly: MediaRows = { result: {}, errorResult: {}, user: {}, model: {} };

/** Every file in a user message, for a model that was sent some before. */
export const anyUserMedia: MediaRow = {
  image: { types: ["image/"], uri: ["https://", "http://"] },
  document: { types: ["application/", "text/"], uri: ["https://", "http://"] },
  audio: { types: ["audio/"], uri: ["https://", "http://"] },
  video: { types: ["video/"], uri: ["https://", "http://"] },
};

/** The address schemes of the open web. */
const web: readonly string[] = ["https://", "http://"];

/** The four picture formats most APIs know. */
export const imageTypes: readonly string[] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/** PDF alone. */
export const pdfTypes: readonly string[] = ["application/pdf"];

/** Office documents, where an API extracts their text itself. */
export const officeTypes: readonly string[] = [
  "application/msword",
  "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  "application/vnd.ms-excel",
  "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
];

/** Files of some types, as bytes or from the open web. */
export const inlineOrUrl = (types: readonly string[], limits: Partial<MediaCell> = {}): MediaCell => ({
  types,
  uri: web,
  ...limits,
});

/** Files of some types, as bytes only. */
export const inlineOnly = (types: readonly string[], limits: Partial<MediaCell> = {}): MediaCell => ({
  types,
  ...limits,
});
