import type { Conversation } from "../../conversation/entry.ts";
import type { Note } from "../../conversation/notes.ts";
import type { ModelInput } from "../../providers/model-input.ts";
import { computeCost, findModelFacts, type Price } from "../../providers/models.ts";
import { render } from "../../transcript/render.ts";
import type { RequestPrefix } from "../requests/builder.ts";
import type { Journal } from "../session/journal.ts";
import { modelName, type ModelRef } from "./name.ts";
import type { ContextWindow } from "../context-window/window.ts";

/** The effects of switching a conversation to a model. Tokens and dollars are estimates. */
export type SwitchCheck = {
  readonly model: string;
  /** False if the model is not in our list and the values are cautious guesses. */
  readonly known: boolean;
  readonly tokens: number;
  /** The size of the model's context window, in tokens. */
  readonly context: number;
  readonly fits: boolean;
  /** Tokens of the next request that are not in this model's prompt cache. */
  readonly uncached: number;
  /** The cost of those tokens in US dollars. Absent if the price is unknown. */
  readonly cost?: number;
  /** Media that would be replaced by a text. */
  readonly stubbed: readonly Note[];
  /** Thinking that would be lost. */
  readonly thinking: readonly Note[];
  /** All other decisions of rendering. */
  readonly others: readonly Note[];
};

/** The conversation that is checked. */
export type SwitchCheckContext = {
  readonly journal: Pick<Journal, "ledger" | "blobs">;
  readonly prefix: RequestPrefix;
  readonly window: Pick<ContextWindow, "tokens" | "limit">;
  /** The kinds of media the model accepts, where that is known better than by its provider. */
  readonly input?: ModelInput | undefined;
  /** The price, where settings know it. */
  readonly price?: Price | undefined;
};

/** Renders the conversation for a model without sending it, and reports what would change. */
export const checkSwitch = async (
  { journal, prefix, window, input, price }: SwitchCheckContext,
  model: ModelRef,
): Promise<SwitchCheck> => {
  const { provider, model: id } = model;
  const { target } = provider.destination(id, undefined, [], input);
  const conversation: Conversation = {
    version: 1,
    tools: prefix.tools,
    entries: journal.ledger.entries,
    blobs: journal.blobs,
  };
  const { notes } = render(conversation, target, { unsupportedMedia: "stub" }).report;
  const listed = findModelFacts(provider.id, id);
  const facts = price === undefined ? listed : { ...listed, price };
  const { tokens } = window;
  const context = await window.limit(model);
  const uncached = lastModelOf(journal) === modelName(model) ? 0 : tokens;
  const cost = computeCost(facts, { input: uncached, cachedRead: 0, cachedWrite: 0, output: 0, reasoning: 0 });
  const stubbed = notes.filter(({ kind }) => kind === "media-stub");
  const thinking = notes.filter(({ kind }) => kind.startsWith("thinking-"));
  return {
    model: modelName(model),
    known: facts.known,
    tokens,
    context,
    fits: tokens < context,
    uncached,
    ...(cost === undefined ? {} : { cost }),
    stubbed,
    thinking,
    others: notes.filter((note) => !stubbed.includes(note) && !thinking.includes(note)),
  };
};

/** The model that answered last: only its provider may have the conversation in the prompt cache. */
const lastModelOf = ({ ledger }: SwitchCheckContext["journal"]): string | undefined => {
  const last = ledger.entries.findLast((entry) => entry.type === "model");
  return last === undefined ? undefined : `${last.origin.provider}/${last.origin.model}`;
};
