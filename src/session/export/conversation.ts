import type { Conversation } from "../../conversation/entry.ts";
import type { SavedSession } from "../load.ts";

/** Converts a session to a saved conversation, without its request records. */
export const exportConversation = ({ head: { system }, tools, entries, blobs }: SavedSession): Conversation => ({
  version: 1,
  ...(system === undefined ? {} : { system }),
  ...(tools === undefined ? {} : { tools }),
  entries,
  blobs,
});
