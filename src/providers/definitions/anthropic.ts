import { anthropic as wire } from "../../wire/anthropic/encode.ts";
import { defineProvider, type Provider } from "../define.ts";
import { inlineOrUrl, pdfTypes, imageTypes, portableName, prefixedIds, userFirstAndLast } from "../traits.ts";

const image = inlineOrUrl(imageTypes, {
  uri: ["https://", "http://", "anthropic-file:"],
  maxBytes: 7_500_000,
  perRequest: 100,
});
const document = inlineOrUrl(pdfTypes, { uri: ["https://", "http://", "anthropic-file:"], maxBytes: 24_000_000 });

/** From Fable 5.1 on, thinking is bound to everything before it; blocks of older Claude models are read or ignored. */
const bound = /^claude-[a-z]+-(5-[1-9]|[6-9])/;

/** Claude, from Anthropic. The API has no audio and no video. */
export const anthropic: Provider = defineProvider({
  id: "anthropic",
  label: "Anthropic",
  wire,
  endpoint: {
    url: "https://api.anthropic.com",
    paths: { generate: "/v1/messages", count: "/v1/messages/count_tokens", models: "/v1/models" },
    env: [{ name: "ANTHROPIC_BASE_URL" }],
    headers: [{ name: "anthropic-version", value: "2023-06-01", env: "PARLEY_ANTHROPIC_VERSION" }],
  },
  auth: { type: "x-api-key", env: ["ANTHROPIC_API_KEY"], tokens: ["ANTHROPIC_AUTH_TOKEN"] },
  defaultModel: "claude-sonnet-5",
  traits: {
    ids: prefixedIds("anthropic", "toolu_", /^[A-Za-z0-9_-]{1,64}$/),
    toolName: portableName,
    media: {
      result: { image: image, document: document },
      // A result marked as an error contains text only.
      errorResult: {},
      user: { image: image, document: document },
      model: {},
    },
    thinking: { form: "signed", readers: [{ reader: bound, of: /^claude-/ }], bound: false },
    order: userFirstAndLast,
    callsLast: true,
    requiresTools: true,
    requiresThinkingInLoop: false,
  },
  dialect: { thinking: "adaptive", forcedTools: true, sampling: true, maxTokens: 128_000 },
  families: [
    // The API requires a limit, and refuses one above the model's maximum.
    { match: /^claude-(3-7|[a-z]+-4(-0|-5|-20|$)|[a-z]+-4-5)/, dialect: { maxTokens: 64_000 } },
    { match: /^claude-opus-4(-[01]|-20|$)/, dialect: { maxTokens: 32_000 } },
    { match: /^claude-(2|instant|3-(opus|sonnet|haiku))/, dialect: { maxTokens: 4096 } },
    { match: /^claude-3-5/, dialect: { maxTokens: 8192 } },
    // From here on the text of thinking is returned on request only; the fifth generation thinks by default.
    { match: /^claude-[a-z]+-(4-[7-9]|[5-9])/, dialect: { sampling: false, summaries: "with-thinking" } },
    { match: /^claude-[a-z]+-[5-9]/, dialect: { summaries: "always" } },
    { match: /^claude-((fable|mythos)-[5-9]|(opus|sonnet)-(5-[5-9]|[6-9]))/, dialect: { thinking: "always" } },
    { match: bound, traits: { thinking: { bound: true } } },
    {
      match: /^claude-((fable|mythos)-5-[1-9]|(opus|sonnet)-5-[5-9]|(fable|mythos|opus|sonnet)-[6-9])/,
      dialect: { forcedTools: false },
    },
    {
      match: /^claude-(3|[a-z]+-4-[0-5]|[a-z]+-4-20)/,
      traits: { requiresThinkingInLoop: true },
      dialect: { thinking: "budget" },
    },
    { match: /^claude-3-(?!7)/, dialect: { thinking: "none" } },
    { match: /^claude-([a-z]+-4-[5-9](?!\d)|[a-z]+-[5-9])/, dialect: { output: true } },
  ],
});
