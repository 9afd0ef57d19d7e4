import { inspectFile, type AttachedFile } from "./attached-file.ts";
import type { ToolExchange, ParsedRequest, DemoTool, ExchangeResult, DemoTurn } from "./parsed-request.ts";
import { isObject, parseJson, listOf, objectOf, textOf } from "../json.ts";

/** Parses a request body that passed the check. */
export const parseRequest = (body: Readonly<Record<string, unknown>>): ParsedRequest => {
  const messages = listOf(body["messages"]).map(objectOf);
  const isInstruction = (message: DemoMessage): boolean => /^(?:system|developer)$/.test(textOf(message["role"]));
  const choice = parseToolChoice(body["tool_choice"]);
  return {
    model: textOf(body["model"]),
    system: messages.filter(isInstruction).map(contentText).join("\n\n"),
    tools: choice === "none" ? [] : listOf(body["tools"]).flatMap(parseTool),
    toolChoice: choice,
    turns: parseTurns(messages.filter((message) => !isInstruction(message))),
  };
};

type DemoMessage = Readonly<Record<string, unknown>>;

const parseToolChoice = (choice: unknown): ParsedRequest["toolChoice"] => {
  if (choice === "none" || choice === "required") return choice;
  const name = textOf(objectOf(objectOf(choice)["function"])["name"]);
  return name === "" ? "auto" : { tool: name };
};

const parseTool = (tool: unknown): readonly DemoTool[] => {
  const { name, parameters } = objectOf(objectOf(tool)["function"]);
  if (typeof name !== "string" || name === "") return [];
  const { properties, required } = objectOf(parameters);
  const known = Object.keys(objectOf(properties));
  return [
    { name, parameters: known, required: listOf(required).flatMap((each) => (typeof each === "string" ? [each] : [])) },
  ];
};

const parseTurns = (messages: readonly DemoMessage[]): readonly DemoTurn[] => {
  const results = collectResults(messages);
  const turns: DemoTurn[] = [];
  for (const message of messages) {
    const turn = parseTurn(message, results);
    if (turn !== undefined) turns.push(turn);
  }
  return attachFiles(turns);
};

/** Collects results by tool-call id. Ids are unique in conversations that Parley writes; otherwise the first result wins. */
const collectResults = (messages: readonly DemoMessage[]): ReadonlyMap<string, ExchangeResult> => {
  const results = new Map<string, ExchangeResult>();
  for (const message of messages) {
    const id = textOf(message["tool_call_id"]);
    if (message["role"] === "tool" && !results.has(id))
      results.set(id, { text: contentText(message), files: contentParts(message).flatMap(parseFile) });
  }
  return results;
};

const parseTurn = (message: DemoMessage, results: ReadonlyMap<string, ExchangeResult>): DemoTurn | undefined => {
  switch (message["role"]) {
    case "user": {
      const { texts, files } = parseUserContent(contentParts(message));
      return { role: "user", texts, files };
    }
    case "assistant":
      return {
        role: "model",
        text: contentText(message),
        exchanges: listOf(message["tool_calls"]).map((call) => parseExchange(objectOf(call), results)),
      };
    default:
      return undefined;
  }
};

const parseExchange = (call: DemoMessage, results: ReadonlyMap<string, ExchangeResult>): ToolExchange => {
  const { name, arguments: given } = objectOf(call["function"]);
  const id = textOf(call["id"]);
  const input = objectOf(typeof given === "string" ? parseJson(given) : given);
  const result = results.get(id);
  return { id, tool: textOf(name), input, ...(result === undefined ? {} : { result }) };
};

/** Returns content as a list of parts, whether it was text or a list. */
const contentParts = ({ content }: DemoMessage): readonly DemoMessage[] =>
  typeof content === "string" ? [{ type: "text", text: content }] : listOf(content).map(objectOf);

const contentText = (message: DemoMessage): string =>
  contentParts(message)
    .flatMap(({ text }) => (typeof text === "string" ? [text] : []))
    .join("\n");

/** Separates texts and files of a user message; a text before a file can give its label or name. */
const parseUserContent = (
  parts: readonly DemoMessage[],
): { readonly texts: readonly string[]; readonly files: readonly AttachedFile[] } => {
  const texts: string[] = [];
  const files: AttachedFile[] = [];
  let label: string | undefined;
  let name: string | undefined;
  for (const part of parts) {
    const [file] = parseFile(part);
    const text = textOf(part["text"]);
    const called = { ...(label === undefined ? {} : { label }), ...(name === undefined ? {} : { name }) };
    label = /^This is file (\S+):$/.exec(text)?.[1];
    name = /^--- (.+) ---$/.exec(text)?.[1];
    if (file !== undefined) files.push({ ...file, ...called });
    else if (label === undefined && text.trim() !== "") texts.push(text);
  }
  return { texts, files };
};

const parseFile = (part: DemoMessage): readonly AttachedFile[] => {
  switch (part["type"]) {
    case "image_url":
      return fileFromDataUrl("image", urlIn(part["image_url"]));
    case "video_url":
      return fileFromDataUrl("video", urlIn(part["video_url"]));
    case "input_audio": {
      const { data, format } = objectOf(part["input_audio"]);
      return [{ kind: "audio", ...inspectFile(textOf(data), `audio/${textOf(format) || "unknown"}`) }];
    }
    case "file": {
      const { filename, file_data: data } = objectOf(part["file"]);
      return fileFromDataUrl("document", textOf(data)).map((file) => ({
        ...file,
        ...(typeof filename === "string" ? { name: filename } : {}),
      }));
    }
    default:
      return [];
  }
};

const urlIn = (value: unknown): string => (isObject(value) ? textOf(value["url"]) : textOf(value));

/** Only data URLs can be inspected: nothing is ever fetched. */
const fileFromDataUrl = (kind: AttachedFile["kind"], address: string): readonly AttachedFile[] => {
  const head = /^data:([^;,]*)[^,]{0,200}?;base64,/.exec(address);
  if (head === null) return [];
  return [{ kind, ...inspectFile(address.slice(head[0].length), head[1] || "application/octet-stream") }];
};

/** Attaches files that follow a batch to the results that refer to them. */
const attachFiles = (turns: readonly DemoTurn[]): readonly DemoTurn[] => {
  const byLabel = new Map(
    turns.flatMap((turn) => (turn.role === "user" ? turn.files : [])).map((file) => [file.label, file]),
  );
  return turns.map((turn): DemoTurn => {
    if (turn.role === "model")
      return { ...turn, exchanges: turn.exchanges.map((each) => attachLabelledFiles(each, byLabel)) };
    return { ...turn, files: turn.files.filter(({ label }) => label === undefined) };
  });
};

const attachLabelledFiles = (
  exchange: ToolExchange,
  byLabel: ReadonlyMap<string | undefined, AttachedFile>,
): ToolExchange => {
  const { result } = exchange;
  if (result === undefined) return exchange;
  const files = [...result.text.matchAll(/^See file (\S+)$/gm)].flatMap(([, label]) => byLabel.get(label) ?? []);
  return files.length === 0 ? exchange : { ...exchange, result: { ...result, files: [...result.files, ...files] } };
};
