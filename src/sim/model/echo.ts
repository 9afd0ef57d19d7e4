import type { ModelFunction } from "../family.ts";
import type { SimModelRequest, RequestFile, RequestResult, RequestTurn, ReplyPart, SimServerTool } from "./types.ts";

/** The model used without a script: it describes what it received, so that a test sees what an API lost. */
export const echoModel: ModelFunction = (modelRequest) => ({
  parts: [...useServerTools(modelRequest), { type: "say", text: describeTurns(modelRequest) }],
});

const describeTurns = ({ turns }: SimModelRequest): string => {
  const last = turns.findLastIndex(({ by }) => by === "model");
  const described = turns.slice(last + 1).map(describeTurn);
  return described.length === 0 ? "Nothing was said." : described.join(" ");
};

const describeTurn = (turn: RequestTurn): string => {
  switch (turn.by) {
    case "user":
      return [...(turn.text === "" ? [] : [`You said: ${quote(turn.text)}.`]), ...describeFiles(turn.files)].join(" ");
    case "tools":
      return turn.results.map(describeResult).join(" ");
    case "model":
      return "";
  }
};

const describeResult = ({ tool, text, isError, files }: RequestResult): string =>
  [`${tool} ${isError ? "failed" : "returned"}: ${quote(text)}.`, ...describeFiles(files)].join(" ");

const describeFiles = (files: readonly RequestFile[]): readonly string[] =>
  files.length === 0 ? [] : [`I see ${files.map(describeFile).join(", ")}.`];

const describeFile = ({ kind, mimeType, bytes, width, height }: RequestFile): string => {
  const size = width === undefined || height === undefined ? "" : ` of ${width}x${height} pixels`;
  return `${kind} ${mimeType}${size} (${bytes} bytes)`;
};

const quote = (text: string): string =>
  JSON.stringify(text.length > 400 ? `${text.slice(0, 400).toWellFormed()}...` : text);

/** Uses every server tool once per prompt. */
const useServerTools = ({ serverTools, turns }: SimModelRequest): readonly ReplyPart[] => {
  const last = turns.at(-1);
  if (last?.by !== "user") return [];
  return serverTools.map((tool) => citeTool(tool, last.text));
};

const citeTool = (tool: SimServerTool, prompt: string): ReplyPart => {
  switch (tool) {
    case "search":
      return {
        type: "cite",
        text: "I searched, and found one page.",
        query: prompt.slice(0, 100),
        sources: [{ title: "A page about it", uri: "https://example.com/about" }],
      };
    case "url": {
      const uri = /https?:\/\/[^\s"')>]+/.exec(prompt)?.[0] ?? "https://example.com/";
      return { type: "cite", text: `I read ${uri}.`, sources: [{ title: "The page that was named", uri }] };
    }
  }
};
