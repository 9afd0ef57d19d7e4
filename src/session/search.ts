import type { Entry } from "../conversation/entry.ts";
import type { Saved } from "./load.ts";

/** A place where words were found: which entry, who said it, and a little of what stands around. */
export type Excerpt = {
  readonly entry: number;
  readonly who: "user" | "model" | "tool" | "notice";
  readonly text: string;
};

/** Where the words of a query stand in a session, in any case. An empty query is nowhere. */
export const excerptsOf = ({ entries }: Pick<Saved, "entries">, query: string, most = 3): readonly Excerpt[] => {
  const wanted = query.toLowerCase();
  const found: Excerpt[] = [];
  for (const [entry, said] of entries.entries()) {
    for (const text of textsOf(said)) {
      if (found.length === most || wanted === "") return found;
      const at = text.toLowerCase().indexOf(wanted);
      if (at !== -1) found.push({ entry, who: speakers[said.type], text: around(text, at, wanted.length) });
    }
  }
  return found;
};

const speakers = {
  user: "user",
  model: "model",
  completion: "tool",
  compaction: "notice",
  notice: "notice",
  copy: "notice",
} as const;

const textsOf = (entry: Entry): readonly string[] => {
  switch (entry.type) {
    case "user":
    case "model":
      return entry.parts.flatMap((part) =>
        "text" in part ? [part.text] : part.type === "call" ? [callText(part)] : [],
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

const callText = ({ tool, input }: { readonly tool: string; readonly input: object }): string =>
  `${tool} ${JSON.stringify("value" in input ? input.value : input)}`;

const reach = 60;

const around = (text: string, at: number, length: number): string => {
  const start = Math.max(0, at - reach);
  const end = Math.min(text.length, at + length + reach);
  const words = text.slice(start, end).toWellFormed().replaceAll(/\s+/g, " ").trim();
  return `${start > 0 ? "…" : ""}${words}${end < text.length ? "…" : ""}`;
};
