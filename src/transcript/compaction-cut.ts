import type { Entry, Notice } from "../conversation/entry.ts";
import type { CallId } from "../conversation/parts.ts";
import { isBlank } from "./words.ts";

/** Returns the last index at or before `from` where a compaction can cut without separating a call from its result. */
export const cutBefore = (entries: readonly Entry[], from: number): number =>
  moveCut(entries, Math.max(0, from), ({ called }) => called);

/** Returns the first index at or after `from` where a compaction can cut without separating a call from its result. */
export const cutAfter = (entries: readonly Entry[], from: number): number =>
  moveCut(entries, Math.max(0, from), ({ completed }) => completed + 1);

/** The entry indexes of a call and of its first completion. */
type CallSpan = { readonly called: number; readonly completed: number };

const moveCut = (entries: readonly Entry[], from: number, move: (span: CallSpan) => number): number => {
  const spans = callSpansIn(entries);
  let cut = from;
  for (let moved = true; moved;) {
    moved = false;
    for (const span of spans) {
      if (span.called >= cut || span.completed < cut) continue;
      cut = move(span);
      moved = true;
    }
  }
  return cut;
};

const callSpansIn = (entries: readonly Entry[]): readonly CallSpan[] => {
  const callAt = new Map<CallId, number>();
  const completedAt = new Map<CallId, number>();
  for (const [at, entry] of entries.entries()) {
    if (entry.type === "completion" && !completedAt.has(entry.call)) completedAt.set(entry.call, at);
    else if (entry.type === "model") for (const part of entry.parts) if (part.type === "call") callAt.set(part.id, at);
  }
  return [...completedAt].flatMap(([call, completed]) => {
    const called = callAt.get(call);
    return called === undefined ? [] : [{ called, completed }];
  });
};

/** Returns the notice a session opens with, such as its environment, if entries before `cut` are replaced: no summary replaces it. */
export const openingNotice = (entries: readonly Entry[], cut: number): Notice | undefined => {
  const [first] = entries;
  return cut > 0 && first?.type === "notice" && !isBlank(first.text) ? first : undefined;
};

/** Returns the last summary of a conversation and the index where the entries it replaces end; 0 without a summary. */
export const lastSummaryIn = (entries: readonly Entry[]): { readonly summary: string; readonly cut: number } => {
  const at = entries.findLastIndex((entry) => entry.type === "compaction" && !isBlank(entry.summary));
  const last = entries[at];
  if (last?.type !== "compaction") return { summary: "", cut: 0 };
  return { summary: last.summary, cut: cutBefore(entries.slice(0, at), Math.min(last.from, at)) };
};
