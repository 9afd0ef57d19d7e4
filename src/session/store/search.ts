import type { Entry } from "../../conversation/entry.ts";
import type { SavedSession } from "../load.ts";

/** A place where words were found: which entry, who said it, and a little of what stands around. */
export type Excerpt = {
  readonly entry: number;
  readonly who: "user" | "model" | "tool" | "notice";
  readonly text: string;
};

/** Where the words of a query stand in a session, in any case. An empty query is nowhere. */
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
