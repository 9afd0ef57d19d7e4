import type { HttpRequest } from "../../world/net.ts";
import type { SimFamily, ApiRoute, SimProvider } from "../family.ts";
import { asObject } from "../json.ts";
import { encodeResponse } from "./response.ts";
import { parseRequest } from "./parse-request.ts";
import { splitPrompt } from "./prompt.ts";
import { describeModel, listModels, responsesProviders, type ResponsesQuirks } from "./providers.ts";
import { requestIdHeaders, encodeError } from "./errors.ts";
import { judgeSeal, findSeals } from "./seals.ts";
import { checkRequest } from "./references.ts";
import { encodeStreamError, encodeStream } from "./stream.ts";

/** The Responses API as served by OpenAI, Azure and xAI. It stores nothing. */
export const openaiResponsesFamily: SimFamily<ResponsesQuirks> = {
  wire: "openai-responses",
  providers: responsesProviders,
  route: (request, path, provider) => routeRequest(request, path.split("?")[0] ?? "", provider),
  encodeError: encodeError,
  checkRequest: checkRequest,
  responseHeaders: ({ ordinal, provider }) => requestIdHeaders(ordinal, provider.quirks.vendor),
  parseRequest: parseRequest,
  splitPrompt: splitPrompt,
  findSeals: findSeals,
  judgeSeal: judgeSeal,
  encodeResponse: encodeResponse,
  encodeStream: encodeStream,
  streamType: "text/event-stream; charset=utf-8",
  encodeStreamError,
  encodeCount: ({ input }) => ({ object: "response.input_tokens", input_tokens: input }),
  encodeModels: listModels,
  encodeModel: describeModel,
};

const routeRequest = (
  request: HttpRequest,
  path: string,
  provider: SimProvider<ResponsesQuirks>,
): ApiRoute | undefined => {
  const { quirks } = provider;
  const plain = quirks.hasVersionPath ? stripVersion(request, path) : path;
  const model = /^\/models\/([^/]+)$/.exec(plain ?? "")?.[1];
  if (request.method === "GET") {
    if (model !== undefined) return { kind: "model", model: decodeURIComponent(model) };
    return plain === "/models" ? { kind: "models" } : undefined;
  }
  if (plain === "/responses") return { kind: wantsStream(request) ? "stream" : "generate" };
  return plain === "/responses/input_tokens" && quirks.canCountTokens ? { kind: "count" } : undefined;
};

/** Azure answers under `/v1`, and without it if the URL has an api-version. */
const stripVersion = (request: HttpRequest, path: string): string | undefined => {
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
