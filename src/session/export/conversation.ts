import type { Conversation } from "../../conversation/entry.ts";
import type { SavedSession } from "../load.ts";

/** A session as a saved conversation: what was said, without how it was asked for. */
export const exportConversation = ({ head: { system }, tools, entries, blobs }: SavedSession): Conversation => ({
  version: 1,
  ...(system === undefined ? {} : { system }),
  ...(tools === undefined ? {} : { tools }),
  entries,
  blobs,
});
