import type { History, HistoryOp } from "./histories.ts";

/** Shrinks a failing history: drops ops, then parts, while it still fails. */
export const shrink = (history: History, fails: (smaller: History) => boolean): History => {
  let best = history;
  for (let improved = true; improved;) {
    improved = false;
    for (const ops of smaller(best.ops)) {
      const candidate = { ...best, ops };
      if (!fails(candidate)) continue;
      best = candidate;
      improved = true;
      break;
    }
  }
  return best;
};

function* smaller(ops: readonly HistoryOp[]): Generator<readonly HistoryOp[]> {
  for (let size = Math.ceil(ops.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2))
    for (let at = 0; at < ops.length; at += size) yield without(ops, at, size);
  for (const [at, op] of ops.entries()) {
    if (op.type === "user" || op.type === "model") {
      for (let part = 0; part < op.parts.length && op.parts.length > 1; part++)
        yield ops.with(at, { ...op, parts: op.parts.toSpliced(part, 1) } as HistoryOp);
    } else if (op.type === "result" || op.type === "orphan") {
      for (let part = 0; part < op.outcome.content.length; part++)
        yield ops.with(at, { ...op, outcome: { ...op.outcome, content: op.outcome.content.toSpliced(part, 1) } });
    }
  }
}

/** Drops ops with the results of their calls, and renumbers later calls. */
const without = (ops: readonly HistoryOp[], at: number, size: number): readonly HistoryOp[] => {
  const calls = ops.flatMap((op, index) =>
    op.type === "model" ? op.parts.filter((part) => part.type === "call").map(() => index) : [],
  );
  const kept = new Map<number, number>();
  calls.forEach((index, call) => {
    if (index < at || index >= at + size) kept.set(call, kept.size);
  });
  return ops
    .toSpliced(at, size)
    .flatMap((op): readonly HistoryOp[] =>
      op.type !== "result" ? [op] : kept.has(op.call) ? [{ ...op, call: kept.get(op.call)! }] : [],
    );
};
