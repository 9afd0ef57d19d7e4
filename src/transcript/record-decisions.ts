import type { Entry } from "../conversation/entry.ts";
import type { Ledger } from "../conversation/ledger.ts";
import type { Part } from "../conversation/parts.ts";
import { cutBefore } from "./compaction-cut.ts";
import { missingOutcome } from "./missing-result.ts";
import { continueText, isBlank } from "./words.ts";

/**
 * Records in the ledger, before a request is sent, what rendering would otherwise have to make up: outcomes of pending
 * calls, and a notice to continue where the model wrote last. What was sent once is then never decided again.
 */
export const recordDecisions = (ledger: Ledger): void => {
  for (const { id, tool, input } of ledger.pending()) ledger.complete(id, tool, missingOutcome(input));
  if (endsWithModel(ledger.entries)) ledger.notice(continueText);
};

/** Whether a request would end with a model message. Completions do not count: they are placed with their calls. */
const endsWithModel = (entries: readonly Entry[]): boolean => {
  let floor = 0;
  let isSummarised = false;
  for (let index = entries.length - 1; index >= floor; index--) {
    const entry = entries[index]!;
    switch (entry.type) {
      case "user":
        if (entry.parts.some((part) => part.type === "media" || !isBlank(part.text))) return false;
        break;
      case "notice":
        if (!isBlank(entry.text)) return false;
        break;
      case "completion":
      case "copy":
        break;
      case "compaction":
        if (isBlank(entry.summary)) break;
        isSummarised = true;
        floor = Math.max(floor, cutBefore(entries.slice(0, index), Math.min(entry.from, index)));
        break;
      case "model":
        if (entry.parts.some((part) => part.type === "call")) return false;
        if (entry.parts.some(isVisible)) return true;
    }
  }
  return !isSummarised;
};

/** Whether some target shows a part: text, media, or a signed text, which its API wants back even when it is empty. */
const isVisible = (part: Part): boolean =>
  part.type === "media" ||
  (part.type === "text" && part.seal?.signature !== undefined) ||
  ((part.type === "text" || part.type === "code") && !isBlank(part.text));
