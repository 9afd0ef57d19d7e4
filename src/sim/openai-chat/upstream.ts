import type { SimResponse } from "../family.ts";

/** The vendor of a gateway's model. Vendors without sealed thinking are `other`. */
export type Upstream = "anthropic" | "openai" | "google" | "other";

/** The upstream vendor of a gateway's model name. */
export const upstreamOf = (model: string): Upstream => {
  const [vendor = "", name = ""] = model.split("/");
  if (vendor === "openai") return name.startsWith("gpt-oss") ? "other" : vendor;
  return vendor === "anthropic" || vendor === "google" ? vendor : "other";
};

/** The upstream's name in a gateway's response. */
export const upstreamName = (model: string): string => names[upstreamOf(model)];

const names: { readonly [upstream in Upstream]: string } = {
  anthropic: "Anthropic",
  openai: "OpenAI",
  google: "Google AI Studio",
  other: "DeepInfra",
};

/** The name of the upstream that worded a seal error, recognized by the message. */
export const upstreamOfMessage = (message: string): string => {
  if (message.startsWith("messages.")) return names.anthropic;
  if (message.startsWith("The encrypted content")) return names.openai;
  return message.startsWith("Corrupted") ? names.google : names.other;
};

/** The upstream's finish reason, which a gateway includes beside its own. */
export const nativeFinish = (finish: SimResponse["finish"], reason: string, model: string): string =>
  nativeFinishes[upstreamOf(model)][finish] ?? reason;

const nativeFinishes: { readonly [upstream in Upstream]: { readonly [finish in SimResponse["finish"]]?: string } } = {
  anthropic: { stop: "end_turn", calls: "tool_use", length: "max_tokens", refused: "refusal", paused: "pause_turn" },
  openai: { stop: "completed", calls: "completed", length: "max_output_tokens" },
  google: {
    stop: "STOP",
    calls: "STOP",
    length: "MAX_TOKENS",
    filtered: "SAFETY",
    malformed: "MALFORMED_FUNCTION_CALL",
  },
  other: {},
};
