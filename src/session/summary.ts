import type { Entry } from "../conversation/entry.ts";
import type { Content } from "./content.ts";
import { timeOf } from "./id.ts";
import type { Saved } from "./load.ts";

/** A session in a line of a list. */
export type Summary = {
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
export const summaryOf = (session: Saved): Summary => summarise(session, session);

/** The same for what was read of a file. */
export const summarise = (
  content: Content | Saved,
  { id, size, modified }: Pick<Saved, "id" | "size" | "modified">,
): Summary => {
  const { head, entries, title } = content;
  return {
    id,
    root: head?.root ?? "",
    title: title ?? firstWords(entries),
    models: modelsIn(content),
    turns: entries.filter(({ type }) => type === "user").length,
    size,
    created: head?.created ?? Math.floor(timeOf(id)),
    modified,
  };
};

const modelsIn = ({ entries, model }: Pick<Content, "entries" | "model">): readonly string[] => {
  const spoke = entries.flatMap((entry) => (entry.type === "model" ? [entry.origin] : []));
  const named = spoke.length === 0 && model !== undefined ? [model] : spoke;
  return [...new Set(named.map(({ provider, model: name }) => `${provider}/${name}`))];
};

const longestTitle = 80;

const firstWords = (entries: readonly Entry[]): string => {
  for (const entry of entries) {
    if (entry.type !== "user") continue;
    const words = entry.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join(" ");
    const line = words.replaceAll(/\s+/g, " ").trim();
    if (line !== "")
      return line.length > longestTitle
        ? `${Array.from(line)
            .slice(0, longestTitle - 1)
            .join("")}…`
        : line;
  }
  return "";
};
