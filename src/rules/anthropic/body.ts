import { type IndexedMessage, type TurnOf, blocksBy, turnsBy } from "../turns.ts";
import { asArray, asString, isObject, join, memoize } from "../walk.ts";

/** One block of a message. `path` names its place the way the vendor's error messages do. */
export type AnthropicBlock = {
  readonly message: number;
  readonly role: string;
  readonly type: string;
  readonly value: Record<string, unknown>;
  readonly pointer: string;
  readonly path: string;
  /** The content of the message is one text, not a list of blocks. */
  readonly whole: boolean;
};

/** Consecutive messages of one role, which the API merges into one before it looks at them. */
export type AnthropicTurn = TurnOf<AnthropicBlock>;

/** The blocks of one message; text content counts as one text block. To find them costs less than to memoize them. */
export const blocksIn = ({ index: message, value, pointer }: IndexedMessage): readonly AnthropicBlock[] => {
  const role = asString(value["role"]) ?? "";
  const content = value["content"];
  const at = `${pointer}/content`;
  const path = `messages.${message}.content`;
  if (typeof content !== "string") return blocksAt(content, { message, role, pointer: at, path });
  // No spread: this is most of the time of a check of a long conversation.
  return [{ message, role, type: "text", value: { type: "text", text: content }, pointer: at, path, whole: true }];
};

type AnthropicBlockPlace = Pick<AnthropicBlock, "message" | "role" | "pointer" | "path">;

const blocksAt = (
  content: unknown,
  { message, role, pointer, path }: AnthropicBlockPlace,
): readonly AnthropicBlock[] => {
  const blocks: AnthropicBlock[] = [];
  for (const [index, value] of asArray(content).entries()) {
    if (!isObject(value)) continue;
    const type = asString(value["type"]) ?? "";
    blocks.push({ message, role, type, value, pointer: `${pointer}/${index}`, path: `${path}.${index}`, whole: false });
  }
  return blocks;
};

/** The pointer to the text of a text block. */
export const textPointer = (block: AnthropicBlock): string =>
  block.whole ? block.pointer : join(block.pointer, "text");

/** Every block of every message. */
export const blocksOf: (body: unknown) => readonly AnthropicBlock[] = blocksBy(blocksIn);

/** The blocks inside a tool_result, when its content is a list. */
export const resultBlocks = ({
  type,
  value,
  message,
  role,
  pointer,
  path,
}: AnthropicBlock): readonly AnthropicBlock[] =>
  type === "tool_result"
    ? blocksAt(value["content"], { message, role, pointer: `${pointer}/content`, path: `${path}.tool_result.content` })
    : [];

/** Every block of every message, and those inside tool results. */
export const allBlocksOf: (body: unknown) => readonly AnthropicBlock[] = memoize((body) => [...walkAllBlocksOf(body)]);

function* walkAllBlocksOf(body: unknown): Generator<AnthropicBlock> {
  for (const block of blocksOf(body)) {
    yield block;
    if (block.type === "tool_result") yield* resultBlocks(block);
  }
}

/** The system blocks, when the system prompt is a list. */
export const systemBlocks = (body: unknown): readonly AnthropicBlock[] =>
  blocksAt(isObject(body) ? body["system"] : undefined, {
    message: -1,
    role: "system",
    pointer: "/system",
    path: "system",
  });

/** The conversation as merged turns. */
export const turnsOf: (body: unknown) => readonly AnthropicTurn[] = turnsBy(blocksIn);

/** The last merged turn. */
export const lastTurn = (body: unknown): AnthropicTurn | undefined => turnsOf(body).at(-1);
