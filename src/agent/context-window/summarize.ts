import { estimateTokens } from "../../context/estimate-tokens.ts";
import type { Entry } from "../../conversation/entry.ts";
import { openingNotice } from "../../transcript/compaction-cut.ts";
import { shortenResults } from "../../transcript/shorten-results.ts";
import { ProviderError } from "../../transport/failure.ts";
import type { Transport } from "../../transport/transport.ts";
import { RequestComposer } from "../../wire/compose.ts";
import { runSideQuery, textQuery } from "../requests/side-query.ts";
import type { RequestBuilder } from "../requests/builder.ts";
import { chunkConversation } from "./conversation-text.ts";
import type { Journal } from "../session/journal.ts";
import type { ModelRef } from "../models/name.ts";
import type { SpendingTracker } from "../models/spending.ts";
import { chunkSummaryPrompt, summaryFocus, summaryPrompt } from "../prompts.ts";

/** The means to request a summary. */
export type SummaryOptions = {
  readonly transport: Transport;
  readonly journal: Journal;
  readonly builder: RequestBuilder;
  readonly spending: SpendingTracker;
};

/** The part of the conversation to summarize, and the model that does it. */
export type SummaryTask = {
  readonly model: ModelRef;
  /** The entries before this position. */
  readonly cut: number;
  /** The subject the user wants to be kept in detail. */
  readonly focus?: string | undefined;
  /** The summary of an earlier compaction, which precedes these entries. */
  readonly summary: string;
  /** The position where that summary ends. */
  readonly from: number;
  /** Whether everything fits into one request. */
  readonly isWhole: boolean;
  /** Tokens of text per request otherwise. */
  readonly chunkTokens: number;
  /** Tokens left for the answer, in one request and in a request per chunk. */
  readonly answerTokens: { readonly whole: number; readonly chunk: number };
};

/** A summary, and the number of entries left out of it. */
export type ConversationSummary = { readonly text: string; readonly leftOut: number };

/** The most requests for one summary. */
const maxChunks = 12;

/** How often the chunk size is halved if a chunk is too large. */
const maxHalvings = 3;

/** Requests a summary of a conversation from a model: in one request, or in chunks if that is too large. Throws a `ProviderError`. */
export const summarizeConversation = async (
  options: SummaryOptions,
  task: SummaryTask,
  signal: AbortSignal,
): Promise<ConversationSummary> => {
  if (task.isWhole)
    try {
      return { text: await summarizeWhole(options, task, signal), leftOut: 0 };
    } catch (error) {
      if (!isTooLong(error)) throw error;
    }
  for (let halvings = 0; ; halvings++)
    try {
      return await summarizeInChunks(options, { ...task, chunkTokens: task.chunkTokens / 2 ** halvings }, signal);
    } catch (error) {
      if (!isTooLong(error) || halvings === maxHalvings) throw error;
    }
};

const isTooLong = (error: unknown): boolean =>
  error instanceof ProviderError && error.failure.kind === "context-too-long";

/** Summarizes in one request. It begins like earlier ones, so that most of it is in the prompt cache. */
const summarizeWhole = async (
  { transport, journal, builder, spending }: SummaryOptions,
  { model, cut, focus, answerTokens }: SummaryTask,
  signal: AbortSignal,
): Promise<string> => {
  const { entries } = journal.ledger;
  // Compactions recorded after the cut tell how the entries before it are shown.
  const past = [...entries.slice(0, cut), ...entries.slice(cut).filter(({ type }) => type === "compaction")];
  const { text, usage } = await runSideQuery(
    transport,
    model,
    (destination) => {
      const composer = new RequestComposer({
        destination,
        system: builder.prefix.system,
        tools: builder.prefix.tools,
        blobs: journal.blobs,
        policy: { unsupportedMedia: "stub" },
      });
      composer.add(past);
      composer.add([{ type: "user", parts: [{ type: "text", text: summaryPrompt + summaryFocus(focus) }] }]);
      return composer.body({ stream: true, toolChoice: "none", contextLeft: answerTokens.whole });
    },
    signal,
  );
  if (usage !== undefined) await spending.add(model, usage);
  return text;
};

/** Summarizes in chunks. Each request holds the summary so far and the next chunk of the conversation as text. */
const summarizeInChunks = async (
  { transport, journal, spending }: SummaryOptions,
  { model, cut, focus, summary, from, chunkTokens, answerTokens }: SummaryTask,
  signal: AbortSignal,
): Promise<ConversationSummary> => {
  const { entries } = journal.ledger;
  const { chunks, leftOut } = chunkConversation(visibleEntries(entries, from, cut), {
    tokens: chunkTokens,
    maxChunks,
  });
  let text = summary;
  for (const [index, chunk] of chunks.entries()) {
    const prompt =
      chunkSummaryPrompt({ summary: text, chunk, number: index + 1, count: chunks.length }) + summaryFocus(focus);
    const answer = await runSideQuery(transport, model, textQuery(prompt, { contextLeft: answerTokens.chunk }), signal);
    if (answer.usage !== undefined) await spending.add(model, answer.usage);
    text = truncateToTokens(answer.text, chunkTokens / 4);
  }
  return { text, leftOut };
};

/** The entries between two positions as models see them, with shortened results. */
const visibleEntries = (entries: readonly Entry[], from: number, cut: number): readonly Entry[] => {
  // The opening notice of a session is never summarized.
  const start = Math.max(from, openingNotice(entries, cut) === undefined ? 0 : 1);
  const kept = entries.slice(0, cut).filter(({ type }) => type !== "compaction").length;
  const skipped = entries.slice(0, start).filter(({ type }) => type !== "compaction").length;
  const visible = shortenResults(entries, start, () => undefined).slice(0, kept - skipped);
  return visible.map(({ entry }) => entry);
};

/** Truncates a text to a number of tokens by leaving out its middle. */
export const truncateToTokens = (text: string, tokens: number): string => {
  const size = estimateTokens(text);
  if (size <= tokens) return text;
  const half = Math.max(0, Math.floor((text.length * (tokens - 20)) / size / 2));
  return `${text.slice(0, half).toWellFormed()}\n[...]\n${text.slice(text.length - half).toWellFormed()}`;
};
