import {
  type AnthropicBlock,
  allBlocksOf,
  blocksIn,
  blocksOf,
  resultBlocks,
  systemBlocks,
  textPointer,
} from "./body.ts";
import type { ReportFinding } from "../rule.ts";
import { messagesOf } from "../turns.ts";
import { type Check, asArray, asString, isBlank, isObject, join } from "../walk.ts";

/** The body, its messages and their blocks are of the types the API parses. */
export const checkShape: Check = (body, report, target) => {
  if (!isObject(body)) {
    report("", "The request body must be a JSON object.");
    return;
  }
  // Vertex and Bedrock name the model in the address, and the version in the body.
  const isElsewhere = asString(body["anthropic_version"]) !== undefined;
  if ((target.provider ?? "anthropic") === "anthropic" && !isElsewhere && asString(body["model"]) === undefined)
    report("", "model: Field required");
  checkSystem(body["system"], report);
  const messages = body["messages"];
  if (messages === undefined) report("", "messages: Field required");
  else if (!Array.isArray(messages)) report("/messages", "messages: Input should be a valid list");
  else if (messages.length === 0) report("/messages", "messages: at least one message is required");
  else if (messages.length > 100_000)
    report("/messages", `messages: List should have at most 100000 items after validation, not ${messages.length}`);
  asArray(messages).forEach((message, index) => checkMessage(message, index, report));
};

const checkSystem = (system: unknown, report: ReportFinding): void => {
  if (system === undefined || system === null || typeof system === "string") return;
  if (!Array.isArray(system)) report("/system", "system: Input should be a valid list");
  asArray(system).forEach((block, index) => {
    const fits = isObject(block) && block["type"] === "text" && typeof block["text"] === "string";
    if (!fits) report(join("/system", index), `system.${index}: Input should be a text block`);
  });
};

const checkMessage = (message: unknown, index: number, report: ReportFinding): void => {
  const pointer = join("/messages", index);
  if (!isObject(message)) {
    report(pointer, `messages.${index}: Input should be a valid dictionary`);
    return;
  }
  if (asString(message["role"]) === undefined) report(pointer, `messages.${index}.role: Field required`);
  const content = message["content"];
  if (typeof content === "string") return;
  if (content === undefined && isObject(message["output_config"])) return;
  if (content === undefined) report(pointer, `messages.${index}.content: Field required`);
  else if (!Array.isArray(content))
    report(join(pointer, "content"), `messages.${index}.content: Input should be a valid list`);
  asArray(content).forEach((block, at) => {
    if (!isObject(block))
      report(join(pointer, "content", at), `messages.${index}.content.${at}: Input should be a valid dictionary`);
    else if (asString(block["type"]) === undefined)
      report(join(pointer, "content", at), `messages.${index}.content.${at}.type: Field required`);
  });
  for (const block of blocksIn({ index, value: message, pointer })) checkFields(block, report);
};

/** The required fields of a block, by type: name and test. */
const needed: Record<string, readonly (readonly [string, (value: unknown) => boolean, string])[]> = {
  text: [["text", (value) => typeof value === "string", "valid string"]],
  image: [["source", isObject, "valid dictionary"]],
  document: [["source", isObject, "valid dictionary"]],
  tool_use: [
    ["id", (value) => typeof value === "string", "valid string"],
    ["name", (value) => typeof value === "string", "valid string"],
  ],
  tool_result: [["tool_use_id", (value) => typeof value === "string", "valid string"]],
  thinking: [["thinking", (value) => typeof value === "string", "valid string"]],
  redacted_thinking: [["data", (value) => typeof value === "string", "valid string"]],
};

const checkFields = (block: AnthropicBlock, report: ReportFinding): void => {
  for (const [field, fits, kind] of Object.hasOwn(needed, block.type) ? (needed[block.type] ?? []) : []) {
    const value = block.value[field];
    if (value === undefined) report(block.pointer, `${block.path}.${block.type}.${field}: Field required`);
    else if (!fits(value))
      report(join(block.pointer, field), `${block.path}.${block.type}.${field}: Input should be a ${kind}`);
  }
  if (block.type !== "tool_result") return;
  const content = block.value["content"];
  const list = content === undefined || content === null || typeof content === "string" || Array.isArray(content);
  if (!list) report(join(block.pointer, "content"), `${block.path}.tool_result.content: Input should be a valid list`);
  asArray(content).forEach((inner, index) => {
    if (!isObject(inner))
      report(
        join(block.pointer, "content", index),
        `${block.path}.tool_result.content.${index}: Input should be a valid dictionary`,
      );
  });
  for (const inner of resultBlocks(block)) if (inner.type !== "tool_result") checkFields(inner, report);
};

/** Blocks are of types the API knows, those of server tools and betas included. */
export const checkBlockType: Check = (body, report) => {
  for (const block of blocksOf(body)) {
    if (block.type !== "" && !blockTypes.has(block.type))
      report(block.pointer, unknownTag(block.path, block.type, [...blockTypes].slice(0, 8)));
  }
};

/** A tool result holds text, images, documents, search results and tool references. */
export const checkResultType: Check = (body, report) => {
  for (const block of blocksOf(body)) {
    for (const inner of resultBlocks(block)) {
      if (!resultTypes.includes(inner.type)) report(inner.pointer, unknownTag(inner.path, inner.type, resultTypes));
    }
  }
};

const unknownTag = (path: string, tag: string, expected: readonly string[]): string =>
  `${path}: Input tag '${tag}' found using 'type' does not match any of the expected tags: ${expected.map((name) => `'${name}'`).join(", ")}`;

const resultTypes = ["text", "image", "search_result", "document", "tool_reference", "browser_state"];

const blockTypes: ReadonlySet<string> = new Set(
  (
    "text image document tool_use tool_result thinking redacted_thinking search_result server_tool_use web_search_tool_result web_fetch_tool_result " +
    "code_execution_tool_result bash_code_execution_tool_result text_editor_code_execution_tool_result tool_search_tool_result advisor_tool_result " +
    "mcp_tool_use mcp_tool_result mcp_tool_listing container_upload compaction tool_addition tool_removal fallback mid_conv_system"
  ).split(" "),
);

/** Fields the API does not know are refused, at the top, in messages and in the blocks every client writes. */
export const checkUnknownField: Check = (body, report) => {
  if (!isObject(body)) return;
  for (const key of Object.keys(body))
    if (!bodyFields.has(key)) report(join("", key), `${key}: Extra inputs are not permitted`);
  for (const { index, value, pointer } of messagesOf(body)) {
    const known = value["role"] === "system" ? systemMessageFields : messageFields;
    for (const key of Object.keys(value)) {
      if (!known.has(key)) report(join(pointer, key), `messages.${index}.${key}: Extra inputs are not permitted`);
    }
  }
  for (const block of systemBlocks(body)) extraFields(block, report);
  for (const block of allBlocksOf(body)) extraFields(block, report);
};

const extraFields = (block: AnthropicBlock, report: ReportFinding): void => {
  const known = Object.hasOwn(blockFields, block.type) ? blockFields[block.type] : undefined;
  for (const key of known === undefined ? [] : Object.keys(block.value)) {
    if (!known?.has(key))
      report(join(block.pointer, key), `${block.path}.${block.type}.${key}: Extra inputs are not permitted`);
  }
};

const words = (text: string): ReadonlySet<string> => new Set(text.split(" "));

const bodyFields = words(
  "model messages max_tokens system tools tool_choice thinking output_config output_format metadata stop_sequences stream temperature top_p top_k " +
    "service_tier speed container context_management mcp_servers cache_control compaction diagnostics fallbacks fallback_credit_token inference_geo " +
    "thread user_profile_id workspace_id anthropic_version anthropic_beta betas",
);

const messageFields = words("role content");
const systemMessageFields = words("role content clear_at output_config");

const blockFields: Record<string, ReadonlySet<string>> = {
  text: words("type text cache_control citations"),
  image: words("type source cache_control transformations"),
  document: words("type source cache_control citations context title"),
  tool_use: words("type id name input cache_control caller toolset_name"),
  tool_result: words("type tool_use_id content is_error cache_control toolset_name"),
  thinking: words("type thinking signature"),
  redacted_thinking: words("type data"),
};

/** Every request sets `max_tokens`. */
export const checkMaxTokens: Check = (body, report) => {
  if (!isObject(body)) return;
  const limit = body["max_tokens"];
  if (limit === undefined) report("", "max_tokens: Field required");
  else if (typeof limit !== "number" || !Number.isInteger(limit))
    report("/max_tokens", "max_tokens: Input should be a valid integer");
  else if (limit < 0) report("/max_tokens", "max_tokens: Input should be greater than or equal to 1");
};

/** No text block is empty, in messages, results or the system prompt. */
export const checkEmptyText: Check = (body, report) => {
  for (const block of systemBlocks(body))
    if (isEmptyText(block)) report(textPointer(block), "system: text content blocks must be non-empty");
  for (const block of allBlocksOf(body))
    if (isEmptyText(block)) report(textPointer(block), "messages: text content blocks must be non-empty");
};

const isEmptyText = (block: AnthropicBlock): boolean =>
  block.type === "text" && block.value["text"] === "" && !block.whole && !isObject(block.value["cache_control"]);

/** A cache marker is not allowed on empty text. */
export const checkCachedEmptyText: Check = (body, report) => {
  for (const block of [...systemBlocks(body), ...blocksOf(body)]) {
    if (block.type !== "text" || block.value["text"] !== "" || !isObject(block.value["cache_control"])) continue;
    report(block.pointer, `${block.path}.text: cache_control cannot be set for empty text blocks`);
  }
};

/** A message has text that is more than white space. */
export const checkBlankText: Check = (body, report) => {
  for (const message of messagesOf(body)) {
    const texts = blocksIn(message).filter((block) => block.type === "text" && typeof block.value["text"] === "string");
    const blank = texts.find((block) => isWhiteSpace(block.value["text"]));
    if (blank === undefined || texts.some((block) => !isBlank(asString(block.value["text"]) ?? ""))) continue;
    report(textPointer(blank), "messages: text content blocks must contain non-whitespace text");
  }
};

/** A white-space text beside real text is accepted here and refused by Bedrock. */
export const checkBlankBeside: Check = (body, report) => {
  for (const message of messagesOf(body)) {
    const texts = blocksIn(message).filter((block) => block.type === "text");
    const blank = texts.find((block) => isWhiteSpace(block.value["text"]));
    if (blank === undefined || texts.every((block) => isBlank(asString(block.value["text"]) ?? ""))) continue;
    report(textPointer(blank), `${blank.path}.text is only white space: other APIs refuse such a block.`);
  }
};

const isWhiteSpace = (text: unknown): boolean => typeof text === "string" && text !== "" && isBlank(text);

/** No message is empty, except an assistant message at the end. */
export const checkEmptyMessage: Check = (body, report) => {
  const last = asArray(isObject(body) ? body["messages"] : undefined).length - 1;
  for (const { index, value, pointer } of messagesOf(body)) {
    const content = value["content"];
    const empty = content === "" || (Array.isArray(content) && content.length === 0);
    if (!empty || (index === last && value["role"] === "assistant")) continue;
    report(
      join(pointer, "content"),
      `messages.${index}: all messages must have non-empty content except for the optional final assistant message`,
    );
  }
};

/** A text cut inside a surrogate pair cannot be written as JSON that the server reads. */
export const checkSurrogates: Check = (body, report) => {
  for (const block of [...systemBlocks(body), ...allBlocksOf(body)]) {
    for (const field of ["text", "thinking", "content"]) {
      const text = block.value[field];
      const where = block.whole ? block.pointer : join(block.pointer, field);
      if (typeof text === "string" && !text.isWellFormed())
        report(where, "The request body is not valid JSON: no low surrogate in string");
    }
  }
};

/** A stop sequence is not blank. */
export const checkStopSequences: Check = (body, report) => {
  asArray(isObject(body) ? body["stop_sequences"] : undefined).forEach((sequence, index) => {
    if (typeof sequence !== "string" || isBlank(sequence))
      report(join("/stop_sequences", index), "stop_sequences: each stop sequence must contain non-whitespace");
  });
};
