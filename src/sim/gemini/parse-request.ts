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

/** What the model hears. A call or result without an id gets one by its place, the same for both. */
export const parseRequest = (ask: GeminiSimRequest): SimModelRequest => {
  const maxOutput = asNumber(fieldOf(ask, "generationConfig", "maxOutputTokens"));
  return {
    model: ask.model,
    system: wordsOf(repeatedField(pick(pick(requestOf(ask), "systemInstruction") ?? emptyField, "parts"))),
    tools: toolsOf(ask).flatMap((tool) => repeatedField(pick(tool, "functionDeclarations")).map(parseTool)),
    turns: splitTurns(ask),
    serverTools: serverToolsOf(ask),
    ...(maxOutput === undefined ? {} : { maxOutput }),
    mayThink: fieldOf(ask, "generationConfig", "thinkingConfig", "thinkingBudget") !== 0,
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

/** The tools that the server runs by itself. */
export const serverToolsOf = (ask: GeminiSimRequest): readonly SimServerTool[] => {
  const offers = (...names: readonly string[]): boolean =>
    toolsOf(ask).some((tool) => names.some((name) => pick(tool, name) !== undefined));
  return [
    ...(offers("googleSearch", "googleSearchRetrieval", "enterpriseWebSearch") ? (["search"] as const) : []),
    ...(offers("urlContext") ? (["url"] as const) : []),
  ];
};

/** Parts of one side in a row are a turn; responses are one of their own. */
const splitTurns = (ask: GeminiSimRequest): readonly RequestTurn[] => {
  const runs: { by: RequestTurn["by"]; parts: GeminiBodyPart[] }[] = [];
  for (const part of contentsIn(ask).flatMap((content) => content.parts)) {
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
        return { by, results: resultsIn(parts, open, ask) };
    }
  });
};

/** Text files are read as words. */
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
  ask: GeminiSimRequest,
): readonly RequestResult[] => {
  const open = [...calls];
  return parts.map((part) => {
    const tool = textIn(part.data, "name") ?? "";
    const said = textIn(part.data, "id");
    const at = open.findIndex((call) => (said === undefined ? call.tool === tool : call.id === said));
    const [call] = at === -1 ? [] : open.splice(at, 1);
    const nested = nestedParts(part).filter((inner) => reachesModel(inner, ask));
    const { text, isError } = outcomeOf(pick(part.data, "response")?.value);
    return {
      id: said ?? call?.id ?? "",
      tool,
      text: [text, ...nested.flatMap(textFiles)].filter((words) => words !== "").join("\n"),
      isError,
      files: nested.flatMap(filesIn),
    };
  });
};

/** Whether a file inside a functionResponse reaches the model. */
export const reachesModel = (nested: LocatedValue, ask: GeminiSimRequest): boolean =>
  ask.provider.quirks.readsNestedFiles || pick(nested, "fileData") === undefined;

/** `output` and `error` have a meaning; without either, the whole object is the output. */
const outcomeOf = (response: unknown): { readonly text: string; readonly isError: boolean } => {
  if (!isObject(response)) return { text: "", isError: false };
  if ("output" in response) return { text: toText(response["output"]), isError: false };
  if ("error" in response) return { text: toText(response["error"]), isError: true };
  return { text: Object.keys(response).length === 0 ? "" : toText(response), isError: false };
};

const toText = (value: unknown): string => (typeof value === "string" ? value : (JSON.stringify(value) ?? ""));
