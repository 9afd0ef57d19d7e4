import { parseTarget } from "../../src/gateway/exchange.ts";

/** A model of every provider. */
export const allTargets: Readonly<Record<string, string>> = {
  anthropic: "anthropic/claude-opus-5",
  google: "google/gemini-3.1-pro-preview",
  openai: "openai/gpt-5.6",
  bedrock: "bedrock/us.anthropic.claude-opus-5",
  deepseek: "deepseek/deepseek-v4-pro",
  openrouter: "openrouter/anthropic/claude-opus-5",
  mistral: "mistral/mistral-medium-latest",
  kimi: "kimi/kimi-k3",
  vertex: "vertex/gemini-3.1-pro-preview",
  "code-assist": "code-assist/gemini-3.1-pro-preview",
  "openai-chat": "openai-chat/gpt-5.6",
  azure: "azure/gpt-5.6",
  xai: "xai/grok-4.5",
  groq: "groq/openai/gpt-oss-120b",
  qwen: "qwen/qwen3-max",
  zai: "zai/glm-5.2",
  minimax: "minimax/MiniMax-M2.5",
  cohere: "cohere/command-a-03-2025",
  local: "local/qwen3",
};

/** Whether a target takes images, in results or after them. */
export const takesImages = (to: string): boolean => {
  const { provider, model } = parseTarget(to);
  const { result, user, after = user } = provider.destination(model).target.media;
  return result.image !== undefined || after.image !== undefined;
};
