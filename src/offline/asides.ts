import type { Heard } from "./heard.ts";
import { isSummaryWanted, summaryOf } from "./summary.ts";
import { block, some } from "./words.ts";

/** The answer to a question that is not a person's: those that Parley and its tools ask a model on the side. */
export const asideOf = (heard: Heard): string | undefined => {
  const last = heard.turns.at(-1);
  const asked = last?.by === "user" ? (last.texts.at(-1) ?? "") : "";
  if (asked === "") return undefined;
  if (isSummaryWanted(heard, asked)) return summaryOf(heard, asked);
  if (asked.startsWith("This was asked about some web pages:\n")) return pagesIn(asked);
  // Corrections of edits and the like: an empty object says that there is none.
  if (/\bAnswer with nothing but JSON\b/.test(asked)) return "{}";
  return undefined;
};

/** What pages say at their beginning. */
const pagesIn = (asked: string): string =>
  [...asked.matchAll(/^--- (https?:\S+) ---\n([\s\S]*?)(?=^--- )/gm)]
    .map(([, url = "", page = ""]) => `${url} begins:\n\n${block(some(page.trim(), { most: 15 }).text)}`)
    .join("\n\n") || "There is no text on these pages.";
