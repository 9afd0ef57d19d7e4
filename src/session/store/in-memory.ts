import { simulatedDisk } from "../../world/simulated/disk.ts";
import type { World } from "../../world/world.ts";
import type { NewSession } from "./create.ts";
import type { Session } from "../session.ts";
import { openSessionStore } from "./store.ts";

/** Creates a session in memory, for when the store cannot be written. It is lost when the program ends. */
export const createInMemorySession = (world: World, start: NewSession): Promise<Session> => {
  const disk = simulatedDisk({ now: world.clock.now });
  return openSessionStore({ ...world, disk }, { home: "/" }).create(start);
};
