import type { ParsedRequest } from "../api/parsed-request.ts";
import { asksForSummary, summarizeConversation } from "./summarize-conversation.ts";
import { codeBlock, excerpt } from "./text.ts";

/** Answers a side query: a request of Parley or its tools rather than of the user. */
export const answerSideQuery = (heard: ParsedRequest): string | undefined => {
  const last = heard.turns.at(-1);
  const asked = last?.role === "user" ? (last.texts.at(-1) ?? "") : "";
  if (asked === "") return undefined;
  if (asksForSummary(heard, asked)) return summarizeConversation(heard, asked);
  if (asked.startsWith("This was asked about some web pages:\n")) return quotePages(asked);
  // For corrections of edits and similar queries, an empty object means "no correction".
  if (/\bAnswer with nothing but JSON\b/.test(asked)) return "{}";
  return undefined;
};

/** Quotes the beginning of each page. */
const quotePages = (asked: string): string =>
  [...asked.matchAll(/^--- (https?:\S+) ---\n([\s\S]*?)(?=^--- )/gm)]
    .map(([, url = "", page = ""]) => `${url} begins:\n\n${codeBlock(excerpt(page.trim(), { most: 15 }).text)}`)
    .join("\n\n") || "There is no text on these pages.";
