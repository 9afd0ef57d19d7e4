import {
  type LocatedValue,
  type GeminiBodyPart,
  nestedParts,
  pick,
  repeatedField,
  textIn,
} from "../../rules/gemini/body.ts";
import {
  type GeminiSimRequest,
  contentsIn,
  decodeText,
  fieldOf,
  mediaIn,
  toLocated,
  requestOf,
  toolsOf,
} from "./request.ts";
import { asNumber, isObject } from "../json.ts";
import type {
  SimModelRequest,
  RequestCall,
  RequestFile,
  RequestResult,
  RequestTool,
  RequestTurn,
  SimServerTool,
} from "../model/types.ts";
import { measureFile } from "../tokens.ts";

/**
 * Converts a GenerateContent request to what the model receives. A call and its result without ids get the same id by
 * position.
 */
export const parseRequest = (request: GeminiSimRequest): SimModelRequest => {
  const maxOutput = asNumber(fieldOf(request, "generationConfig", "maxOutputTokens"));
  return {
    model: request.model,
    system: wordsOf(repeatedField(pick(pick(requestOf(request), "systemInstruction") ?? emptyField, "parts"))),
    tools: toolsOf(request).flatMap((tool) => repeatedField(pick(tool, "functionDeclarations")).map(parseTool)),
    turns: splitTurns(request),
    serverTools: serverToolsOf(request),
    ...(maxOutput === undefined ? {} : { maxOutput }),
    mayThink: fieldOf(request, "generationConfig", "thinkingConfig", "thinkingBudget") !== 0,
  };
};

const emptyField: LocatedValue = { value: undefined, pointer: "" };

const wordsOf = (parts: readonly LocatedValue[]): string =>
  parts.flatMap((part) => (pick(part, "thought")?.value === true ? [] : (textIn(part, "text") ?? []))).join("\n");

const parseTool = (declaration: LocatedValue): RequestTool => ({
  name: textIn(declaration, "name") ?? "",
  description: textIn(declaration, "description") ?? "",
  parameters: (pick(declaration, "parametersJsonSchema") ?? pick(declaration, "parameters"))?.value,
});

/** The tools the server runs itself. */
export const serverToolsOf = (request: GeminiSimRequest): readonly SimServerTool[] => {
  const offers = (...names: readonly string[]): boolean =>
    toolsOf(request).some((tool) => names.some((name) => pick(tool, name) !== undefined));
  return [
    ...(offers("googleSearch", "googleSearchRetrieval", "enterpriseWebSearch") ? (["search"] as const) : []),
    ...(offers("urlContext") ? (["url"] as const) : []),
  ];
};

/** Groups consecutive parts of one side into turns; function responses are separate turns. */
const splitTurns = (request: GeminiSimRequest): readonly RequestTurn[] => {
  const runs: { by: RequestTurn["by"]; parts: GeminiBodyPart[] }[] = [];
  for (const part of contentsIn(request).flatMap((content) => content.parts)) {
    const by = part.kind === "functionResponse" ? "tools" : part.role === "model" ? "model" : "user";
    const last = runs.at(-1);
    if (last?.by === by) last.parts.push(part);
    else runs.push({ by, parts: [part] });
  }
  let open: readonly RequestCall[] = [];
  return runs.map(({ by, parts }, index) => {
    switch (by) {
      case "user":
        return { by, text: turnText(parts), files: parts.flatMap((part) => filesIn(toLocated(part))) };
      case "model":
        open = callsIn(parts, index);
        return { by, text: wordsOf(parts.map(toLocated)), calls: open };
      case "tools":
        return { by, results: resultsIn(parts, open, request) };
    }
  });
};

/** The text of a turn, including text files. */
const turnText = (parts: readonly GeminiBodyPart[]): string =>
  parts.flatMap((part) => [textIn(toLocated(part), "text") ?? [], textFiles(toLocated(part))].flat()).join("\n");

const textFiles = (part: LocatedValue): readonly string[] => {
  const medium = mediaIn(part);
  return medium?.kind === "text" ? [decodeText(medium)] : [];
};

const filesIn = (part: LocatedValue): readonly RequestFile[] => {
  const medium = mediaIn(part);
  if (medium === undefined || medium.kind === "text") return [];
  const { bytes, width, height } = measureFile({ ...medium, kind: medium.kind });
  const size = width === undefined || height === undefined ? {} : { width, height };
  return [{ kind: medium.kind, mimeType: medium.mimeType, bytes, ...size }];
};

const callsIn = (parts: readonly GeminiBodyPart[], turn: number): readonly RequestCall[] =>
  parts
    .filter((part) => part.kind === "functionCall")
    .map(({ data }, place) => ({
      id: textIn(data, "id") ?? `call-${turn}-${place}`,
      tool: textIn(data, "name") ?? "",
      input: pick(data, "args")?.value ?? {},
    }));

const resultsIn = (
  parts: readonly GeminiBodyPart[],
  calls: readonly RequestCall[],
  request: GeminiSimRequest,
): readonly RequestResult[] => {
  const open = [...calls];
  return parts.map((part) => {
    const tool = textIn(part.data, "name") ?? "";
    const id = textIn(part.data, "id");
    const at = open.findIndex((call) => (id === undefined ? call.tool === tool : call.id === id));
    const [call] = at === -1 ? [] : open.splice(at, 1);
    const nested = nestedParts(part).filter((inner) => reachesModel(inner, request));
    const { text, isError } = outcomeOf(pick(part.data, "response")?.value);
    return {
      id: id ?? call?.id ?? "",
      tool,
      text: [text, ...nested.flatMap(textFiles)].filter((words) => words !== "").join("\n"),
      isError,
      files: nested.flatMap(filesIn),
    };
  });
};

/** True if a file inside a functionResponse reaches the model. */
export const reachesModel = (nested: LocatedValue, request: GeminiSimRequest): boolean =>
  request.provider.quirks.readsNestedFiles || pick(nested, "fileData") === undefined;

/** `output` and `error` are special fields; without either, the whole object is the output. */
const outcomeOf = (response: unknown): { readonly text: string; readonly isError: boolean } => {
  if (!isObject(response)) return { text: "", isError: false };
  if ("output" in response) return { text: toText(response["output"]), isError: false };
  if ("error" in response) return { text: toText(response["error"]), isError: true };
  return { text: Object.keys(response).length === 0 ? "" : toText(response), isError: false };
};

const toText = (value: unknown): string => (typeof value === "string" ? value : (JSON.stringify(value) ?? ""));
