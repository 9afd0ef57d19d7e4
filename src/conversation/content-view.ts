import type { Content, Media, Outcome } from "./parts.ts";

/** The files in what a tool returned, in order. */
export const filesIn = (returned: Outcome | readonly Content[]): readonly Media[] =>
  contentIn(returned).filter((part) => part.type === "media");

/** What a tool returned besides files, in order. */
export const contentWithoutFiles = (returned: Outcome | readonly Content[]): readonly Exclude<Content, Media>[] =>
  contentIn(returned).filter((part) => part.type !== "media");

const contentIn = (returned: Outcome | readonly Content[]): readonly Content[] =>
  "content" in returned ? returned.content : returned;
