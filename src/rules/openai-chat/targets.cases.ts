import { targetsOf } from "../openai/rows.cases.ts";
import type { RuleTarget } from "../rule.ts";

/** Chat at one provider, for one model. */
export const at: (provider?: string, model?: string) => RuleTarget = targetsOf("openai-chat");

/** Each vendor with a current model. */
export const openai: RuleTarget = at("openai-chat", "gpt-5.4");
export const mistral: RuleTarget = at("mistral", "mistral-large-latest");
export const kimi: RuleTarget = at("kimi", "kimi-k2.6");
export const deepseek: RuleTarget = at("deepseek", "deepseek-v4-flash");
export const groq: RuleTarget = at("groq", "llama-3.3-70b-versatile");
export const local: RuleTarget = at("local", "qwen3");
