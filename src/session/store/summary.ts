import type { Entry } from "../../conversation/entry.ts";
import type { SessionContent } from "../log/content.ts";
import { readIdTime } from "./id.ts";
import type { SavedSession } from "../load.ts";

/** A session in a line of a list. */
export type SessionSummary = {
  readonly id: string;
  readonly root: string;
  /** What the person called it, or the first words they said. */
  readonly title: string;
  /** The models that spoke, as provider/model, in the order they first did. */
  readonly models: readonly string[];
  /** How often the person spoke; unknown for a session too long to be read for a list. */
  readonly turns?: number;
  /** The size of its file in bytes. */
  readonly size: number;
  readonly created: number;
  readonly modified: number;
};

/** A session in a line. */
export const summarizeSession = (session: SavedSession): SessionSummary => summarizeContent(session, session);

/** The same for what was read of a file. */
export const summarizeContent = (
  content: SessionContent | SavedSession,
  { id, size, modified }: Pick<SavedSession, "id" | "size" | "modified">,
): SessionSummary => {
  const { head, entries, title } = content;
  return {
    id,
    root: head?.root ?? "",
    title: title ?? readFirstPrompt(entries),
    models: listModels(content),
    turns: entries.filter(({ type }) => type === "user").length,
    size,
    created: head?.created ?? Math.floor(readIdTime(id)),
    modified,
  };
};

const listModels = ({ entries, model }: Pick<SessionContent, "entries" | "model">): readonly string[] => {
  const spoke = entries.flatMap((entry) => (entry.type === "model" ? [entry.origin] : []));
  const named = spoke.length === 0 && model !== undefined ? [model] : spoke;
  return [...new Set(named.map(({ provider, model: name }) => `${provider}/${name}`))];
};

const maxTitleLength = 80;

const readFirstPrompt = (entries: readonly Entry[]): string => {
  for (const entry of entries) {
    if (entry.type !== "user") continue;
    const words = entry.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join(" ");
    const line = words.replaceAll(/\s+/g, " ").trim();
    if (line !== "")
      return line.length > maxTitleLength
        ? `${Array.from(line)
            .slice(0, maxTitleLength - 1)
            .join("")}…`
        : line;
  }
  return "";
};
