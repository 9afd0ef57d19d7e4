import { describeHookActivity } from "../extensions/hooks/describe-activity.ts";
import type { PlanEntry, SessionUpdate, ToolCallContent, ToolCallUpdate } from "@agentclientprotocol/sdk";
import type { AgentEvent } from "../agent/events.ts";
import type { Call, Outcome } from "../conversation/parts.ts";
import type { TodoItem } from "../conversation/todo.ts";
import type { CallStatus, FinishedCall } from "../scheduler/events.ts";
import { explainFailure } from "../transport/failure.ts";
import { fence, resultContent, textContent, viewCall } from "./tool-call.ts";

/** The kinds of updates a client can show, from its capabilities. */
export type ClientFeatures = {
  /** Shows live terminals of commands that the agent runs (Zed's `_meta.terminal_output`). */
  readonly terminalOutput: boolean;
  readonly notices: boolean;
  readonly compaction: boolean;
};

/** An event of the agent, or a measurement of its context window after an answer. */
export type SessionEvent =
  | AgentEvent
  | { readonly type: "context"; readonly used: number; readonly size: number; readonly cost: number };

/** Where an event happened. */
export type UpdateContext = {
  readonly folder: string;
  readonly features: ClientFeatures;
  /** The number of entries of the conversation at this time: the next message gets this index. */
  readonly entries: number;
};

/** The state between events. */
export type UpdateState = {
  /** The calls that have not ended, by their id for the client. */
  readonly open: ReadonlyMap<string, OpenCall>;
  /** The id of the message that is being written. */
  readonly message: string;
  readonly retries: number;
  readonly notes: number;
};

type OpenCall = {
  readonly call: Call;
  readonly hasTerminal: boolean;
  /** The live output that was sent. */
  readonly output: string;
};

export const initialState: UpdateState = { open: new Map(), message: "m0", retries: 0, notes: 0 };

/** The next state, and the updates to send for one event. */
export type FoldResult = { readonly state: UpdateState; readonly updates: readonly SessionUpdate[] };

/** The id of a message, from its index among the entries: the same while it streams and after the session is loaded. */
export const messageId = (index: number): string => `m${index}`;

/** The id of a call for the client. The calls of a subagent are numbered like those of its parent. */
export const toolCallId = (call: string, agent: string | undefined): string =>
  agent === undefined ? call : `${agent}/${call}`;

/** Turns an event into updates for the client. Pure: the same events give the same updates. */
export const foldEvent = (state: UpdateState, event: SessionEvent, context: UpdateContext): FoldResult => {
  switch (event.type) {
    case "request":
      return { state: { ...state, message: messageId(context.entries) }, updates: [] };
    case "thought":
      return { state, updates: event.text === "" ? [] : [chunk("agent_thought_chunk", event.text, thoughtId(state))] };
    case "text":
      return { state, updates: event.text === "" ? [] : [chunk("agent_message_chunk", event.text, answerId(state))] };
    case "call-requested":
    case "call-updated":
    case "call-output":
    case "call-completed":
      return foldCall(state, event, undefined, context);
    case "agent":
      return foldSubagent(state, event.agent, event.event, context);
    case "context": {
      const { used, size, cost } = event;
      const total = cost === 0 ? {} : { cost: { amount: cost, currency: "USD" } };
      return { state, updates: [{ sessionUpdate: "usage_update", used, size, ...total }] };
    }
    case "model-changed":
      if (event.reason.type === "requested" || event.reason.type === "round-robin") return { state, updates: [] };
      return notice(state, context, {
        severity: "warning",
        title: `Switched from ${event.from} to ${event.to}`,
        ...(event.reason.type === "failover" ? { description: explainFailure(event.reason.failure) } : {}),
      });
    case "compacted":
      return foldCompaction(state, event.compaction, context);
    case "retrying": {
      const told = notice(state, context, {
        severity: "warning",
        title: `The request failed and is sent again${event.discarded ? "; the answer above does not count" : ""}`,
        description: explainFailure(event.failure),
      });
      return event.discarded ? { ...told, state: { ...told.state, retries: told.state.retries + 1 } } : told;
    }
    case "todos":
      return { state, updates: [{ sessionUpdate: "plan", entries: event.todos.flatMap(planEntry) }] };
    case "task":
      if (event.task.status === "running") return { state, updates: [] };
      return notice(state, context, {
        severity: event.task.status === "failed" ? "warning" : "info",
        title: `Background task ${event.task.id} ended (${event.task.detail ?? event.task.status}): ${event.task.title}`,
      });
    case "notice":
      return notice(state, context, { severity: "info", title: event.text });
    case "hook": {
      const title = describeHookActivity(event.activity);
      if (title === undefined) return { state, updates: [] };
      return notice(state, context, { severity: event.activity.status === "done" ? "info" : "warning", title });
    }
    case "permission-added":
      if (event.problem === undefined) return { state, updates: [] };
      return notice(state, context, { severity: "warning", title: event.problem });
    case "finished":
    case "failed":
    case "cancelled":
    case "parked":
      return endTurn(state);
    case "user":
    case "message":
    case "usage":
      return { state, updates: [] };
  }
};

/** A plan knows no cancelled entries, so those are left out. */
const planEntry = ({ description, status }: TodoItem): readonly PlanEntry[] =>
  status === "cancelled" ? [] : [{ content: description, priority: "medium", status }];

const answerId = ({ message, retries }: UpdateState): string => (retries === 0 ? message : `${message}.${retries}`);

const thoughtId = (state: UpdateState): string => `${answerId(state)}-thought`;

const chunk = (
  sessionUpdate: "agent_message_chunk" | "agent_thought_chunk",
  text: string,
  id: string,
): SessionUpdate => ({ sessionUpdate, content: { type: "text", text }, messageId: id });

type NoticeText = { readonly severity: string; readonly title: string; readonly description?: string };

/** A message of the program to the person. Clients that do not know notices get it as a thought. */
const notice = (state: UpdateState, { features }: UpdateContext, told: NoticeText): FoldResult => {
  const next = { ...state, notes: state.notes + 1 };
  if (features.notices) return { state: next, updates: [{ sessionUpdate: "notice", ...told }] };
  const text = told.description === undefined ? told.title : `${told.title}: ${told.description}`;
  return { state: next, updates: [chunk("agent_thought_chunk", `${text}\n`, `${state.message}-note${next.notes}`)] };
};

const foldCompaction = (
  state: UpdateState,
  { by, before, after }: Extract<AgentEvent, { type: "compacted" }>["compaction"],
  context: UpdateContext,
): FoldResult => {
  const how = by === "summary" ? "Older messages were summarized" : "Older tool results were shortened";
  const title = `${how}: about ${before} tokens before, ${after} after`;
  if (!context.features.compaction) return notice(state, context, { severity: "info", title });
  const compactionId = `c${context.entries}-${state.notes}`;
  return {
    state: { ...state, notes: state.notes + 1 },
    updates: [
      { sessionUpdate: "compaction_update", compactionId, status: "in_progress" },
      {
        sessionUpdate: "compaction_update",
        compactionId,
        status: "completed",
        summary: [{ type: "text", text: title }],
      },
    ],
  };
};

/** Of a subagent, clients see the calls and the notices: its text is the result of the call that started it. */
const foldSubagent = (state: UpdateState, agent: string, event: AgentEvent, context: UpdateContext): FoldResult => {
  switch (event.type) {
    case "call-requested":
    case "call-updated":
    case "call-output":
    case "call-completed":
      return foldCall(state, event, agent, context);
    case "agent":
      return foldSubagent(state, event.agent, event.event, context);
    case "finished":
    case "failed":
    case "cancelled":
      return endCalls(state, (id) => id.startsWith(`${agent}/`));
    default:
      return { state, updates: [] };
  }
};

type CallEvent = Extract<AgentEvent, { type: "call-requested" | "call-updated" | "call-output" | "call-completed" }>;

const foldCall = (
  state: UpdateState,
  event: CallEvent,
  agent: string | undefined,
  context: UpdateContext,
): FoldResult => {
  switch (event.type) {
    case "call-requested":
      return beginCall(state, event.call, agent, context);
    case "call-updated":
      return { state, updates: statusUpdates(state, toolCallId(event.call, agent), event.status) };
    case "call-output":
      return addOutput(state, toolCallId(event.call, agent), event.text);
    case "call-completed": {
      const { call } = event.finished;
      // The result of a call that was never announced, or that ended, changes nothing.
      const id = toolCallId(call.id, agent);
      const open = state.open.get(id);
      if (open === undefined) return { state, updates: [] };
      return { state: withoutCall(state, id), updates: [finalUpdate(id, open, event.finished, context)] };
    }
  }
};

const beginCall = (
  state: UpdateState,
  call: Call,
  agent: string | undefined,
  { folder, features }: UpdateContext,
): FoldResult => {
  const id = toolCallId(call.id, agent);
  const { title, kind, locations, input } = viewCall(call, folder);
  const hasTerminal = features.terminalOutput && kind === "execute";
  const open = new Map(state.open).set(id, { call, hasTerminal, output: "" });
  return {
    state: { ...state, open },
    updates: [
      {
        sessionUpdate: "tool_call",
        toolCallId: id,
        title: agent === undefined ? title : `${agent}: ${title}`,
        name: call.tool,
        kind,
        status: "pending",
        ...(locations.length === 0 ? {} : { locations }),
        rawInput: input,
        ...(hasTerminal ? { content: [terminal(id)] } : {}),
        _meta: {
          tool_name: call.tool,
          ...(hasTerminal ? { terminal_info: { terminal_id: id, cwd: folder } } : {}),
          ...(agent === undefined ? {} : { subagent: agent }),
        },
      },
    ],
  };
};

const terminal = (id: string): ToolCallContent => ({ type: "terminal", terminalId: id });

const statusUpdates = (state: UpdateState, id: string, status: CallStatus): readonly SessionUpdate[] =>
  status.state === "executing" && state.open.has(id) ? [callUpdate({ toolCallId: id, status: "in_progress" })] : [];

const callUpdate = (update: ToolCallUpdate): SessionUpdate => ({ sessionUpdate: "tool_call_update", ...update });

/** Live output is reported as a whole, or its end: a terminal gets only what is new. */
const addOutput = (state: UpdateState, id: string, text: string): FoldResult => {
  const open = state.open.get(id);
  if (open === undefined || text === open.output) return { state, updates: [] };
  const next = { ...state, open: new Map(state.open).set(id, { ...open, output: text }) };
  if (!open.hasTerminal)
    return { state: next, updates: [callUpdate({ toolCallId: id, content: [textContent(fence(text))] })] };
  const data = newOutput(open.output, text);
  return {
    state: next,
    updates: data === "" ? [] : [callUpdate({ toolCallId: id, _meta: { terminal_output: { terminal_id: id, data } } })],
  };
};

/**
 * What follows the old output in the new one. Of long output only the end is reported: then the old output is looked
 * for by its last characters.
 * @internal Exported for its tests.
 */
export const newOutput = (old: string, text: string): string => {
  if (text.startsWith(old)) return text.slice(old.length);
  const end = old.slice(-overlapLength);
  const at = text.lastIndexOf(end);
  return at === -1 ? `\n${text}` : text.slice(at + end.length);
};

const overlapLength = 200;

const finalUpdate = (
  id: string,
  { hasTerminal, output }: OpenCall,
  { call, outcome, display, blobs }: FinishedCall,
  { folder }: UpdateContext,
): SessionUpdate => {
  const status = outcome.status === "complete" ? "completed" : "failed";
  const content = resultContent({ display, outcome, blobs }, call, folder);
  if (!hasTerminal) return callUpdate({ toolCallId: id, status, content });
  const { code, signal } = readExit(outcome);
  const shown = display.type === "text" ? display.text : "";
  // A display has no newline at its end, live output has.
  const data = newOutput(shown.startsWith(output) ? output : output.trimEnd(), shown);
  return callUpdate({
    toolCallId: id,
    status,
    content: [terminal(id), ...content.filter((each) => each.type !== "content" || each.content.type !== "text")],
    rawOutput: { output: shown },
    _meta: {
      ...(data === "" ? {} : { terminal_output: { terminal_id: id, data } }),
      terminal_exit: { terminal_id: id, exit_code: code ?? (status === "completed" ? 0 : 1), signal },
    },
  });
};

/** The exit code and signal of a command, from its result. */
const readExit = ({ content }: Outcome): { readonly code: number | undefined; readonly signal: string | null } => {
  const text = content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
  const code = [...text.matchAll(/^Exit Code: (\d+)$/gm)].at(-1)?.[1];
  const signal = [...text.matchAll(/^Signal: (SIG\w+)$/gm)].at(-1)?.[1];
  return { code: code === undefined ? undefined : Number(code), signal: signal ?? null };
};

/** Ends a turn: every call that is still open failed. */
const endTurn = (state: UpdateState): FoldResult => {
  const { state: next, updates } = endCalls(state, () => true);
  return { state: { ...next, retries: 0 }, updates };
};

const endCalls = (state: UpdateState, isEnded: (id: string) => boolean): FoldResult => {
  const ended = [...state.open].filter(([id]) => isEnded(id));
  const open = new Map([...state.open].filter(([id]) => !isEnded(id)));
  return {
    state: { ...state, open },
    updates: ended.map(([id, { hasTerminal }]) =>
      callUpdate({
        toolCallId: id,
        status: "failed",
        content: [...(hasTerminal ? [terminal(id)] : []), textContent("Cancelled.")],
        ...(hasTerminal ? { _meta: { terminal_exit: { terminal_id: id, exit_code: 130, signal: null } } } : {}),
      }),
    ),
  };
};

const withoutCall = (state: UpdateState, id: string): UpdateState => {
  const open = new Map(state.open);
  open.delete(id);
  return { ...state, open };
};
