import type { Origin } from "../conversation/entry.ts";

/** The provider and model a message is said to be from. Seals are kept only if the provider is certain. */
export type ClaimedOrigin = Origin & { readonly isCertain: boolean };

/** Returns the origin for a provider's name as another agent writes it. An unknown name leaves the provider uncertain. */
export const originFromProvider = (name: string, model: string): ClaimedOrigin => {
  const provider = providers[name.toLowerCase()];
  return provider === undefined ? originFromModel(model) : { provider, model, isCertain: true };
};

/** Returns the likely origin of a model that is known by its name alone: who served it is not certain. */
export const originFromModel = (model: string): ClaimedOrigin => {
  const provider = families.find(([pattern]) => pattern.test(model))?.[1] ?? "local";
  return { provider, model, isCertain: false };
};

/** Other agents' names of providers, and ours. */
const providers: Readonly<Record<string, string>> = {
  anthropic: "anthropic",
  "amazon-bedrock": "bedrock",
  bedrock: "bedrock",
  aws_bedrock: "bedrock",
  openai: "openai",
  "openai-codex": "openai",
  "openai-responses": "openai",
  "openai-native": "openai",
  azure: "azure",
  "azure-openai-responses": "azure",
  google: "google",
  gemini: "google",
  "google-gemini-cli": "code-assist",
  "google-vertex": "vertex",
  vertexai: "vertex",
  gcp_vertex_ai: "vertex",
  xai: "xai",
  groq: "groq",
  mistral: "mistral",
  deepseek: "deepseek",
  openrouter: "openrouter",
  moonshotai: "kimi",
  moonshot: "kimi",
  kimi: "kimi",
  zai: "zai",
  minimax: "minimax",
  cohere: "cohere",
};

/** The provider whose models have such names. */
const families: readonly (readonly [pattern: RegExp, provider: string])[] = [
  [/^claude\b/i, "anthropic"],
  [/^(?:gpt|o\d|codex|chatgpt)\b/i, "openai"],
  [/^gemini\b/i, "google"],
  [/^(?:qwen|qwq)/i, "qwen"],
  [/^(?:kimi|moonshot)/i, "kimi"],
  [/^glm/i, "zai"],
  [/^grok/i, "xai"],
  [/^deepseek/i, "deepseek"],
  [/^(?:mistral|codestral|devstral|magistral|ministral)/i, "mistral"],
  [/^minimax/i, "minimax"],
  [/^command/i, "cohere"],
];
