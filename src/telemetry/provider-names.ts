/** What the GenAI conventions call a provider. Those they do not name keep our name. */
export const providerName = (provider: string): string => names.get(provider) ?? provider;

const names: ReadonlyMap<string, string> = new Map([
  ["google", "gcp.gemini"],
  ["vertex", "gcp.vertex_ai"],
  ["code-assist", "gcp.gen_ai"],
  ["bedrock", "aws.bedrock"],
  ["openai-chat", "openai"],
  ["xai", "x_ai"],
  ["kimi", "moonshot_ai"],
  ["mistral", "mistral_ai"],
  ["azure", "azure.ai.openai"],
]);
