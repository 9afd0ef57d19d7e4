import type { Entry } from "../../conversation/entry.ts";
import type { SessionContent } from "../log/content.ts";
import type { ImportSource } from "../log/record.ts";
import { readIdTime } from "./id.ts";
import type { SavedSession } from "../load.ts";

/** A session as a row of a list. */
export type SessionSummary = {
  readonly id: string;
  readonly root: string;
  /** The title the user gave it, or the start of the first prompt. */
  readonly title: string;
  /** The models that responded, as provider/model, in order of first use. */
  readonly models: readonly string[];
  /** The number of prompts; undefined for a file too long to be read in full for a list. */
  readonly turns?: number;
  /** The size of its file in bytes. */
  readonly size: number;
  /** The agent and the id of the session it was imported from. */
  readonly source?: Pick<ImportSource, "agent" | "id">;
  readonly created: number;
  readonly modified: number;
};

export const summarizeSession = (session: SavedSession): SessionSummary => summarizeContent(session, session);

/** Summarizes the contents of a session file. */
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
    ...(head?.source === undefined ? {} : { source: { agent: head.source.agent, id: head.source.id } }),
    created: head?.created ?? Math.floor(readIdTime(id)),
    modified,
  };
};

const listModels = ({ entries, model }: Pick<SessionContent, "entries" | "model">): readonly string[] => {
  const origins = entries.flatMap((entry) => (entry.type === "model" ? [entry.origin] : []));
  const named = origins.length === 0 && model !== undefined ? [model] : origins;
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
