import { createHash } from "node:crypto";
import type { Media, Outcome } from "../../conversation/parts.ts";
import type { SavedSession } from "../../session/load.ts";

/** A session in another agent's form: the text, where that agent looks for it, and how to resume it there. */
export type ExportedFile = {
  readonly text: string;
  readonly destination: string;
  readonly resume: string;
  /** How many thinking parts were left out, since the other agent cannot send them back to where they came from. */
  readonly leftOut: { readonly thinking: number };
};

/** Returns a UUID that depends only on a text, so that the same session is always exported to the same bytes. */
export const exportedId = (text: string): string => {
  const hex = createHash("sha256").update(text).digest("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
};

/** Returns a time for an entry. Entries have none of their own; they follow each other by a second. */
export const entryTime = ({ head }: SavedSession, index: number): string =>
  new Date(head.created + index * 1000).toISOString();

/** Describes media that the other agent cannot hold. */
export const mediaAsText = ({ kind, mimeType, name, source }: Media): string =>
  `[${kind}${name === undefined ? "" : ` ${name}`}, ${mimeType}${source.type === "uri" ? `: ${source.uri}` : ""}]`;

/** Describes an outcome without content. */
export const outcomeText = ({ status }: Outcome): string => {
  switch (status) {
    case "complete":
      return "(no output)";
    case "error":
      return "The call failed.";
    case "cancelled":
      return "The call was cancelled.";
    case "interrupted":
      return "The call was interrupted, and its outcome is unknown.";
  }
};
