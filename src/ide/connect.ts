import type { World } from "../world/world.ts";
import type { IdeOffer } from "./discover.ts";
import type { Ide, IdeListener } from "./ide.ts";

/** Connects to an editor. Loads only the protocol it speaks. Rejects if it does not answer in time. */
export const connectIde = async (offer: IdeOffer, world: World, listener: IdeListener): Promise<Ide> => {
  switch (offer.protocol) {
    case "lock-file":
      return (await import("./lock-file-ide.ts")).connectLockFileIde(offer, world, listener);
    case "companion":
      return (await import("./companion-ide.ts")).connectCompanionIde(offer, world, listener);
  }
};
