import type { Entry, Ledger, Outcome } from "../conversation/index.ts";
import { continueWord, isBlank, unreadableArguments } from "./words.ts";

/**
 * Writes down, before a request is sent, what rendering would otherwise have
 * to make up: how pending calls ended, and that the model has the word. What
 * was sent once is then never decided again.
 */
export const settle = (ledger: Ledger): void => {
  for (const { id, tool, input } of ledger.pending()) {
    const outcome: Outcome =
      input.type === "malformed"
        ? { status: "error", content: [{ type: "text", text: unreadableArguments }], synthetic: true }
        : { status: "interrupted", content: [], synthetic: true };
    ledger.complete(id, tool, outcome);
  }
  if (modelSpokeLast(ledger.entries)) ledger.notice(continueWord);
};

const modelSpokeLast = (entries: readonly Entry[]): boolean => {
  for (let index = entries.length - 1; index >= 0; index--) {
    const entry = entries[index]!;
    switch (entry.type) {
      case "user":
        if (entry.parts.some((part) => part.type === "media" || !isBlank(part.text))) return false;
        break;
      case "notice":
        if (!isBlank(entry.text)) return false;
        break;
      case "completion":
      case "compaction":
        return false;
      case "model":
        if (entry.parts.some((part) => part.type === "call")) return false;
        if (
          entry.parts.some(
            (part) => part.type === "media" || ((part.type === "text" || part.type === "code") && !isBlank(part.text)),
          )
        )
          return true;
    }
  }
  return true;
};
