import type { AgentEvent } from "../agent/events.ts";
import type { Content, Outcome } from "../conversation/parts.ts";
import type { Finished } from "../scheduler/events.ts";
import { oneLine, shortened } from "./table.ts";

/** Tells a conversation while it is held, in lines of at most 80 letters. */
export type Story = {
  readonly event: (event: AgentEvent) => void;
  readonly stopping: (running: number) => void;
};

/** Tells it to `say`, a line at a time. The calls of an answer are told together, in their order, once all have ended. */
export const storyTo = (say: (line: string) => void): Story => {
  const titles = new Map<string, string>();
  let open: string[] = [];
  let ended = new Map<string, Finished>();
  let message: Extract<AgentEvent, { type: "message" }> | undefined;
  const tell = (who: string, what: string): void => say(`  ${who.padEnd(5)}  ${shortened(oneLine(what), 71)}`);
  const finishMessage = (reasoning: number): void => {
    if (message === undefined) return;
    if (reasoning > 0) tell("model", `(thinks: ${reasoning} tokens)`);
    if (message.text !== "") tell("model", message.text);
    message = undefined;
  };
  const finishCall = (finished: Finished): void => {
    ended.set(finished.call.id, finished);
    if (!open.every((id) => ended.has(id))) return;
    for (const id of open) {
      const { call, outcome } = ended.get(id) ?? finished;
      const title = shortened(oneLine(titles.get(id) ?? call.tool), 36);
      tell("tool", `${title.padEnd(36)}  ${briefly(outcome)}`);
    }
    [open, ended] = [[], new Map()];
  };
  return {
    event: (event) => {
      finishMessage(event.type === "usage" ? event.usage.reasoning : 0);
      if (event.type === "user")
        tell("you", event.parts.map((part) => (part.type === "text" ? part.text : "")).join(" "));
      if (event.type === "message") message = event;
      if (event.type === "call-requested") open.push(event.call.id);
      if (event.type === "call-updated" && "title" in event.status) titles.set(event.call, event.status.title);
      if (event.type === "call-completed") finishCall(event.finished);
      if (event.type === "failed") tell("", event.failure.message);
    },
    stopping: (running) => tell("you", `Stop. (${running} of ${open.length} calls are still running)`),
  };
};

/** How a call ended and, where it was completed, what it gave. */
const briefly = ({ status, content }: Outcome): string =>
  status === "complete" ? [status, ...content.map(kindOf)].join(", ") : status;

const kindOf = (part: Content): string => {
  switch (part.type) {
    case "text":
      return `${part.text.length} characters`;
    case "structured":
      return "data";
    case "media":
      return `${part.mimeType} ${part.width ?? "?"}x${part.height ?? "?"}`;
  }
};
