import { blocksIn, resultBlocks, type AnthropicBlock } from "../../rules/anthropic/body.ts";
import { bindsThoughts, keepsThoughts } from "./models.ts";
import type { SimRequest, Json, ApiRefusal, SealUse, SealVerdict, PromptUnit } from "../family.ts";
import { asArray, asObject, asText, isObject } from "../json.ts";
import type { RequestFile, TokensByModality } from "../model/types.ts";
import { openSeal } from "../seal.ts";
import { measureFile, countTextTokens } from "../tokens.ts";

/** Splits the prompt in the order it is cached: tools, system, then messages block by block. */
export const splitPrompt = (request: SimRequest): readonly PromptUnit[] => {
  const units = locateUnits(request).map(({ unit }) => unit);
  const automatic = asObject(request.body)["cache_control"];
  return isObject(automatic)
    ? units.map((unit, index) => (index === units.length - 1 ? { ...unit, ...cachePointFields(automatic) } : unit))
    : units;
};

/** Finds the thinking blocks of a request. */
export const findSeals = (request: SimRequest): readonly SealUse[] => {
  const placed = locateUnits(request);
  return placed.flatMap(({ block }, unit): readonly SealUse[] => {
    if (block === undefined || !isThought(block)) return [];
    const after = 1 + placed.slice(0, unit).findLastIndex((other) => other.block?.role !== "assistant");
    const { pointer, value } = block;
    if (block.type === "redacted_thinking")
      return [{ pointer, value: asText(value["data"]), unitsBefore: after, unit }];
    const text = asText(value["thinking"]);
    return [{ pointer, value: asText(value["signature"]), unitsBefore: after, unit, ...(text === "" ? {} : { text }) }];
  });
};

/** Decides what Claude does with a thinking block that is not as issued. */
export const judgeSeal = (
  use: SealUse,
  verdict: Exclude<SealVerdict, "genuine">,
  request: SimRequest,
): ApiRefusal | "accepted" | undefined => {
  const refused = (message: string): ApiRefusal => {
    const path = use.pointer.slice(1).replaceAll("/", ".");
    return { status: 400, kind: "bad-request", message: `${path}: ${message}`, pointer: use.pointer };
  };
  switch (verdict) {
    case "forged":
    case "other-text":
      return refused(isRedacted(use, request) ? "Invalid `data` in `redacted_thinking` block" : invalidSignature);
    case "other-model":
      return bindsThoughts(request.model) ? undefined : "accepted";
    case "prefix":
      if (!bindsThoughts(request.model)) return "accepted";
      return dropsMismatches(request)
        ? undefined
        : refused(
            `${invalidSignature}. The block is bound to a different conversation. Remove the block, or set \`thinking.block_binding.prefix_mismatch_behavior\` to "drop_block".`,
          );
  }
};

const invalidSignature = "Invalid `signature` in `thinking` block";

const isRedacted = ({ pointer }: SealUse, request: SimRequest): boolean =>
  locateUnits(request).some(({ block }) => block?.pointer === pointer && block.type === "redacted_thinking");

const dropsMismatches = ({ body }: SimRequest): boolean =>
  asObject(asObject(body["thinking"])["block_binding"])["prefix_mismatch_behavior"] === "drop_block";

type LocatedUnit = { readonly unit: PromptUnit; readonly block?: AnthropicBlock };

const locateUnits = (request: SimRequest): readonly LocatedUnit[] => {
  const { tools, system } = request.body;
  const blocks = blocksOfMessages(request.body);
  const asked = blocks.findLastIndex(({ role, type }) => role === "user" && type !== "tool_result");
  return [
    ...asArray(tools).map((tool) => ({ unit: toolUnit(asObject(tool)) })),
    ...(typeof system === "string" ? [{ type: "text", text: system }] : asArray(system)).map((block) => ({
      unit: createUnit("system", asObject(block), { text: countTextTokens(asText(asObject(block)["text"])) }),
    })),
    ...blocks.map((block, index) => {
      const isForgotten = isThought(block) && index < asked && !keepsThoughts(request.model);
      return { unit: createUnit(block.role, block.value, isForgotten ? {} : tokensOf(block)), block };
    }),
  ];
};

/** Every block of every message, in order. */
export const blocksOfMessages = (body: unknown): readonly AnthropicBlock[] =>
  asArray(asObject(body)["messages"]).flatMap((message, index) =>
    blocksIn({ index, value: { ...asObject(message) }, pointer: `/messages/${index}` }),
  );

const isThought = ({ type }: AnthropicBlock): boolean => type === "thinking" || type === "redacted_thinking";

/** A deferred tool may appear and disappear between requests, so seals are not bound to it. */
const toolUnit = (tool: Json): PromptUnit => {
  const unit = createUnit("tool", tool, {});
  const tokens = { text: countTextTokens(unit.content) };
  return tool["defer_loading"] === true ? { ...unit, isUnbound: true } : { ...unit, tokens };
};

const createUnit = (role: string, block: Json, tokens: TokensByModality): PromptUnit => {
  const marks = [block, ...asArray(block["content"]).map(asObject)].map((each) => each["cache_control"]);
  return {
    content: JSON.stringify([role, withoutCacheControl(block)]),
    tokens,
    isCachePoint: false,
    ...cachePointFields(marks.findLast(isObject)),
    ...(asText(block["type"]).endsWith("thinking") ? { isUnbound: true as const } : {}),
  };
};

const withoutCacheControl = (marked: Json): Json => {
  const { cache_control: _, ...block } = marked;
  if (!Array.isArray(block["content"])) return block;
  return {
    ...block,
    content: block["content"].map((inner: unknown) => (isObject(inner) ? withoutCacheControl(inner) : inner)),
  };
};

const cachePointFields = (mark: unknown): Partial<PromptUnit> =>
  isObject(mark) ? { isCachePoint: true, ttlSeconds: mark["ttl"] === "1h" ? 3600 : 300 } : {};

const tokensOf = (block: AnthropicBlock): TokensByModality => {
  const { type, value } = block;
  switch (type) {
    case "text":
      return { text: countTextTokens(asText(value["text"])) };
    case "thinking":
    case "redacted_thinking": {
      const seal = openSeal(asText(value[type === "thinking" ? "signature" : "data"]));
      return { text: seal?.tokens ?? countTextTokens(asText(value["thinking"])) };
    }
    case "image":
    case "document": {
      const { kind, tokens } = fileIn(block);
      return { [kind]: tokens };
    }
    case "tool_result":
      return addTokens([{ text: countTextTokens(asText(value["content"])) }, ...resultBlocks(block).map(tokensOf)]);
    case "tool_use":
      return {
        text: 8 + countTextTokens(asText(value["name"])) + countTextTokens(JSON.stringify(value["input"] ?? {})),
      };
    default:
      return { text: countTextTokens(JSON.stringify(value)) };
  }
};

const addTokens = (all: readonly TokensByModality[]): TokensByModality => ({
  text: all.reduce((sum, { text = 0 }) => sum + text, 0),
  image: all.reduce((sum, { image = 0 }) => sum + image, 0),
  document: all.reduce((sum, { document = 0 }) => sum + document, 0),
});

/** Measures an image or document. One given by URL or id is not fetched. */
export const fileIn = ({ type, value }: AnthropicBlock): RequestFile & { readonly tokens: number } => {
  const source = asObject(value["source"]);
  const kind = type === "image" ? ("image" as const) : ("document" as const);
  const mimeType = asText(source["media_type"]) || (kind === "image" ? "image/*" : "application/pdf");
  const text = asText(source["type"]) === "text" ? asText(source["data"]) : inlineText(source["content"]);
  if (text !== undefined)
    return { kind, mimeType: "text/plain", bytes: Buffer.byteLength(text), tokens: countTextTokens(text) };
  return { kind, mimeType, ...measureFile({ kind, mimeType, base64: asText(source["data"]) }) };
};

const inlineText = (content: unknown): string | undefined => {
  if (typeof content === "string") return content;
  return Array.isArray(content) ? content.map((block) => asText(asObject(block)["text"])).join("\n") : undefined;
};
