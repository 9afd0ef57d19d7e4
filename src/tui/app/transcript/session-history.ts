import type { Entry } from "../../../conversation/entry.ts";
import type { CallId, Media, UserPart } from "../../../conversation/parts.ts";
import { line, toLines } from "../../text/line.ts";
import type { StyledLine } from "../../text/style.ts";
import { wrap } from "../../text/wrap.ts";
import { viewToolCall } from "../../views/tool-call.ts";
import { callStatuses } from "./event-text.ts";
import { viewUserPrompt } from "./user-prompt.ts";

/** How the past of a session is shown. */
export type HistoryOptions = {
  readonly width: () => number;
  readonly print: (lines: readonly StyledLine[]) => void;
  readonly showMarkdown: (markdown: string) => Promise<void>;
  readonly showMedia: (media: Media) => void;
};

/** How many of the person's messages, with all that followed, are shown of a session that goes on. */
const shownTurns = 5;

/** Shows where a session was left: its last turns, and a word about those before. */
export const printHistory = async (entries: readonly Entry[], options: HistoryOptions): Promise<void> => {
  const turns = entries.flatMap((entry, at) => (entry.type === "user" ? [at] : []));
  const from = turns.at(-shownTurns) ?? 0;
  const before = turns.filter((at) => at < from).length;
  if (before > 0)
    options.print([line(`… ${before} earlier ${before === 1 ? "message" : "messages"}`, { tone: "muted" })]);
  for (const [at, entry] of entries.entries()) if (at >= from) await printEntry(entry, entries, options);
};

const printEntry = async (entry: Entry, entries: readonly Entry[], options: HistoryOptions): Promise<void> => {
  const { width, print, showMarkdown, showMedia } = options;
  switch (entry.type) {
    case "user":
      print(viewUserPrompt(promptText(entry.parts), width()));
      return entry.parts.forEach((part) => part.type === "media" && showMedia(part));
    case "model":
      for (const part of entry.parts) {
        if (part.type === "text") await showMarkdown(part.text);
        if (part.type === "media") showMedia(part);
      }
      return;
    case "completion": {
      const { status, content } = entry.outcome;
      const view = { tool: entry.tool, title: titleOf(entry.call, entries), status: callStatuses[status], output: "" };
      print([...viewToolCall(view, width()), []]);
      return content.forEach((part) => part.type === "media" && showMedia(part));
    }
    case "compaction":
      return print([line("(What came before was summarised for the model.)", { tone: "muted" }), []]);
    case "notice":
      // What the session began with was never shown.
      return;
    case "copy":
      return;
  }
};

/** The person's own words; what they attached stands in parts of its own after them. */
export const promptText = (parts: readonly UserPart[]): string => {
  const [first] = parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
  return first ?? "";
};

/** What a call was about: its first argument that is a text. */
const titleOf = (call: CallId, entries: readonly Entry[]): string => {
  const made = entries
    .flatMap((entry) => (entry.type === "model" ? entry.parts : []))
    .find((part) => part.type === "call" && part.id === call);
  if (made?.type !== "call" || made.input.type !== "parsed") return "";
  return Object.values(made.input.value).find((value) => typeof value === "string") ?? "";
};

/** A text as lines of a width. */
export const messageLines = (
  text: string,
  width: number,
  tone: "muted" | "error" | "warning" = "muted",
): readonly StyledLine[] => toLines(text, { tone }).flatMap((each) => wrap(each, { width }));
