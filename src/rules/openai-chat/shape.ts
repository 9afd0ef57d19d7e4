import { messagesOf, partsOf, toolsOf, type ChatMessage } from "./walk.ts";
import { isOpenaiChat, chatFacts } from "../openai/providers.ts";
import { emptyArray, missingParameter, invalidValue, wrongType } from "../openai/error-text.ts";
import type { ReportFinding, Rule } from "../rule.ts";
import { adviceRule, asArray, asObject, isObject, join, rejectedRule, type Check } from "../walk.ts";

/** Reports bodies, messages, calls, parts and tools of the wrong JSON type. */
const shape: Check = (body, report, target) => {
  if (!isObject(body)) return report("", wrongType("/body", "an object", body));
  const { model, messages, tools } = body;
  if (model !== undefined && typeof model !== "string") report("/model", wrongType("/model", "a string", model));
  if (messages === undefined) return report("", missingParameter("/messages"));
  if (!Array.isArray(messages)) return report("/messages", wrongType("/messages", "an array of objects", messages));
  const needsIds = !chatFacts(target).resultsByOrder;
  messages.forEach((message, index) => {
    const at = join("/messages", index);
    if (!isObject(message)) return report(at, wrongType(at, "an object", message));
    checkMessage(message, at, { report, needsIds });
  });
  const isStrict = isOpenaiChat(target);
  for (const message of messagesOf(body))
    for (const part of partsOf(message)) checkPart(part.value, part.at, { report, isStrict });
  if (tools === undefined || tools === null) return;
  if (!Array.isArray(tools)) return report("/tools", wrongType("/tools", "an array of objects", tools));
  tools.forEach((tool, index) => {
    const at = join("/tools", index);
    if (!isObject(tool)) report(at, wrongType(at, "an object", tool));
  });
  for (const tool of toolsOf(body)) checkTool(tool.value, tool.at, { report, isStrict });
};

/** The reporter, and whether a result must have a call id. */
type MessageChecks = { readonly report: ReportFinding; readonly needsIds: boolean };

const checkMessage = (message: Record<string, unknown>, at: string, { report, needsIds }: MessageChecks): void => {
  const { role, content, tool_calls: calls } = message;
  if (role === undefined) report(at, missingParameter(join(at, "role")));
  else if (typeof role !== "string") report(join(at, "role"), wrongType(join(at, "role"), "a string", role));
  if (content !== undefined && content !== null && typeof content !== "string" && !Array.isArray(content)) {
    const where = join(at, "content");
    report(where, wrongType(where, "one of a string or array of objects", content));
  }
  asArray(content).forEach((part, index) => {
    const where = join(at, "content", index);
    if (!isObject(part)) report(where, wrongType(where, "an object", part));
  });
  if (role === "function" && typeof message["name"] !== "string")
    report(at, "Missing parameter 'name': messages with role 'function' must have a 'name'.");
  if (role === "tool" && needsIds && typeof message["tool_call_id"] !== "string") {
    report(at, "Missing parameter 'tool_call_id': messages with role 'tool' must have a 'tool_call_id'.");
  }
  if (calls === undefined || calls === null || role !== "assistant") return;
  const where = join(at, "tool_calls");
  if (!Array.isArray(calls)) return report(where, wrongType(where, "an array of objects", calls));
  calls.forEach((call, index) => checkCall(call, join(where, index), report));
};

const checkCall = (call: unknown, at: string, report: ReportFinding): void => {
  if (!isObject(call)) return report(at, wrongType(at, "an object", call));
  if (typeof call["id"] !== "string") report(at, missingParameter(join(at, "id")));
  // Mistral and several local servers leave the type out; a custom call has no function.
  if (call["type"] === "custom") return;
  const declared = call["function"];
  if (!isObject(declared)) return report(at, missingParameter(join(at, "function")));
  if (typeof declared["name"] !== "string")
    report(join(at, "function"), missingParameter(join(at, "function", "name")));
};

/** The reporter, and whether the server is OpenAI's, which accepts no short forms. */
type PartChecks = { readonly report: ReportFinding; readonly isStrict: boolean };

const checkPart = (part: Record<string, unknown>, at: string, { report, isStrict }: PartChecks): void => {
  const { type } = part;
  if (type === undefined) return report(at, missingParameter(join(at, "type")));
  if (type === "text" && typeof part["text"] !== "string") {
    const where = join(at, "text");
    return report(
      at,
      part["text"] === undefined ? missingParameter(where) : wrongType(where, "a string", part["text"]),
    );
  }
  if (type !== "image_url") return;
  const image = part["image_url"];
  const where = join(at, "image_url");
  if (image === undefined || image === null) return report(at, missingParameter(where));
  if (typeof image === "string" && !isStrict) return;
  if (!isObject(image)) return report(where, wrongType(where, "an object", image));
  const { url } = image;
  if (url === null) report(where, wrongType(join(where, "url"), "a base64-encoded data URL", url));
  else if (typeof url !== "string") report(where, missingParameter(join(where, "url")));
};

const checkTool = (tool: Record<string, unknown>, at: string, { report, isStrict }: PartChecks): void => {
  if (tool["type"] === undefined && isStrict) return report(at, missingParameter(join(at, "type")));
  if (tool["type"] !== "function" && tool["type"] !== undefined) return;
  const declared = tool["function"];
  if (!isObject(declared)) return report(at, missingParameter(join(at, "function")));
  if (typeof declared["name"] !== "string")
    return report(join(at, "function"), missingParameter(join(at, "function", "name")));
  const { parameters } = declared;
  const where = join(at, "function", "parameters");
  if (parameters !== undefined && parameters !== null && !isObject(parameters)) {
    report(where, wrongType(where, "an object", parameters));
  }
};

/** The message for arguments that are not text; Mistral and local servers also accept an object. */
const argumentsText: Check = (body, report, target) => {
  const { errorStyle } = chatFacts(target);
  for (const message of messagesOf(body)) {
    if (message.role !== "assistant") continue;
    asArray(message.value["tool_calls"]).forEach((call, index) => {
      const declared = asObject(asObject(call)["function"]);
      const given = declared["arguments"];
      if (typeof given === "string" || typeof declared["name"] !== "string") return;
      if (isObject(given) && (errorStyle === "mistral" || errorStyle === "local")) return;
      const at = join(message.at, "tool_calls", index, "function", "arguments");
      report(at, given === undefined ? missingParameter(at) : wrongType(at, "a string", given));
    });
  }
};

const noMessages: Check = (body, report) => {
  const { messages } = asObject(body);
  if (Array.isArray(messages) && messages.length === 0) report("/messages", emptyArray("/messages"));
};

const roles = ["system", "assistant", "user", "function", "tool", "developer"];

const unknownRole: Check = (body, report) => {
  for (const { role, at } of messagesOf(body)) {
    if (role !== undefined && !roles.includes(role)) report(join(at, "role"), invalidValue(role, roles));
  }
};

/** Every part type that some vendor of the family documents. */
const knownParts: ReadonlySet<string> = new Set(
  (
    "text image_url input_audio file refusal audio video_url input_video audio_url video file_url " +
    "image_embeds audio_embeds document_url document reference thinking"
  ).split(" "),
);

/** True for a part type that some vendor of the family knows. Other rules cover the ones a provider refuses. */
export const isKnownPart = (type: string): boolean => knownParts.has(type);

const unknownPart: Check = (body, report) => {
  for (const message of messagesOf(body)) {
    for (const { type, at, value } of partsOf(message)) {
      if (value["type"] === undefined || (type !== undefined && isKnownPart(type))) continue;
      report(
        join(at, "type"),
        invalidValue(value["type"], ["text", "image_url", "input_audio", "refusal", "audio", "file"]),
      );
    }
  }
};

const needsContent: ReadonlySet<string> = new Set(["system", "developer", "user", "tool"]);

const missingContent: Check = (body, report) => {
  for (const { role, at, value } of messagesOf(body)) {
    if (!needsContent.has(role ?? "") || (value["content"] !== undefined && value["content"] !== null)) continue;
    report(at, "Invalid value for 'content': expected a string, got null.");
  }
};

const emptyContent: Check = (body, report, target) => {
  const { errorStyle } = chatFacts(target);
  if (!isOpenaiChat(target) && errorStyle !== "groq" && errorStyle !== "deepseek") return;
  for (const message of emptyContents(body)) {
    if (asArray(message.value["tool_calls"]).length === 0)
      report(join(message.at, "content"), emptyArray(join(message.at, "content")));
  }
};

const emptyContents = (body: unknown): readonly ChatMessage[] =>
  messagesOf(body).filter(({ value: { content } }) => Array.isArray(content) && content.length === 0);

/** An empty content list beside calls was recorded as accepted; it is not documented. */
const emptyContentBesideCalls: Check = (body, report) => {
  for (const { at, value } of emptyContents(body)) {
    if (asArray(value["tool_calls"]).length > 0)
      report(join(at, "content"), "An empty 'content' beside 'tool_calls' is best left out.");
  }
};

/** Reports an assistant message without content, calls or refusal. */
const emptyAssistant: Check = (body, report, target) => {
  const { errorStyle } = chatFacts(target);
  for (const message of messagesOf(body)) {
    if (message.role !== "assistant" || saysSomething(message)) continue;
    // An empty text counts as content on OpenAI; Kimi and Mistral count words.
    if (message.value["content"] === "" && errorStyle !== "kimi" && errorStyle !== "mistral") continue;
    report(message.at, emptyAssistantText(message, errorStyle));
  }
};

const saysSomething = ({ value }: ChatMessage): boolean =>
  asArray(value["tool_calls"]).length > 0 ||
  isObject(value["function_call"]) ||
  isObject(value["audio"]) ||
  typeof value["refusal"] === "string" ||
  asArray(value["content"]).length > 0 ||
  (typeof value["content"] === "string" && value["content"] !== "");

const emptyAssistantText = ({ index }: ChatMessage, errorStyle: string): string => {
  if (errorStyle === "kimi")
    return `Invalid request: the message at position ${index} with role 'assistant' must not be empty`;
  if (errorStyle === "mistral") return "Assistant message must have either content or tool_calls, but not both.";
  if (errorStyle === "local") return "Expected 'content' or 'tool_calls'";
  return "Invalid value for 'content': expected a string, got null.";
};

/** Kimi and GLM refuse empty text in any position. */
const emptyText: Check = (body, report, target) => {
  const { errorStyle } = chatFacts(target);
  if (errorStyle !== "kimi" && errorStyle !== "zai") return;
  for (const message of messagesOf(body)) {
    const { at, role, index, value } = message;
    if (value["content"] === "" && (role === "user" || role === "system")) {
      report(
        join(at, "content"),
        `Invalid request: the message at position ${index} with role '${role}' must not be empty`,
      );
    }
    for (const part of partsOf(message)) {
      if (part.type === "text" && part.value["text"] === "") {
        report(join(part.at, "text"), "Invalid request: text content is empty");
      }
    }
  }
};

/** Rules about JSON types, roles, part types and empty messages. */
export const chatShapeRules: readonly Rule<unknown>[] = [
  rejectedRule("openai-chat/shape", shape),
  rejectedRule("openai-chat/arguments-type", argumentsText),
  rejectedRule("openai-chat/no-messages", noMessages),
  rejectedRule("openai-chat/unknown-role", unknownRole),
  rejectedRule("openai-chat/unknown-part", unknownPart),
  rejectedRule("openai-chat/missing-content", missingContent),
  rejectedRule("openai-chat/empty-content", emptyContent),
  adviceRule("openai-chat/empty-content-beside-calls", emptyContentBesideCalls),
  rejectedRule("openai-chat/empty-assistant", emptyAssistant),
  rejectedRule("openai-chat/empty-text", emptyText),
];
