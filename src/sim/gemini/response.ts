import type { Json, SimResponse } from "../family.ts";
import { groundingOf } from "./grounding.ts";
import { parseRequest } from "./parse-request.ts";
import { emptyOnMismatch, responseParts } from "./response-parts.ts";
import { servedModel } from "./providers.ts";
import type { GeminiSimRequest } from "./request.ts";
import { type GeminiTokens, omitEmpty, usageOf } from "./usage.ts";
import { measureFile } from "../tokens.ts";

/** Encodes a complete response. */
export const encodeResponse = (original: SimResponse, request: GeminiSimRequest): Json => {
  const response = emptyOnMismatch(original, request);
  if (response.finish === "refused") return blockedResponse(response, request);
  const { groundingMetadata, urlContextMetadata } = groundingOf(response, request);
  const parts = responseParts(response, request).map(({ json }) => json);
  const ending = { ...finishFields(response, request), groundingMetadata, urlContextMetadata };
  return wrapResponse(
    { candidates: [candidateOf(parts, ending, request)] },
    usageOf(response.usage, request)(tokensSpent(response, request)),
    request,
  );
};

/** The response to a blocked prompt: no candidate. */
export const blockedResponse = ({ usage }: SimResponse, request: GeminiSimRequest): Json => {
  const spent: GeminiTokens = { thoughts: 0, answer: 0, images: 0, tools: 0 };
  return wrapResponse(
    { promptFeedback: { blockReason: "PROHIBITED_CONTENT" } },
    usageOf(usage, request)(spent),
    request,
  );
};

/** The tokens of a complete response. */
export const tokensSpent = (response: SimResponse, request: GeminiSimRequest): GeminiTokens => {
  const { output, reasoning } = response.usage;
  const images = response.parts.flatMap((part) =>
    part.type === "file" ? [measureFile({ kind: "image", mimeType: part.mimeType, base64: part.data }).tokens] : [],
  );
  return {
    thoughts: reasoning,
    answer: output - reasoning,
    images: images.reduce((sum, tokens) => sum + tokens, 0),
    tools: groundingOf(response, request).tokens,
  };
};

/** Encodes a candidate, or a chunk's part of it, with fields in the endpoint's order. */
export const candidateOf = (parts: readonly Json[], ending: Json, request: GeminiSimRequest): Json => {
  const { hasCandidateIndex, hasTimestamps } = request.provider.quirks;
  const { finishReason } = ending;
  return {
    content: contentOf(parts, finishReason, hasCandidateIndex),
    ...omitEmpty({ finishReason }),
    ...(hasCandidateIndex ? { index: 0 } : {}),
    ...omitEmpty({ ...ending, finishReason: undefined }),
    ...(hasTimestamps && finishReason !== undefined ? { avgLogprobs: -0.25 } : {}),
  };
};

/** Content without parts has a role only if it ended normally or by length. */
const contentOf = (parts: readonly Json[], finishReason: unknown, partsFirst: boolean): Json => {
  const role = "model";
  if (parts.length > 0) return partsFirst ? { parts, role } : { role, parts };
  return finishReason === "STOP" || finishReason === "MAX_TOKENS" ? { role } : {};
};

/** Wraps candidates in the response object, and that in Code Assist's envelope. */
export const wrapResponse = (head: Json, usageMetadata: Json, request: GeminiSimRequest): Json => {
  const { endpoint, hasTimestamps } = request.provider.quirks;
  const response = {
    ...head,
    usageMetadata,
    modelVersion: servedModel(request.model),
    ...(hasTimestamps ? { createTime: new Date(request.time * 1000).toISOString() } : {}),
    responseId: Buffer.from(`simulated-${String(request.ordinal).padStart(7, "0")}`).toString("base64url"),
  };
  return endpoint === "code-assist" ? { response, traceId: request.ordinal.toString(16).padStart(16, "0") } : response;
};

/** The finish fields. Calls also end with STOP. */
export const finishFields = (response: SimResponse, request: GeminiSimRequest): Json => {
  switch (response.finish) {
    case "stop":
    case "calls":
    case "refused":
      return callFinishFields(response, request);
    case "length":
    case "context":
      return { finishReason: "MAX_TOKENS" };
    case "filtered":
      return { finishReason: "SAFETY", safetyRatings };
    case "malformed":
      return {
        finishReason: "MALFORMED_FUNCTION_CALL",
        finishMessage: `Malformed function call: ${callAsCode(response)}`,
      };
    case "paused":
      return /argon/.test(request.model)
        ? {
            finishReason: "CONTINUATION",
            continuationToken: Buffer.from(`continue-${request.ordinal}`).toString("base64url"),
          }
        : { finishReason: "OTHER" };
  }
};

const callFinishFields = ({ parts }: SimResponse, request: GeminiSimRequest): Json => {
  const calls = parts.filter((part) => part.type === "call");
  const declared = parseRequest(request).tools.map(({ name }) => name);
  const unknown = calls.find(({ tool }) => !declared.includes(tool));
  if (unknown !== undefined)
    return {
      finishReason: "UNEXPECTED_TOOL_CALL",
      finishMessage: `Unexpected tool call: Model tried to call an undeclared function: ${unknown.tool}`,
    };
  return calls.length > 0 && request.provider.quirks.hasCandidateIndex
    ? { finishReason: "STOP", finishMessage: "Model generated function call(s)." }
    : { finishReason: "STOP" };
};

/** A truncated call in Python syntax, which is how the models write calls. */
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
