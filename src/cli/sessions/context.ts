import { join } from "node:path";
import { UnknownNameError } from "../../providers/find.ts";
import { findSession, type SessionLocation } from "../../session/store/locate.ts";
import { SessionError } from "../../session/error.ts";
import { describeDamage } from "../../session/repair/damage.ts";
import { openSessionStore, type ReadSession, type SessionStore } from "../../session/store/store.ts";
import { SettingsError } from "../../settings/error.ts";
import { resolveHomeFolder } from "../../settings/home.ts";
import { realWorld } from "../../world/real/world.ts";
import type { World } from "../../world/world.ts";
import { UserError } from "../user-error.ts";
import { sanitizeLine } from "../text-table.ts";

/** The sessions kept on this machine, and the folder we are in. */
export type SessionsContext = {
  readonly world: World;
  readonly home: string;
  readonly sessions: SessionStore;
  /** Where this folder really is. */
  readonly root: string;
};

/** Opens the store. */
export const openSessionsContext = async (world: World = realWorld()): Promise<SessionsContext> => {
  const home = resolveHomeFolder(world);
  const here = process.cwd();
  const root = (await world.disk.canonicalPath(here)) ?? here;
  return { world, home, sessions: openSessionStore(world, { home }), root };
};

/** Where a session's file lies. */
export const locateSession = (
  { world: { disk }, home }: Pick<SessionsContext, "world" | "home">,
  id: string,
): Promise<SessionLocation> => findSession({ disk, base: join(home, "sessions") }, id);

/** The session that was named, or the last one of this folder. Says on stderr what is wrong with it. */
export const readSession = async (
  { sessions, root }: SessionsContext,
  id: string | undefined,
): Promise<ReadSession> => {
  const session = await sessions.read(id ?? (await latestSessionId(sessions, root)));
  for (const finding of session.damage) process.stderr.write(`parley: ${sanitizeLine(describeDamage(finding))}\n`);
  return session;
};

/** Does something with sessions, and puts what went wrong into words a person can act on. */
export const withUserErrors = async <Result>(work: () => Promise<Result>): Promise<Result> => {
  try {
    return await work();
  } catch (error) {
    if (error instanceof UnknownNameError) throw new UserError(error.message);
    if (error instanceof SessionError || error instanceof SettingsError)
      throw new UserError(sanitizeLine(error.message), { code: 1 });
    throw error;
  }
};

const latestSessionId = async (sessions: SessionStore, root: string): Promise<string> => {
  const [last] = await sessions.list({ root, limit: 1 });
  if (last === undefined)
    throw new UserError("There is no session of this folder yet. Name one: parley sessions list --all shows them.", {
      code: 1,
    });
  return last.id;
};
