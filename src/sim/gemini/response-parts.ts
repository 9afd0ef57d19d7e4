import { geminiModel } from "../../rules/gemini/models.ts";
import { checkResponseMatch } from "../../rules/gemini/turns.ts";
import type { Json, SimResponse, SimResponsePart } from "../family.ts";
import { searchChips } from "./grounding.ts";
import { serverToolsOf } from "./parse-request.ts";
import { generation } from "./providers.ts";
import { type GeminiSimRequest, fieldOf, targetOf } from "./request.ts";
import { asObject } from "../json.ts";

/** A part of a response, encoded. */
export type GeminiResponsePart = { readonly kind: "thought" | "text" | "call" | "other"; readonly json: Json };

/** Empties the response if a functionResponse matches no call of the turn before it. Gemini reports no error then. */
export const emptyOnMismatch = (response: SimResponse, request: GeminiSimRequest): SimResponse => {
  let isMismatched = false;
  checkResponseMatch(request.body, () => (isMismatched = true), targetOf(request));
  if (!isMismatched) return response;
  return { parts: [], finish: "stop", usage: { ...response.usage, output: 0, reasoning: 0 } };
};

/**
 * Encodes the parts of a response. Consecutive text is joined; thoughts are included only on request; one part has the
 * signature.
 */
export const responseParts = (response: SimResponse, request: GeminiSimRequest): readonly GeminiResponsePart[] => {
  const shown: GeminiResponsePart[] = [];
  for (const [place, part] of response.parts.entries()) {
    const last = shown.at(-1);
    const next = encodePart(part, place, response, request);
    const joined =
      next.length === 1 && next[0]?.kind === "text" && last?.kind === "text" ? joinText(last, next[0]) : undefined;
    if (joined === undefined) shown.push(...next);
    else shown[shown.length - 1] = joined;
  }
  return signParts(shown, response, request);
};

const joinText = (first: GeminiResponsePart, second: GeminiResponsePart): GeminiResponsePart => ({
  kind: "text",
  json: { text: `${String(first.json["text"])}${String(second.json["text"])}` },
});

const encodePart = (
  part: SimResponsePart,
  place: number,
  response: SimResponse,
  request: GeminiSimRequest,
): readonly GeminiResponsePart[] => {
  switch (part.type) {
    case "think":
      return includesThoughts(request) ? [{ kind: "thought", json: { text: part.text, thought: true } }] : [];
    case "say":
      return [{ kind: "text", json: { text: part.text } }];
    case "cite":
      return [...searchTrace(part, place, response, request), { kind: "text", json: { text: part.text } }];
    case "call":
      return response.finish === "malformed" ? [] : [{ kind: "call", json: functionCall(part, place, request) }];
    case "file":
      return [{ kind: "other", json: { inlineData: { mimeType: part.mimeType, data: part.data } } }];
  }
};

const includesThoughts = (request: GeminiSimRequest): boolean =>
  fieldOf(request, "generationConfig", "thinkingConfig", "includeThoughts") === true;

/** Calls have ids from Gemini 3.5 on, and whenever server tool calls are included. */
const functionCall = (
  part: Extract<SimResponsePart, { type: "call" }>,
  place: number,
  request: GeminiSimRequest,
): Json => {
  const id = generation(request.model) >= 3.5 || showsServerTools(request) ? { id: idOf(request, place) } : {};
  return { functionCall: { name: part.tool, args: asObject(part.input), ...id } };
};

/** Eight letters and digits, derived from the request number and the position. */
const idOf = (request: GeminiSimRequest, place: number): string =>
  request.ordinal.toString(36).padStart(5, "0").slice(-5) + place.toString(36).padStart(3, "0").slice(-3);

const showsServerTools = (request: GeminiSimRequest): boolean =>
  request.provider.quirks.endpoint === "developer" &&
  generation(request.model) >= 3 &&
  fieldOf(request, "toolConfig", "includeServerSideToolInvocations") === true;

/** The call and response of a server-side search, if the request includes them. */
const searchTrace = (
  part: Extract<SimResponsePart, { type: "cite" }>,
  place: number,
  response: SimResponse,
  request: GeminiSimRequest,
): readonly GeminiResponsePart[] => {
  if (part.query === undefined || !serverToolsOf(request).includes("search") || !showsServerTools(request)) return [];
  const toolType = "GOOGLE_SEARCH_WEB";
  const id = idOf(request, place);
  const queries = [part.query];
  const seal = sealIn(response);
  return [
    { kind: "other", json: { ...seal, toolCall: { toolType, args: { queries }, id } } },
    {
      kind: "other",
      json: { ...seal, toolResponse: { toolType, response: { search_suggestions: searchChips(queries) }, id } },
    },
  ];
};

/** Puts the signature on the first call, or else on the last part. Gemini 2.5 signs only after thinking. */
const signParts = (
  shown: readonly GeminiResponsePart[],
  response: SimResponse,
  request: GeminiSimRequest,
): readonly GeminiResponsePart[] => {
  const signs = geminiModel(request.body, targetOf(request)).needsSignature || response.usage.reasoning > 0;
  const call = shown.findIndex(({ kind }) => kind === "call");
  const place = call === -1 ? shown.findLastIndex(({ kind }) => kind !== "thought") : call;
  if (!signs) return shown;
  return shown.map((part, index) =>
    index === place ? { ...part, json: { ...part.json, ...sealIn(response) } } : part,
  );
};

/** Every seal of a response contains all its thoughts, so the last one is used. */
const sealIn = ({ parts }: SimResponse): Json => {
  const seal = parts.flatMap((part) => ("seal" in part ? [part.seal] : [])).at(-1);
  return seal === undefined ? {} : { thoughtSignature: seal };
};
