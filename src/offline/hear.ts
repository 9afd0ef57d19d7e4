import { factsOf, type HeardFile } from "./file.ts";
import type { Exchange, Heard, Offered, Result, Turn } from "./heard.ts";
import { isObject, jsonOf, listOf, objectOf, textOf } from "./json.ts";

/** What the model hears of a request body that is one. */
export const hear = (body: Readonly<Record<string, unknown>>): Heard => {
  const messages = listOf(body["messages"]).map(objectOf);
  const isInstruction = (message: Message): boolean => /^(?:system|developer)$/.test(textOf(message["role"]));
  const choice = choiceOf(body["tool_choice"]);
  return {
    model: textOf(body["model"]),
    system: messages.filter(isInstruction).map(textIn).join("\n\n"),
    tools: choice === "none" ? [] : listOf(body["tools"]).flatMap(offeredOf),
    choice,
    turns: turnsOf(messages.filter((message) => !isInstruction(message))),
  };
};

type Message = Readonly<Record<string, unknown>>;

const choiceOf = (choice: unknown): Heard["choice"] => {
  if (choice === "none" || choice === "required") return choice;
  const name = textOf(objectOf(objectOf(choice)["function"])["name"]);
  return name === "" ? "auto" : { tool: name };
};

const offeredOf = (tool: unknown): readonly Offered[] => {
  const { name, parameters } = objectOf(objectOf(tool)["function"]);
  if (typeof name !== "string" || name === "") return [];
  const { properties, required } = objectOf(parameters);
  const known = Object.keys(objectOf(properties));
  return [
    { name, parameters: known, required: listOf(required).flatMap((each) => (typeof each === "string" ? [each] : [])) },
  ];
};

const turnsOf = (messages: readonly Message[]): readonly Turn[] => {
  const results = resultsIn(messages);
  const turns: Turn[] = [];
  for (const message of messages) {
    const turn = turnOf(message, results);
    if (turn !== undefined) turns.push(turn);
  }
  return withFiles(turns);
};

/** Results by the id of their call. Ids are unique in a conversation that Parley writes; where not, the first result counts. */
const resultsIn = (messages: readonly Message[]): ReadonlyMap<string, Result> => {
  const results = new Map<string, Result>();
  for (const message of messages) {
    const id = textOf(message["tool_call_id"]);
    if (message["role"] === "tool" && !results.has(id))
      results.set(id, { text: textIn(message), files: partsOf(message).flatMap(fileOf) });
  }
  return results;
};

const turnOf = (message: Message, results: ReadonlyMap<string, Result>): Turn | undefined => {
  switch (message["role"]) {
    case "user": {
      const { texts, files } = labelled(partsOf(message));
      return { by: "user", texts, files };
    }
    case "assistant":
      return {
        by: "model",
        text: textIn(message),
        exchanges: listOf(message["tool_calls"]).map((call) => exchangeOf(objectOf(call), results)),
      };
    default:
      return undefined;
  }
};

const exchangeOf = (call: Message, results: ReadonlyMap<string, Result>): Exchange => {
  const { name, arguments: given } = objectOf(call["function"]);
  const id = textOf(call["id"]);
  const input = objectOf(typeof given === "string" ? jsonOf(given) : given);
  const result = results.get(id);
  return { id, tool: textOf(name), input, ...(result === undefined ? {} : { result }) };
};

/** Content as a list of parts, whatever it is written as. */
const partsOf = ({ content }: Message): readonly Message[] =>
  typeof content === "string" ? [{ type: "text", text: content }] : listOf(content).map(objectOf);

const textIn = (message: Message): string =>
  partsOf(message)
    .flatMap(({ text }) => (typeof text === "string" ? [text] : []))
    .join("\n");

/** A file with the words in front of it that say which one it is. */
const labelled = (
  parts: readonly Message[],
): { readonly texts: readonly string[]; readonly files: readonly HeardFile[] } => {
  const texts: string[] = [];
  const files: HeardFile[] = [];
  let label: string | undefined;
  let name: string | undefined;
  for (const part of parts) {
    const [file] = fileOf(part);
    const text = textOf(part["text"]);
    const called = { ...(label === undefined ? {} : { label }), ...(name === undefined ? {} : { name }) };
    label = /^This is file (\S+):$/.exec(text)?.[1];
    name = /^--- (.+) ---$/.exec(text)?.[1];
    if (file !== undefined) files.push({ ...file, ...called });
    else if (label === undefined && text.trim() !== "") texts.push(text);
  }
  return { texts, files };
};

const fileOf = (part: Message): readonly HeardFile[] => {
  switch (part["type"]) {
    case "image_url":
      return fromAddress("image", addressIn(part["image_url"]));
    case "video_url":
      return fromAddress("video", addressIn(part["video_url"]));
    case "input_audio": {
      const { data, format } = objectOf(part["input_audio"]);
      return [{ kind: "audio", ...factsOf(textOf(data), `audio/${textOf(format) || "unknown"}`) }];
    }
    case "file": {
      const { filename, file_data: data } = objectOf(part["file"]);
      return fromAddress("document", textOf(data)).map((file) => ({
        ...file,
        ...(typeof filename === "string" ? { name: filename } : {}),
      }));
    }
    default:
      return [];
  }
};

const addressIn = (value: unknown): string => (isObject(value) ? textOf(value["url"]) : textOf(value));

/** Only bytes that are in the request can be looked at: nothing is ever fetched. */
const fromAddress = (kind: HeardFile["kind"], address: string): readonly HeardFile[] => {
  const head = /^data:([^;,]*)[^,]{0,200}?;base64,/.exec(address);
  if (head === null) return [];
  return [{ kind, ...factsOf(address.slice(head[0].length), head[1] || "application/octet-stream") }];
};

/** Files that follow a batch go to the results that speak of them. */
const withFiles = (turns: readonly Turn[]): readonly Turn[] => {
  const byLabel = new Map(
    turns.flatMap((turn) => (turn.by === "user" ? turn.files : [])).map((file) => [file.label, file]),
  );
  return turns.map((turn): Turn => {
    if (turn.by === "model") return { ...turn, exchanges: turn.exchanges.map((each) => withTheirs(each, byLabel)) };
    return { ...turn, files: turn.files.filter(({ label }) => label === undefined) };
  });
};

const withTheirs = (exchange: Exchange, byLabel: ReadonlyMap<string | undefined, HeardFile>): Exchange => {
  const { result } = exchange;
  if (result === undefined) return exchange;
  const files = [...result.text.matchAll(/^See file (\S+)$/gm)].flatMap(([, label]) => byLabel.get(label) ?? []);
  return files.length === 0 ? exchange : { ...exchange, result: { ...result, files: [...result.files, ...files] } };
};
