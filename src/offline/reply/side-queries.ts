import type { ParsedRequest } from "../api/parsed-request.ts";
import { asksForSummary, summarizeConversation } from "./summarize-conversation.ts";
import { codeBlock, excerpt } from "./text.ts";

/** The answer to a question that is not a person's: those that Parley and its tools ask a model on the side. */
export const answerSideQuery = (heard: ParsedRequest): string | undefined => {
  const last = heard.turns.at(-1);
  const asked = last?.role === "user" ? (last.texts.at(-1) ?? "") : "";
  if (asked === "") return undefined;
  if (asksForSummary(heard, asked)) return summarizeConversation(heard, asked);
  if (asked.startsWith("This was asked about some web pages:\n")) return quotePages(asked);
  // Corrections of edits and the like: an empty object says that there is none.
  if (/\bAnswer with nothing but JSON\b/.test(asked)) return "{}";
  return undefined;
};

/** What pages say at their beginning. */
const quotePages = (asked: string): string =>
  [...asked.matchAll(/^--- (https?:\S+) ---\n([\s\S]*?)(?=^--- )/gm)]
    .map(([, url = "", page = ""]) => `${url} begins:\n\n${codeBlock(excerpt(page.trim(), { most: 15 }).text)}`)
    .join("\n\n") || "There is no text on these pages.";
