import { join } from "node:path";
import { UnknownNameError } from "../../providers/find.ts";
import { findSession, type SessionLocation } from "../../session/store/locate.ts";
import { SessionError } from "../../session/error.ts";
import { describeDamage } from "../../session/repair/damage.ts";
import { openSessionStore, type ReadSession, type SessionStore } from "../../session/store/store.ts";
import { SettingsError } from "../../settings/error.ts";
import { findHomeFolders, type HomeFolders } from "../../world/home-folders.ts";
import { realWorld } from "../../world/real/world.ts";
import type { World } from "../../world/world.ts";
import type { Arguments } from "../command.ts";
import { UserError } from "../user-error.ts";
import { sanitizeLine } from "../text-table.ts";
import { withProgress } from "../progress.ts";

/** The saved sessions, and the current folder. */
export type SessionsContext = {
  readonly world: World;
  readonly home: HomeFolders;
  readonly sessions: SessionStore;
  /** The canonical path of the current folder. */
  readonly root: string;
};

/** Runs one action of `parley sessions` and returns the exit code. */
export type SessionAction = (context: SessionsContext, args: Arguments) => Promise<number>;

/** Opens the sessions of the user for a command. */
export const openSessionsContext = async (world: World = realWorld()): Promise<SessionsContext> => {
  const home = await findHomeFolders(world);
  const here = process.cwd();
  const root = (await world.disk.canonicalPath(here)) ?? here;
  return { world, home, sessions: openSessionStore(world, { home: home.data }), root };
};

/** Finds the folder of a session by its id or a unique prefix. */
export const locateSession = (
  { world: { disk }, home }: Pick<SessionsContext, "world" | "home">,
  id: string,
): Promise<SessionLocation> => findSession({ disk, base: join(home.data, "sessions") }, id);

/** Reads a session by id, or the last one of this folder. Prints damage that was repaired while reading to stderr. */
export const readSession = async (
  { sessions, root }: SessionsContext,
  id: string | undefined,
): Promise<ReadSession> => {
  const session = await withProgress("Reading the session", async () =>
    sessions.read(id ?? (await latestSessionId(sessions, root))),
  );
  for (const finding of session.damage) process.stderr.write(`parley: ${sanitizeLine(describeDamage(finding))}\n`);
  return session;
};

/** Runs an action and converts errors of sessions and settings to `UserError`. */
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
    throw new UserError("No session in this folder. Name one with its id: see parley sessions list --all.", {
      code: 1,
    });
  return last.id;
};
