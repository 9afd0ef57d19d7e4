import type { Content, Media, Outcome } from "./parts.ts";

/** Returns the media of a tool result, in order. */
export const filesIn = (returned: Outcome | readonly Content[]): readonly Media[] =>
  contentIn(returned).filter((part) => part.type === "media");

/** Returns the content of a tool result without its media, in order. */
export const contentWithoutFiles = (returned: Outcome | readonly Content[]): readonly Exclude<Content, Media>[] =>
  contentIn(returned).filter((part) => part.type !== "media");

const contentIn = (returned: Outcome | readonly Content[]): readonly Content[] =>
  "content" in returned ? returned.content : returned;
