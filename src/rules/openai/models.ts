import type { RuleTarget } from "../rule.ts";
import { asObject } from "../walk.ts";

/** The target's model without a gateway's vendor prefix. */
export const modelOf = (target: RuleTarget): string | undefined => target.model?.replace(/^openai[./]/, "");

/** True for OpenAI models with audio input. */
export const acceptsAudio = (model: string | undefined): boolean => /audio|realtime/i.test(model ?? "");

/** True for OpenAI models without image or file input. */
export const isTextOnly = (model: string | undefined): boolean =>
  /^(gpt-3\.5|gpt-4(-32k|-0314|-0613)?$|o1-mini|o1-preview|o3-mini)/.test(model ?? "");

/** True for the first reasoning models, which refuse system and developer messages. */
export const rejectsInstructions = (model: string | undefined): boolean => /^o1-(mini|preview)/.test(model ?? "");

/** True for OpenAI models that take web_search_options. */
export const supportsWebSearch = (model: string | undefined): boolean => model === undefined || /search/.test(model);

/** True for OpenAI models without reasoning, which refuse every reasoning setting. */
export const isNonReasoning = (model: string | undefined): boolean => /^(gpt-3\.5|gpt-4|chatgpt-4o)/.test(model ?? "");

/** True for OpenAI models that take `max_completion_tokens` and refuse `max_tokens`. */
export const usesMaxCompletionTokens = (model: string | undefined): boolean => /^(o[134](-|$)|gpt-5)/.test(model ?? "");

/** The effort levels a model takes; undefined where they are not known. */
export const effortLevels = (model: string | undefined, provider: string): readonly string[] | undefined =>
  efforts.find((row) => row.providers.includes(provider) && row.model.test(model ?? ""))?.levels;

const openaiHosts = ["openai", "openai-chat", "azure"];

const efforts: readonly {
  readonly providers: readonly string[];
  readonly model: RegExp;
  readonly levels: readonly string[];
}[] = [
  { providers: openaiHosts, model: /^o[134](-|$)/, levels: ["low", "medium", "high"] },
  { providers: openaiHosts, model: /^gpt-5-pro(-20\d\d|$)/, levels: ["high"] },
  { providers: openaiHosts, model: /^gpt-5(-mini|-nano)?(-20\d\d|$)/, levels: ["minimal", "low", "medium", "high"] },
  { providers: openaiHosts, model: /^gpt-5(\.1)?-codex(-mini)?(-20\d\d|$)/, levels: ["low", "medium", "high"] },
  { providers: openaiHosts, model: /^gpt-5\.1(-20\d\d|$)/, levels: ["none", "low", "medium", "high"] },
  { providers: openaiHosts, model: /^gpt-5\.\d-codex/, levels: ["low", "medium", "high", "xhigh"] },
  { providers: openaiHosts, model: /^gpt-5\.\d-pro/, levels: ["medium", "high", "xhigh"] },
  { providers: openaiHosts, model: /./, levels: ["none", "minimal", "low", "medium", "high", "xhigh", "max"] },
  { providers: ["mistral"], model: /./, levels: ["none", "high"] },
  { providers: ["groq"], model: /gpt-oss/, levels: ["low", "medium", "high"] },
  { providers: ["groq"], model: /qwen3/, levels: ["none", "default"] },
];

/**
 * True when a DeepSeek model thinks: the V4 line unless thinking is disabled, and the reasoner. True without a model.
 */
export const isDeepseekThinking = (body: unknown, target: RuleTarget): boolean =>
  !isThinkingOff(body) && (target.model === undefined || /v4|reasoner|thinking/i.test(target.model));

/** True when a Kimi model thinks: K2.5 and later unless thinking is disabled. True without a model. */
export const isKimiThinking = (body: unknown, target: RuleTarget): boolean =>
  !isThinkingOff(body) && (target.model === undefined || /k2\.[5-9]|\bk[3-9]|thinking/i.test(target.model));

/** True for Mistral's own models; models of other makers that it hosts behave differently. */
export const isMistralModel = (target: RuleTarget): boolean =>
  target.model === undefined ||
  /mistral|ministral|magistral|codestral|devstral|pixtral|voxtral|mixtral/i.test(target.model);

const isThinkingOff = (body: unknown): boolean => asObject(asObject(body)["thinking"])["type"] === "disabled";
