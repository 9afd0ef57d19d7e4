import { findClaude } from "../../rules/anthropic/models.ts";
import type { SimModel, SimProvider } from "../family.ts";
import { asObject, asText } from "../json.ts";

/** Claude as Anthropic serves it. */
export const anthropicProviders: readonly SimProvider[] = [
  {
    id: "anthropic",
    wire: "anthropic",
    host: /^api\.anthropic\.com$/,
    base: "",
    auth: "x-api-key",
    models: anthropicModels(),
    knownModels:
      /^claude-((3|3-5|3-7)-(opus|sonnet|haiku)|(opus|sonnet|haiku|fable|mythos)-\d(-\d)?|mythos-preview)(-latest|-\d{8})?$/,
    cache: { mode: "marked", minTokens: 1024, stepTokens: 1 },
    maxBytes: 32 * 2 ** 20,
    quirks: {},
  },
];

function anthropicModels(): readonly SimModel[] {
  const window = (context: number, maxOutput: number, minCacheTokens: number, names: string): readonly SimModel[] =>
    names.split(" ").map((name) => ({ id: `claude-${name}`, context, maxOutput, minCacheTokens }));
  return [
    ...window(1_000_000, 128_000, 512, "fable-5-2 mythos-5-2 opus-5-5 sonnet-5-5 haiku-5-5 fable-5-1 mythos-5-1"),
    ...window(1_000_000, 128_000, 512, "opus-5 fable-5 mythos-5"),
    ...window(1_000_000, 128_000, 1024, "sonnet-5 opus-4-8 sonnet-4-6"),
    ...window(1_000_000, 128_000, 2048, "opus-4-7"),
    ...window(1_000_000, 128_000, 4096, "opus-4-6"),
    ...window(200_000, 64_000, 1024, "sonnet-4-5"),
    ...window(200_000, 64_000, 4096, "opus-4-5 haiku-4-5"),
  ];
}

/** The model name in a response: older models respond with their dated name. */
export const datedModelName = (model: string): string => datedNames[model] ?? model;

const datedNames: { readonly [alias: string]: string } = {
  "claude-sonnet-4-0": "claude-sonnet-4-20250514",
  "claude-opus-4-0": "claude-opus-4-20250514",
  "claude-opus-4-1": "claude-opus-4-1-20250805",
  "claude-opus-4-5": "claude-opus-4-5-20251101",
  "claude-sonnet-4-5": "claude-sonnet-4-5-20250929",
  "claude-haiku-4-5": "claude-haiku-4-5-20251001",
};

/** From Fable 5.1 on, thinking is bound to the whole prompt before it. */
export const bindsThoughts = (model: string): boolean => /^claude-[a-z]+-(5-[1-9]|[6-9])/.test(model);

/** Thinking of earlier turns stays in the context of Opus 4.5, Sonnet 4.6 and later; other models drop it. */
export const keepsThoughts = (model: string): boolean =>
  /^claude-(opus-4-[5-9]|sonnet-4-[6-9]|(opus|sonnet|fable|mythos)-[5-9]|haiku-[5-9])/.test(model);

/** The thinking mode of a request: off, only between tool results and the next call, or on. */
export const thinkingMode = (body: unknown, model: string): "off" | "between" | "on" => {
  switch (asText(asObject(asObject(body)["thinking"])["type"])) {
    case "enabled":
    case "adaptive":
      return "on";
    case "between_tools":
      return "between";
    case "disabled":
      return "off";
    default:
      return thinksByDefault(model) ? "on" : "off";
  }
};

/** The fifth generation thinks by default. */
const thinksByDefault = (model: string): boolean =>
  /^claude-[a-z]+-[5-9]/.test(model) || findClaude(model)?.thinking.includes("disabled") === false;

/** From Opus 4.7 on, the text of thinking is only returned on request. */
export const hidesThoughts = (body: unknown, model: string): boolean => {
  const display = asText(asObject(asObject(body)["thinking"])["display"]);
  return display === "omitted" || (display === "" && /^claude-([a-z]+-4-[7-9]|[a-z]+-[5-9])/.test(model));
};
