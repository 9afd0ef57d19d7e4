import type { CacheRule, Json, SimModel, SimProvider } from "../family.ts";

/** The differences between the three endpoints of Gemini. */
export type GeminiQuirks = {
  /** Selects the wording of errors. */
  readonly endpoint: "developer" | "vertex" | "code-assist";
  /** A file given by URL inside a functionResponse reaches the model. Otherwise it is silently lost. */
  readonly readsNestedFiles: boolean;
  /** Every chunk of a stream has the usage so far; otherwise only the last one. */
  readonly hasUsageInEveryChunk: boolean;
  /** Responses have `index` and, with calls, a finishMessage. */
  readonly hasCandidateIndex: boolean;
  /** Responses have createTime and avgLogprobs. */
  readonly hasTimestamps: boolean;
  /** Further fields of usageMetadata. */
  readonly tier: Json;
};

/** The three endpoints: the Gemini API, Vertex, and Code Assist, which Gemini CLI signs in to. */
export const geminiProviders: readonly SimProvider<GeminiQuirks>[] = [
  {
    id: "google",
    wire: "gemini",
    host: /^generativelanguage\.googleapis\.com$/,
    base: "",
    auth: "x-goog-api-key",
    models: modelsOf("gemini-flash-latest", "gemini-flash-lite-latest", "gemini-pro-latest"),
    knownModels: knownModelNames(),
    cache: cacheRule(),
    maxBytes: 104_857_600,
    quirks: {
      endpoint: "developer",
      readsNestedFiles: false,
      hasUsageInEveryChunk: true,
      hasCandidateIndex: true,
      hasTimestamps: false,
      tier: { serviceTier: "standard" },
    },
  },
  {
    id: "vertex",
    wire: "gemini",
    host: /^([a-z0-9-]+-)?aiplatform(\.(us|eu)\.rep)?\.googleapis\.com$/,
    base: "",
    // A bearer token or, in express mode, a key.
    auth: "x-goog-api-key",
    models: modelsOf(),
    knownModels: knownModelNames(),
    cache: cacheRule(),
    maxBytes: 104_857_600,
    quirks: {
      endpoint: "vertex",
      readsNestedFiles: true,
      hasUsageInEveryChunk: false,
      hasCandidateIndex: false,
      hasTimestamps: true,
      tier: { trafficType: "ON_DEMAND" },
    },
  },
  {
    id: "code-assist",
    wire: "gemini",
    host: /^(daily-)?cloudcode-pa(\.sandbox)?\.googleapis\.com$/,
    base: "",
    auth: "bearer",
    models: modelsOf(),
    knownModels: knownModelNames(),
    cache: cacheRule(),
    maxBytes: 104_857_600,
    quirks: {
      endpoint: "code-assist",
      readsNestedFiles: true,
      hasUsageInEveryChunk: false,
      hasCandidateIndex: false,
      hasTimestamps: true,
      tier: { trafficType: "PROVISIONED_THROUGHPUT" },
    },
  },
];

function modelsOf(...aliases: readonly string[]): readonly SimModel[] {
  const names = [
    "gemini-2.5-pro",
    "gemini-2.5-flash",
    "gemini-2.5-flash-lite",
    "gemini-3-flash-preview",
    "gemini-3.1-pro-preview",
    "gemini-3.1-flash-lite",
    "gemini-3.5-flash",
    "gemini-3.5-flash-lite",
    "gemini-3.6-flash",
    "gemini-3.7-flash",
    "gemini-3.8-flash",
    "gemini-4-argon",
  ];
  const sizes = { context: 1_048_576, maxOutput: 65_536 };
  return [...names, ...aliases].map((id) => ({
    id,
    ...sizes,
    ...(id.includes("2.5") ? { minCacheTokens: 2048 } : {}),
  }));
}

/** gemini-3-pro-preview is not included: it was shut down. */
function knownModelNames(): RegExp {
  const names = [
    "gemini-2\\.0-flash(-lite)?(-001)?",
    "gemini-2\\.5-(pro|flash|flash-lite)(-preview-[\\d-]+)?",
    "gemini-2\\.5-flash-image",
    "gemini-2\\.5-computer-use-preview-10-2025",
    "gemini-3-(flash-preview|pro-image(-preview)?)",
    "gemini-3\\.1-(pro-preview(-customtools)?|flash-lite(-preview)?)",
    "gemini-3\\.5-flash(-lite)?",
    "gemini-3\\.[678]-flash",
    "gemini-4-argon",
    "gemini-(flash|flash-lite|pro)-latest",
    "gemma-[34]-[\\w-]+",
  ];
  return new RegExp(`^(${names.join("|")})$`);
}

function cacheRule(): CacheRule {
  return { mode: "automatic", minTokens: 4096, stepTokens: 1 };
}

/**
 * The model that serves a name. Retired models and aliases are routed to another model, and signatures belong to that
 * one.
 */
export const servedModel = (model: string): string => routedModels.get(model) ?? model;

const routedModels: ReadonlyMap<string, string> = new Map([
  ["gemini-3.5-flash", "gemini-3.6-flash"],
  ["gemini-3.7-flash", "gemini-3.8-flash"],
  ["gemini-flash-latest", "gemini-3.8-flash"],
  ["gemini-flash-lite-latest", "gemini-3.5-flash-lite"],
  ["gemini-pro-latest", "gemini-3.1-pro-preview"],
]);

/** The version in a model's name, such as 3.6. Other models count as the second generation. */
export const generation = (model: string): number =>
  Number(/gemini-(\d+(?:\.\d+)?)/.exec(servedModel(model))?.[1] ?? 2);

/** Encodes the list of models in the endpoint's format. */
export const listModels = (models: readonly SimModel[], provider: SimProvider<GeminiQuirks>): Json => {
  const key = provider.quirks.endpoint === "developer" ? "models" : "publisherModels";
  return { [key]: models.map((model) => describeModel(model, provider)) };
};

/** Encodes a model in the endpoint's format. */
export const describeModel = (model: SimModel, { quirks }: SimProvider<GeminiQuirks>): Json =>
  quirks.endpoint === "developer"
    ? {
        name: `models/${model.id}`,
        version: /\d+(\.\d+)?/.exec(model.id)?.[0] ?? "001",
        displayName: model.id.replaceAll("-", " ").replace("gemini", "Gemini"),
        description: `A simulated ${model.id}`,
        inputTokenLimit: model.context,
        outputTokenLimit: model.maxOutput,
        supportedGenerationMethods: ["generateContent", "countTokens"],
        temperature: 1,
        topP: 0.95,
        topK: 64,
        maxTemperature: 2,
        thinking: true,
      }
    : { name: `publishers/google/models/${model.id}`, versionId: "default", launchStage: "GA" };
