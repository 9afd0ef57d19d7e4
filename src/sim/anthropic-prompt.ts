import { blocksIn, resultBlocks, type Block } from "../rules/anthropic-body.ts";
import { bindsThoughts, keepsThoughts } from "./anthropic-models.ts";
import type { Ask, Json, Refusal, SealUse, SealVerdict, Unit } from "./family.ts";
import { asArray, asObject, asText, isObject } from "./json.ts";
import type { HeardFile, Tokens } from "./model.ts";
import { openSeal } from "./seal.ts";
import { fileTokens, textTokens } from "./tokens.ts";

/** The prompt in the order it is cached: tools, system, then block by block. */
export const promptOf = (ask: Ask): readonly Unit[] => {
  const units = placedUnits(ask).map(({ unit }) => unit);
  const automatic = asObject(ask.body)["cache_control"];
  return isObject(automatic)
    ? units.map((unit, index) => (index === units.length - 1 ? { ...unit, ...markOf(automatic) } : unit))
    : units;
};

/** The thoughts in a request, each with what stands before its turn. */
export const sealsOf = (ask: Ask): readonly SealUse[] => {
  const placed = placedUnits(ask);
  return placed.flatMap(({ block }, unit): readonly SealUse[] => {
    if (block === undefined || !isThought(block)) return [];
    const after = 1 + placed.slice(0, unit).findLastIndex((other) => other.block?.role !== "assistant");
    const { pointer, value } = block;
    if (block.type === "redacted_thinking") return [{ pointer, value: asText(value["data"]), after, unit }];
    const text = asText(value["thinking"]);
    return [{ pointer, value: asText(value["signature"]), after, unit, ...(text === "" ? {} : { text }) }];
  });
};

/** What Claude does about a thought that is not as it gave it. */
export const judgeSeal = (
  use: SealUse,
  verdict: Exclude<SealVerdict, "genuine">,
  ask: Ask,
): Refusal | "accepted" | undefined => {
  const refused = (message: string): Refusal => {
    const path = use.pointer.slice(1).replaceAll("/", ".");
    return { status: 400, kind: "bad-request", message: `${path}: ${message}`, pointer: use.pointer };
  };
  switch (verdict) {
    case "forged":
    case "other-text":
      return refused(isRedacted(use, ask) ? "Invalid `data` in `redacted_thinking` block" : invalid);
    case "other-model":
      return bindsThoughts(ask.model) ? undefined : "accepted";
    case "prefix":
      if (!bindsThoughts(ask.model)) return "accepted";
      return dropsMismatches(ask)
        ? undefined
        : refused(
            `${invalid}. The block is bound to a different conversation. Remove the block, or set \`thinking.block_binding.prefix_mismatch_behavior\` to "drop_block".`,
          );
  }
};

const invalid = "Invalid `signature` in `thinking` block";

const isRedacted = ({ pointer }: SealUse, ask: Ask): boolean =>
  placedUnits(ask).some(({ block }) => block?.pointer === pointer && block.type === "redacted_thinking");

const dropsMismatches = ({ body }: Ask): boolean =>
  asObject(asObject(body["thinking"])["block_binding"])["prefix_mismatch_behavior"] === "drop_block";

type Placed = { readonly unit: Unit; readonly block?: Block };

const placedUnits = (ask: Ask): readonly Placed[] => {
  const { tools, system } = ask.body;
  const blocks = blocksOfMessages(ask.body);
  const asked = blocks.findLastIndex(({ role, type }) => role === "user" && type !== "tool_result");
  return [
    ...asArray(tools).map((tool) => ({ unit: toolUnit(asObject(tool)) })),
    ...(typeof system === "string" ? [{ type: "text", text: system }] : asArray(system)).map((block) => ({
      unit: unitOf("system", asObject(block), { text: textTokens(asText(asObject(block)["text"])) }),
    })),
    ...blocks.map((block, index) => {
      const isForgotten = isThought(block) && index < asked && !keepsThoughts(ask.model);
      return { unit: unitOf(block.role, block.value, isForgotten ? {} : tokensOf(block)), block };
    }),
  ];
};

/** Every block of every message, in order. */
export const blocksOfMessages = (body: unknown): readonly Block[] =>
  asArray(asObject(body)["messages"]).flatMap((message, index) =>
    blocksIn({ index, value: { ...asObject(message) }, pointer: `/messages/${index}` }),
  );

const isThought = ({ type }: Block): boolean => type === "thinking" || type === "redacted_thinking";

/** A tool that is only looked up when needed may come and go. */
const toolUnit = (tool: Json): Unit => {
  const unit = unitOf("tool", tool, {});
  const tokens = { text: textTokens(unit.content) };
  return tool["defer_loading"] === true ? { ...unit, unbound: true } : { ...unit, tokens };
};

const unitOf = (role: string, block: Json, tokens: Tokens): Unit => {
  const marks = [block, ...asArray(block["content"]).map(asObject)].map((each) => each["cache_control"]);
  return {
    content: JSON.stringify([role, unmarked(block)]),
    tokens,
    marked: false,
    ...markOf(marks.findLast(isObject)),
    ...(asText(block["type"]).endsWith("thinking") ? { unbound: true as const } : {}),
  };
};

const unmarked = (marked: Json): Json => {
  const { cache_control: _, ...block } = marked;
  if (!Array.isArray(block["content"])) return block;
  return { ...block, content: block["content"].map((inner: unknown) => (isObject(inner) ? unmarked(inner) : inner)) };
};

const markOf = (mark: unknown): Partial<Unit> =>
  isObject(mark) ? { marked: true, keep: mark["ttl"] === "1h" ? 3600 : 300 } : {};

const tokensOf = (block: Block): Tokens => {
  const { type, value } = block;
  switch (type) {
    case "text":
      return { text: textTokens(asText(value["text"])) };
    case "thinking":
    case "redacted_thinking": {
      const seal = openSeal(asText(value[type === "thinking" ? "signature" : "data"]));
      return { text: seal?.tokens ?? textTokens(asText(value["thinking"])) };
    }
    case "image":
    case "document": {
      const { kind, tokens } = fileIn(block);
      return { [kind]: tokens };
    }
    case "tool_result":
      return addUp([{ text: textTokens(asText(value["content"])) }, ...resultBlocks(block).map(tokensOf)]);
    case "tool_use":
      return { text: 8 + textTokens(asText(value["name"])) + textTokens(JSON.stringify(value["input"] ?? {})) };
    default:
      return { text: textTokens(JSON.stringify(value)) };
  }
};

const addUp = (all: readonly Tokens[]): Tokens => ({
  text: all.reduce((sum, { text = 0 }) => sum + text, 0),
  image: all.reduce((sum, { image = 0 }) => sum + image, 0),
  document: all.reduce((sum, { document = 0 }) => sum + document, 0),
});

/** An image or document with its size. One that is given by address or id is not fetched. */
export const fileIn = ({ type, value }: Block): HeardFile & { readonly tokens: number } => {
  const source = asObject(value["source"]);
  const kind = type === "image" ? ("image" as const) : ("document" as const);
  const mimeType = asText(source["media_type"]) || (kind === "image" ? "image/*" : "application/pdf");
  const text = asText(source["type"]) === "text" ? asText(source["data"]) : inlineText(source["content"]);
  if (text !== undefined)
    return { kind, mimeType: "text/plain", bytes: Buffer.byteLength(text), tokens: textTokens(text) };
  return { kind, mimeType, ...fileTokens({ kind, mimeType, base64: asText(source["data"]) }) };
};

const inlineText = (content: unknown): string | undefined => {
  if (typeof content === "string") return content;
  return Array.isArray(content) ? content.map((block) => asText(asObject(block)["text"])).join("\n") : undefined;
};
