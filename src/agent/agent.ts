import type { Conversation } from "../conversation/entry.ts";
import type { JsonObject } from "../conversation/json.ts";
import type { Call, CallId, UserPart } from "../conversation/parts.ts";
import type { ApprovalDecision, ApprovalRequest } from "../scheduler/events.ts";
import type { RenderReport } from "../transcript/incremental-renderer.ts";
import type { Destination } from "../wire/bind.ts";
import type { ThinkingSetting } from "../wire/wire.ts";
import type { AgentEvent, UsageTotals } from "./events.ts";
import type { ModelRef } from "./models/name.ts";
import type { ModelPool } from "./models/router.ts";
import type { SwitchCheck } from "./models/switch-check.ts";
import type { SideQueryResult } from "./requests/side-query.ts";

/** A tool call that waits for a person's approval. `agent` is set for a call of a subagent. */
export type PendingApproval = { readonly call: CallId; readonly approval: ApprovalRequest; readonly agent?: string };

/** Whether the model was switched. The reason, why a hook refused it, is for the person. */
export type SwitchResult = { readonly isSwitched: true } | { readonly isSwitched: false; readonly reason: string };

/** One conversation with models that use tools. Every front end holds one of these and nothing else. */
export type Agent = {
  /**
   * Runs a turn: sends the prompt and works until the model stops. The last event is `finished`, `failed` or
   * `cancelled`; leaving the loop earlier cancels the turn. While a turn runs, use `queueMessage`.
   */
  readonly send: (input: string | readonly UserPart[], signal?: AbortSignal) => AsyncGenerator<AgentEvent, void>;
  /**
   * Continues a turn that was interrupted or parked, without a prompt: calls that await approval are asked about again,
   * then the model continues. Finishes at once if the model has answered already.
   */
  readonly continue: (signal?: AbortSignal) => AsyncGenerator<AgentEvent, void>;
  /**
   * Ends the turn where it waits for a person: calls that await approval stay without a result, for `continue`. Calls that
   * run are awaited first. Does nothing to a turn that waits for no approval.
   */
  readonly park: () => Promise<void>;
  /** The calls that await approval while no turn runs: they have not begun, and `continue` asks about them. */
  readonly parkedCalls: () => readonly Call[];
  /** Queues a message while a turn runs; it is sent after the current step. False if no turn accepts it. */
  readonly queueMessage: (input: string | readonly UserPart[]) => boolean;
  /** Removes and returns the queued messages that were not sent. Those left when a turn was cancelled or failed are sent with the next one otherwise. */
  readonly withdrawQueuedMessages: () => readonly (readonly UserPart[])[];
  /** Adds a notice for the model with the next request of the running turn, or with the next prompt. It causes no request. */
  readonly addNotice: (text: string) => void;
  /** Cancels the turn. Resolves once nothing runs any more. */
  readonly cancel: () => Promise<void>;
  /** The approvals that wait for a person, in call order. */
  readonly pendingApprovals: () => readonly PendingApproval[];
  /** Answers a pending approval; `agent` names the subagent that made the call. An unknown decision refuses the call. False if nothing waits there. */
  readonly decide: (call: CallId, decision: ApprovalDecision, agent?: string) => boolean;
  /** Decides pending approvals again, after the approval mode changed. */
  readonly reevaluateApprovals: () => Promise<void>;
  readonly model: () => ModelRef;
  readonly pool: () => ModelPool;
  /** Switches to another pool, or another model of it, from the next request on. At once, unless hooks decide about it. */
  readonly switchModel: (pool: ModelPool, model?: ModelRef) => Promise<SwitchResult>;
  /** The reasoning effort of the next request; undefined for the model's own default. */
  readonly thinking: () => ThinkingSetting["effort"] | undefined;
  /** Sets how much models think, from the next request on; undefined for each model's own default. */
  readonly setThinking: (effort: ThinkingSetting["effort"] | undefined) => void;
  /** Computes what switching to a model would cost and lose. */
  readonly checkSwitch: (model: ModelRef) => Promise<SwitchCheck>;
  /**
   * Compacts the context now, while no turn runs; `focus` says what the summary should keep in detail. False if nothing
   * was gained; no request is sent where that is known before.
   */
  readonly compact: (focus?: string, signal?: AbortSignal) => Promise<boolean>;
  /** Sends a request that is not part of the conversation; its usage is counted. */
  readonly runSideQuery: (
    encode: (destination: Destination) => JsonObject,
    signal: AbortSignal,
  ) => Promise<SideQueryResult>;
  /** The conversation as models see it: after a compaction, the summary and the entries after it. The session log keeps the rest. */
  readonly conversation: () => Conversation;
  /** The number of entries of the conversation, including those released from memory. */
  readonly entryCount: () => number;
  /** Whether the conversation holds anything besides notices. */
  readonly hasMessages: () => boolean;
  readonly usageTotals: () => UsageTotals;
  /** The estimated tokens of the next request, and the size of the model's context window. */
  readonly contextUsage: () => Promise<{ readonly used: number; readonly size: number }>;
  /** The rendering report of the last request. */
  readonly lastReport: () => RenderReport | undefined;
  /** Adds an event to the running turn's stream, e.g. one of a subagent. */
  readonly emit: (event: AgentEvent) => void;
};
