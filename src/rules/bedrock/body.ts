import { type IndexedMessage, type TurnOf, blocksBy, turnsBy } from "../turns.ts";
import { asArray, asString, isObject, memoize } from "../walk.ts";

/**
 * One block of a message. `kind` is its first known member, `data` that member's value, `path` its place as the
 * vendor's messages name it.
 */
export type BedrockBlock = {
  readonly message: number;
  readonly role: string;
  readonly kind: string;
  readonly value: Record<string, unknown>;
  readonly data: unknown;
  readonly pointer: string;
  readonly path: string;
};

/** Consecutive messages of one role. */
export type BedrockTurn = TurnOf<BedrockBlock>;

/** The members of a content block. */
export const blockKinds: ReadonlySet<string> = new Set([
  "text",
  "image",
  "document",
  "video",
  "audio",
  "toolUse",
  "toolResult",
  "reasoningContent",
  "cachePoint",
  "guardContent",
  "citationsContent",
  "searchResult",
  "toolAddition",
  "toolRemoval",
]);

/** The members of a block inside a toolResult. */
export const resultKinds: ReadonlySet<string> = new Set(["text", "json", "image", "document", "video", "searchResult"]);

type BedrockBlockPlace = Pick<BedrockBlock, "message" | "role" | "pointer" | "path">;

const blockAt = (
  { message, role, pointer, path }: BedrockBlockPlace,
  value: Record<string, unknown>,
  kinds: ReadonlySet<string>,
): BedrockBlock => {
  for (const kind of Object.keys(value)) {
    const data = kinds.has(kind) ? value[kind] : undefined;
    if (data !== undefined && data !== null) return { message, role, kind, value, data, pointer, path };
  }
  return { message, role, kind: "", value, data: undefined, pointer, path };
};

/** The blocks of one message. To find them costs less than to memoize them. */
export const blocksIn = ({ index: message, value, pointer }: IndexedMessage): readonly BedrockBlock[] => {
  const role = asString(value["role"]) ?? "";
  const blocks: BedrockBlock[] = [];
  for (const [index, block] of asArray(value["content"]).entries()) {
    if (!isObject(block)) continue;
    const place = {
      message,
      role,
      pointer: `${pointer}/content/${index}`,
      path: `messages.${message}.content.${index}`,
    };
    blocks.push(blockAt(place, block, blockKinds));
  }
  return blocks;
};

/** Every block of every message. */
export const blocksOf: (body: unknown) => readonly BedrockBlock[] = blocksBy(blocksIn);

/** The blocks inside a toolResult. */
export const resultBlocks: (block: BedrockBlock) => readonly BedrockBlock[] = memoize((block) => {
  if (block.kind !== "toolResult" || !isObject(block.data)) return none;
  const blocks: BedrockBlock[] = [];
  for (const [index, value] of asArray(block.data["content"]).entries()) {
    if (!isObject(value)) continue;
    const pointer = `${block.pointer}/toolResult/content/${index}`;
    const place = {
      message: block.message,
      role: block.role,
      pointer,
      path: `${block.path}.toolResult.content.${index}`,
    };
    blocks.push(blockAt(place, value, resultKinds));
  }
  return blocks;
});

const none: readonly BedrockBlock[] = [];

/** The conversation as turns: consecutive messages of one role, which most model families merge. */
export const turnsOf: (body: unknown) => readonly BedrockTurn[] = turnsBy(blocksIn);

/** The last turn. */
export const lastTurn = (body: unknown): BedrockTurn | undefined => turnsOf(body).at(-1);

/** A field of the block's data. */
export const fieldOf = (block: BedrockBlock, name: string): unknown =>
  isObject(block.data) ? block.data[name] : undefined;

/** True for a call, or its result, that the service runs itself and answers inside the assistant message. */
export const isServerCall = (block: BedrockBlock): boolean => {
  const type = asString(fieldOf(block, "type"));
  return block.kind === "toolUse"
    ? type === "server_tool_use"
    : block.kind === "toolResult" && type !== undefined && type !== "tool_result";
};

/** The id of a toolUse or toolResult. */
export const callId = (block: BedrockBlock): string => asString(fieldOf(block, "toolUseId")) ?? "";
