import { openaiChat, type ChatDialect } from "../wire/openai-chat/encode.ts";
import { defineProvider, type Endpoint, type Provider, type ProviderData, type Traits } from "./define.ts";
import { chatIds, noThinking, portableName, userFirstAndLast, textOnly } from "./traits.ts";

/** The defaults for a server compatible with Chat Completions: text only, the user first and last. */
const traits: Traits = {
  ids: chatIds,
  toolName: portableName,
  media: textOnly,
  thinking: noThinking,
  order: userFirstAndLast,
  requiresTools: false,
  requiresThinkingInLoop: false,
};

const dialect: ChatDialect = {
  system: "system",
  reasoning: "none",
  emptyContent: "null",
  resultNames: false,
  textLists: true,
  parts: "openai",
  maxTokens: "max_tokens",
  leastTokens: 1,
  streamOptions: true,
  thinking: { field: "none" },
  effortWithTools: "any",
  cacheMarks: false,
  toolChoice: ["auto", "none", "required", "named"],
  schema: "openai",
  strict: false,
  sampling: true,
  cacheKey: false,
  ends: "done",
  repeatsText: false,
};

/** A Chat Completions provider as data: its endpoint, and its differences from the defaults. */
export type ChatProviderData = Omit<ProviderData<ChatDialect>, "wire" | "traits" | "dialect" | "endpoint"> & {
  readonly endpoint: Omit<Endpoint, "paths"> & { readonly paths?: Endpoint["paths"] };
  readonly traits?: Partial<Traits>;
  readonly dialect?: Partial<ChatDialect>;
};

/** Defines a Chat Completions provider by its differences from the defaults. */
export const defineChatProvider = (own: ChatProviderData): Provider =>
  defineProvider({
    ...own,
    endpoint: { paths: { generate: "/chat/completions", models: "/models" }, ...own.endpoint },
    wire: openaiChat,
    traits: { ...traits, ...own.traits },
    dialect: { ...dialect, ...own.dialect },
  });
