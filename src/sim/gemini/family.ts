import type { SimFamily, ApiRefusal } from "../family.ts";
import { encodeResponse } from "./response.ts";
import { parseRequest } from "./parse-request.ts";
import { splitPrompt } from "./prompt.ts";
import { type GeminiQuirks, describeModel, geminiProviders, listModels } from "./providers.ts";
import { encodeError } from "./errors.ts";
import { type GeminiSimRequest, fieldOf } from "./request.ts";
import { routeRequest } from "./route.ts";
import { judgeSeal, findSeals } from "./seals.ts";
import { encodeStreamError, encodeStream } from "./stream.ts";
import { encodeCount } from "./usage.ts";
import { isObject } from "../json.ts";

/** GenerateContent as served by the Gemini API, Vertex and Code Assist. */
export const geminiFamily: SimFamily<GeminiQuirks> = {
  wire: "gemini",
  providers: geminiProviders,
  route: routeRequest,
  encodeError: encodeError,
  checkRequest: checkCachedContent,
  countedBody: (body) => (isObject(body["generateContentRequest"]) ? body["generateContentRequest"] : body),
  parseRequest: parseRequest,
  splitPrompt: splitPrompt,
  findSeals: findSeals,
  judgeSeal: judgeSeal,
  encodeResponse: encodeResponse,
  encodeStream: encodeStream,
  streamType: "text/event-stream",
  encodeStreamError: (refusal, request) => encodeStreamError(encodeError(refusal, request.provider).body, request),
  encodeCount: encodeCount,
  encodeModels: listModels,
  encodeModel: describeModel,
};

/** Refuses `cachedContent`: the simulator has no stored caches. */
function checkCachedContent(request: GeminiSimRequest): ApiRefusal | undefined {
  return fieldOf(request, "cachedContent") === undefined
    ? undefined
    : { status: 403, kind: "no-permission", message: "CachedContent not found (or permission denied)" };
}
