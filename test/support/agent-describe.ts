import type { AgentEvent } from "../../src/agent/events.ts";
import type { Entry } from "../../src/conversation/entry.ts";
import type { Content, Part, UserPart } from "../../src/conversation/parts.ts";

/** Events in words, one line each. Pieces of text are put together; what only shows that work goes on is left out. */
export const describeEvents = (events: readonly AgentEvent[]): readonly string[] =>
  joinDeltas(events).flatMap((event) => {
    switch (event.type) {
      case "user":
        return `user: ${joinParts(event.parts)}`;
      case "thought":
      case "text":
        return `${event.type}: ${event.text}`;
      case "request":
        return `request ${event.request.number} to ${providerOf(event.request.model)}`;
      case "call-requested":
        return `${event.call.id}: ${event.call.tool}`;
      case "call-completed": {
        const { call, outcome } = event.finished;
        return `${call.id}: ${outcome.status}: ${joinParts(outcome.content)}`;
      }
      case "model-changed":
        return `${providerOf(event.from)} -> ${providerOf(event.to)}: ${
          event.reason.type === "failover" ? event.reason.failure.kind : event.reason.type
        }`;
      case "compacted":
        return `compacted by ${event.compaction.by}`;
      case "retrying":
        return `retrying after ${event.failure.kind}${event.discarded ? ", discarded" : ""}`;
      case "notice":
        return `notice: ${event.text}`;
      case "hook":
        return `hook ${event.activity.event}: ${event.activity.status}`;
      case "agent":
        return describeEvents([event.event]).map((line) => `${event.agent}: ${line}`);
      case "todos":
        return `todos: ${event.todos.map(({ status, description }) => `${description} (${status})`).join(", ")}`;
      case "task":
        return `task ${event.task.id}: ${event.task.detail ?? event.task.status}: ${event.task.title}`;
      case "finished":
        return `finished ${event.reason}: ${event.text}`;
      case "failed":
        return `failed ${event.failure.kind === "provider" ? event.failure.failure.kind : event.failure.kind}`;
      case "cancelled":
      case "parked":
        return event.type;
      case "message":
      case "usage":
      case "call-updated":
      case "call-output":
      case "permission-added":
        return [];
    }
  });

/** Entries in words, one line each. */
export const describeEntries = (entries: readonly Entry[]): readonly string[] =>
  entries.map((entry) => {
    switch (entry.type) {
      case "user":
        return `user: ${joinParts(entry.parts)}`;
      case "model":
        return `${entry.origin.provider}: ${joinParts(entry.parts)}`;
      case "completion":
        return `${entry.call}: ${entry.outcome.status}: ${joinParts(entry.outcome.content)}`;
      case "compaction":
        return entry.longest === undefined ? `summary: ${entry.summary}` : `shortened to ${entry.longest}`;
      case "notice":
        return `notice: ${entry.text}`;
      case "copy":
        return `copy of ${entry.uri}`;
    }
  });

const providerOf = (model: string): string => model.split("/")[0] ?? model;

const joinDeltas = (events: readonly AgentEvent[]): readonly AgentEvent[] => {
  const list: AgentEvent[] = [];
  for (const event of events) {
    const last = list.at(-1);
    if (event.type === "text" && last?.type === "text") list.splice(-1, 1, { ...last, text: last.text + event.text });
    else if (event.type === "thought" && last?.type === "thought")
      list.splice(-1, 1, { ...last, text: last.text + event.text });
    else list.push(event);
  }
  return list;
};

const joinParts = (parts: readonly (Part | UserPart | Content)[]): string => parts.map(describePart).join(" | ");

const describePart = (part: Part | UserPart | Content): string => {
  switch (part.type) {
    case "text":
      return part.text;
    case "thinking":
      return `(${part.text})`;
    case "code":
      return `\`${part.text}\``;
    case "media":
      return `[${part.kind}]`;
    case "structured":
      return JSON.stringify(part.value);
    case "call":
      return `${part.tool}(${part.input.type === "parsed" ? JSON.stringify(part.input.value) : part.input.text})`;
  }
};
