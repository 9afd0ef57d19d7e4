import type { MediaRows } from "../../transcript/target.ts";
import { openaiResponses as wire, type ResponsesDialect } from "../../wire/openai-responses/encode.ts";
import { defineProvider, type ModelFamily, type Provider, type Traits } from "../define.ts";
import {
  anyOrder,
  inlineOrUrl,
  officeTypes,
  pdfTypes,
  imageTypes,
  portableName,
  responsesIdFamilies,
  responsesIds,
  schemaModels,
  textOnly,
} from "../traits.ts";

/** Files as bytes, as web URLs, or uploaded to this provider before. */
const mediaOf = (uploads: string): MediaRows => {
  const uri = ["https://", "http://", uploads];
  const files = {
    image: inlineOrUrl(imageTypes, { uri, maxBytes: 15_000_000, perRequest: 500 }),
    document: inlineOrUrl([...pdfTypes, ...officeTypes], { uri, maxBytes: 36_000_000 }),
  };
  return { result: files, errorResult: files, user: files, model: {} };
};

const traits: Traits = {
  ids: responsesIds,
  toolName: portableName,
  media: mediaOf("openai-file:"),
  thinking: { form: "signed", readers: [], bound: false },
  order: anyOrder,
  requiresTools: false,
  requiresThinkingInLoop: false,
};

const dialect: ResponsesDialect = {
  system: "instructions",
  reasoning: "none",
  callsLast: false,
  pairedIds: true,
  efforts: {},
  leastTokens: 16,
  toolChoice: ["auto", "none", "required", "named"],
  schema: "openai",
  strict: true,
  sampling: true,
  cacheKey: true,
};

/** Reasoning models return encrypted reasoning and accept no temperature. */
const families: readonly ModelFamily<ResponsesDialect>[] = [
  {
    match: /^(gpt-5|gpt-[6-9]|o\d|codex)/,
    dialect: {
      reasoning: "encrypted",
      summaries: "always",
      efforts: { low: "low", medium: "medium", high: "high" },
      sampling: false,
    },
  },
  {
    match: /^gpt-5\.[1-9](-mini|-nano|-luna|-sol|-terra)?(-20\d\d|$)/,
    dialect: { efforts: { none: "none", low: "low", medium: "medium", high: "high" } },
  },
  { match: /^o1-(mini|preview)/, dialect: { summaries: "never" } },
  { match: /^o[13]-mini|^o1-preview|^gpt-3/, traits: { media: textOnly } },
  { match: /^gpt-5(\.\d+)?-pro/, dialect: { efforts: { high: "high" } } },
  { match: /^gpt-5\.\d+-chat/, dialect: { efforts: { medium: "medium" } } },
  { match: /^gpt-5-chat/, dialect: { reasoning: "none", summaries: "never", efforts: {} } },
  { match: /^(?!gpt-5|gpt-[6-9]|o\d|codex)|^gpt-5-chat/, traits: { thinking: { form: "none" } } },
  { match: schemaModels, dialect: { output: true } },
];

/** OpenAI's Responses API. It accepts no audio and no video. */
export const openai: Provider = defineProvider({
  id: "openai",
  label: "OpenAI (Responses)",
  wire,
  endpoint: {
    url: "https://api.openai.com/v1",
    paths: { generate: "/responses", count: "/responses/input_tokens", models: "/models" },
    env: [{ name: "OPENAI_BASE_URL" }],
  },
  auth: { type: "bearer", env: ["OPENAI_API_KEY"] },
  defaultModel: "gpt-5.6",
  traits,
  dialect,
  families,
});

/** OpenAI's models on Azure; the model is the deployment's name. */
export const azure: Provider = defineProvider({
  id: "azure",
  telemetryName: "azure.ai.openai",
  label: "Azure OpenAI",
  wire,
  endpoint: {
    url: "https://{resource}.openai.azure.com/openai/v1",
    paths: { generate: "/responses", models: "/models" },
    env: [{ name: "AZURE_OPENAI_ENDPOINT", suffix: "/openai/v1" }],
  },
  auth: { type: "api-key", env: ["AZURE_OPENAI_API_KEY"] },
  defaultModel: "gpt-5.6",
  traits: { ...traits, media: mediaOf("azure-file:") },
  dialect,
  families: [...families, ...responsesIdFamilies],
});
