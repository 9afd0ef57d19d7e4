import { isObject } from "../../conversation/json.ts";

/** The kinds of content a request has, in the order they are shown. */
export const compositionGroups = [
  "system",
  "context",
  "skills",
  "tools",
  "summary",
  "notices",
  "user",
  "answers",
  "thinking",
  "calls",
  "results",
  "media",
  "other",
] as const;

export type CompositionGroup = (typeof compositionGroups)[number];

/** A part of a message of any API. */
export type MessageBlock = { readonly group: CompositionGroup; readonly name: string; readonly value: unknown };

/** Splits a message of any API into texts, thinking, calls, results and media. */
export const splitMessage = (message: unknown, toolOfId: ReadonlyMap<string, string>): readonly MessageBlock[] => {
  if (!isObject(message)) return [];
  const { role, content, parts, tool_calls: calls } = message;
  const text = groupOfRole(role);
  const nameOf = (block: unknown): string => nameOfBlock(block, toolOfId);
  if (role === "tool") return [{ group: "results", name: nameOf(message), value: content }];
  if (role === undefined) {
    const group = groupOfBlock(message) ?? "other";
    return [{ group, name: nameOf(message), value: message }];
  }
  const list = Array.isArray(parts) ? parts : Array.isArray(content) ? content : content === undefined ? [] : [content];
  const thinking = message["reasoning_content"] ?? message["reasoning"] ?? message["reasoning_details"];
  return [
    ...(thinking === undefined ? [] : [{ group: "thinking" as const, name: "Thinking", value: thinking }]),
    ...list
      .filter((block) => block !== null && block !== "")
      .map((block: unknown): MessageBlock => {
        const group = groupOfBlock(block) ?? text;
        return { group, name: group === "calls" || group === "results" ? nameOf(block) : names[group], value: block };
      }),
    ...(Array.isArray(calls)
      ? calls.map((call: unknown): MessageBlock => ({ group: "calls", name: nameOf(call), value: call }))
      : []),
  ];
};

const names: Readonly<Record<CompositionGroup, string>> = {
  system: "System prompt",
  context: "Context files",
  skills: "Skills",
  tools: "Tools",
  summary: "Summary",
  notices: "Notices",
  user: "Messages",
  answers: "Answers",
  thinking: "Thinking",
  calls: "Calls",
  results: "Results",
  media: "Media",
  other: "Other",
};

const groupOfRole = (role: unknown): CompositionGroup => {
  if (role === "assistant" || role === "model") return "answers";
  return role === "system" || role === "developer" ? "system" : "user";
};

/** By `type` where an API has one, by the name of the only field where it has none (Gemini, Bedrock). */
const groupOfBlock = (block: unknown): CompositionGroup | undefined => {
  if (!isObject(block)) return undefined;
  const { type } = block;
  if (block["thought"] === true || "reasoningContent" in block) return "thinking";
  if (typeof type === "string") {
    if (/thinking|reasoning/.test(type)) return "thinking";
    if (/_result$|_output$/.test(type)) return "results";
    if (/^tool_use$|_call$|_tool_use$/.test(type)) return "calls";
    if (/image|audio|video|document|^file$|_file$/.test(type)) return "media";
    return undefined;
  }
  if ("functionCall" in block || "toolUse" in block) return "calls";
  if ("functionResponse" in block || "toolResult" in block) return "results";
  if (["inlineData", "fileData", "image", "document", "video", "audio"].some((field) => field in block)) return "media";
  return "cachePoint" in block ? "other" : undefined;
};

const nameOfBlock = (block: unknown, toolOfId: ReadonlyMap<string, string>): string => {
  if (!isObject(block)) return "Other";
  for (const field of ["toolUse", "functionCall", "functionResponse", "function"]) {
    const inner = block[field];
    if (isObject(inner) && typeof inner["name"] === "string") return inner["name"];
  }
  if (typeof block["name"] === "string") return block["name"];
  const result = isObject(block["toolResult"]) ? block["toolResult"] : block;
  const id = result["tool_use_id"] ?? result["tool_call_id"] ?? result["call_id"] ?? result["toolUseId"];
  const tool = typeof id === "string" ? toolOfId.get(id) : undefined;
  return tool ?? (typeof block["type"] === "string" ? block["type"].replaceAll("_", " ") : "Other");
};
