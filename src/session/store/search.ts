import type { Entry } from "../../conversation/entry.ts";
import type { SavedSession } from "../load.ts";

/** A search hit: the entry, its role, and the text around the match. */
export type Excerpt = {
  readonly entry: number;
  readonly who: "user" | "model" | "tool" | "notice";
  readonly text: string;
};

/** Finds a query in a session, ignoring case. An empty query matches nothing. */
export const findExcerpts = (
  { entries }: Pick<SavedSession, "entries">,
  query: string,
  most = 3,
): readonly Excerpt[] => {
  const wanted = query.toLowerCase();
  const found: Excerpt[] = [];
  for (const [entry, said] of entries.entries()) {
    for (const text of listTexts(said)) {
      if (found.length === most || wanted === "") return found;
      const at = text.toLowerCase().indexOf(wanted);
      if (at !== -1) found.push({ entry, who: roles[said.type], text: cutExcerpt(text, at, wanted.length) });
    }
  }
  return found;
};

const roles = {
  user: "user",
  model: "model",
  completion: "tool",
  compaction: "notice",
  notice: "notice",
  copy: "notice",
} as const;

const listTexts = (entry: Entry): readonly string[] => {
  switch (entry.type) {
    case "user":
    case "model":
      return entry.parts.flatMap((part) =>
        "text" in part ? [part.text] : part.type === "call" ? [formatCallText(part)] : [],
      );
    case "completion":
      return entry.outcome.content.flatMap((part) =>
        part.type === "text" ? [part.text] : part.type === "structured" ? [JSON.stringify(part.value)] : [],
      );
    case "compaction":
      return [entry.summary];
    case "notice":
      return [entry.text];
    case "copy":
      return [entry.uri];
  }
};

const formatCallText = ({ tool, input }: { readonly tool: string; readonly input: object }): string =>
  `${tool} ${JSON.stringify("value" in input ? input.value : input)}`;

const contextLength = 60;

const cutExcerpt = (text: string, at: number, length: number): string => {
  const start = Math.max(0, at - contextLength);
  const end = Math.min(text.length, at + length + contextLength);
  const words = text.slice(start, end).toWellFormed().replaceAll(/\s+/g, " ").trim();
  return `${start > 0 ? "…" : ""}${words}${end < text.length ? "…" : ""}`;
};
