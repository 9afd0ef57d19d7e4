import { join } from "node:path";
import { findSession, sessionFileName } from "../../session/store/locate.ts";
import type { SessionStore } from "../../session/store/store.ts";
import type { World } from "../../world/world.ts";
import { inspectSession } from "../data/inspected.ts";
import type { InspectionSource } from "./inspection.ts";

/** The saved sessions a source is opened from. */
export type SavedSessions = {
  readonly world: Pick<World, "disk">;
  /** The folder with Parley's data. */
  readonly home: string;
  readonly sessions: Pick<SessionStore, "read">;
};

/** Opens a saved session. It is followed while it grows: its file is looked at, and read again after a change. */
export const openSessionSource = async (
  { world: { disk }, home, sessions }: SavedSessions,
  id: string,
): Promise<InspectionSource> => {
  const { path } = await findSession({ disk, base: join(home, "sessions") }, id);
  return {
    load: async () => inspectSession(await sessions.read(id)),
    revision: async () => {
      const folder = await disk.openFolder(path);
      try {
        const file = await folder.stat(sessionFileName(id));
        return `${file?.size}-${file?.modified}`;
      } finally {
        await folder.close();
      }
    },
  };
};
