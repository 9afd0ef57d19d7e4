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
import { chunkSummaryPrompt, summaryPrompt } from "../prompts.ts";

/** What a summary is asked for with. */
export type SummaryOptions = {
  readonly transport: Transport;
  readonly journal: Journal;
  readonly builder: RequestBuilder;
  readonly spending: SpendingTracker;
};

/** What is to be summarised, and by whom. */
export type SummaryTask = {
  readonly model: ModelRef;
  /** The entries before this one. */
  readonly cut: number;
  /** The summary that stands for what came before these entries already. */
  readonly summary: string;
  /** Where that summary ends. */
  readonly from: number;
  /** Whether all of it fits into one request. */
  readonly isWhole: boolean;
  /** How many tokens of text one request may carry otherwise. */
  readonly chunkTokens: number;
  /** How many tokens the context has left for an answer to all of it, and to a piece. */
  readonly answerTokens: { readonly whole: number; readonly piece: number };
};

/** A summary, and how many entries no request could carry. */
export type ConversationSummary = { readonly text: string; readonly leftOut: number };

/** The most requests one summary is worth. */
const maxChunks = 12;

/** A piece that turns out too large is halved so often. */
const maxHalvings = 3;

/** Asks a model for a summary of a conversation: in one request, or piece by piece where that is too large. Throws a `ProviderError`. */
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

/** The request begins as earlier ones did, so that most of it is cached. */
const summarizeWhole = async (
  { transport, journal, builder: compositions, spending }: SummaryOptions,
  { model, cut, answerTokens }: SummaryTask,
  signal: AbortSignal,
): Promise<string> => {
  const { entries } = journal.ledger;
  // Compactions recorded after the cut say how what stands before it is shown.
  const past = [...entries.slice(0, cut), ...entries.slice(cut).filter(({ type }) => type === "compaction")];
  const { text, usage } = await runSideQuery(
    transport,
    model,
    (destination) => {
      const composer = new RequestComposer({
        destination,
        system: compositions.prefix.system,
        tools: compositions.prefix.tools,
        blobs: journal.blobs,
        policy: { unsupportedMedia: "stub" },
      });
      composer.add(past);
      composer.add([{ type: "user", parts: [{ type: "text", text: summaryPrompt }] }]);
      return composer.body({ stream: true, toolChoice: "none", contextLeft: answerTokens.whole });
    },
    signal,
  );
  if (usage !== undefined) await spending.add(model, usage);
  return text;
};

/** Each request carries the summary so far and the next piece of the conversation as text. */
const summarizeInChunks = async (
  { transport, journal, spending }: SummaryOptions,
  { model, cut, summary, from, chunkTokens: pieceTokens, answerTokens }: SummaryTask,
  signal: AbortSignal,
): Promise<ConversationSummary> => {
  const { entries } = journal.ledger;
  const { chunks: pieces, leftOut } = chunkConversation(visibleEntries(entries, from, cut), {
    tokens: pieceTokens,
    maxChunks: maxChunks,
  });
  let text = summary;
  for (const [index, piece] of pieces.entries()) {
    const words = chunkSummaryPrompt({ summary: text, piece, number: index + 1, count: pieces.length });
    const answer = await runSideQuery(transport, model, textQuery(words, { contextLeft: answerTokens.piece }), signal);
    if (answer.usage !== undefined) await spending.add(model, answer.usage);
    text = truncateToTokens(answer.text, pieceTokens / 4);
  }
  return { text, leftOut };
};

/** What models see between two places: results as short as they are shown. */
const visibleEntries = (entries: readonly Entry[], from: number, cut: number): readonly Entry[] => {
  // The notice a session opens with stays as it is.
  const start = Math.max(from, openingNotice(entries, cut) === undefined ? 0 : 1);
  const kept = entries.slice(0, cut).filter(({ type }) => type !== "compaction").length;
  const skipped = entries.slice(0, start).filter(({ type }) => type !== "compaction").length;
  return shortenResults(entries, start, () => undefined).slice(0, kept - skipped);
};

/** A text of at most so many tokens, with its middle left out where it was longer. */
export const truncateToTokens = (text: string, tokens: number): string => {
  const size = estimateTokens(text);
  if (size <= tokens) return text;
  const half = Math.max(0, Math.floor((text.length * (tokens - 20)) / size / 2));
  return `${text.slice(0, half).toWellFormed()}\n[...]\n${text.slice(text.length - half).toWellFormed()}`;
};
