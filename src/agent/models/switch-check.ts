import type { Conversation } from "../../conversation/entry.ts";
import type { Note } from "../../conversation/notes.ts";
import type { ModelInput } from "../../providers/model-input.ts";
import { computeCost, findModelFacts } from "../../providers/models.ts";
import { render } from "../../transcript/render.ts";
import type { RequestPrefix } from "../requests/builder.ts";
import type { Journal } from "../session/journal.ts";
import { modelName, type ModelRef } from "./name.ts";
import type { ContextWindow } from "../context-window/window.ts";

/** What moving a conversation to a model would mean. Tokens and dollars are estimates. */
export type SwitchCheck = {
  readonly model: string;
  /** False where nothing is known of the model and everything here is a cautious guess. */
  readonly known: boolean;
  readonly tokens: number;
  /** How many tokens the model can read. */
  readonly context: number;
  readonly fits: boolean;
  /** Tokens of the next request that no cache of this model holds. */
  readonly uncached: number;
  /** What the next request costs because of that, in US dollars; absent where the price is unknown. */
  readonly cost?: number;
  /** Media the model would be told of but not shown. */
  readonly stubbed: readonly Note[];
  /** Thinking that would not carry over. */
  readonly thinking: readonly Note[];
  /** Everything else the rendering would decide. */
  readonly others: readonly Note[];
};

/** What a check looks at. */
export type SwitchCheckContext = {
  readonly journal: Pick<Journal, "ledger" | "blobs">;
  readonly prefix: RequestPrefix;
  readonly window: Pick<ContextWindow, "tokens" | "limit">;
  /** The kinds of files the model takes, where that is known better than by its provider. */
  readonly input?: ModelInput | undefined;
};

/** Renders the conversation for a model without sending it, and tells what would become of it. */
export const checkSwitch = async (
  { journal, prefix: head, window, input }: SwitchCheckContext,
  model: ModelRef,
): Promise<SwitchCheck> => {
  const { provider, model: id } = model;
  const { target } = provider.destination(id, undefined, [], input);
  const conversation: Conversation = {
    version: 1,
    tools: head.tools,
    entries: journal.ledger.entries,
    blobs: journal.blobs,
  };
  const { notes } = render(conversation, target, { unsupportedMedia: "stub" }).report;
  const facts = findModelFacts(provider.id, id);
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

/** The model that answered last: it alone may still hold the conversation in its cache. */
const lastModelOf = ({ ledger }: SwitchCheckContext["journal"]): string | undefined => {
  const last = ledger.entries.findLast((entry) => entry.type === "model");
  return last === undefined ? undefined : `${last.origin.provider}/${last.origin.model}`;
};
