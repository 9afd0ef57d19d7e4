import type { Origin, ToolDeclaration } from "../../conversation/entry.ts";
import type { JsonValue } from "../../conversation/json.ts";
import type { NewPart } from "../../conversation/ledger.ts";
import type { Content, MediaKind, Outcome, UserPart } from "../../conversation/parts.ts";
import { bedrockFields } from "./fields.ts";
import { mimeTypeOf } from "./formats.ts";
import { arrayOf, idOf, MessageReader, numberOf, objectOf, RequestReader, stringOf } from "../reader.ts";
import type { DecodedRequest, RequestSettings, ToolChoice } from "../wire.ts";

/** Reads a Bedrock Converse body, or just its `messages`, as a conversation. */
export const readBedrock = (body: unknown, from: Origin): DecodedRequest => {
  const request = Array.isArray(body) ? { messages: body } : objectOf(body);
  const model = stringOf(request["modelId"]);
  const reader = new RequestReader({ ...from, model: model ?? from.model });
  reader.carryFields(request, bedrockFields);
  reader.noteUnreadFields(request, knownFields);
  const messages = arrayOf(request["messages"]);
  const start = messages.findIndex((message) => objectOf(message)["role"] !== "system");
  const leading = messages.slice(0, start === -1 ? messages.length : start);
  messages.slice(leading.length).forEach((message, index) => {
    readMessage(reader, objectOf(message), `/messages/${leading.length + index}`);
  });
  const { tools, toolChoice } = objectOf(request["toolConfig"]);
  return reader.finish({
    model,
    system: systemText(reader, [
      ...blocksOf(request["system"]),
      ...leading.flatMap((message) => blocksOf(objectOf(message)["content"])),
    ]),
    tools: arrayOf(tools).flatMap((tool, index) => readTool(reader, objectOf(tool), `/toolConfig/tools/${index}`)),
    settings: settingsOf(reader, request, toolChoice),
  });
};

const knownFields = ["modelId", "messages", "system", "toolConfig", "inferenceConfig", "additionalModelRequestFields"];

/** Returns the blocks of a message or result given as a list, as a single block or as plain text. */
const blocksOf = (content: unknown): readonly Record<string, unknown>[] => {
  if (content === undefined || content === null) return [];
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [content];
  return blocks.map((block) => (typeof block === "string" ? { text: block } : objectOf(block)));
};

/** Returns the members of a block. There should be one, but two occur, and members set to null. */
const membersOf = (block: Record<string, unknown>): readonly (readonly [kind: string, value: unknown])[] =>
  Object.entries(block).filter(([, value]) => value !== undefined && value !== null);

const readMessage = (reader: RequestReader, message: Record<string, unknown>, at: string): void => {
  const { role } = message;
  const blocks = blocksOf(message["content"]);
  if (role === "system") reader.notice(systemText(reader, blocks));
  else if (role === "assistant" || role === "model") readBlocks(reader, { blocks, at, side: "model" });
  else if (role === "user" || role === "tool" || role === undefined) readBlocks(reader, { blocks, at, side: "user" });
  else reader.noteUnknownPart(`A message with the role ${JSON.stringify(role)}`, at);
};

type MessageBlocks = {
  readonly blocks: readonly Record<string, unknown>[];
  readonly at: string;
  readonly side: "user" | "model";
};

/**
 * Reads blocks in order. Calls and reasoning belong to the model and results are results, whatever role the message has;
 * the rest belongs to the message's role.
 */
const readBlocks = (reader: RequestReader, { blocks, at, side }: MessageBlocks): void => {
  const message = new MessageReader(reader);
  blocks.forEach((block, index) => {
    for (const [kind, value] of membersOf(block)) {
      const here = `${at}/content/${index}/${kind}`;
      if (kind === "toolResult") {
        message.flush();
        readResult(reader, objectOf(value), here);
      } else if (kind === "toolUse" || kind === "reasoningContent" || kind === "citationsContent")
        message.model(modelPart(reader, kind, objectOf(value), here));
      else if (side === "user") message.user(anyPart(reader, kind, value, here));
      else message.model(anyPart(reader, kind, value, here));
    }
  });
  message.flush();
};

const modelPart = (
  reader: RequestReader,
  kind: "toolUse" | "reasoningContent" | "citationsContent",
  value: Record<string, unknown>,
  at: string,
): readonly NewPart[] => {
  switch (kind) {
    case "toolUse":
      reader.noteUnreadFields(value, ["toolUseId", "name", "input"], at);
      return [
        {
          type: "call",
          tool: stringOf(value["name"]) ?? "",
          input: { value: value["input"] },
          seal: { id: idOf(value["toolUseId"]) },
        },
      ];
    case "reasoningContent":
      return reasoningPart(reader, value, at);
    case "citationsContent":
      reader.noteUnreadFields(value, ["content"], at);
      return blocksOf(value["content"]).flatMap(({ text }) =>
        typeof text === "string" ? [{ type: "text", text } as const] : [],
      );
  }
};

const reasoningPart = (reader: RequestReader, value: Record<string, unknown>, at: string): readonly NewPart[] => {
  const encrypted = stringOf(value["redactedContent"]);
  if (encrypted !== undefined) return [{ type: "thinking", text: "", seal: { encrypted } }];
  const reasoningText = objectOf(value["reasoningText"] ?? value);
  const text = stringOf(value["reasoningText"]) ?? stringOf(reasoningText["text"]);
  const signature = stringOf(reasoningText["signature"]) ?? "";
  if (text === undefined && signature === "") {
    reader.noteUnknownPart("Reasoning without words or a seal", at);
    return [];
  }
  return [{ type: "thinking", text: text ?? "", ...(signature === "" ? {} : { seal: { signature } }) }];
};

const readResult = (reader: RequestReader, result: Record<string, unknown>, at: string): void => {
  reader.noteUnreadFields(result, ["toolUseId", "content", "status"], at);
  const content = blocksOf(result["content"]).flatMap((block, index) =>
    membersOf(block).flatMap(([kind, value]): readonly Content[] =>
      kind === "json"
        ? [{ type: "structured", value: value as JsonValue }]
        : anyPart(reader, kind, value, `${at}/content/${index}/${kind}`),
    ),
  );
  const outcome: Outcome = { status: result["status"] === "error" ? "error" : "complete", content };
  reader.result(idOf(result["toolUseId"]), outcome);
};

const anyPart = (reader: RequestReader, kind: string, value: unknown, at: string): readonly UserPart[] => {
  switch (kind) {
    case "text":
      if (typeof value === "string") return [{ type: "text", text: value }];
      reader.noteUnknownPart("A text that is none", at);
      return [];
    case "image":
    case "document":
    case "video":
    case "audio":
      return mediaPart(reader, kind, objectOf(value), at);
    case "guardContent":
      return guardContentPart(reader, objectOf(value), at);
    case "searchResult":
      reader.noteShownAsText("search result", at);
      return [{ type: "text", text: searchResultText(objectOf(value)) }];
    case "cachePoint":
      reader.noteCacheMarker(value, at);
      return [];
    default:
      reader.noteUnknownPart(`A block of the kind ${JSON.stringify(kind)}`, at);
      return [];
  }
};

const mediaPart = (
  reader: RequestReader,
  kind: MediaKind,
  block: Record<string, unknown>,
  at: string,
): readonly UserPart[] => {
  reader.noteUnreadFields(block, ["format", "name", "source"], at);
  const { bytes, s3Location, text, content } = objectOf(block["source"]);
  if (typeof text === "string" || content !== undefined) reader.noteShownAsText(kind, at);
  if (typeof text === "string") return [{ type: "text", text }];
  if (content !== undefined)
    return blocksOf(content).flatMap((part) =>
      typeof part["text"] === "string" ? [{ type: "text", text: part["text"] }] : [],
    );
  const facts = { kind, mimeType: mimeTypeOf(kind, stringOf(block["format"])) };
  const uri = stringOf(objectOf(s3Location)["uri"]);
  if (uri === undefined && typeof bytes !== "string") {
    reader.noteUnknownPart(`A ${kind} without a readable source`, at);
    return [];
  }
  const media = uri === undefined ? reader.mediaFromBase64(bytes as string, facts) : reader.mediaFromUri(uri, facts);
  const name = stringOf(block["name"]);
  return [name === undefined || name.replace(/ \(\d+\)$/, "") === media.id ? media : { ...media, name }];
};

const guardContentPart = (reader: RequestReader, guarded: Record<string, unknown>, at: string): readonly UserPart[] => {
  const text = stringOf(objectOf(guarded["text"])["text"]);
  reader.noteUnreadFields(objectOf(guarded["text"]), ["text"], `${at}/text`);
  if (text !== undefined) return [{ type: "text", text }];
  return mediaPart(reader, "image", objectOf(guarded["image"]), at);
};

const searchResultText = ({ title, source, content }: Record<string, unknown>): string =>
  [title, source, ...blocksOf(content).map((block) => block["text"])]
    .filter((text) => typeof text === "string")
    .join("\n");

const systemText = (reader: RequestReader, blocks: readonly Record<string, unknown>[]): string => {
  blocks.forEach((block, index) => reader.noteCacheMarker(block["cachePoint"], `/system/${index}/cachePoint`));
  return blocks
    .map(
      (block) => stringOf(block["text"]) ?? stringOf(objectOf(objectOf(block["guardContent"])["text"])["text"]) ?? "",
    )
    .filter((text) => text.trim() !== "")
    .join("\n\n");
};

const readTool = (reader: RequestReader, tool: Record<string, unknown>, at: string): readonly ToolDeclaration[] => {
  if (tool["cachePoint"] !== undefined) {
    reader.noteCacheMarker(tool["cachePoint"], `${at}/cachePoint`);
    return [];
  }
  const spec = objectOf(tool["toolSpec"]);
  const name = stringOf(spec["name"]);
  if (name === undefined) {
    const isServers = typeof objectOf(tool["systemTool"])["name"] === "string" && Object.keys(tool).length === 1;
    if (isServers) reader.carryTool("toolConfig/tools", tool, at);
    else reader.noteUnknownPart(`A tool of the kind ${JSON.stringify(Object.keys(tool)[0] ?? "nothing")}`, at);
    return [];
  }
  reader.noteUnreadFields(spec, ["name", "description", "inputSchema", "strict"], `${at}/toolSpec`);
  const description = stringOf(spec["description"]);
  return [
    {
      name,
      ...(description === undefined ? {} : { description }),
      parameters: objectOf(objectOf(spec["inputSchema"])["json"]) as ToolDeclaration["parameters"] & object,
      ...reader.toolFields(spec, ["strict"], `${at}/toolSpec`),
    },
  ];
};

const settingsOf = (reader: RequestReader, request: Record<string, unknown>, choice: unknown): RequestSettings => {
  const inference = objectOf(request["inferenceConfig"]);
  const additional = objectOf(request["additionalModelRequestFields"]);
  reader.noteUnreadFields(inference, ["maxTokens", "temperature"], "/inferenceConfig");
  reader.noteUnreadFields(additional, thinkingFields, "/additionalModelRequestFields");
  const maxTokens = numberOf(inference["maxTokens"]);
  const temperature = numberOf(inference["temperature"]);
  const toolChoice = choiceOf(objectOf(choice));
  const thinking = thinkingOf(additional);
  return {
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(toolChoice === undefined ? {} : { toolChoice }),
    ...(thinking === undefined ? {} : { thinking }),
  };
};

const choiceOf = (choice: Record<string, unknown>): ToolChoice | undefined => {
  if (choice["auto"] !== undefined) return "auto";
  if (choice["any"] !== undefined) return "required";
  const tool = stringOf(objectOf(choice["tool"])["name"]);
  return tool === undefined ? undefined : { tool };
};

const thinkingFields = ["thinking", "output_config", "reasoningConfig", "reasoning_effort", "reasoning_config"];

/** Reads the thinking setting, which has another field in every model family. */
const thinkingOf = (additional: Record<string, unknown>): RequestSettings["thinking"] => {
  const { type, budget_tokens } = objectOf(additional["thinking"]);
  const config = objectOf(additional["reasoningConfig"]);
  const budget = numberOf(budget_tokens);
  if (type === "disabled" || config["type"] === "disabled") return { effort: "none" };
  if (type === "enabled") return { effort: "medium", budget: budget ?? 1024 };
  if (type === "adaptive" || type === "between_tools")
    return { effort: effortOf(objectOf(additional["output_config"])["effort"]) ?? "high" };
  if (config["type"] === "enabled") return { effort: effortOf(config["maxReasoningEffort"]) ?? "medium" };
  const effort = effortOf(additional["reasoning_effort"]) ?? effortOf(additional["reasoning_config"]);
  return effort === undefined ? undefined : { effort };
};

const effortOf = (effort: unknown): "low" | "medium" | "high" | undefined =>
  effort === "low" || effort === "medium" || effort === "high" ? effort : undefined;
