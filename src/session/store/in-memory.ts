import { simulatedDisk } from "../../world/simulated/disk.ts";
import type { World } from "../../world/world.ts";
import type { NewSession } from "./create.ts";
import type { Session } from "../session.ts";
import { openSessionStore } from "./store.ts";

/** Creates a session that is kept in memory alone, for a store that cannot be written. It is gone when the program ends. */
export const createInMemorySession = (world: World, start: NewSession): Promise<Session> => {
  const disk = simulatedDisk({ now: world.clock.now });
  return openSessionStore({ ...world, disk }, { home: "/" }).create(start);
};
