import { defineChatProvider } from "../chat-provider.ts";
import type { Provider } from "../define.ts";
import { chatIds, inlineOrUrl, mistralIds, pdfTypes, imageTypes, textOnly } from "../traits.ts";

const user = {
  image: inlineOrUrl(imageTypes, { maxBytes: 10_000_000, perRequest: 8 }),
  document: inlineOrUrl(pdfTypes, { maxBytes: 15_000_000 }),
};

/** Mistral. Ids have nine letters or digits, and unknown fields are refused. */
export const mistral: Provider = defineChatProvider({
  id: "mistral",
  telemetryName: "mistral_ai",
  label: "Mistral",
  endpoint: {
    url: "https://api.mistral.ai/v1",
    paths: { generate: "/chat/completions", models: "/models" },
    env: [{ name: "MISTRAL_BASE_URL" }],
  },
  auth: { type: "bearer", env: ["MISTRAL_API_KEY"] },
  defaultModel: "mistral-large-latest",
  traits: {
    ids: mistralIds,
    media: { ...textOnly, user },
    thinking: { form: "plain", readers: [], bound: false },
  },
  dialect: {
    reasoning: "thinking_chunk",
    emptyContent: "omitted",
    resultNames: true,
    parts: "mistral",
    schema: "mistral",
    streamOptions: false,
    cacheKey: true,
  },
  families: [
    {
      match: /voxtral/,
      traits: { media: { user: { ...user, audio: inlineOrUrl(["audio/wav", "audio/mp3", "audio/mpeg"]) } } },
    },
    // Models of other vendors on Mistral's platform have other ids.
    {
      match: /^(?!.*(mistral|mixtral|codestral|devstral|magistral|pixtral|voxtral|ministral|nemo))/,
      traits: { ids: chatIds },
    },
  ],
});
