import type { Origin } from "../../conversation/entry.ts";
import type { JsonValue } from "../../conversation/json.ts";
import type { NewPart } from "../../conversation/ledger.ts";
import { note } from "../../conversation/notes.ts";
import type { Seal, Thinking } from "../../conversation/parts.ts";
import { responsesFields } from "./fields.ts";
import { effortOf, readOpenaiSettings, readOpenaiTool } from "../openai/read-settings.ts";
import { contentOf, instructionText, toList, modelParts, newCall, OpenaiReader, outcomeOf } from "../openai/read.ts";
import { arrayOf, idOf, objectOf, stringOf } from "../reader.ts";
import type { DecodedRequest } from "../wire.ts";

/** Reads a Responses body, or just its `input`, as a conversation. */
export const readOpenaiResponses = (body: unknown, from: Origin): DecodedRequest => {
  const request = Array.isArray(body) ? { input: body } : objectOf(body);
  const model = stringOf(request["model"]);
  const reader = new OpenaiReader({ ...from, model: model ?? from.model });
  const reasoning = objectOf(request["reasoning"]);
  reader.carryFields(request, responsesFields);
  for (const value of toList(request["include"]))
    reader.carryField({ at: "include/-", value: value as JsonValue }, "/include");
  if (request["store"] === true) reader.carryField({ at: "store", value: true, needs: "store" }, "/store");
  reader.noteUnreadFields(request, knownFields);
  reader.noteUnreadFields(reasoning, ["effort"], "/reasoning");
  const system = [stringOf(request["instructions"]) ?? "", ...readItems(reader, toList(request["input"]))];
  const effort = effortOf(reasoning["effort"]);
  return reader.finish({
    model,
    system: system.filter((text) => text.trim() !== "").join("\n\n"),
    tools: toList(request["tools"]).flatMap((tool, index) => readOpenaiTool(reader, tool, `/tools/${index}`)),
    settings: readOpenaiSettings(reader, request, {
      maxTokens: request["max_output_tokens"],
      toolChoice: request["tool_choice"],
      thinking: effort === undefined ? undefined : { effort },
    }),
  });
};

const knownFields = [
  "model",
  "instructions",
  "input",
  "tools",
  "tool_choice",
  "max_output_tokens",
  "temperature",
  "stream",
  "reasoning",
  "prompt_cache_key",
  "store",
  "include",
];

/** Reads all items; returns the system prompts they begin with. Consecutive model items become one model message. */
const readItems = (reader: OpenaiReader, items: readonly unknown[]): readonly string[] => {
  const system: string[] = [];
  const ids: string[] = [];
  let modelParts: NewPart[] = [];
  let isHead = true;
  const flush = (): void => {
    reader.model(modelParts);
    modelParts = [];
  };
  items.forEach((value, index) => {
    const item = typeof value === "string" ? { role: "user", content: value } : objectOf(value);
    const at = `/input/${index}`;
    const kind = inputItemKind(item);
    const isInstruction = kind === "system" || kind === "developer";
    isHead &&= isInstruction;
    switch (kind) {
      case "system":
      case "developer": {
        const text = instructionText(reader, item["content"], `${at}/content`);
        if (isHead) system.push(text);
        else {
          flush();
          reader.notice(text);
        }
        break;
      }
      case "user":
        flush();
        reader.user(contentOf(reader, item["content"], `${at}/content`));
        break;
      case "output":
        flush();
        readOutput(reader, item, at);
        break;
      case "model":
        for (const part of modelItem(reader, item, at)) modelParts.push(part);
        break;
      case "unknown":
        reader.noteUnknownPart(`An item of type ${JSON.stringify(item["type"] ?? item["role"])}`, at);
        return;
    }
    if (typeof item["id"] === "string") ids.push(`${at}/id`);
    reader.noteUnreadFields(item, item["status"] === "completed" ? [...itemFields, "status"] : itemFields, at);
  });
  flush();
  if (ids.length > 0)
    reader.notes.push(note("id-projected", `The server's own ids (${ids.join(", ")}) go only with its reasoning.`));
  return system;
};

const itemFields = [
  "type",
  "role",
  "id",
  "content",
  "call_id",
  "name",
  "arguments",
  "input",
  "output",
  "summary",
  "encrypted_content",
  "refusal",
  "tool_call_id",
  "tool_calls",
  "phase",
];

type InputItemKind = "system" | "developer" | "user" | "model" | "output" | "unknown";

/** Returns the kind of an item; a missing type is inferred from its fields. */
const inputItemKind = (item: Record<string, unknown>): InputItemKind => {
  switch (item["type"] ?? guessedType(item)) {
    case "message":
      return roles.get(item["role"]) ?? "unknown";
    case "reasoning":
    case "function_call":
    case "custom_tool_call":
      return "model";
    case "function_call_output":
    case "custom_tool_call_output":
      return "output";
    default:
      return "unknown";
  }
};

const guessedType = (item: Record<string, unknown>): string | undefined => {
  if (item["role"] !== undefined) return "message";
  if (item["output"] !== undefined) return "function_call_output";
  return item["arguments"] === undefined ? undefined : "function_call";
};

const roles: ReadonlyMap<unknown, InputItemKind> = new Map([
  ["system", "system"],
  ["developer", "developer"],
  ["user", "user"],
  ["assistant", "model"],
  ["tool", "output"],
]);

const readOutput = (reader: OpenaiReader, item: Record<string, unknown>, at: string): void => {
  const field = item["output"] === undefined ? "content" : "output";
  const id = idOf(item["call_id"] ?? item["tool_call_id"]);
  reader.result(id, outcomeOf(reader, item[field], `${at}/${field}`));
};

const modelItem = (reader: OpenaiReader, item: Record<string, unknown>, at: string): readonly NewPart[] => {
  if (item["role"] !== undefined) return withMessageSeal(modelParts(reader, item, at), item);
  const { name: tool, call_id: id, id: itemId } = item;
  switch (item["type"]) {
    case "reasoning":
      return [readReasoning(item)];
    case "custom_tool_call":
      return [newCall({ tool, input: { input: item["input"] }, id: id ?? itemId, item: itemId })];
    default:
      return [newCall({ tool, input: item["arguments"], id: id ?? itemId, item: itemId })];
  }
};

/** Adds the message's id and phase to its text parts. */
const withMessageSeal = (parts: readonly NewPart[], message: Record<string, unknown>): readonly NewPart[] => {
  const seal = messageSeal(message);
  return seal === undefined ? parts : parts.map((part) => (part.type === "text" ? { ...part, seal } : part));
};

/** Returns the seal of a message: its id and phase. */
export const messageSeal = ({ id, phase }: Record<string, unknown>): Seal | undefined =>
  typeof id !== "string" && typeof phase !== "string"
    ? undefined
    : { ...(typeof id === "string" ? { item: id } : {}), ...(typeof phase === "string" ? { phase } : {}) };

/** Reads a reasoning item as one thinking part, however many parts its summary has: it is sent back as one, with one seal. */
export const readReasoning = ({
  id,
  summary,
  content,
  encrypted_content: encrypted,
}: Record<string, unknown>): Thinking => {
  const text = joinedText(summary, "\n\n") || joinedText(content, "");
  const seal = {
    ...(typeof id === "string" ? { item: id } : {}),
    ...(typeof encrypted === "string" ? { encrypted } : {}),
  };
  return typeof id === "string" || typeof encrypted === "string"
    ? { type: "thinking", text, seal }
    : { type: "thinking", text };
};

const joinedText = (parts: unknown, between: string): string =>
  arrayOf(parts)
    .map((part) => stringOf(objectOf(part)["text"]) ?? "")
    .join(between);
