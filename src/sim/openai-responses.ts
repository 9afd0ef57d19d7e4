import type { HttpRequest } from "../world/net.ts";
import type { Family, Route, SimProvider } from "./family.ts";
import { asObject } from "./json.ts";
import { wholeResponse } from "./openai-responses-answer.ts";
import { hearResponses } from "./openai-responses-hear.ts";
import { promptOf } from "./openai-responses-prompt.ts";
import { describeModel, listModels, responsesProviders, type ResponsesQuirks } from "./openai-responses-providers.ts";
import { idHeaders, refuseResponses } from "./openai-responses-refusal.ts";
import { judgeSeal, sealsOf } from "./openai-responses-seals.ts";
import { checkReferences } from "./openai-responses-references.ts";
import { streamError, streamResponses } from "./openai-responses-stream.ts";

/** The Responses API as OpenAI, Azure and xAI serve it. It remembers nothing: what was stored cannot be asked for again. */
export const openaiResponsesFamily: Family<ResponsesQuirks> = {
  wire: "openai-responses",
  providers: responsesProviders,
  route: (request, path, provider) => routeOf(request, path.split("?")[0] ?? "", provider),
  refuse: refuseResponses,
  check: checkReferences,
  headers: ({ ordinal, provider }) => idHeaders(ordinal, provider.quirks.manner),
  hear: hearResponses,
  prompt: promptOf,
  seals: sealsOf,
  judge: judgeSeal,
  whole: wholeResponse,
  stream: streamResponses,
  streamType: "text/event-stream; charset=utf-8",
  streamError,
  count: ({ input }) => ({ object: "response.input_tokens", input_tokens: input }),
  models: listModels,
  model: describeModel,
};

const routeOf = (request: HttpRequest, path: string, provider: SimProvider<ResponsesQuirks>): Route | undefined => {
  const { quirks } = provider;
  const plain = quirks.datedPath ? underVersion(request, path) : path;
  const model = /^\/models\/([^/]+)$/.exec(plain ?? "")?.[1];
  if (request.method === "GET") {
    if (model !== undefined) return { kind: "model", model: decodeURIComponent(model) };
    return plain === "/models" ? { kind: "models" } : undefined;
  }
  if (plain === "/responses") return { kind: wantsStream(request) ? "stream" : "generate" };
  return plain === "/responses/input_tokens" && quirks.counts ? { kind: "count" } : undefined;
};

/** Azure answers under `/v1`, and without it to those who name a version. */
const underVersion = (request: HttpRequest, path: string): string | undefined => {
  if (path.startsWith("/v1/")) return path.slice(3);
  return new URL(request.url, "http://localhost").searchParams.has("api-version") ? path : undefined;
};

const wantsStream = ({ body }: HttpRequest): boolean => {
  try {
    return asObject(JSON.parse(Buffer.from(body ?? "").toString()))["stream"] === true;
  } catch {
    return false;
  }
};
