import type { Family, Refusal } from "./family.ts";
import { wholeGemini } from "./gemini-answer.ts";
import { hearGemini } from "./gemini-hear.ts";
import { promptOf } from "./gemini-prompt.ts";
import { type GeminiQuirks, describeModel, geminiProviders, listModels } from "./gemini-providers.ts";
import { refuseGemini } from "./gemini-refuse.ts";
import { type GeminiAsk, fieldOf } from "./gemini-request.ts";
import { routeGemini } from "./gemini-route.ts";
import { judgeSeal, sealsOf } from "./gemini-seals.ts";
import { streamErrorOf, streamGemini } from "./gemini-stream.ts";
import { countGemini } from "./gemini-usage.ts";
import { isObject } from "./json.ts";

/** GenerateContent as the Gemini API, Vertex and Code Assist serve it. */
export const geminiFamily: Family<GeminiQuirks> = {
  wire: "gemini",
  providers: geminiProviders,
  route: routeGemini,
  refuse: refuseGemini,
  check: checkCache,
  counted: (body) => (isObject(body["generateContentRequest"]) ? body["generateContentRequest"] : body),
  hear: hearGemini,
  prompt: promptOf,
  seals: sealsOf,
  judge: judgeSeal,
  whole: wholeGemini,
  stream: streamGemini,
  streamType: "text/event-stream",
  streamError: (refusal, ask) => streamErrorOf(refuseGemini(refusal, ask.provider).body, ask),
  count: countGemini,
  models: listModels,
  model: describeModel,
};

/** No caches are kept here that a caller could name. */
function checkCache(ask: GeminiAsk): Refusal | undefined {
  return fieldOf(ask, "cachedContent") === undefined
    ? undefined
    : { status: 403, kind: "no-permission", message: "CachedContent not found (or permission denied)" };
}
