import type { Json } from "../family.ts";
import { asArray, asNumber, asObject, asText, isObject } from "../json.ts";
import type { SimModelRequest, RequestCall, RequestResult, RequestTurn } from "../model/types.ts";
import type { ChatSimRequest } from "./quirks.ts";
import { messagesOf, type SimChatMessage } from "./request.ts";

/**
 * Converts a Chat request to what the model receives. System messages are collected from any position; a failed result
 * looks like any other.
 */
export const parseRequest = (request: ChatSimRequest): SimModelRequest => {
  const messages = messagesOf(request);
  const maxOutput = asNumber(request.body["max_completion_tokens"]) ?? asNumber(request.body["max_tokens"]);
  const isInstruction = ({ role }: SimChatMessage): boolean => role === "system" || role === "developer";
  return {
    model: request.model,
    system: messages
      .filter(isInstruction)
      .map(({ text }) => text)
      .join("\n\n"),
    tools: declaredTools(request.body).map(({ name, description, parameters }) => ({
      name: asText(name),
      description: asText(description),
      parameters: parameters ?? {},
    })),
    turns: splitTurns(
      messages.filter((message) => !isInstruction(message)),
      request,
    ),
    serverTools: usesWebSearch(request) ? ["search"] : [],
    ...(maxOutput === undefined ? {} : { maxOutput }),
    mayThink: !isThinkingDisabled(request.body),
  };
};

/** True if the request turns reasoning off or hides it, in any vendor's parameter. */
const isThinkingDisabled = (body: Json): boolean => {
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

const declaredTools = (body: Json): readonly Json[] =>
  asArray(body["tools"])
    .map((tool) => asObject(asObject(tool)["function"]))
    .filter(({ name }) => typeof name === "string" && !name.startsWith("$"));

/** True if the request enables web search, in any vendor's parameter. */
const usesWebSearch = ({ body, model }: ChatSimRequest): boolean =>
  isObject(body["web_search_options"]) ||
  body["enable_search"] === true ||
  asArray(body["plugins"]).some((plugin) => asObject(plugin)["id"] === "web") ||
  asArray(body["tools"]).some((tool) => {
    const { type, function: called } = asObject(tool);
    return /web_search|browser_search/.test(asText(type)) || asObject(called)["name"] === "$web_search";
  }) ||
  /search-preview|compound|:online$/.test(model);

const splitTurns = (messages: readonly SimChatMessage[], request: ChatSimRequest): readonly RequestTurn[] => {
  const names = new Map<string, string>();
  const turns: RequestTurn[] = [];
  for (const message of messages) {
    const turn = turnOf(message, names, request);
    const joined = joinTurns(turns.at(-1), turn);
    if (joined === undefined) turns.push(turn);
    else turns.splice(-1, 1, joined);
    for (const { id, tool } of turn.by === "model" ? turn.calls : []) names.set(id, tool);
  }
  return turns;
};

const turnOf = (message: SimChatMessage, names: ReadonlyMap<string, string>, request: ChatSimRequest): RequestTurn => {
  const { role, text, calls } = message;
  const files = message.parts.flatMap(({ file }) => file ?? []);
  if (role === "assistant") return { by: "model", text, calls: calls.map(parseCall) };
  if (role !== "tool" && role !== "function") return { by: "user", text, files };
  const isIdLost = request.provider.quirks.losesListIds === true && Array.isArray(message.value["content"]);
  const id = isIdLost ? "" : asText(message.value["tool_call_id"] ?? message.value["name"]);
  const result: RequestResult = { id, tool: names.get(id) ?? "", text, isError: false, files };
  return { by: "tools", results: [result] };
};

const parseCall = (call: Json): RequestCall => {
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

/** Joins consecutive messages of one side into one turn. */
const joinTurns = (before: RequestTurn | undefined, turn: RequestTurn): RequestTurn | undefined => {
  if (before?.by === "user" && turn.by === "user")
    return { by: "user", text: joinText(before.text, turn.text), files: [...before.files, ...turn.files] };
  if (before?.by === "model" && turn.by === "model")
    return { by: "model", text: joinText(before.text, turn.text), calls: [...before.calls, ...turn.calls] };
  if (before?.by === "tools" && turn.by === "tools")
    return { by: "tools", results: [...before.results, ...turn.results] };
  return undefined;
};

const joinText = (before: string, text: string): string => [before, text].filter((words) => words !== "").join("\n\n");
