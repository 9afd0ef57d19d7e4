import type { Call, CallId, Media, UserPart } from "../conversation/parts.ts";
import type { CallStatus, FinishedCall } from "../scheduler/events.ts";
import type { RenderReport } from "../transcript/incremental-renderer.ts";
import type { Failure } from "../transport/failure.ts";
import type { FinishReason, TokenUsage } from "../wire/decode/events.ts";

/**
 * All an agent says while it works: the same for every front end. The last
 * event of a turn is `finished`, `failed` or `cancelled`. Text and thoughts
 * are as the model wrote them: whoever shows them on a terminal makes them safe.
 */
export type AgentEvent =
  /** Something the person said is part of the conversation now: the input of the turn, or what was said meanwhile. */
  | { readonly type: "user"; readonly parts: readonly UserPart[] }
  /** A piece of the model's thinking; `subject` and `description` where it stands under a heading in bold. */
  | { readonly type: "thought"; readonly text: string; readonly subject?: string; readonly description?: string }
  | { readonly type: "text"; readonly text: string }
  /** A message of the model is whole and kept. */
  | { readonly type: "message"; readonly text: string; readonly thought: string; readonly media: readonly Media[] }
  /** A call is to be made: by the model, or by the program itself where `isClientInitiated` is true. */
  | {
      readonly type: "call-requested";
      readonly call: Call;
      readonly isClientInitiated: boolean;
      /** The prompt this call serves, as `session#number`. */
      readonly promptId?: string;
    }
  | { readonly type: "call-updated"; readonly call: CallId; readonly status: CallStatus }
  /** What a running call has printed so far, or the end of it. */
  | { readonly type: "call-output"; readonly call: CallId; readonly text: string }
  /** A call has ended, and its result is kept. */
  | { readonly type: "call-completed"; readonly finished: FinishedCall }
  /** What an answer used. `answeredBy` is the model as its server calls it, where it says so. */
  | {
      readonly type: "usage";
      readonly model: string;
      readonly answeredBy?: string;
      readonly usage: TokenUsage;
      readonly spent: UsageTotals;
    }
  | { readonly type: "model-changed"; readonly from: string; readonly to: string; readonly reason: ModelChangeReason }
  /** A request leaves. */
  | { readonly type: "request"; readonly request: RequestInfo; readonly report: RenderReport }
  | { readonly type: "compacted"; readonly compaction: CompactionInfo }
  /** The request failed and is sent again after `delay` milliseconds. `discarded`: what came of the answer does not count. */
  | { readonly type: "retrying"; readonly failure: Failure; readonly delay: number; readonly discarded: boolean }
  /** Something a person should know, such as what an endpoint taught us. */
  | { readonly type: "notice"; readonly text: string }
  /** Something a subagent says. `agent` names this one among all of the session. */
  | { readonly type: "agent"; readonly agent: string; readonly event: AgentEvent }
  | { readonly type: "finished"; readonly reason: EndReason; readonly text: string }
  | { readonly type: "failed"; readonly failure: AgentFailure }
  | { readonly type: "cancelled" };

/** Why the model changed: by hand, because its turn came, or because another failed. */
export type ModelChangeReason =
  | { readonly type: "asked" }
  | { readonly type: "round-robin" }
  | { readonly type: "failover"; readonly failure: Failure }
  /** The first of a pool can be asked again. */
  | { readonly type: "recovered" };

/** What is known of a request as it leaves. */
export type RequestInfo = {
  /** The how-manieth request of the conversation, from 1. */
  readonly number: number;
  readonly model: string;
  readonly url: string;
  readonly bytes: number;
  readonly attempt: number;
  /** The prompt this request serves, as `session#number`: one for all requests and calls of a turn. */
  readonly promptId?: string;
};

/** What a compaction did. Tokens are estimates. */
export type CompactionInfo = {
  readonly by: "summary" | "shortening";
  readonly before: number;
  readonly after: number;
};

/** What a session used so far. `cost` is in US dollars, over all answers whose price is known. */
export type UsageTotals = {
  readonly requests: number;
  readonly input: number;
  readonly cachedRead: number;
  readonly output: number;
  readonly cost: number;
  /** Answers whose price nobody published. */
  readonly unpriced: number;
};

/** Why a turn ended by itself. */
export type EndReason =
  | Exclude<FinishReason, "calls" | "malformed" | "context">
  /** The model made the same calls, or wrote the same text, over and over. */
  | "loop"
  | "max-turns"
  | "max-spend";

/** Why a turn could not end by itself. Code reads `kind`; the message says what to do. */
export type AgentFailure =
  | {
      readonly kind: "provider";
      readonly failure: Failure;
      readonly message: string;
      /** The report of the request, where the provider refused it. */
      readonly report?: RenderReport;
    }
  | { readonly kind: "no-answer" | "context" | "media" | "storage" | "internal"; readonly message: string };
