import type { TurnOf } from "./turns.ts";

/** The calls of an assistant turn and the results of the turn after it. */
type CallExchange<Block> = {
  readonly calls: readonly Block[];
  readonly results: readonly Block[];
  readonly answer: TurnOf<Block> | undefined;
};

/** How one family reads turns, their calls and results, and the ids that link them. */
export type BlockPairing<Block> = {
  readonly turnsOf: (body: unknown) => readonly TurnOf<Block>[];
  readonly callsIn: (turn: TurnOf<Block>) => readonly Block[];
  readonly resultsIn: (turn: TurnOf<Block>) => readonly Block[];
  readonly idOf: (block: Block) => string;
};

/**
 * Yields every non-assistant turn with the calls it has to answer, and a last exchange when the body ends with calls.
 */
export function* exchangesOf<Block>(
  body: unknown,
  { turnsOf, callsIn, resultsIn }: BlockPairing<Block>,
): Generator<CallExchange<Block>> {
  let calls: readonly Block[] = [];
  for (const turn of turnsOf(body)) {
    if (turn.role !== "assistant") yield { calls, results: resultsIn(turn), answer: turn };
    calls = turn.role === "assistant" ? callsIn(turn) : [];
  }
  if (calls.length > 0) yield { calls, results: [], answer: undefined };
}

/** The blocks whose id does not occur among the others: calls without a result, or results without a call. */
export const findUnpaired = <Block>(
  blocks: readonly Block[],
  others: readonly Block[],
  { idOf }: BlockPairing<Block>,
): readonly Block[] => {
  const known = new Set(others.map(idOf));
  return blocks.filter((block) => !known.has(idOf(block)));
};

/** The blocks whose id an earlier block in the list already has. */
export const findRepeated = <Block>(blocks: readonly Block[], { idOf }: BlockPairing<Block>): readonly Block[] => {
  const seen = new Set<string>();
  return blocks.filter((block) => seen.size === seen.add(idOf(block)).size);
};

/** Yields, for every turn, the first call whose id was used in an earlier turn. */
export function* findReusedCalls<Block>(
  body: unknown,
  { turnsOf, callsIn, idOf }: BlockPairing<Block>,
): Generator<Block> {
  const earlier = new Set<string>();
  for (const turn of turnsOf(body)) {
    const calls = turn.role === "assistant" ? callsIn(turn) : [];
    const reused = calls.find((call) => earlier.has(idOf(call)));
    if (reused !== undefined) yield reused;
    for (const call of calls) earlier.add(idOf(call));
  }
}
