import type { AgentEvent } from "../../agent/events.ts";
import type { Content, Outcome } from "../../conversation/parts.ts";
import type { FinishedCall } from "../../scheduler/events.ts";
import { sanitizeLine, truncate } from "../text-table.ts";

/** Prints a conversation as it happens, in lines of at most 80 characters. */
export type ConversationPrinter = {
  readonly onEvent: (event: AgentEvent) => void;
  readonly onCancel: (running: number) => void;
};

/** Creates a printer. The calls of a message are printed together, in order, once all have ended. */
export const createConversationPrinter = (printLine: (line: string) => void): ConversationPrinter => {
  const titles = new Map<string, string>();
  let open: string[] = [];
  let ended = new Map<string, FinishedCall>();
  let message: Extract<AgentEvent, { type: "message" }> | undefined;
  const print = (speaker: string, text: string): void =>
    printLine(`  ${speaker.padEnd(5)}  ${truncate(sanitizeLine(text), 71)}`);
  const finishMessage = (reasoning: number): void => {
    if (message === undefined) return;
    if (reasoning > 0) print("model", `(thinks: ${reasoning} tokens)`);
    if (message.text !== "") print("model", message.text);
    message = undefined;
  };
  const finishCall = (finished: FinishedCall): void => {
    ended.set(finished.call.id, finished);
    if (!open.every((id) => ended.has(id))) return;
    for (const id of open) {
      const { call, outcome } = ended.get(id) ?? finished;
      const title = truncate(sanitizeLine(titles.get(id) ?? call.tool), 36);
      print("tool", `${title.padEnd(36)}  ${describeOutcome(outcome)}`);
    }
    [open, ended] = [[], new Map()];
  };
  return {
    onEvent: (event) => {
      finishMessage(event.type === "usage" ? event.usage.reasoning : 0);
      if (event.type === "user")
        print("you", event.parts.map((part) => (part.type === "text" ? part.text : "")).join(" "));
      if (event.type === "message") message = event;
      if (event.type === "call-requested") open.push(event.call.id);
      if (event.type === "call-updated" && "title" in event.status) titles.set(event.call, event.status.title);
      if (event.type === "call-completed") finishCall(event.finished);
      if (event.type === "failed") print("", event.failure.message);
    },
    onCancel: (running) => print("you", `Stop. (${running} of ${open.length} calls are still running)`),
  };
};

/** Describes how a call ended and, if it completed, its content. */
const describeOutcome = ({ status, content }: Outcome): string =>
  status === "complete" ? [status, ...content.map(describeContent)].join(", ") : status;

const describeContent = (part: Content): string => {
  switch (part.type) {
    case "text":
      return `${part.text.length} characters`;
    case "structured":
      return "data";
    case "media":
      return `${part.mimeType} ${part.width ?? "?"}x${part.height ?? "?"}`;
  }
};
