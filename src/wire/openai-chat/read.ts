import type { Origin } from "../../conversation/entry.ts";
import { chatFields } from "./fields.ts";
import { effortOf, readOpenaiSettings, readOpenaiTool } from "../openai/read-settings.ts";
import { contentOf, instructionText, toList, modelParts, OpenaiReader, outcomeOf, imageParts } from "../openai/read.ts";
import { idOf, numberOf, objectOf, stringOf } from "../reader.ts";
import type { DecodedRequest, ThinkingSetting } from "../wire.ts";

/** Reads a Chat Completions body, or just its `messages`, as a conversation. */
export const readOpenaiChat = (body: unknown, from: Origin): DecodedRequest => {
  const request = Array.isArray(body) ? { messages: body } : objectOf(body);
  const model = stringOf(request["model"]);
  const reader = new OpenaiReader({ ...from, model: model ?? from.model });
  reader.carryFields(request, chatFields);
  reader.noteUnreadFields(request, knownFields);
  const messages = toList(request["messages"]);
  const system = readMessages(reader, messages);
  const declared = [
    ...toList(request["tools"]).flatMap((tool, index) => readOpenaiTool(reader, tool, `/tools/${index}`)),
    ...toList(request["functions"]).flatMap((tool, index) => readOpenaiTool(reader, tool, `/functions/${index}`)),
  ];
  return reader.finish({
    model,
    system,
    tools: declared,
    settings: readOpenaiSettings(reader, request, {
      maxTokens: request["max_completion_tokens"] ?? request["max_tokens"],
      toolChoice: request["tool_choice"] ?? request["function_call"],
      thinking: thinkingOf(request),
    }),
  });
};

const knownFields = [
  "model",
  "messages",
  "tools",
  "functions",
  "tool_choice",
  "function_call",
  "max_tokens",
  "max_completion_tokens",
  "temperature",
  "stream",
  "stream_options",
  "reasoning_effort",
  "reasoning",
  "thinking",
  "enable_thinking",
  "thinking_budget",
  "prompt_cache_key",
];

/** Reads all messages; returns the system prompt they begin with. */
const readMessages = (reader: OpenaiReader, messages: readonly unknown[]): string => {
  const system: string[] = [];
  let isHead = true;
  messages.forEach((value, index) => {
    const message = typeof value === "string" ? { role: "user", content: value } : objectOf(value);
    const at = `/messages/${index}`;
    const isInstruction = message["role"] === "system" || message["role"] === "developer";
    isHead &&= isInstruction;
    if (isHead) system.push(instructionText(reader, message["content"], `${at}/content`));
    else if (isInstruction) reader.notice(instructionText(reader, message["content"], `${at}/content`));
    else readMessage(reader, message, at);
    reader.noteUnreadFields(message, roleOf(message) === "tool" ? [...messageFields, "name"] : messageFields, at);
  });
  return system.filter((text) => text.trim() !== "").join("\n\n");
};

const messageFields = [
  "role",
  "content",
  "refusal",
  "audio",
  "images",
  "tool_calls",
  "tool_call_id",
  "function_call",
  "reasoning",
  "reasoning_content",
  "reasoning_details",
];

const readMessage = (reader: OpenaiReader, message: Record<string, unknown>, at: string): void => {
  switch (roleOf(message)) {
    case "assistant":
      return reader.model(modelParts(reader, message, at));
    case "tool":
      return reader.result(
        idOf(message["tool_call_id"]),
        outcomeOf(reader, message["content"], `${at}/content`),
        stringOf(message["name"]),
      );
    case "user":
      return reader.user([
        ...contentOf(reader, message["content"], `${at}/content`),
        ...imageParts(reader, message["images"], `${at}/images`),
      ]);
    default:
      reader.noteUnknownPart(`A message with the role ${JSON.stringify(message["role"])}`, at);
  }
};

/** Returns the role of a message; a missing one is inferred from its fields. Results are recognized under any role. */
const roleOf = ({ role, tool_call_id, tool_calls, content }: Record<string, unknown>): unknown => {
  if (
    role === "function" ||
    (role !== "assistant" && (typeof tool_call_id === "string" || typeof tool_call_id === "number"))
  )
    return "tool";
  if (role !== undefined && role !== null) return role;
  if (Array.isArray(tool_calls)) return "assistant";
  return content === undefined || content === null ? role : "user";
};

const thinkingOf = (request: Record<string, unknown>): ThinkingSetting | undefined => {
  const reasoning = objectOf(request["reasoning"]);
  const { type } = objectOf(request["thinking"]);
  const effort = effortOf(request["reasoning_effort"]) ?? effortOf(reasoning["effort"]);
  if (effort !== undefined) return { effort };
  if (type === "disabled" || request["enable_thinking"] === false) return { effort: "none" };
  const budget = numberOf(request["thinking_budget"]) ?? numberOf(reasoning["max_tokens"]);
  const isOn = type === "enabled" || request["enable_thinking"] === true || reasoning["enabled"] === true;
  if (!isOn && reasoning["max_tokens"] === undefined) return undefined;
  return budget === undefined ? { effort: "medium" } : { effort: "medium", budget };
};
