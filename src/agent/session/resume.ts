import { SessionError } from "../../session/error.ts";
import { describeDamage } from "../../session/repair/damage.ts";
import { completeInterruptedCalls } from "../../session/interrupted-calls.ts";
import type { Session } from "../../session/session.ts";
import type { NewRecord } from "../../session/log/record.ts";
import type { NewSession } from "../../session/store/create.ts";
import { createInMemorySession } from "../../session/store/in-memory.ts";
import type { ReadSession, SessionStore } from "../../session/store/store.ts";
import type { ResolvedAgentOptions } from "../options.ts";
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
  { world, folder, isFork, isSaved }: Pick<ResolvedAgentOptions, "world" | "folder" | "isFork" | "isSaved">,
): Promise<ResumedSession> => {
  const id = which === "last" ? await lastSessionId(sessions, folder) : which.id;
  if (isFork !== true && isSaved !== false) return continueSession(await sessions.open(id));
  const start = await copySession(await sessions.read(id));
  return continueSession(await (isSaved === false ? createInMemorySession(world, start) : sessions.create(start)));
};

/** The initial state of a copy of a session, with all of its records. */
const copySession = async ({ head, blobs, records }: ReadSession): Promise<NewSession> => {
  const copies: NewRecord[] = [];
  for await (const { record } of records())
    switch (record.kind) {
      case "head":
      case "repair":
      case "unknown":
      // The person consented for the other session.
      case "consent":
        break;
      default:
        copies.push(record);
    }
  const { root, system, tools, model } = head;
  return {
    root,
    ...(system === undefined ? {} : { system }),
    ...(tools === undefined ? {} : { tools }),
    ...(model === undefined ? {} : { model }),
    records: copies,
    blobs,
  };
};

const continueSession = async (session: Session): Promise<ResumedSession> => {
  const journal = new Journal(session, session);
  const { messages } = completeInterruptedCalls(journal.ledger, session.notBegun);
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
