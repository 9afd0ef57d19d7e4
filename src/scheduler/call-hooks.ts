import type { JsonObject } from "../conversation/json.ts";
import type { CallId } from "../conversation/parts.ts";
import type { ToolContent } from "../tools/tool.ts";

/** A valid call, as hooks see it. `server` is set for a tool of an MCP server. */
export type HookedCall = {
  readonly id: CallId;
  readonly tool: string;
  readonly input: JsonObject;
  readonly server?: string | undefined;
};

/**
 * What hooks decided about a call. `input` replaces its arguments: it is validated and judged like those of a model.
 */
export type CallHookDecision = {
  readonly decision?: "allow" | "ask" | "deny";
  readonly reason: string;
  readonly input?: JsonObject;
};

/** The end of a call that ran. */
type HookedResult = {
  readonly state: "success" | "error" | "cancelled";
  readonly content: readonly ToolContent[];
  readonly error?: string;
  readonly durationMs: number;
};

/** Hooks around tool calls. They never reject. */
export type CallHooks = {
  /** Called with every valid call before permission is decided. */
  readonly beforeCall: (call: HookedCall, signal: AbortSignal) => Promise<CallHookDecision>;
  /** Called with a call that needs approval, before a person is asked. */
  readonly beforeApproval: (call: HookedCall, reason: string, signal: AbortSignal) => Promise<CallHookDecision>;
  /** Called when a person is asked. Nothing waits for it. */
  readonly approvalRequested: (call: HookedCall, title: string) => void;
  /** Called after a call has run, before its result is passed on. */
  readonly afterCall: (call: HookedCall, result: HookedResult, signal: AbortSignal) => Promise<void>;
};
