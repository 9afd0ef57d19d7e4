import type { AdoptableAgent } from "../../extensions/adopt/assets.ts";
import type { AdoptedSession } from "../../extensions/adopt/backup.ts";
import { isForeignAgent } from "../../foreign/agents.ts";
import { ForeignSessionError } from "../../foreign/error.ts";
import { listForeignSessions, type ForeignSession } from "../../foreign/list.ts";
import { importStateOf, saveForeignSession } from "../../foreign/save.ts";
import { listImportedSources } from "../../session/store/sources.ts";
import { withProgress } from "../progress.ts";
import type { SessionsContext } from "../sessions/context.ts";

/** Sessions of an agent that were not imported yet: those of this folder, or those of other folders. */
export type SessionsItem = {
  readonly agent: AdoptableAgent;
  readonly kind: "sessions";
  readonly path: string;
  readonly summary: string;
  readonly isHere: boolean;
} & (
  | { readonly state: "new"; readonly sessions: readonly ForeignSession[] }
  | { readonly state: "read"; readonly note: string }
);

/** Finds the sessions of agents. Those of other folders are an item of their own. */
export const findSessionItems = async (
  { world, home, root }: SessionsContext,
  agents: readonly AdoptableAgent[],
): Promise<readonly SessionsItem[]> => {
  const { sessions } = await withProgress("Looking for sessions of other agents", () =>
    listForeignSessions(world, { home: world.host.home, folder: undefined, agents: agents.filter(isForeignAgent) }),
  );
  if (sessions.length === 0) return [];
  const imported = await listImportedSources(world, home.data);
  return agents.flatMap((agent) =>
    [true, false].flatMap((isHere): readonly SessionsItem[] => {
      const all = sessions.filter((each) => each.agent === agent && (each.folder === root) === isHere);
      const [first] = all;
      if (first === undefined) return [];
      const left = all.filter((each) => importStateOf(each, imported).type === "new");
      const about = { agent, kind: "sessions", path: first.location.base, isHere } as const;
      const count = left.length === 0 ? all.length : left.length;
      const summary = `${count} ${count === 1 ? "session" : "sessions"} of ${isHere ? "this folder" : "other folders"}`;
      return left.length === 0
        ? [{ ...about, summary, state: "read", note: "imported already" }]
        : [{ ...about, summary, state: "new", sessions: left }];
    }),
  );
};

/** Imports sessions, one after the other. Returns how many, and why others were not. */
export const adoptSessions = async (
  context: SessionsContext,
  sessions: readonly ForeignSession[],
  record: (session: AdoptedSession) => Promise<void>,
): Promise<{ readonly count: number; readonly problems: readonly string[] }> => {
  const problems: string[] = [];
  let count = 0;
  await withProgress("Importing sessions", async (report) => {
    for (const [index, session] of sessions.entries()) {
      report(index, sessions.length);
      try {
        const { id, state, entries } = await saveForeignSession({ ...context, home: context.home.data }, session);
        if (state !== "imported" || id === undefined) continue;
        await record({ id, entries });
        count += 1;
      } catch (error) {
        if (!(error instanceof ForeignSessionError)) throw error;
        problems.push(`${session.agent}:${session.id}: ${error.message}`);
      }
    }
  });
  return { count, problems };
};

/** Removes imported sessions. Those that were continued since stay, and are returned. */
export const removeAdoptedSessions = async (
  { sessions: store }: SessionsContext,
  adopted: readonly AdoptedSession[],
): Promise<readonly string[]> => {
  const kept: string[] = [];
  for (const { id, entries } of adopted) {
    const current = await store.read(id).catch(() => undefined);
    if (current === undefined) continue;
    if (current.entries.length === entries) await store.remove(id);
    else kept.push(id);
  }
  return kept;
};
