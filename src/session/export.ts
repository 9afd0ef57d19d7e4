import type { Conversation } from "../conversation/entry.ts";
import type { Saved } from "./load.ts";

/** A session as a saved conversation: what was said, without how it was asked for. */
export const conversationOf = ({ head: { system }, tools, entries, blobs }: Saved): Conversation => ({
  version: 1,
  ...(system === undefined ? {} : { system }),
  ...(tools === undefined ? {} : { tools }),
  entries,
  blobs,
});
