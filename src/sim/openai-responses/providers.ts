import type { SimRequest, CacheRule, Json, SimModel, SimProvider } from "../family.ts";

/** The differences between the servers of the Responses API. */
export type ResponsesQuirks = {
  /** The vendor whose format errors, ids and responses have. */
  readonly vendor: "openai" | "azure" | "xai";
  /** Reasoning summaries are always included. */
  readonly alwaysSummarizes: boolean;
  /** Encrypted reasoning is bound to its account and item id. */
  readonly bindsSeals: boolean;
  /** The token counting endpoint exists. */
  readonly canCountTokens: boolean;
  /** The API also answers under a dated `api-version`, beside `/v1`. */
  readonly hasVersionPath: boolean;
};

/** A request to a server of the Responses API. */
export type ResponsesSimRequest = SimRequest<ResponsesQuirks>;

/** The simulated providers of the Responses API: OpenAI, Azure and xAI. */
export const responsesProviders: readonly SimProvider<ResponsesQuirks>[] = [
  {
    id: "openai",
    wire: "openai-responses",
    host: /^(eu\.|us\.)?api\.openai\.com$/,
    base: "/v1",
    auth: "bearer",
    models: openaiModels(),
    knownModels: openaiNames(),
    cache: cacheRule(),
    maxBytes: 2 ** 26,
    quirks: {
      vendor: "openai",
      alwaysSummarizes: false,
      bindsSeals: true,
      canCountTokens: true,
      hasVersionPath: false,
    },
  },
  {
    id: "azure",
    wire: "openai-responses",
    host: /\.(openai\.azure|services\.ai\.azure|cognitiveservices\.azure)\.com$/,
    base: "/openai",
    auth: "api-key",
    models: openaiModels(),
    knownModels: openaiNames(),
    cache: cacheRule(),
    maxBytes: 2 ** 26,
    quirks: { vendor: "azure", alwaysSummarizes: false, bindsSeals: true, canCountTokens: true, hasVersionPath: true },
  },
  {
    id: "xai",
    wire: "openai-responses",
    host: /^([a-z0-9-]+\.)?api\.x\.ai$/,
    base: "/v1",
    auth: "bearer",
    models: xaiModels(),
    knownModels: /^grok-[a-z0-9.-]+$/,
    cache: { ...cacheRule(), minTokens: 128, stepTokens: 64 },
    maxBytes: 2 ** 26,
    quirks: { vendor: "xai", alwaysSummarizes: true, bindsSeals: false, canCountTokens: false, hasVersionPath: false },
  },
];

function openaiModels(): readonly SimModel[] {
  const wide = ["gpt-5.6", "gpt-5.6-sol", "gpt-5.6-luna", "gpt-5.5", "gpt-5.4", "gpt-5.4-mini"];
  const narrow = ["gpt-5.2", "gpt-5.1", "gpt-5.1-codex-max", "gpt-5", "gpt-5-mini", "gpt-5-nano"];
  return [
    ...wide.map((id) => ({ id, context: 1_050_000, maxOutput: 128_000 })),
    ...narrow.map((id) => ({ id, context: 400_000, maxOutput: 128_000 })),
    { id: "gpt-4.1", context: 1_047_576, maxOutput: 32_768 },
    { id: "gpt-4.1-mini", context: 1_047_576, maxOutput: 32_768 },
    { id: "gpt-4o", context: 128_000, maxOutput: 16_384 },
    { id: "gpt-4o-mini", context: 128_000, maxOutput: 16_384 },
    { id: "o3", context: 200_000, maxOutput: 100_000 },
    { id: "o4-mini", context: 200_000, maxOutput: 100_000 },
  ];
}

/** Matches OpenAI's model names, so that a misspelt one is not found. */
function openaiNames(): RegExp {
  const variant = "mini|nano|pro|codex|max|chat|sol|luna|search|preview|turbo|deep|research";
  return new RegExp(
    `^(gpt-(3\\.5|4|4o|4\\.1|[5-9](\\.\\d+)?)|chatgpt-4o|o[134]|codex|computer-use)(-(${variant}))*(-\\d{4}(-\\d\\d-\\d\\d)?|-latest)?$`,
  );
}

function xaiModels(): readonly SimModel[] {
  return [
    { id: "grok-4.6", context: 1_000_000, maxOutput: 64_000 },
    { id: "grok-4.5", context: 500_000, maxOutput: 64_000 },
    { id: "grok-4-1-fast-reasoning", context: 2_000_000, maxOutput: 30_000 },
    { id: "grok-4", context: 256_000, maxOutput: 64_000 },
    { id: "grok-code-fast-1", context: 256_000, maxOutput: 10_000 },
  ];
}

function cacheRule(): CacheRule {
  return { mode: "automatic", minTokens: 1024, stepTokens: 128 };
}

/** The model name in a response. An alias becomes a dated version, or the model that serves it. */
export const servedModel = ({ model, provider }: ResponsesSimRequest): string =>
  provider.quirks.vendor === "openai" ? (datedNames.get(model) ?? model) : model;

const datedNames: ReadonlyMap<string, string> = new Map([
  ["gpt-5.6", "gpt-5.6-sol"],
  ["gpt-5.4", "gpt-5.4-2026-03-05"],
  ["gpt-5.2", "gpt-5.2-2025-12-11"],
  ["gpt-5.1", "gpt-5.1-2025-11-13"],
  ["gpt-5", "gpt-5-2025-08-07"],
  ["gpt-5-mini", "gpt-5-mini-2025-08-07"],
  ["gpt-4.1", "gpt-4.1-2025-04-14"],
  ["gpt-4o", "gpt-4o-2024-08-06"],
  ["o3", "o3-2025-04-16"],
  ["o4-mini", "o4-mini-2025-04-16"],
]);

/** The generation of a model: gpt-5.4-mini and gpt-5.4 read each other's reasoning, gpt-5 does not read theirs. */
export const generationOf = (model: string): string =>
  /^(gpt-\d+(\.\d+)?o?|o\d|codex|grok-\d+(\.\d+)?|grok-[a-z]+)/.exec(model)?.[0] ?? model;

/** Encodes the list of models. */
export const listModels = (models: readonly SimModel[], provider: SimProvider<ResponsesQuirks>): Json => ({
  object: "list",
  data: models.map((model) => describeModel(model, provider)),
});

/** Encodes one model of the list. */
export const describeModel = ({ id }: SimModel, { quirks }: SimProvider<ResponsesQuirks>): Json => {
  switch (quirks.vendor) {
    case "openai":
      return { id, object: "model", created: 1_754_073_306, owned_by: "system" };
    case "xai":
      return { id, created: 1_752_019_200, object: "model", owned_by: "xai" };
    case "azure":
      return {
        status: "succeeded",
        capabilities: {
          fine_tune: false,
          inference: true,
          completion: false,
          chat_completion: true,
          embeddings: false,
        },
        lifecycle_status: "generally-available",
        created_at: 1_754_073_306,
        id,
        object: "model",
      };
  }
};
