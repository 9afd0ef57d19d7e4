import type { AgentEvent } from "../agent/events.ts";
import { describeQuestion } from "../agent/turn/record-calls.ts";
import type { LiveEvent } from "./session-events.ts";

/** The live event of an agent's event; undefined for one that a record keeps, or that concerns no follower. */
export const liveEventOf = (event: AgentEvent): LiveEvent | undefined => {
  switch (event.type) {
    case "text":
      return { type: "text", text: event.text };
    case "thought":
      return { type: "thought", text: event.text };
    case "call-output":
      return { type: "output", call: event.call, text: event.text };
    case "call-updated": {
      const { call, status } = event;
      const title = status.state === "scheduled" || status.state === "executing" ? { title: status.title } : {};
      // Questions and ends are in records.
      return status.state === "scheduled" || status.state === "executing" || status.state === "validating"
        ? { type: "call", call, state: status.state, ...title }
        : undefined;
    }
    case "retrying":
      return { type: "retrying", delay: event.delay, discarded: event.discarded };
    case "agent": {
      const { agent, event: inner } = event;
      if (inner.type !== "call-updated" || inner.status.state !== "awaiting_approval") return undefined;
      const { approval } = describeQuestion(inner.status.approval);
      return { type: "asked-by-agent", call: inner.call, agent, approval };
    }
    case "user":
    case "message":
    case "call-requested":
    case "call-completed":
    case "permission-added":
    case "usage":
    case "model-changed":
    case "request":
    case "compacted":
    case "notice":
    case "hook":
    case "todos":
    case "task":
    case "finished":
    case "failed":
    case "cancelled":
    case "parked":
      return undefined;
  }
};
