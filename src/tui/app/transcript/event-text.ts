import type { AgentEvent, AgentFailure, ModelChangeReason, EndReason } from "../../../agent/events.ts";
import type { Call } from "../../../conversation/parts.ts";
import type { AddedRules } from "../../../policy/gate/create.ts";
import type { TaskInfo } from "../../../tools/capabilities.ts";
import type { FinishedCall } from "../../../scheduler/events.ts";
import { span } from "../../text/line.ts";
import type { StyledLine } from "../../text/style.ts";
import { formatDuration } from "../../views/spinner.ts";
import type { ToolCallStatus } from "../../views/tool-call.ts";

/** Shows the topic of thinking: many models start with a title in bold. */
export const viewThinking = (thought: string): StyledLine => {
  const title = [...thought.matchAll(/\*\*([^*\n]+)\*\*/g)].at(-1)?.[1];
  const words = title ?? thought.trim().split("\n").at(-1) ?? "";
  return [span("✻ ", { tone: "accent" }), span(words.slice(0, 200), { tone: "muted", italic: true })];
};

/** The file whose diff an event shows. */
export const diffPath = (event: AgentEvent): string | undefined => {
  if (event.type === "agent") return diffPath(event.event);
  if (event.type === "call-completed")
    return event.finished.display.type === "diff" ? event.finished.display.path : undefined;
  if (event.type !== "call-updated" || event.status.state !== "awaiting_approval") return undefined;
  const { subject } = event.status.approval;
  return subject.type === "edit" ? subject.relativePath : undefined;
};

/** The text of a tool result; a diff is shown separately. */
export const resultText = ({ display, error, outcome }: FinishedCall): string => {
  if (error !== undefined) return error.message;
  switch (display.type) {
    case "text":
      if (outcome.status === "complete" && isNamedBelow(display.text, outcome.content)) return "";
      return outcome.status === "cancelled" ? refusalText(display.text) : display.text;
    case "diff":
      return "";
    case "listing":
      return [display.title, ...display.lines].join("\n");
  }
};

/** Whether a result says no more than the line of facts about its file. */
const isNamedBelow = (text: string, content: FinishedCall["outcome"]["content"]): boolean =>
  content.some((part) => part.type === "media" && text.startsWith(`Read ${part.name} (`));

/** A refusal as the person who refused reads it; the message is for the model. */
const refusalText = (message: string): string => {
  const [refused, reason] = /^The user refused this call(?:: ([^]*)|\. .*)$/.exec(message) ?? [];
  if (refused === undefined) return message;
  return reason === undefined ? "Refused." : `Refused: ${reason}`;
};

/** The title of a call that has none: its first text argument. */
export const argumentTitle = ({ input }: Call): string =>
  input.type === "parsed" ? (Object.values(input.value).find((value) => typeof value === "string") ?? "") : "";

/** Says what failed, and when it is tried again. */
export const retryText = (event: RetryEvent): string =>
  `${retryCause(event)}. Retrying${event.delay < 1000 ? "" : ` in ${formatDuration(event.delay)}`}.`;

/** Says what failed. */
export const retryCause = ({ failure: { label, kind }, discarded }: RetryEvent): string =>
  discarded ? "The response was interrupted" : `${label}: ${kind}`;

type RetryEvent = Extract<AgentEvent, { type: "retrying" }>;

/** The status shown for a finished call. */
export const callStatuses: Readonly<Record<FinishedCall["outcome"]["status"], ToolCallStatus>> = {
  complete: "success",
  error: "error",
  cancelled: "cancelled",
  interrupted: "cancelled",
};

/** Explains why the model changed. */
export const changeText = (reason: ModelChangeReason): string => {
  switch (reason.type) {
    case "requested":
      return "requested";
    case "round-robin":
      return "round-robin";
    case "failover":
      return `failover: ${reason.failure.kind}`;
    case "recovered":
      return "recovered";
  }
};

/** Explains how a turn ended; undefined after a normal end. */
export const endText = (reason: EndReason): string | undefined => {
  switch (reason) {
    case "stop":
      return undefined;
    case "length":
      return 'Stopped at the output token limit; the answer is incomplete. Say "continue", or ask for less.';
    case "filtered":
      return "Stopped by a content filter. Rephrase, or switch the model.";
    case "refused":
      return "The model declined to answer.";
    case "loop":
      return "Stopped: the model was repeating itself. Rephrase, or switch the model.";
    case "max-turns":
      return 'Stopped at the request limit (limits.maxTurns). Say "continue", or raise the limit.';
    case "hook":
      return "Stopped by a hook.";
    case "max-spend":
      return "Stopped: spending limit reached (limits.spend). Raise it, or switch the model.";
    case "paused":
    case "other":
      return `The model stopped: ${reason}.`;
  }
};

/** Explains why a turn failed, and how to see a rejected request. */
export const failureText = (failure: AgentFailure): string =>
  failure.kind === "provider" && failure.report !== undefined
    ? `${failure.message} See /explain for what was sent.`
    : failure.message;

/** Explains a change of a background task; undefined when it begins, since its call says so. */
export const taskText = ({ id, title, status, detail }: TaskInfo): string | undefined =>
  status === "running" ? undefined : `Background task ${id} ended (${detail ?? status}): ${title}`;

/** Says how the model gets the result of a background task that ended while no turn runs; undefined if the user stopped it. */
export const taskEndHint = ({ kind, status }: TaskInfo): string | undefined =>
  status === "running" || status === "stopped"
    ? undefined
    : `Its ${kind === "agent" ? "answer" : "output"} goes to the model with your next message, such as "continue".`;

/** The current activity of a subagent; undefined if the event shows none. */
export const subagentText = (event: AgentEvent): string | undefined => {
  switch (event.type) {
    case "call-requested":
      return event.call.tool;
    case "call-updated":
      return "title" in event.status ? event.status.title : undefined;
    case "text":
    case "thought":
      return "thinking";
    case "agent":
      return subagentText(event.event);
    case "retrying":
      return "retrying";
    case "user":
    case "message":
    case "call-output":
    case "permission-added":
    case "call-completed":
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

/** Says which permission rules an answer added, for how long, and how to take them back. */
export const addedRulesTexts = ({ rules, scope, problem }: AddedRules): readonly string[] => [
  ...(problem === undefined ? [] : [`Not stored for this project: ${problem}`]),
  `Allowed ${scope === "session" ? "this session" : "in this project"}: ${rules.join(", ")}. Take it back with /permissions.`,
];
