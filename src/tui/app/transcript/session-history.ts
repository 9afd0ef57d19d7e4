import type { Entry } from "../../../conversation/entry.ts";
import type { CallId, Media, UserPart } from "../../../conversation/parts.ts";
import { line } from "../../text/line.ts";
import { viewToolCall } from "../../views/tool-call.ts";
import type { FrontEnd } from "../front-ends/front-end.ts";
import { argumentTitle, callStatuses } from "./event-text.ts";
import { markSentText } from "../input/history.ts";
import { showPromptMedia } from "./media.ts";
import { viewUserPrompt } from "./user-prompt.ts";

/** Options for printing a session's history. */
export type HistoryOptions = {
  readonly frontEnd: Pick<FrontEnd, "print" | "width">;
  readonly showMarkdown: (markdown: string) => Promise<void>;
  /** Shows media below a text that may name it. */
  readonly showMedia: (media: Media, above?: string) => void;
  /** Reads the prompts typed in this project, as marked texts. */
  readonly readInputHistory: () => Promise<readonly string[]>;
};

/** Number of user messages, with all that followed, shown of a resumed session. */
const shownTurns = 5;

/** Prints the last turns of a session, and the number of earlier messages. */
export const printHistory = async (entries: readonly Entry[], options: HistoryOptions): Promise<void> => {
  const turns = entries.flatMap((entry, at) => (entry.type === "user" ? [at] : []));
  const from = turns.at(-shownTurns) ?? 0;
  const before = turns.filter((at) => at < from).length;
  if (before > 0)
    options.frontEnd.print([line(`… ${before} earlier ${before === 1 ? "message" : "messages"}`, { tone: "muted" })]);
  for (const [at, entry] of entries.entries()) if (at >= from) await printEntry(entry, entries, options);
};

const printEntry = async (entry: Entry, entries: readonly Entry[], options: HistoryOptions): Promise<void> => {
  const { frontEnd, showMarkdown, showMedia } = options;
  switch (entry.type) {
    case "user":
      frontEnd.print(
        viewUserPrompt(await markSentText(promptText(entry.parts), options.readInputHistory), frontEnd.width()),
      );
      return showPromptMedia(entry.parts, promptText(entry.parts), showMedia);
    case "model":
      for (const part of entry.parts) {
        // Gemini signs an answer with an empty text after it.
        if (part.type === "text" && part.text.trim() !== "") await showMarkdown(part.text);
        if (part.type === "media") showMedia(part);
      }
      return;
    case "completion": {
      const { status, content } = entry.outcome;
      const view = { tool: entry.tool, title: titleOf(entry.call, entries), status: callStatuses[status], output: "" };
      frontEnd.print(viewToolCall(view, frontEnd.width()));
      content.forEach((part) => part.type === "media" && showMedia(part, view.title));
      return frontEnd.print([[]]);
    }
    case "compaction":
      return frontEnd.print([line("(Earlier messages were compacted.)", { tone: "muted" }), []]);
    case "notice":
      // Notices at the start of a session are never shown.
      return;
    case "copy":
      return;
  }
};

/** The user's own text; attachments are in parts after it. */
export const promptText = (parts: readonly UserPart[]): string => {
  const [first] = parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
  return first ?? "";
};

const titleOf = (call: CallId, entries: readonly Entry[]): string => {
  const made = entries
    .flatMap((entry) => (entry.type === "model" ? entry.parts : []))
    .find((part) => part.type === "call" && part.id === call);
  return made?.type === "call" ? argumentTitle(made) : "";
};
