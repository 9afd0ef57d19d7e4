import { type BedrockFamily, bedrockFamily } from "../../rules/bedrock/models.ts";
import type { SimRequest, Json, SimModel, SimProvider } from "../family.ts";

/** Bedrock's simulator differs by region only. */
export type BedrockQuirks = { readonly region: string };

/** A request to Bedrock. */
export type BedrockSimRequest = SimRequest<BedrockQuirks>;

/** The only provider of this family, with models of many vendors. */
export const bedrockProviders: readonly SimProvider<BedrockQuirks>[] = [
  {
    id: "bedrock",
    wire: "bedrock",
    host: /^bedrock(-runtime)?(-fips)?\.[a-z0-9-]+\.(amazonaws\.com(\.cn)?|api\.aws)$/,
    base: "",
    auth: "aws",
    // A regional inference profile serves the model of the same name.
    models: foundationModels().flatMap((model) => [model, { ...model, id: `us.${model.id}` }]),
    knownModels: knownModelNames(),
    cache: { mode: "marked", minTokens: 1024, stepTokens: 1 },
    maxBytes: 25_000_000,
    quirks: { region: "us-east-1" },
  },
];

function foundationModels(): readonly SimModel[] {
  const claude = (id: string, context: number, minCacheTokens: number): SimModel => ({
    id: `anthropic.claude-${id}`,
    context,
    maxOutput: 64_000,
    minCacheTokens,
  });
  return [
    claude("sonnet-5-v1:0", 1_000_000, 1024),
    claude("fable-5-2-v1:0", 1_000_000, 512),
    claude("fable-5-1-v1:0", 1_000_000, 512),
    claude("opus-5-5-v1:0", 1_000_000, 512),
    claude("sonnet-5-5-v1:0", 1_000_000, 1024),
    claude("haiku-5-5-v1:0", 200_000, 1024),
    claude("opus-5-v1:0", 1_000_000, 512),
    claude("opus-4-8", 1_000_000, 1024),
    claude("opus-4-7", 1_000_000, 2048),
    claude("opus-4-6-v1", 1_000_000, 4096),
    claude("sonnet-4-6", 1_000_000, 1024),
    claude("sonnet-4-5-20250929-v1:0", 200_000, 1024),
    claude("haiku-4-5-20251001-v1:0", 200_000, 4096),
    claude("sonnet-4-20250514-v1:0", 200_000, 1024),
    claude("3-7-sonnet-20250219-v1:0", 200_000, 1024),
    { id: "amazon.nova-2-lite-v1:0", context: 1_000_000, maxOutput: 65_535 },
    { id: "amazon.nova-pro-v1:0", context: 300_000, maxOutput: 10_000 },
    { id: "amazon.nova-micro-v1:0", context: 128_000, maxOutput: 10_000 },
    { id: "meta.llama4-maverick-17b-instruct-v1:0", context: 1_000_000, maxOutput: 8_192 },
    { id: "meta.llama3-3-70b-instruct-v1:0", context: 128_000, maxOutput: 8_192 },
    { id: "mistral.pixtral-large-2502-v1:0", context: 128_000, maxOutput: 8_192 },
    { id: "mistral.mistral-large-3-675b-instruct", context: 256_000, maxOutput: 8_192 },
    { id: "writer.palmyra-x4-v1:0", context: 128_000, maxOutput: 8_192 },
    { id: "qwen.qwen3-32b-v1:0", context: 131_072, maxOutput: 16_384 },
    { id: "openai.gpt-oss-120b-1:0", context: 131_072, maxOutput: 16_384 },
    { id: "deepseek.v3-v1:0", context: 163_840, maxOutput: 16_384 },
  ];
}

function knownModelNames(): RegExp {
  const region = "(us|eu|apac|jp|au|ca|us-gov|global)\\.";
  const maker =
    "anthropic|amazon|meta|mistral|writer|qwen|openai|deepseek|cohere|ai21|moonshotai|moonshot|minimax|nvidia|google|zai";
  return new RegExp(
    `^(${region})?(${maker})\\.[a-z0-9.-]+(:\\d+(:\\d+k)?)?$|^arn:aws[a-z-]*:bedrock:[a-z0-9-]+:\\d*:[a-z-]+/.+$`,
  );
}

/** The rules' model family of a request. */
export const familyOf = ({ model }: BedrockSimRequest): BedrockFamily => bedrockFamily({ wire: "bedrock", model });

/** The version of a Claude model as a number (5.1 is 501); undefined for other models. */
export const claudeVersion = (model: string): number | undefined => {
  const late = /claude-(?:opus|sonnet|haiku|fable|mythos)-(\d{1,2})(?!\d)(?:-(\d{1,2})(?!\d))?/.exec(model);
  const [, major, minor = "0"] = late ?? /claude-(\d)(?:-(\d))?-(?:opus|sonnet|haiku)/.exec(model) ?? [];
  return major === undefined ? undefined : Number(major) * 100 + Number(minor);
};

/** The name of a model without its regional prefix. */
export const baseModelName = (model: string): string => model.replace(/^(us|eu|apac|jp|au|ca|us-gov|global)\./, "");

const isProfile = ({ id }: SimModel): boolean => id !== baseModelName(id);

/** Encodes the control plane's list of models. */
export const listModels = (models: readonly SimModel[], provider: SimProvider<BedrockQuirks>): Json => ({
  modelSummaries: models.filter((model) => !isProfile(model)).map((model) => summaryOf(model, provider)),
});

/** Encodes the control plane's description of a model. */
export const describeModel = (model: SimModel, provider: SimProvider<BedrockQuirks>): Json => ({
  modelDetails: summaryOf({ ...model, id: baseModelName(model.id) }, provider),
});

const summaryOf = ({ id }: SimModel, { quirks }: SimProvider<BedrockQuirks>): Json => {
  const refused = bedrockFamily({ wire: "bedrock", model: id }).refusedBlocks;
  const maker = id.split(".")[0] ?? "";
  return {
    customizationsSupported: [],
    inferenceTypesSupported: ["INFERENCE_PROFILE"],
    inputModalities: ["TEXT", ...(refused.includes("image") ? [] : ["IMAGE"])],
    modelArn: `arn:aws:bedrock:${quirks.region}::foundation-model/${id}`,
    modelId: id,
    modelLifecycle: { status: "ACTIVE" },
    modelName: id.slice(maker.length + 1),
    outputModalities: ["TEXT"],
    providerName: maker.charAt(0).toUpperCase() + maker.slice(1),
    responseStreamingSupported: true,
  };
};

/** Encodes the list of a region's inference profiles. */
export const listProfiles = ({ models, quirks }: SimProvider<BedrockQuirks>): Json => ({
  inferenceProfileSummaries: models.filter(isProfile).map(({ id }) => ({
    createdAt: "2025-09-29T00:00:00Z",
    description: `Routes requests to ${baseModelName(id)} in us-east-1, us-east-2 and us-west-2.`,
    inferenceProfileArn: `arn:aws:bedrock:${quirks.region}:123456789012:inference-profile/${id}`,
    inferenceProfileId: id,
    inferenceProfileName: `US ${baseModelName(id)}`,
    models: ["us-east-1", "us-east-2", "us-west-2"].map((region) => ({
      modelArn: `arn:aws:bedrock:${region}::foundation-model/${baseModelName(id)}`,
    })),
    status: "ACTIVE",
    type: "SYSTEM_DEFINED",
    updatedAt: "2025-09-29T00:00:00Z",
  })),
});
