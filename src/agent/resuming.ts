import { SessionError } from "../session/error.ts";
import { tellFinding } from "../session/finding.ts";
import { completeInterrupted } from "../session/resume.ts";
import type { Session } from "../session/session.ts";
import type { Sessions } from "../session/store.ts";
import type { Head } from "./compositions.ts";
import { Journal } from "./journal.ts";

/** A session that goes on. */
export type Resumed = {
  readonly session: Session;
  readonly journal: Journal;
  readonly head: Head;
  readonly notes: readonly string[];
};

/** Opens a session again: heals it, ends calls nobody ended, and says what it did. */
export const resumed = async (
  sessions: Sessions,
  which: { readonly id: string } | "last",
  root: string,
): Promise<Resumed> => {
  const session = await sessions.open(which === "last" ? await lastOf(sessions, root) : which.id);
  const journal = new Journal(session, session);
  const { told } = completeInterrupted(journal.ledger);
  await journal.save();
  journal.release();
  const { system } = session.head;
  return {
    session,
    journal,
    head: { ...(system === undefined ? {} : { system }), tools: session.tools ?? session.head.tools ?? [] },
    notes: [...session.healed.map(tellFinding), ...told],
  };
};

const lastOf = async (sessions: Sessions, root: string): Promise<string> => {
  const [last] = await sessions.list({ root, limit: 1 });
  if (last === undefined) throw new SessionError({ kind: "not-found", id: "last" });
  return last.id;
};
