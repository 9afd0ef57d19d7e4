import type { Origin, ToolDeclaration } from "../../conversation/entry.ts";
import type { NewPart } from "../../conversation/ledger.ts";
import type { Content, Media, Outcome, Text, UserPart } from "../../conversation/parts.ts";
import { anthropicFields } from "./fields.ts";
import type { FieldTable } from "../provider-fields.ts";
import { arrayOf, idOf, MessageReader, numberOf, objectOf, RequestReader, stringOf } from "../reader.ts";
import type { DecodedRequest, RequestSettings, ToolChoice } from "../wire.ts";

/** Reads an Anthropic Messages body, or just its `messages`, as a conversation. */
export const readAnthropic = (body: unknown, from: Origin): DecodedRequest => {
  const request = Array.isArray(body) ? { messages: body } : objectOf(body);
  const model = stringOf(request["model"]);
  const reader = new RequestReader({ ...from, model: model ?? from.model });
  reader.carryFields(request, anthropicFields);
  if (!isAdaptive(request)) reader.carryFields(request, effortAlone);
  reader.noteUnreadFields(request, knownFields);
  reader.noteUnreadFields(objectOf(request["thinking"]), ["type", "budget_tokens"], "/thinking");
  reader.noteUnreadFields(objectOf(request["output_config"]), ["effort"], "/output_config");
  arrayOf(request["messages"]).forEach((message, index) => readMessage(reader, message, `/messages/${index}`));
  return reader.finish({
    model,
    system: systemText(reader, request["system"]),
    tools: arrayOf(request["tools"]).flatMap((tool, index) => readTool(reader, tool, `/tools/${index}`)),
    settings: settingsOf(request),
  });
};

/** Without adaptive thinking, `effort` is no thinking setting and exists only in this API. */
const effortAlone: FieldTable = {
  carried: { "output_config/effort": "string" },
  sampling: {},
  conditional: {},
  settings: {},
};

const isAdaptive = (request: Record<string, unknown>): boolean => {
  const { type } = objectOf(request["thinking"]);
  return type === "adaptive" || type === "between_tools";
};

const knownFields = [
  "model",
  "messages",
  "system",
  "tools",
  "tool_choice",
  "max_tokens",
  "temperature",
  "stream",
  "thinking",
  "output_config",
  "cache_control",
];

const readMessage = (reader: RequestReader, message: unknown, at: string): void => {
  const { role, content } = objectOf(message);
  const blocks = (Array.isArray(content) ? content : [content]).map(blockOf);
  if (role === "system" || role === "developer") {
    const texts = blocks.flatMap((block, index) => {
      reader.noteCacheMarker(block["cache_control"], `${at}/content/${index}/cache_control`);
      return untypedPart(reader, block, `${at}/content/${index}`);
    });
    reader.notice(texts.map(({ text }) => text).join("\n"));
    return;
  }
  if (role !== "assistant" && role !== "user") reader.noteUnknownPart(`The role ${JSON.stringify(role)}`, `${at}/role`);
  readBlocks(reader, { blocks, byModel: role === "assistant", at: Array.isArray(content) ? `${at}/content` : at });
};

const blockOf = (value: unknown): Record<string, unknown> =>
  typeof value === "string" ? { type: "text", text: value } : objectOf(value);

const readBlocks = (
  reader: RequestReader,
  { blocks, byModel, at }: { blocks: readonly Record<string, unknown>[]; byModel: boolean; at: string },
): void => {
  const message = new MessageReader(reader);
  blocks.forEach((block, index) => {
    const here = `${at}/${index}`;
    reader.noteCacheMarker(block["cache_control"], `${here}/cache_control`);
    reader.noteUnreadFields(block, blockFields.get(block["type"]) ?? Object.keys(block), here);
    if (block["type"] === "tool_result") {
      message.flush();
      reader.result(idOf(block["tool_use_id"]), outcomeOf(reader, block, here));
    } else if (byModel || isModelBlock(block)) message.model(modelPart(reader, block, here));
    else message.user(userPart(reader, block, here));
  });
  message.flush();
};

/** The fields read of each block type; a block of another type is noted as a whole. */
const blockFields: ReadonlyMap<unknown, readonly string[]> = new Map([
  ["text", ["type", "text", "cache_control"]],
  ["thinking", ["type", "thinking", "signature"]],
  ["redacted_thinking", ["type", "data"]],
  ["tool_use", ["type", "id", "name", "input", "cache_control"]],
  ["tool_result", ["type", "tool_use_id", "content", "is_error", "cache_control"]],
  ["image", ["type", "source", "cache_control"]],
  ["document", ["type", "source", "title", "cache_control"]],
  ["search_result", ["type", "content", "cache_control"]],
]);

const isModelBlock = ({ type }: Record<string, unknown>): boolean =>
  type === "tool_use" || type === "thinking" || type === "redacted_thinking";

const outcomeOf = (reader: RequestReader, block: Record<string, unknown>, at: string): Outcome => {
  const { content, is_error } = block;
  const blocks = content === undefined || content === null ? [] : Array.isArray(content) ? content : [content];
  const parts: readonly Content[] = blocks.map(blockOf).flatMap((block, index) => {
    const here = `${at}/content/${index}`;
    reader.noteCacheMarker(block["cache_control"], `${here}/cache_control`);
    reader.noteUnreadFields(block, blockFields.get(block["type"]) ?? Object.keys(block), here);
    return userPart(reader, block, here);
  });
  return { status: is_error === true ? "error" : "complete", content: parts };
};

const userPart = (reader: RequestReader, block: Record<string, unknown>, at: string): readonly UserPart[] => {
  switch (block["type"]) {
    case "text":
      return [{ type: "text", text: stringOf(block["text"]) ?? "" }];
    case "image":
    case "document":
      return mediaPart(reader, block, at);
    case "search_result":
      reader.noteShownAsText("search result", at);
      return [
        {
          type: "text",
          text: arrayOf(block["content"])
            .map((part) => stringOf(objectOf(part)["text"]) ?? "")
            .join("\n"),
        },
      ];
    default:
      return untypedPart(reader, block, at);
  }
};

/** Reads a block of unknown type: text is kept, anything else is noted. */
const untypedPart = (reader: RequestReader, block: Record<string, unknown>, at: string): readonly Text[] => {
  const text = stringOf(block["text"]);
  if (text !== undefined) return [{ type: "text", text }];
  reader.noteUnknownPart(`A block of type ${JSON.stringify(block["type"])}`, at);
  return [];
};

const mediaPart = (
  reader: RequestReader,
  block: Record<string, unknown>,
  at: string,
): readonly (UserPart & (Media | { type: "text" }))[] => {
  const source = objectOf(block["source"]);
  const kind = block["type"] === "image" ? "image" : "document";
  const name = stringOf(block["title"]);
  const facts = name === undefined ? ({ kind } as const) : ({ kind, name } as const);
  const mimeType = stringOf(source["media_type"]) ?? (kind === "image" ? "image/png" : "application/pdf");
  switch (source["type"]) {
    case "base64":
      return [reader.mediaFromBase64(stringOf(source["data"]) ?? "", { ...facts, mimeType })];
    case "url":
      return [reader.mediaFromUri(stringOf(source["url"]) ?? "", facts)];
    case "file":
      return [reader.mediaFromUri(`anthropic-file:${stringOf(source["file_id"]) ?? ""}`, { ...facts, mimeType })];
    case "text":
      reader.noteShownAsText("document", at);
      return [{ type: "text", text: stringOf(source["data"]) ?? "" }];
    case "content":
      reader.noteShownAsText("document", at);
      return arrayOf(source["content"]).flatMap((part, index) =>
        userPart(reader, objectOf(part), `${at}/source/content/${index}`),
      );
    default:
      reader.noteUnknownPart(`A ${kind} without a readable source`, at);
      return [];
  }
};

const modelPart = (reader: RequestReader, block: Record<string, unknown>, at: string): readonly NewPart[] => {
  switch (block["type"]) {
    case "text":
      return [{ type: "text", text: stringOf(block["text"]) ?? "" }];
    case "thinking": {
      const signature = stringOf(block["signature"]);
      const text = stringOf(block["thinking"]) ?? "";
      return [
        signature === undefined || signature === ""
          ? { type: "thinking", text }
          : { type: "thinking", text, seal: { signature } },
      ];
    }
    case "redacted_thinking": {
      const encrypted = stringOf(block["data"]) ?? "";
      // Data that is not base64 is no seal.
      return /^[\w+/=-]+$/.test(encrypted)
        ? [{ type: "thinking", text: "", seal: { encrypted } }]
        : untypedPart(reader, block, at);
    }
    case "tool_use":
      return [
        {
          type: "call",
          tool: stringOf(block["name"]) ?? "",
          input: { value: block["input"] },
          seal: { id: idOf(block["id"]) },
        },
      ];
    case "image":
    case "document":
      return mediaPart(reader, block, at);
    default:
      return untypedPart(reader, block, at);
  }
};

const systemText = (reader: RequestReader, system: unknown): string | undefined =>
  typeof system === "string"
    ? system
    : arrayOf(system)
        .map((value, index) => {
          const block = blockOf(value);
          reader.noteCacheMarker(block["cache_control"], `/system/${index}/cache_control`);
          reader.noteUnreadFields(block, ["type", "text", "cache_control"], `/system/${index}`);
          return stringOf(block["text"]) ?? "";
        })
        .filter((text) => text.trim() !== "")
        .join("\n\n");

const readTool = (reader: RequestReader, value: unknown, at: string): readonly ToolDeclaration[] => {
  const tool = objectOf(value);
  const name = stringOf(tool["name"]);
  if (name === undefined || (tool["type"] !== undefined && tool["type"] !== "custom")) {
    const isServers = name !== undefined && /_\d{8}$|^mcp_toolset$/.test(String(tool["type"]));
    if (isServers) reader.carryTool("tools", tool, at);
    else reader.noteUnknownPart(`A tool of type ${JSON.stringify(tool["type"])}`, at);
    return [];
  }
  reader.noteCacheMarker(tool["cache_control"], `${at}/cache_control`);
  reader.noteUnreadFields(tool, ["type", "name", "description", "input_schema", "cache_control", ...toolFields], at);
  const description = stringOf(tool["description"]);
  return [
    {
      name,
      ...(description === undefined ? {} : { description }),
      parameters: objectOf(tool["input_schema"]) as ToolDeclaration["parameters"] & object,
      ...reader.toolFields(tool, toolFields, at),
    },
  ];
};

const toolFields = ["strict", "defer_loading", "eager_input_streaming", "allowed_callers", "input_examples"];

const settingsOf = (request: Record<string, unknown>): RequestSettings => {
  const maxTokens = numberOf(request["max_tokens"]);
  const temperature = numberOf(request["temperature"]);
  const choice = choiceOf(objectOf(request["tool_choice"]));
  const thinkingSetting = thinkingOf(objectOf(request["thinking"]), objectOf(request["output_config"]));
  return {
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(typeof request["stream"] === "boolean" ? { stream: request["stream"] } : {}),
    ...(choice === undefined ? {} : { toolChoice: choice }),
    ...(thinkingSetting === undefined ? {} : { thinking: thinkingSetting }),
  };
};

const choiceOf = (choice: Record<string, unknown>): ToolChoice | undefined => {
  switch (choice["type"]) {
    case "auto":
    case "none":
      return choice["type"];
    case "any":
      return "required";
    case "tool":
      return { tool: stringOf(choice["name"]) ?? "" };
    default:
      return undefined;
  }
};

const thinkingOf = (
  thinking: Record<string, unknown>,
  output: Record<string, unknown>,
): RequestSettings["thinking"] => {
  const effort = output["effort"];
  switch (thinking["type"]) {
    case "disabled":
      return { effort: "none" };
    case "enabled":
      return { effort: "medium", budget: numberOf(thinking["budget_tokens"]) ?? 1024 };
    case "adaptive":
    case "between_tools":
      return { effort: effort === "low" || effort === "medium" ? effort : "high" };
    default:
      return undefined;
  }
};
