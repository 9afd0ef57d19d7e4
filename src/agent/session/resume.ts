import { SessionError } from "../../session/error.ts";
import { describeDamage } from "../../session/repair/damage.ts";
import { completeInterruptedCalls } from "../../session/interrupted-calls.ts";
import type { Session } from "../../session/session.ts";
import type { SessionStore } from "../../session/store/store.ts";
import type { RequestPrefix } from "../requests/builder.ts";
import { Journal } from "./journal.ts";

/** A resumed session and its conversation. */
export type ResumedSession = {
  readonly session: Session;
  readonly journal: Journal;
  readonly prefix: RequestPrefix;
  readonly notes: readonly string[];
};

/** Opens an existing session: repairs its log, completes interrupted calls, and reports both. */
export const resumeAgentSession = async (
  sessions: SessionStore,
  which: { readonly id: string } | "last",
  root: string,
): Promise<ResumedSession> => {
  const session = await sessions.open(which === "last" ? await lastSessionId(sessions, root) : which.id);
  const journal = new Journal(session, session);
  const { messages } = completeInterruptedCalls(journal.ledger);
  await journal.commit();
  journal.releaseCompacted();
  const { system } = session.head;
  return {
    session,
    journal,
    prefix: { ...(system === undefined ? {} : { system }), tools: session.tools ?? session.head.tools ?? [] },
    notes: [...session.damage.map(describeDamage), ...messages],
  };
};

const lastSessionId = async (sessions: SessionStore, root: string): Promise<string> => {
  const [last] = await sessions.list({ root, limit: 1 });
  if (last === undefined) throw new SessionError({ kind: "not-found", id: "last" });
  return last.id;
};
