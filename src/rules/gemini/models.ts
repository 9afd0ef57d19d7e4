import type { RuleTarget } from "../rule.ts";

/** The differences between the validators of Gemini models. */
export type GeminiModel = {
  /** MIME types it takes inside a functionResponse. */
  readonly nested: readonly string[];
  /** A functionCall of the current turn needs a thoughtSignature. */
  readonly needsSignature: boolean;
  /** The functionResponse must repeat the id and name of its call. */
  readonly needsMatch: boolean;
  /** The last content may not have the role `model`, and the role `function` is not supported. */
  readonly endsWithUser: boolean;
  /** Nothing may follow a functionResponse in its content. */
  readonly loneResponses: boolean;
  /** A turn of calls may be followed by a user turn without any response. */
  readonly openCalls: boolean;
  /** The responses to one batch of calls may be spread over several contents. */
  readonly splitResponses: boolean;
  /** Function declarations may not be combined with built-in tools or with JSON output. */
  readonly soloFunctions: boolean;
  /** The model generates images and does not call functions. */
  readonly drawsOnly: boolean;
  /** Sampling settings are ignored and candidateCount is refused. */
  readonly ownSampling: boolean;
  /** The model can think. */
  readonly thinks: boolean;
  /** Thinking levels it takes; empty when it only supports budgets. */
  readonly thinkingLevels: readonly string[];
  /** The range of `thinkingBudget`, and whether 0 turns thinking off; absent where no limit is recorded. */
  readonly budget?: { readonly least: number; readonly most: number; readonly off: boolean };
  /** Its only response modality, when that is not text. */
  readonly speaksOnly?: "AUDIO";
  /** It takes no system instruction, no function declarations and no JSON mode. */
  readonly bare?: boolean;
};

/** The model a body is meant for. A missing or unknown name gets the strictest current rules, as aliases are routed there. */
export const geminiModel = (body: unknown, target: RuleTarget): GeminiModel => {
  const name = nameOf(target.model) ?? nameOf(modelField(body)) ?? "";
  return rows.find(([pattern]) => pattern.test(name))?.[1] ?? strictest;
};

const modelField = (body: unknown): string | undefined => {
  const model = typeof body === "object" && body !== null && "model" in body ? body.model : undefined;
  return typeof model === "string" ? model : undefined;
};

/** `models/x`, `publishers/google/models/x` and plain `x` are one name. */
const nameOf = (model: string | undefined): string | undefined => model?.split("/").at(-1)?.toLowerCase();

const nestable = ["image/png", "image/jpeg", "image/webp", "application/pdf", "text/plain"];

const strictest: GeminiModel = {
  nested: nestable,
  needsSignature: true,
  needsMatch: true,
  endsWithUser: true,
  loneResponses: true,
  openCalls: false,
  splitResponses: false,
  soloFunctions: false,
  drawsOnly: false,
  ownSampling: false,
  thinks: true,
  thinkingLevels: ["MINIMAL", "LOW", "MEDIUM", "HIGH"],
};

const gemini3: GeminiModel = { ...strictest, endsWithUser: false, loneResponses: false };

const gemini2: GeminiModel = {
  ...gemini3,
  nested: [],
  needsSignature: false,
  needsMatch: false,
  openCalls: true,
  splitResponses: true,
  soloFunctions: true,
  thinkingLevels: [],
};

/** An alias is routed to a model of any generation, so only what every generation refuses is an error. */
const alias: GeminiModel = {
  ...strictest,
  needsSignature: false,
  needsMatch: false,
  endsWithUser: false,
  loneResponses: false,
  openCalls: true,
  splitResponses: true,
};

const gemma: GeminiModel = { ...gemini2, soloFunctions: false };

const newest: GeminiModel = { ...strictest, ownSampling: true, thinkingLevels: ["LOW", "MEDIUM", "HIGH"] };

/**
 * First match wins. 3.5-flash is served by 3.6-flash; 3.5-flash-lite gives an empty answer when something is placed
 * beside a response.
 */
const rows: readonly (readonly [RegExp, GeminiModel])[] = [
  [/^gemini-(flash|flash-lite|pro)-latest$/, alias],
  [/^gemini-\d.*-tts/, { ...gemini2, speaksOnly: "AUDIO" }],
  [/^gemini-2\.5-computer-use/, { ...gemini2, nested: ["image/png"] }],
  [/^gemini-2.*-image/, { ...gemini2, drawsOnly: true, thinks: false }],
  [/^gemini-3.*-image/, { ...gemini3, needsSignature: false }],
  [/^gemini-(live-)?(1\b|2\.0)/, { ...gemini2, thinks: false }],
  [/^gemini-2\.5-pro/, { ...gemini2, budget: { least: 128, most: 32_768, off: false } }],
  [/^gemini-2\.5-flash-lite/, { ...gemini2, budget: { least: 512, most: 24_576, off: true } }],
  [/^gemini-2\.5-flash/, { ...gemini2, budget: { least: 1, most: 24_576, off: true } }],
  [/^gemini-(live-)?[12]\b/, gemini2],
  [/^gemini-3\.1-pro/, { ...gemini3, thinkingLevels: ["LOW", "MEDIUM", "HIGH"] }],
  [/^gemini-3\.5-flash-lite/, { ...gemini3, loneResponses: true }],
  [/^gemini-3(\.[0-4])?(?![\d.])/, gemini3],
  [/^gemini-3\.[56](?!\d)/, strictest],
  [/^gemini-(3\.|[4-9]|\d\d)/, newest],
  [/^gemma-[23]n?-/, { ...gemma, bare: true }],
  [/^gemma/, gemma],
];
