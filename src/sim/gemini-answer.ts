import type { Json, Spoken } from "./family.ts";
import { groundingOf } from "./gemini-grounding.ts";
import { hearGemini } from "./gemini-hear.ts";
import { heardRight, partsOf } from "./gemini-parts.ts";
import { servedBy } from "./gemini-providers.ts";
import type { GeminiAsk } from "./gemini-request.ts";
import { type Spent, present, usageOf } from "./gemini-usage.ts";
import { fileTokens } from "./tokens.ts";

/** A whole answer. */
export const wholeGemini = (said: Spoken, ask: GeminiAsk): Json => {
  const spoken = heardRight(said, ask);
  if (spoken.finish === "refused") return blocked(spoken, ask);
  const { groundingMetadata, urlContextMetadata } = groundingOf(spoken, ask);
  const parts = partsOf(spoken, ask).map(({ json }) => json);
  const ending = { ...endOf(spoken, ask), groundingMetadata, urlContextMetadata };
  return enveloped(
    { candidates: [candidateOf(parts, ending, ask)] },
    usageOf(spoken.usage, ask)(spentOn(spoken, ask)),
    ask,
  );
};

/** A prompt that was not let through: no candidate at all. */
export const blocked = ({ usage }: Spoken, ask: GeminiAsk): Json => {
  const spent: Spent = { thoughts: 0, answer: 0, pictures: 0, tools: 0 };
  return enveloped({ promptFeedback: { blockReason: "PROHIBITED_CONTENT" } }, usageOf(usage, ask)(spent), ask);
};

/** Everything a whole answer costs. */
export const spentOn = (spoken: Spoken, ask: GeminiAsk): Spent => {
  const { output, reasoning } = spoken.usage;
  const pictures = spoken.parts.flatMap((part) =>
    part.type === "file" ? [fileTokens({ kind: "image", mimeType: part.mimeType, base64: part.data }).tokens] : [],
  );
  return {
    thoughts: reasoning,
    answer: output - reasoning,
    pictures: pictures.reduce((sum, tokens) => sum + tokens, 0),
    tools: groundingOf(spoken, ask).tokens,
  };
};

/** A candidate, or what of it one chunk holds, with its fields in the door's own order. */
export const candidateOf = (parts: readonly Json[], ending: Json, ask: GeminiAsk): Json => {
  const { numbersCandidates, stamps } = ask.provider.quirks;
  const { finishReason } = ending;
  return {
    content: contentOf(parts, finishReason, numbersCandidates),
    ...present({ finishReason }),
    ...(numbersCandidates ? { index: 0 } : {}),
    ...present({ ...ending, finishReason: undefined }),
    ...(stamps && finishReason !== undefined ? { avgLogprobs: -0.25 } : {}),
  };
};

/** An answer that was stopped before its first part has not even a role. */
const contentOf = (parts: readonly Json[], finishReason: unknown, partsFirst: boolean): Json => {
  const role = "model";
  if (parts.length > 0) return partsFirst ? { parts, role } : { role, parts };
  return finishReason === "STOP" || finishReason === "MAX_TOKENS" ? { role } : {};
};

/** What stands around candidates, and around that at Code Assist. */
export const enveloped = (head: Json, usageMetadata: Json, ask: GeminiAsk): Json => {
  const { door, stamps } = ask.provider.quirks;
  const response = {
    ...head,
    usageMetadata,
    modelVersion: servedBy(ask.model),
    ...(stamps ? { createTime: new Date(ask.time * 1000).toISOString() } : {}),
    responseId: Buffer.from(`simulated-${String(ask.ordinal).padStart(7, "0")}`).toString("base64url"),
  };
  return door === "code-assist" ? { response, traceId: ask.ordinal.toString(16).padStart(16, "0") } : response;
};

/** Why an answer ends. Calls end with STOP like anything else. */
export const endOf = (spoken: Spoken, ask: GeminiAsk): Json => {
  switch (spoken.finish) {
    case "stop":
    case "calls":
    case "refused":
      return callEnd(spoken, ask);
    case "length":
    case "context":
      return { finishReason: "MAX_TOKENS" };
    case "filtered":
      return { finishReason: "SAFETY", safetyRatings };
    case "malformed":
      return {
        finishReason: "MALFORMED_FUNCTION_CALL",
        finishMessage: `Malformed function call: ${callAsCode(spoken)}`,
      };
    case "paused":
      return /argon/.test(ask.model)
        ? {
            finishReason: "CONTINUATION",
            continuationToken: Buffer.from(`continue-${ask.ordinal}`).toString("base64url"),
          }
        : { finishReason: "OTHER" };
  }
};

const callEnd = ({ parts }: Spoken, ask: GeminiAsk): Json => {
  const calls = parts.filter((part) => part.type === "call");
  const declared = hearGemini(ask).tools.map(({ name }) => name);
  const unknown = calls.find(({ tool }) => !declared.includes(tool));
  if (unknown !== undefined)
    return {
      finishReason: "UNEXPECTED_TOOL_CALL",
      finishMessage: `Unexpected tool call: Model tried to call an undeclared function: ${unknown.tool}`,
    };
  return calls.length > 0 && ask.provider.quirks.numbersCandidates
    ? { finishReason: "STOP", finishMessage: "Model generated function call(s)." }
    : { finishReason: "STOP" };
};

/** The models write calls as Python, and this is one that breaks off. */
const callAsCode = ({ parts }: Spoken): string => {
  const call = parts.find((part) => part.type === "call");
  return call === undefined ? "" : `print(default_api.${call.tool}(${JSON.stringify(call.input)?.slice(1, 60) ?? ""}`;
};

const safetyRatings: readonly Json[] = [
  { category: "HARM_CATEGORY_DANGEROUS_CONTENT", probability: "HIGH", blocked: true },
  { category: "HARM_CATEGORY_HATE_SPEECH", probability: "NEGLIGIBLE" },
  { category: "HARM_CATEGORY_HARASSMENT", probability: "NEGLIGIBLE" },
  { category: "HARM_CATEGORY_SEXUALLY_EXPLICIT", probability: "NEGLIGIBLE" },
];
