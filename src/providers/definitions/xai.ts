import { openaiResponses as wire } from "../../wire/openai-responses/encode.ts";
import { defineProvider, type Provider } from "../define.ts";
import { anyOrder, inlineOrUrl, portableName, responsesIds } from "../traits.ts";

const image = inlineOrUrl(["image/png", "image/jpeg"], { maxBytes: 10_000_000 });

/** xAI's Grok, over Responses. Documents only by URL, and not inside results. */
export const xai: Provider = defineProvider({
  id: "xai",
  telemetryName: "x_ai",
  label: "xAI Grok",
  wire,
  endpoint: {
    url: "https://api.x.ai/v1",
    paths: { generate: "/responses", models: "/models" },
    env: [{ name: "XAI_BASE_URL" }],
  },
  auth: { type: "bearer", env: ["XAI_API_KEY"] },
  defaultModel: "grok-4.5",
  traits: {
    ids: responsesIds,
    toolName: portableName,
    media: {
      result: { image: image },
      errorResult: { image: image },
      user: { image: image, document: inlineOrUrl(["application/pdf"], { data: false }) },
      model: {},
    },
    thinking: { form: "signed", readers: [], bound: false },
    order: anyOrder,
    requiresTools: false,
    requiresThinkingInLoop: false,
  },
  dialect: {
    system: "system",
    reasoning: "encrypted",
    callsLast: false,
    efforts: {},
    leastTokens: 1,
    toolChoice: ["auto", "none", "required", "named"],
    schema: "openai",
    strict: false,
    sampling: true,
    cacheKey: true,
  },
  // The others refuse an effort.
  families: [
    { match: /grok-3-mini/, dialect: { efforts: { low: "low", high: "high" } } },
    { match: /grok-(4\.[5-9]|[5-9])/, dialect: { efforts: { low: "low", medium: "medium", high: "high" } } },
    { match: /grok-4\.3/, dialect: { efforts: { none: "none", low: "low", medium: "medium", high: "high" } } },
  ],
});
