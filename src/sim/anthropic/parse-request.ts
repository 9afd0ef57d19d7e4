import { resultBlocks, type AnthropicBlock } from "../../rules/anthropic/body.ts";
import { thinkingMode } from "./models.ts";
import { blocksOfMessages, fileIn } from "./prompt.ts";
import type { SimRequest } from "../family.ts";
import { asArray, asNumber, asObject, asText } from "../json.ts";
import type { SimModelRequest, RequestFile, RequestResult, RequestTurn, SimServerTool } from "../model/types.ts";

/** Converts a Messages request to what the model receives. */
export const parseRequest = (request: SimRequest): SimModelRequest => {
  const { body, model } = request;
  const blocks = blocksOfMessages(body);
  const turns = splitTurns(blocks);
  const tools = asArray(body["tools"]).map(asObject);
  const mode = thinkingMode(body, model);
  const maxOutput = asNumber(body["max_tokens"]);
  return {
    model,
    system: [...systemTexts(body["system"]), ...blocks.filter(({ role }) => role === "system").map(textOf)].join("\n"),
    tools: tools
      .filter(({ type = "custom" }) => type === "custom")
      .map(({ name, description, input_schema: parameters }) => ({
        name: asText(name),
        description: asText(description),
        parameters,
      })),
    serverTools: tools.flatMap(({ type }) => serverToolsFor(asText(type))),
    turns,
    mayThink: mode === "on" || (mode === "between" && turns.at(-1)?.by === "tools"),
    ...(maxOutput === undefined ? {} : { maxOutput }),
  };
};

const systemTexts = (system: unknown): readonly string[] =>
  typeof system === "string" ? [system] : asArray(system).map((block) => asText(asObject(block)["text"]));

const serverToolsFor = (type: string): readonly SimServerTool[] =>
  type.startsWith("web_search") ? ["search"] : type.startsWith("web_fetch") ? ["url"] : [];

/** Groups messages of one role into turns; results precede the user's text beside them. */
const splitTurns = (blocks: readonly AnthropicBlock[]): readonly RequestTurn[] => {
  const names = new Map(blocks.map(({ value }) => [asText(value["id"]), asText(value["name"])]));
  const groups: { readonly role: string; readonly blocks: AnthropicBlock[] }[] = [];
  for (const block of blocks.filter(({ role }) => role !== "system")) {
    const last = groups.at(-1);
    if (last?.role === block.role) last.blocks.push(block);
    else groups.push({ role: block.role, blocks: [block] });
  }
  return groups.flatMap((group) =>
    group.role === "assistant" ? [modelTurn(group.blocks)] : userTurns(group.blocks, names),
  );
};

const modelTurn = (blocks: readonly AnthropicBlock[]): RequestTurn => ({
  by: "model",
  text: blocks.map(textOf).join(""),
  calls: blocks
    .filter(({ type }) => type === "tool_use")
    .map(({ value }) => ({ id: asText(value["id"]), tool: asText(value["name"]), input: value["input"] })),
});

const userTurns = (blocks: readonly AnthropicBlock[], names: ReadonlyMap<string, string>): readonly RequestTurn[] => {
  const results = blocks.filter(({ type }) => type === "tool_result").map((block) => resultIn(block, names));
  const rest = blocks.filter(({ type }) => type !== "tool_result");
  return [
    ...(results.length === 0 ? [] : [{ by: "tools" as const, results }]),
    ...(rest.length === 0 ? [] : [{ by: "user" as const, text: textsOf(rest), files: filesIn(rest) }]),
  ];
};

const resultIn = (block: AnthropicBlock, names: ReadonlyMap<string, string>): RequestResult => {
  const { value } = block;
  const id = asText(value["tool_use_id"]);
  const inner = resultBlocks(block);
  return {
    id,
    tool: names.get(id) ?? "",
    text: asText(value["content"]) || textsOf(inner),
    isError: value["is_error"] === true,
    files: filesIn(inner),
  };
};

const textOf = ({ type, value }: AnthropicBlock): string => (type === "text" ? asText(value["text"]) : "");

const textsOf = (blocks: readonly AnthropicBlock[]): string =>
  blocks
    .map(textOf)
    .filter((text) => text !== "")
    .join("\n");

const filesIn = (blocks: readonly AnthropicBlock[]): readonly RequestFile[] =>
  blocks
    .filter(({ type }) => type === "image" || type === "document")
    .map((block) => {
      const { tokens: _, ...file } = fileIn(block);
      return file;
    });
