import { listImportedSources } from "../session/store/sources.ts";
import type { World } from "../world/world.ts";
import { listForeignSessions, type ForeignQuery, type ForeignSession } from "./list.ts";
import { importStateOf } from "./save.ts";

/** Lists the sessions of other agents that are not imported as they are now, last used first. */
export const listOfferedSessions = async (
  world: Pick<World, "disk" | "env">,
  query: ForeignQuery & { readonly parleyHome: string; readonly limit: number },
): Promise<readonly ForeignSession[]> => {
  const imported = await listImportedSources(world, query.parleyHome);
  const { sessions } = await listForeignSessions(world, { ...query, limit: query.limit + imported.length });
  return sessions.filter((session) => importStateOf(session, imported).type !== "imported").slice(0, query.limit);
};
