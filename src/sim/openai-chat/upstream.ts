import type { SimResponse } from "../family.ts";

/** Whose model a gateway's model is. Those whose thoughts carry no seal are all `other`. */
export type Upstream = "anthropic" | "openai" | "google" | "other";

/** Who is behind a gateway's model name. */
export const upstreamOf = (model: string): Upstream => {
  const [vendor = "", name = ""] = model.split("/");
  if (vendor === "openai") return name.startsWith("gpt-oss") ? "other" : vendor;
  return vendor === "anthropic" || vendor === "google" ? vendor : "other";
};

/** The name under which a gateway mentions who answered. */
export const upstreamName = (model: string): string => names[upstreamOf(model)];

const names: { readonly [upstream in Upstream]: string } = {
  anthropic: "Anthropic",
  openai: "OpenAI",
  google: "Google AI Studio",
  other: "DeepInfra",
};

/** Whose words a refused seal was answered in, by the words themselves. */
export const upstreamOfMessage = (message: string): string => {
  if (message.startsWith("messages.")) return names.anthropic;
  if (message.startsWith("The encrypted content")) return names.openai;
  return message.startsWith("Corrupted") ? names.google : names.other;
};

/** How an answer ended in the upstream's own word, which a gateway passes on beside its own. */
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
