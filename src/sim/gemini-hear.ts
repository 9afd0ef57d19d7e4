import { type Found, type Part, nestedParts, pick, repeated, textIn } from "../rules/gemini-body.ts";
import {
  type GeminiAsk,
  contentsIn,
  decoded,
  fieldOf,
  mediumIn,
  placeOf,
  requestOf,
  toolsOf,
} from "./gemini-request.ts";
import { asNumber, isObject } from "./json.ts";
import type { Heard, HeardCall, HeardFile, HeardResult, HeardTool, HeardTurn, ServerTool } from "./model.ts";
import { fileTokens } from "./tokens.ts";

/** What the model hears. A call or result without an id gets one by its place, the same for both. */
export const hearGemini = (ask: GeminiAsk): Heard => {
  const maxOutput = asNumber(fieldOf(ask, "generationConfig", "maxOutputTokens"));
  return {
    model: ask.model,
    system: wordsOf(repeated(pick(pick(requestOf(ask), "systemInstruction") ?? nothing, "parts"))),
    tools: toolsOf(ask).flatMap((tool) => repeated(pick(tool, "functionDeclarations")).map(hearTool)),
    turns: hearTurns(ask),
    serverTools: serverToolsOf(ask),
    ...(maxOutput === undefined ? {} : { maxOutput }),
    thinks: fieldOf(ask, "generationConfig", "thinkingConfig", "thinkingBudget") !== 0,
  };
};

const nothing: Found = { value: undefined, pointer: "" };

const wordsOf = (parts: readonly Found[]): string =>
  parts.flatMap((part) => (pick(part, "thought")?.value === true ? [] : (textIn(part, "text") ?? []))).join("\n");

const hearTool = (declaration: Found): HeardTool => ({
  name: textIn(declaration, "name") ?? "",
  description: textIn(declaration, "description") ?? "",
  parameters: (pick(declaration, "parametersJsonSchema") ?? pick(declaration, "parameters"))?.value,
});

/** The tools that the server runs by itself. */
export const serverToolsOf = (ask: GeminiAsk): readonly ServerTool[] => {
  const offers = (...names: readonly string[]): boolean =>
    toolsOf(ask).some((tool) => names.some((name) => pick(tool, name) !== undefined));
  return [
    ...(offers("googleSearch", "googleSearchRetrieval", "enterpriseWebSearch") ? (["search"] as const) : []),
    ...(offers("urlContext") ? (["url"] as const) : []),
  ];
};

/** Parts of one side in a row are a turn; responses are one of their own. */
const hearTurns = (ask: GeminiAsk): readonly HeardTurn[] => {
  const runs: { by: HeardTurn["by"]; parts: Part[] }[] = [];
  for (const part of contentsIn(ask).flatMap((content) => content.parts)) {
    const by = part.kind === "functionResponse" ? "tools" : part.role === "model" ? "model" : "user";
    const last = runs.at(-1);
    if (last?.by === by) last.parts.push(part);
    else runs.push({ by, parts: [part] });
  }
  let open: readonly HeardCall[] = [];
  return runs.map(({ by, parts }, index) => {
    switch (by) {
      case "user":
        return { by, text: heardWords(parts), files: parts.flatMap((part) => heardFiles(placeOf(part))) };
      case "model":
        open = heardCalls(parts, index);
        return { by, text: wordsOf(parts.map(placeOf)), calls: open };
      case "tools":
        return { by, results: heardResults(parts, open, ask) };
    }
  });
};

/** Text files are read as words. */
const heardWords = (parts: readonly Part[]): string =>
  parts.flatMap((part) => [textIn(placeOf(part), "text") ?? [], textFiles(placeOf(part))].flat()).join("\n");

const textFiles = (part: Found): readonly string[] => {
  const medium = mediumIn(part);
  return medium?.kind === "text" ? [decoded(medium)] : [];
};

const heardFiles = (part: Found): readonly HeardFile[] => {
  const medium = mediumIn(part);
  if (medium === undefined || medium.kind === "text") return [];
  const { bytes, width, height } = fileTokens({ ...medium, kind: medium.kind });
  const size = width === undefined || height === undefined ? {} : { width, height };
  return [{ kind: medium.kind, mimeType: medium.mimeType, bytes, ...size }];
};

const heardCalls = (parts: readonly Part[], turn: number): readonly HeardCall[] =>
  parts
    .filter((part) => part.kind === "functionCall")
    .map(({ data }, place) => ({
      id: textIn(data, "id") ?? `call-${turn}-${place}`,
      tool: textIn(data, "name") ?? "",
      input: pick(data, "args")?.value ?? {},
    }));

const heardResults = (parts: readonly Part[], calls: readonly HeardCall[], ask: GeminiAsk): readonly HeardResult[] => {
  const open = [...calls];
  return parts.map((part) => {
    const tool = textIn(part.data, "name") ?? "";
    const said = textIn(part.data, "id");
    const at = open.findIndex((call) => (said === undefined ? call.tool === tool : call.id === said));
    const [call] = at === -1 ? [] : open.splice(at, 1);
    const nested = nestedParts(part).filter((inner) => reaches(inner, ask));
    const { text, isError } = outcomeOf(pick(part.data, "response")?.value);
    return {
      id: said ?? call?.id ?? "",
      tool,
      text: [text, ...nested.flatMap(textFiles)].filter((words) => words !== "").join("\n"),
      isError,
      files: nested.flatMap(heardFiles),
    };
  });
};

/** Whether a file inside a functionResponse reaches the model. */
export const reaches = (nested: Found, ask: GeminiAsk): boolean =>
  ask.provider.quirks.readsNestedFiles || pick(nested, "fileData") === undefined;

/** `output` and `error` have a meaning; without either, the whole object is the output. */
const outcomeOf = (response: unknown): { readonly text: string; readonly isError: boolean } => {
  if (!isObject(response)) return { text: "", isError: false };
  if ("output" in response) return { text: written(response["output"]), isError: false };
  if ("error" in response) return { text: written(response["error"]), isError: true };
  return { text: Object.keys(response).length === 0 ? "" : written(response), isError: false };
};

const written = (value: unknown): string => (typeof value === "string" ? value : (JSON.stringify(value) ?? ""));
