import { geminiModel } from "../../rules/gemini/models.ts";
import { checkResponseMatch } from "../../rules/gemini/turns.ts";
import type { Json, SimResponse, SimResponsePart } from "../family.ts";
import { searchChips } from "./grounding.ts";
import { serverToolsOf } from "./parse-request.ts";
import { generation } from "./providers.ts";
import { type GeminiSimRequest, fieldOf, targetOf } from "./request.ts";
import { asObject } from "../json.ts";

/** A part of an answer, as it stands in the JSON. */
export type GeminiResponsePart = { readonly kind: "thought" | "text" | "call" | "other"; readonly json: Json };

/** What is left to say: nothing where a response names no call of the turn before it, and nobody is told of an error. */
export const emptyOnMismatch = (spoken: SimResponse, ask: GeminiSimRequest): SimResponse => {
  let isMismatched = false;
  checkResponseMatch(ask.body, () => (isMismatched = true), targetOf(ask));
  if (!isMismatched) return spoken;
  return { parts: [], finish: "stop", usage: { ...spoken.usage, output: 0, reasoning: 0 } };
};

/** The parts of an answer. Words in a row are one part; thoughts show only on request; one part carries the signature. */
export const responseParts = (spoken: SimResponse, ask: GeminiSimRequest): readonly GeminiResponsePart[] => {
  const shown: GeminiResponsePart[] = [];
  for (const [place, part] of spoken.parts.entries()) {
    const last = shown.at(-1);
    const next = encodePart(part, place, spoken, ask);
    const joined =
      next.length === 1 && next[0]?.kind === "text" && last?.kind === "text" ? joinText(last, next[0]) : undefined;
    if (joined === undefined) shown.push(...next);
    else shown[shown.length - 1] = joined;
  }
  return signParts(shown, spoken, ask);
};

const joinText = (first: GeminiResponsePart, second: GeminiResponsePart): GeminiResponsePart => ({
  kind: "text",
  json: { text: `${String(first.json["text"])}${String(second.json["text"])}` },
});

const encodePart = (
  part: SimResponsePart,
  place: number,
  spoken: SimResponse,
  ask: GeminiSimRequest,
): readonly GeminiResponsePart[] => {
  switch (part.type) {
    case "think":
      return includesThoughts(ask) ? [{ kind: "thought", json: { text: part.text, thought: true } }] : [];
    case "say":
      return [{ kind: "text", json: { text: part.text } }];
    case "cite":
      return [...searchTrace(part, place, spoken, ask), { kind: "text", json: { text: part.text } }];
    case "call":
      return spoken.finish === "malformed" ? [] : [{ kind: "call", json: functionCall(part, place, ask) }];
    case "file":
      return [{ kind: "other", json: { inlineData: { mimeType: part.mimeType, data: part.data } } }];
  }
};

const includesThoughts = (ask: GeminiSimRequest): boolean =>
  fieldOf(ask, "generationConfig", "thinkingConfig", "includeThoughts") === true;

/** Calls carry ids from Gemini 3.5 on, and wherever the server shows its own calls too. */
const functionCall = (part: Extract<SimResponsePart, { type: "call" }>, place: number, ask: GeminiSimRequest): Json => {
  const id = generation(ask.model) >= 3.5 || showsServerTools(ask) ? { id: idOf(ask, place) } : {};
  return { functionCall: { name: part.tool, args: asObject(part.input), ...id } };
};

/** Eight letters and digits, from the number of the request and the place in the answer. */
const idOf = (ask: GeminiSimRequest, place: number): string =>
  ask.ordinal.toString(36).padStart(5, "0").slice(-5) + place.toString(36).padStart(3, "0").slice(-3);

const showsServerTools = (ask: GeminiSimRequest): boolean =>
  ask.provider.quirks.endpoint === "developer" &&
  generation(ask.model) >= 3 &&
  fieldOf(ask, "toolConfig", "includeServerSideToolInvocations") === true;

/** The call and the answer of a search that the server ran, where the request wants to see them. */
const searchTrace = (
  part: Extract<SimResponsePart, { type: "cite" }>,
  place: number,
  spoken: SimResponse,
  ask: GeminiSimRequest,
): readonly GeminiResponsePart[] => {
  if (part.query === undefined || !serverToolsOf(ask).includes("search") || !showsServerTools(ask)) return [];
  const toolType = "GOOGLE_SEARCH_WEB";
  const id = idOf(ask, place);
  const queries = [part.query];
  const seal = sealIn(spoken);
  return [
    { kind: "other", json: { ...seal, toolCall: { toolType, args: { queries }, id } } },
    {
      kind: "other",
      json: { ...seal, toolResponse: { toolType, response: { search_suggestions: searchChips(queries) }, id } },
    },
  ];
};

/** The signature stands on the first call, or else on the last part. Gemini 2.5 signs only what it thought about. */
const signParts = (
  shown: readonly GeminiResponsePart[],
  spoken: SimResponse,
  ask: GeminiSimRequest,
): readonly GeminiResponsePart[] => {
  const signs = geminiModel(ask.body, targetOf(ask)).needsSignature || spoken.usage.reasoning > 0;
  const call = shown.findIndex(({ kind }) => kind === "call");
  const place = call === -1 ? shown.findLastIndex(({ kind }) => kind !== "thought") : call;
  if (!signs) return shown;
  return shown.map((part, index) => (index === place ? { ...part, json: { ...part.json, ...sealIn(spoken) } } : part));
};

/** Each seal of an answer holds its thoughts, so that the last one is as good as any. */
const sealIn = ({ parts }: SimResponse): Json => {
  const seal = parts.flatMap((part) => ("seal" in part ? [part.seal] : [])).at(-1);
  return seal === undefined ? {} : { thoughtSignature: seal };
};
