import type { CallId, Entry, Notice } from "../conversation/index.ts";

/** The last place at or before `from` where a history can be cut without parting a call from its result. */
export const cutBefore = (entries: readonly Entry[], from: number): number => {
  const callAt = new Map<CallId, number>();
  const completedAt = new Map<CallId, number>();
  for (const [at, entry] of entries.entries()) {
    if (entry.type === "completion" && !completedAt.has(entry.call)) completedAt.set(entry.call, at);
    else if (entry.type === "model") for (const part of entry.parts) if (part.type === "call") callAt.set(part.id, at);
  }
  let cut = Math.max(0, from);
  for (let moved = true; moved;) {
    moved = false;
    for (const [call, completed] of completedAt) {
      const at = callAt.get(call);
      if (completed >= cut && at !== undefined && at < cut) {
        cut = at;
        moved = true;
      }
    }
  }
  return cut;
};

/** The notice a session opens with, such as its environment, where entries before `cut` are replaced: no summary replaces it. */
export const openingNotice = (entries: readonly Entry[], cut: number): Notice | undefined => {
  const [first] = entries;
  return cut > 0 && first?.type === "notice" ? first : undefined;
};
