import { join } from "node:path";
import { UnknownNameError } from "../providers/find.ts";
import { findSession, type Place } from "../session/place.ts";
import { SessionError } from "../session/error.ts";
import { tellFinding } from "../session/finding.ts";
import { openSessions, type ReadSession, type Sessions } from "../session/store.ts";
import { SettingsError } from "../settings/error.ts";
import { homeFolder } from "../settings/home.ts";
import { realWorld } from "../world/real.ts";
import type { World } from "../world/world.ts";
import { Failure } from "./failure.ts";
import { oneLine } from "./table.ts";

/** The sessions kept on this machine, and the folder we are in. */
export type Store = {
  readonly world: World;
  readonly home: string;
  readonly sessions: Sessions;
  /** Where this folder really is. */
  readonly root: string;
};

/** Opens the store. */
export const openStore = async (world: World = realWorld()): Promise<Store> => {
  const home = homeFolder(world);
  const here = process.cwd();
  const root = (await world.disk.canonical(here)) ?? here;
  return { world, home, sessions: openSessions(world, { home }), root };
};

/** Where a session's file lies. */
export const placeOf = ({ world: { disk }, home }: Pick<Store, "world" | "home">, id: string): Promise<Place> =>
  findSession({ disk, base: join(home, "sessions") }, id);

/** The session that was named, or the last one of this folder. Says on stderr what is wrong with it. */
export const readNamed = async ({ sessions, root }: Store, id: string | undefined): Promise<ReadSession> => {
  const session = await sessions.read(id ?? (await lastOf(sessions, root)));
  for (const finding of session.healed) process.stderr.write(`parley: ${oneLine(tellFinding(finding))}\n`);
  return session;
};

/** Does something with sessions, and puts what went wrong into words a person can act on. */
export const readably = async <Result>(work: () => Promise<Result>): Promise<Result> => {
  try {
    return await work();
  } catch (error) {
    if (error instanceof UnknownNameError) throw new Failure(error.message);
    if (error instanceof SessionError || error instanceof SettingsError)
      throw new Failure(oneLine(error.message), { code: 1 });
    throw error;
  }
};

const lastOf = async (sessions: Sessions, root: string): Promise<string> => {
  const [last] = await sessions.list({ root, limit: 1 });
  if (last === undefined)
    throw new Failure("There is no session of this folder yet. Name one: parley sessions list --all shows them.", {
      code: 1,
    });
  return last.id;
};
