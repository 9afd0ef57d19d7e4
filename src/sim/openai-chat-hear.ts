import type { Json } from "./family.ts";
import { asArray, asNumber, asObject, asText, isObject } from "./json.ts";
import type { Heard, HeardCall, HeardResult, HeardTurn } from "./model.ts";
import type { ChatAsk } from "./openai-chat-quirks.ts";
import { messagesOf, type ChatMessage } from "./openai-chat-request.ts";

/** What the model hears. Instructions are gathered from wherever they stand; a failed result looks like any other. */
export const hear = (ask: ChatAsk): Heard => {
  const messages = messagesOf(ask);
  const maxOutput = asNumber(ask.body["max_completion_tokens"]) ?? asNumber(ask.body["max_tokens"]);
  const isInstruction = ({ role }: ChatMessage): boolean => role === "system" || role === "developer";
  return {
    model: ask.model,
    system: messages
      .filter(isInstruction)
      .map(({ text }) => text)
      .join("\n\n"),
    tools: declared(ask.body).map(({ name, description, parameters }) => ({
      name: asText(name),
      description: asText(description),
      parameters: parameters ?? {},
    })),
    turns: turnsOf(
      messages.filter((message) => !isInstruction(message)),
      ask,
    ),
    serverTools: searches(ask) ? ["search"] : [],
    ...(maxOutput === undefined ? {} : { maxOutput }),
    thinks: !isToldNotToThink(ask.body),
  };
};

/** Each vendor has its own way to switch reasoning off, or to hide it. */
const isToldNotToThink = (body: Json): boolean => {
  const { enabled, effort, exclude } = asObject(body["reasoning"]);
  return (
    asObject(body["thinking"])["type"] === "disabled" ||
    body["enable_thinking"] === false ||
    body["include_reasoning"] === false ||
    body["reasoning_format"] === "hidden" ||
    body["reasoning_effort"] === "none" ||
    enabled === false ||
    effort === "none" ||
    exclude === true
  );
};

const declared = (body: Json): readonly Json[] =>
  asArray(body["tools"])
    .map((tool) => asObject(asObject(tool)["function"]))
    .filter(({ name }) => typeof name === "string" && !name.startsWith("$"));

/** Each vendor has its own way to let the server search the web. */
const searches = ({ body, model }: ChatAsk): boolean =>
  isObject(body["web_search_options"]) ||
  body["enable_search"] === true ||
  asArray(body["plugins"]).some((plugin) => asObject(plugin)["id"] === "web") ||
  asArray(body["tools"]).some((tool) => {
    const { type, function: called } = asObject(tool);
    return /web_search|browser_search/.test(asText(type)) || asObject(called)["name"] === "$web_search";
  }) ||
  /search-preview|compound|:online$/.test(model);

const turnsOf = (messages: readonly ChatMessage[], ask: ChatAsk): readonly HeardTurn[] => {
  const names = new Map<string, string>();
  const turns: HeardTurn[] = [];
  for (const message of messages) {
    const turn = turnOf(message, names, ask);
    const joined = join(turns.at(-1), turn);
    if (joined === undefined) turns.push(turn);
    else turns.splice(-1, 1, joined);
    for (const { id, tool } of turn.by === "model" ? turn.calls : []) names.set(id, tool);
  }
  return turns;
};

const turnOf = (message: ChatMessage, names: ReadonlyMap<string, string>, ask: ChatAsk): HeardTurn => {
  const { role, text, calls } = message;
  const files = message.parts.flatMap(({ file }) => file ?? []);
  if (role === "assistant") return { by: "model", text, calls: calls.map(heardCall) };
  if (role !== "tool" && role !== "function") return { by: "user", text, files };
  const isIdLost = ask.provider.quirks.losesListIds === true && Array.isArray(message.value["content"]);
  const id = isIdLost ? "" : asText(message.value["tool_call_id"] ?? message.value["name"]);
  const result: HeardResult = { id, tool: names.get(id) ?? "", text, isError: false, files };
  return { by: "tools", results: [result] };
};

const heardCall = (call: Json): HeardCall => {
  const { name, arguments: given } = asObject(call["function"]);
  return { id: asText(call["id"]), tool: asText(name), input: inputOf(given) };
};

const inputOf = (given: unknown): unknown => {
  if (typeof given !== "string") return given ?? {};
  try {
    return JSON.parse(given);
  } catch {
    return given;
  }
};

/** Two messages of one side in a row are one turn. */
const join = (before: HeardTurn | undefined, turn: HeardTurn): HeardTurn | undefined => {
  if (before?.by === "user" && turn.by === "user")
    return { by: "user", text: joinText(before.text, turn.text), files: [...before.files, ...turn.files] };
  if (before?.by === "model" && turn.by === "model")
    return { by: "model", text: joinText(before.text, turn.text), calls: [...before.calls, ...turn.calls] };
  if (before?.by === "tools" && turn.by === "tools")
    return { by: "tools", results: [...before.results, ...turn.results] };
  return undefined;
};

const joinText = (before: string, text: string): string => [before, text].filter((words) => words !== "").join("\n\n");
