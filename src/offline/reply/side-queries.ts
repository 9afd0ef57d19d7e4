import type { ParsedRequest } from "../api/parsed-request.ts";
import { asksForSummary, summarizeConversation } from "./summarize-conversation.ts";
import { codeBlock, excerpt } from "./text.ts";

/** Answers a side query: a request of Parley or its tools rather than of the user. */
export const answerSideQuery = (request: ParsedRequest): string | undefined => {
  const last = request.turns.at(-1);
  const prompt = last?.role === "user" ? (last.texts.at(-1) ?? "") : "";
  if (prompt === "") return undefined;
  if (asksForSummary(request, prompt)) return summarizeConversation(request, prompt);
  if (prompt.startsWith("This was asked about some web pages:\n")) return quotePages(prompt);
  // For corrections of edits and similar queries, an empty object means "no correction".
  if (/\bAnswer with nothing but JSON\b/.test(prompt)) return "{}";
  return undefined;
};

/** Quotes the beginning of each page. */
const quotePages = (prompt: string): string =>
  [...prompt.matchAll(/^--- (https?:\S+) ---\n([\s\S]*?)(?=^--- )/gm)]
    .map(([, url = "", page = ""]) => `${url} begins:\n\n${codeBlock(excerpt(page.trim(), { most: 15 }).text)}`)
    .join("\n\n") || "There is no text on these pages.";
