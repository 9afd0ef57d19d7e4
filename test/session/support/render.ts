import type { Conversation } from "../../../src/conversation/entry.ts";
import { Ledger } from "../../../src/conversation/ledger.ts";
import { providers } from "../../../src/providers/all.ts";
import { lint } from "../../../src/rules/lint.ts";
import { exportConversation } from "../../../src/session/export/conversation.ts";
import type { SavedSession } from "../../../src/session/load.ts";
import { completeInterruptedCalls } from "../../../src/session/interrupted-calls.ts";
import { recordDecisions } from "../../../src/transcript/record-decisions.ts";
import { composeRequest } from "../../../src/wire/compose.ts";

/** Returns the first request a provider would refuse for a resumed session, or undefined. */
export const findRefusedRequest = (session: SavedSession): string | undefined => {
  const ledger = Ledger.from(session.entries);
  completeInterruptedCalls(ledger);
  recordDecisions(ledger);
  const conversation: Conversation = { ...exportConversation(session), entries: ledger.entries };
  for (const { id, wire, defaultModel, destination } of providers) {
    const { body } = composeRequest(conversation, destination(defaultModel), {
      policy: { unsupportedMedia: "stub", thinking: "own" },
      settings: { maxTokens: 1000 },
    });
    const finding = lint(body, { wire, provider: id, model: defaultModel }).find(({ level }) => level === "error");
    if (finding !== undefined) return `${id} refuses ${finding.pointer}: ${finding.message}`;
  }
  return undefined;
};
