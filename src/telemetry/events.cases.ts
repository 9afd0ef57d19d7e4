import type { AgentEvent } from "../agent/events.ts";
import { done } from "../conversation/builders.ts";
import { callId } from "../conversation/call-ids.ts";
import type { Call, Outcome } from "../conversation/parts.ts";
import type { FinishedCall, ToolCallRecord } from "../scheduler/events.ts";
import type { Failure } from "../transport/failure.ts";

export const claude: string = "anthropic/claude-sonnet-5";

/** A user message. */
export const user = (text: string): AgentEvent => ({ type: "user", parts: [{ type: "text", text }] });

/** A request event. */
export const request = (
  number: number,
  facts: { attempt?: number; model?: string; url?: string; promptId?: string } = {},
): AgentEvent => ({
  type: "request",
  request: { number, model: claude, url: "https://api.anthropic.com/v1/messages", bytes: 100, attempt: 1, ...facts },
  report: { target: claude, idFormat: "anthropic", calls: [], notes: [] },
});

/** A complete response. */
export const message = (text: string, thought = ""): AgentEvent => ({ type: "message", text, thought, media: [] });

/** A usage event. */
export const usage = (input: number, output: number, answeredBy?: string): AgentEvent => ({
  type: "usage",
  model: claude,
  ...(answeredBy === undefined ? {} : { answeredBy }),
  usage: { input, output, cachedRead: 600, cachedWrite: 100, reasoning: 20 },
  spent: { requests: 1, input, cachedRead: 600, output, cost: 0, unpriced: 0 },
});

/** A tool call. */
export const call = (tool: string, value: Readonly<Record<string, string>>): Call => ({
  type: "call",
  id: callId(1),
  tool,
  input: { type: "parsed", value },
});

/** A tool call was requested. */
export const requested = (made: Call): AgentEvent => ({ type: "call-requested", call: made, isClientInitiated: false });

/** A tool call starts executing. */
export const executing = (made: Call): AgentEvent => ({
  type: "call-updated",
  call: made.id,
  status: { state: "executing", title: "..." },
});

/** A tool call has finished; by default successfully. */
export const completed = (
  made: Call,
  record: Partial<ToolCallRecord> = {},
  outcome: Outcome = done("a.txt"),
): AgentEvent => {
  const input = made.input.type === "parsed" ? made.input.value : {};
  const finished: FinishedCall = {
    call: made,
    outcome,
    blobs: {},
    display: { type: "text", text: "" },
    duration: 200.4,
    record: {
      function_name: made.tool,
      function_args: input,
      duration_ms: 200.4,
      success: true,
      decision: "auto_accept",
      tool_type: "native",
      ...record,
    },
  };
  return { type: "call-completed", finished };
};

/** A turn has finished. */
export const finished: AgentEvent = { type: "finished", reason: "stop", text: "One file." };

/** An overloaded provider. */
export const overloaded: Failure = { kind: "overloaded", provider: "anthropic", label: "Anthropic" };
