import type { Call, CallId, Media, UserPart } from "../conversation/parts.ts";
import type { AddedRules } from "../policy/gate/create.ts";
import type { TodoItem } from "../conversation/todo.ts";
import type { HookActivity } from "../extensions/hooks/hook-engine.ts";
import type { CallStatus, FinishedCall } from "../scheduler/events.ts";
import type { TaskInfo } from "../tools/capabilities.ts";
import type { RenderReport } from "../transcript/incremental-renderer.ts";
import type { Failure } from "../transport/failure.ts";
import type { FinishReason, TokenUsage } from "../wire/decode/events.ts";

/**
 * The events of an agent, the same for every front end. The last event of a turn is `finished`, `failed`,
 * `cancelled` or `parked`. Text and thoughts are as the model wrote them: a front end sanitizes them before it shows them on a terminal.
 */
export type AgentEvent =
  /** A message of the user was added to the conversation: the prompt of the turn, or a queued message. */
  | { readonly type: "user"; readonly parts: readonly UserPart[] }
  /** A delta of the model's thinking; `subject` and `description` if it follows a heading in bold. */
  | { readonly type: "thought"; readonly text: string; readonly subject?: string; readonly description?: string }
  | { readonly type: "text"; readonly text: string }
  /** A message of the model is complete and committed. */
  | { readonly type: "message"; readonly text: string; readonly thought: string; readonly media: readonly Media[] }
  /** A tool call was requested: by the model, or by the program itself if `isClientInitiated` is true. */
  | {
      readonly type: "call-requested";
      readonly call: Call;
      readonly isClientInitiated: boolean;
      /** The prompt this call belongs to, as `session#number`. */
      readonly promptId?: string;
    }
  | { readonly type: "call-updated"; readonly call: CallId; readonly status: CallStatus }
  /** The output of a running call so far, or the end of it. */
  | { readonly type: "call-output"; readonly call: CallId; readonly text: string }
  /** An answer of "always" added permission rules. `problem` says why they hold for the session only. */
  | ({ readonly type: "permission-added" } & AddedRules)
  /** A call has ended, and its result is committed. */
  | { readonly type: "call-completed"; readonly finished: FinishedCall }
  /** The token usage of an answer. `answeredBy` is the model as its server names it, if it does. */
  | {
      readonly type: "usage";
      readonly model: string;
      readonly answeredBy?: string;
      readonly usage: TokenUsage;
      readonly spent: UsageTotals;
    }
  | { readonly type: "model-changed"; readonly from: string; readonly to: string; readonly reason: ModelChangeReason }
  /** A request is about to be sent. */
  | { readonly type: "request"; readonly request: RequestInfo; readonly report: RenderReport }
  | { readonly type: "compacted"; readonly compaction: CompactionInfo }
  /** The request failed and is sent again after `delay` milliseconds (retry backoff). `discarded` if part of an answer was shown and does not count. */
  | { readonly type: "retrying"; readonly failure: Failure; readonly delay: number; readonly discarded: boolean }
  /** A message for the person, such as a quirk learned about an endpoint. A warning is shown where others are not. */
  | { readonly type: "notice"; readonly text: string; readonly isWarning?: true }
  /** A hook has run, or was skipped. It can come outside a turn. */
  | { readonly type: "hook"; readonly activity: HookActivity }
  /** The model changed its to-do list. The event has the whole list. */
  | { readonly type: "todos"; readonly todos: readonly TodoItem[] }
  /** A command or subagent moved to the background, or ended there. It can come outside a turn. */
  | { readonly type: "task"; readonly task: TaskInfo }
  /** An event of a subagent. `agent` is its name, unique in the session. */
  | { readonly type: "agent"; readonly agent: string; readonly event: AgentEvent }
  /** The turn is complete. `output` is the validated value of the answer, where a schema is set. */
  | { readonly type: "finished"; readonly reason: EndReason; readonly text: string; readonly output?: unknown }
  | { readonly type: "failed"; readonly failure: AgentFailure }
  | { readonly type: "cancelled" }
  /** The turn ended because calls await approval; `continue` takes it up again, also in another process. */
  | { readonly type: "parked" };

/** Why the model changed: by the person, by rotation, or because another failed. */
export type ModelChangeReason =
  | { readonly type: "requested" }
  | { readonly type: "round-robin" }
  | { readonly type: "failover"; readonly failure: Failure }
  /** The preferred model of the pool is out of its cooldown. */
  | { readonly type: "recovered" };

/** A request as it is sent. */
export type RequestInfo = {
  /** The number of the request in the conversation, from 1. */
  readonly number: number;
  readonly model: string;
  readonly url: string;
  readonly bytes: number;
  readonly attempt: number;
  /** The prompt this request belongs to, as `session#number`: one for all requests and calls of a turn. */
  readonly promptId?: string;
};

/** The result of a compaction. Tokens are estimates. */
export type CompactionInfo = {
  readonly by: "summary" | "shortening";
  readonly before: number;
  readonly after: number;
};

/** The usage of a session so far. `cost` is in US dollars, over all answers whose price is known. */
export type UsageTotals = {
  readonly requests: number;
  readonly input: number;
  readonly cachedRead: number;
  readonly output: number;
  readonly cost: number;
  /** Answers without a published price. */
  readonly unpriced: number;
};

/** Why a turn finished. */
export type EndReason =
  | Exclude<FinishReason, "calls" | "malformed" | "context">
  /** The model repeated the same calls or the same text. */
  | "loop"
  | "max-turns"
  /** A hook stopped the turn. */
  | "hook"
  | "max-spend";

/** Why a turn failed. Code reads `kind`; the message says what to do. */
export type AgentFailure =
  | {
      readonly kind: "provider";
      readonly failure: Failure;
      readonly message: string;
      /** The report of the request, where the provider refused it. */
      readonly report?: RenderReport;
    }
  | {
      readonly kind: "no-answer" | "output" | "context" | "media" | "storage" | "hook" | "internal";
      readonly message: string;
    };
