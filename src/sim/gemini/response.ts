import type { Json, SimResponse } from "../family.ts";
import { groundingOf } from "./grounding.ts";
import { parseRequest } from "./parse-request.ts";
import { emptyOnMismatch, responseParts } from "./response-parts.ts";
import { servedModel } from "./providers.ts";
import type { GeminiSimRequest } from "./request.ts";
import { type GeminiTokens, omitEmpty, usageOf } from "./usage.ts";
import { measureFile } from "../tokens.ts";

/** A whole answer. */
export const encodeResponse = (said: SimResponse, ask: GeminiSimRequest): Json => {
  const spoken = emptyOnMismatch(said, ask);
  if (spoken.finish === "refused") return blockedResponse(spoken, ask);
  const { groundingMetadata, urlContextMetadata } = groundingOf(spoken, ask);
  const parts = responseParts(spoken, ask).map(({ json }) => json);
  const ending = { ...finishFields(spoken, ask), groundingMetadata, urlContextMetadata };
  return wrapResponse(
    { candidates: [candidateOf(parts, ending, ask)] },
    usageOf(spoken.usage, ask)(tokensSpent(spoken, ask)),
    ask,
  );
};

/** A prompt that was not let through: no candidate at all. */
export const blockedResponse = ({ usage }: SimResponse, ask: GeminiSimRequest): Json => {
  const spent: GeminiTokens = { thoughts: 0, answer: 0, pictures: 0, tools: 0 };
  return wrapResponse({ promptFeedback: { blockReason: "PROHIBITED_CONTENT" } }, usageOf(usage, ask)(spent), ask);
};

/** Everything a whole answer costs. */
export const tokensSpent = (spoken: SimResponse, ask: GeminiSimRequest): GeminiTokens => {
  const { output, reasoning } = spoken.usage;
  const pictures = spoken.parts.flatMap((part) =>
    part.type === "file" ? [measureFile({ kind: "image", mimeType: part.mimeType, base64: part.data }).tokens] : [],
  );
  return {
    thoughts: reasoning,
    answer: output - reasoning,
    pictures: pictures.reduce((sum, tokens) => sum + tokens, 0),
    tools: groundingOf(spoken, ask).tokens,
  };
};

/** A candidate, or what of it one chunk holds, with its fields in the door's own order. */
export const candidateOf = (parts: readonly Json[], ending: Json, ask: GeminiSimRequest): Json => {
  const { hasCandidateIndex: numbersCandidates, hasTimestamps: stamps } = ask.provider.quirks;
  const { finishReason } = ending;
  return {
    content: contentOf(parts, finishReason, numbersCandidates),
    ...omitEmpty({ finishReason }),
    ...(numbersCandidates ? { index: 0 } : {}),
    ...omitEmpty({ ...ending, finishReason: undefined }),
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
export const wrapResponse = (head: Json, usageMetadata: Json, ask: GeminiSimRequest): Json => {
  const { endpoint: door, hasTimestamps: stamps } = ask.provider.quirks;
  const response = {
    ...head,
    usageMetadata,
    modelVersion: servedModel(ask.model),
    ...(stamps ? { createTime: new Date(ask.time * 1000).toISOString() } : {}),
    responseId: Buffer.from(`simulated-${String(ask.ordinal).padStart(7, "0")}`).toString("base64url"),
  };
  return door === "code-assist" ? { response, traceId: ask.ordinal.toString(16).padStart(16, "0") } : response;
};

/** Why an answer ends. Calls end with STOP like anything else. */
export const finishFields = (spoken: SimResponse, ask: GeminiSimRequest): Json => {
  switch (spoken.finish) {
    case "stop":
    case "calls":
    case "refused":
      return callFinishFields(spoken, ask);
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

const callFinishFields = ({ parts }: SimResponse, ask: GeminiSimRequest): Json => {
  const calls = parts.filter((part) => part.type === "call");
  const declared = parseRequest(ask).tools.map(({ name }) => name);
  const unknown = calls.find(({ tool }) => !declared.includes(tool));
  if (unknown !== undefined)
    return {
      finishReason: "UNEXPECTED_TOOL_CALL",
      finishMessage: `Unexpected tool call: Model tried to call an undeclared function: ${unknown.tool}`,
    };
  return calls.length > 0 && ask.provider.quirks.hasCandidateIndex
    ? { finishReason: "STOP", finishMessage: "Model generated function call(s)." }
    : { finishReason: "STOP" };
};

/** The models write calls as Python, and this is one that breaks off. */
const callAsCode = ({ parts }: SimResponse): string => {
  const call = parts.find((part) => part.type === "call");
  return call === undefined ? "" : `print(default_api.${call.tool}(${JSON.stringify(call.input)?.slice(1, 60) ?? ""}`;
};

const safetyRatings: readonly Json[] = [
  { category: "HARM_CATEGORY_DANGEROUS_CONTENT", probability: "HIGH", blocked: true },
  { category: "HARM_CATEGORY_HATE_SPEECH", probability: "NEGLIGIBLE" },
  { category: "HARM_CATEGORY_HARASSMENT", probability: "NEGLIGIBLE" },
  { category: "HARM_CATEGORY_SEXUALLY_EXPLICIT", probability: "NEGLIGIBLE" },
];
