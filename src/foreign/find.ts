import type { World } from "../world/world.ts";
import type { ForeignReference } from "./agents.ts";
import { ForeignSessionError } from "./error.ts";
import { listForeignSessions, type ForeignSession } from "./list.ts";

/** Finds a foreign session by its agent and its id or a unique prefix of it, in this folder first. */
export const findForeignSession = async (
  world: Pick<World, "disk" | "env">,
  { agent, id }: ForeignReference,
  { home, folder }: { readonly home: string; readonly folder: string },
): Promise<ForeignSession> => {
  for (const place of [folder, undefined]) {
    const { sessions } = await listForeignSessions(world, { home, folder: place, agents: [agent], idPrefix: id });
    const exact = sessions.find((session) => session.id === id);
    const [found, ...others] = exact === undefined ? sessions.filter((session) => session.id.startsWith(id)) : [exact];
    if (found !== undefined && others.length === 0) return found;
    if (found !== undefined) {
      const matches = [found, ...others].slice(0, 5).map((session) => `${agent}:${session.id}`);
      throw new ForeignSessionError(`${agent}:${id} is ambiguous: ${matches.join(", ")}.`);
    }
  }
  throw new ForeignSessionError(`No session ${agent}:${id}. List them with parley sessions import --all.`);
};

/** Returns the shortest unique reference of each session, at least eight characters of its id. */
export const shortReferences = (sessions: readonly ForeignSession[]): ReadonlyMap<ForeignSession, string> => {
  const ids = new Map<string, string[]>();
  for (const { agent, id } of sessions) ids.set(agent, [...(ids.get(agent) ?? []), id]);
  for (const list of ids.values()) list.sort();
  return new Map(
    sessions.map((session) => {
      const list = ids.get(session.agent) ?? [];
      const at = list.indexOf(session.id);
      const shared = Math.max(sharedLength(session.id, list[at - 1]), sharedLength(session.id, list[at + 1]));
      return [session, `${session.agent}:${session.id.slice(0, Math.max(8, shared + 1))}`];
    }),
  );
};

const sharedLength = (one: string, other = ""): number => {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return length;
};
