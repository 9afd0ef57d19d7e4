import type { Conversation } from "../../../src/conversation/entry.ts";
import { Ledger } from "../../../src/conversation/ledger.ts";
import { providers } from "../../../src/providers/all.ts";
import { lint } from "../../../src/rules/lint.ts";
import { conversationOf } from "../../../src/session/export.ts";
import type { Saved } from "../../../src/session/load.ts";
import { completeInterrupted } from "../../../src/session/resume.ts";
import { settle } from "../../../src/transcript/settle.ts";
import { compose } from "../../../src/wire/compose.ts";

/** What some provider would refuse of a session that is taken up again, or undefined. */
export const unrenderable = (session: Saved): string | undefined => {
  const ledger = Ledger.from(session.entries);
  completeInterrupted(ledger);
  settle(ledger);
  const conversation: Conversation = { ...conversationOf(session), entries: ledger.entries };
  for (const { id, wire, defaultModel, destination } of providers) {
    const { body } = compose(conversation, destination(defaultModel), {
      policy: { unsupportedMedia: "stub", thinking: "own" },
      settings: { maxTokens: 1000 },
    });
    const finding = lint(body, { wire, provider: id, model: defaultModel }).find(({ level }) => level === "error");
    if (finding !== undefined) return `${id} refuses ${finding.pointer}: ${finding.message}`;
  }
  return undefined;
};
