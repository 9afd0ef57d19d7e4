import { asArray, asString, isObject, memoize } from "./walk.ts";

/** One message, with its index and pointer. */
export type IndexedMessage = {
  readonly index: number;
  readonly value: Record<string, unknown>;
  readonly pointer: string;
};

/** Consecutive messages of one role, which most models see merged into one. */
export type TurnOf<Block> = { readonly role: string; readonly first: number; readonly blocks: readonly Block[] };

/** The messages of a body that are objects. */
export const messagesOf: (body: unknown) => readonly IndexedMessage[] = memoize((body) => [...walkMessagesOf(body)]);

function* walkMessagesOf(body: unknown): Generator<IndexedMessage> {
  if (!isObject(body)) return;
  for (const [index, value] of asArray(body["messages"]).entries()) {
    if (isObject(value)) yield { index, value, pointer: `/messages/${index}` };
  }
}

/** The messages with a role that Claude and Bedrock do not know. */
export const unknownRoles = (body: unknown): readonly (IndexedMessage & { readonly role: string })[] =>
  messagesOf(body).flatMap((message) => {
    const role = asString(message.value["role"]);
    return role === undefined || knownRoles.has(role) ? [] : [{ ...message, role }];
  });

const knownRoles: ReadonlySet<string> = new Set(["user", "assistant", "system"]);

/** Creates a memoized walk over every block of every message, given how a family splits a message. */
export const blocksBy = <Block>(
  blocksIn: (message: IndexedMessage) => readonly Block[],
): ((body: unknown) => readonly Block[]) => memoize((body) => messagesOf(body).flatMap(blocksIn));

/** Creates a memoized walk over the conversation as merged turns, given how a family splits a message. */
export const turnsBy = <Block>(
  blocksIn: (message: IndexedMessage) => readonly Block[],
): ((body: unknown) => readonly TurnOf<Block>[]) => memoize((body) => [...walkTurnsOf(body, blocksIn)]);

function* walkTurnsOf<Block>(
  body: unknown,
  blocksIn: (message: IndexedMessage) => readonly Block[],
): Generator<TurnOf<Block>> {
  let turn: { role: string; first: number; blocks: Block[] } | undefined;
  for (const message of messagesOf(body)) {
    const role = asString(message.value["role"]) ?? "";
    if (turn?.role !== role) {
      if (turn !== undefined) yield turn;
      turn = { role, first: message.index, blocks: [] };
    }
    for (const block of blocksIn(message)) turn.blocks.push(block);
  }
  if (turn !== undefined) yield turn;
}
