import { text } from "../../conversation/builders.ts";
import { Ledger } from "../../conversation/ledger.ts";
import type { ModelInput } from "../../providers/model-input.ts";
import { findModelFacts } from "../../providers/models.ts";
import type { ReadSession } from "../../session/store/store.ts";
import type { ModelRef } from "./name.ts";
import { checkSwitch, type SwitchCheck, type SwitchCheckContext } from "./switch-check.ts";

/** Facts about a switch that the session does not have: the tokens of its next request, and what settings say about the model. */
export type SwitchFacts = {
  readonly tokens: number;
  readonly input?: ModelInput | undefined;
  readonly context?: number | undefined;
  readonly price?: SwitchCheckContext["price"];
};

/** Checks what switching a saved session to a model would cost and lose. */
export const checkSessionSwitch = (
  session: ReadSession,
  model: ModelRef,
  { tokens, input, context, price }: SwitchFacts,
): Promise<SwitchCheck> =>
  checkSwitch(
    {
      journal: { ledger: withNextMessage(session), blobs: session.blobs },
      prefix: headOf(session),
      input,
      price,
      window: { tokens, limit: async () => context ?? findModelFacts(model.provider.id, model.model).context },
    },
    model,
  );

/** Adds a user message to the conversation, because the next request has one: some APIs require the last to be the user's. */
const withNextMessage = ({ entries }: ReadSession): Ledger => {
  const ledger = Ledger.from(entries);
  ledger.user([text("Go on.")]);
  return ledger;
};

const headOf = ({ head: { system }, tools = [] }: ReadSession): SwitchCheckContext["prefix"] => ({
  ...(system === undefined ? {} : { system }),
  tools,
});
