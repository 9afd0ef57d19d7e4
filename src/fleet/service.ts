import type { CallId, UserPart } from "../conversation/parts.ts";
import type { Blobs } from "../conversation/entry.ts";
import type { JsonObject } from "../conversation/json.ts";
import type { ApprovalDecision } from "../scheduler/events.ts";
import type { FollowedEvent } from "./session-events.ts";

/**
 * The operations of a front door on sessions, the same whether one process runs them on files or workers do on a
 * database. Every operation names its tenant; a session of another tenant is answered exactly like one that does not
 * exist. All of them reject with a `ServiceError`.
 */
export type SessionService = {
  /** Creates a session. A repeated key answers with the session the first call created. */
  readonly create: (tenant: string, request: CreateRequest) => Promise<CreatedServiceSession>;
  /** Keeps a command durably, then acknowledges it. It is carried out in order, once, however often it is posted with one key. */
  readonly post: (tenant: string, id: string, request: PostRequest) => Promise<PostReceipt>;
  /**
   * Yields the events after a sequence number, then those that follow, until the signal aborts or the session is
   * removed. Live events are yielded where the owner of the session is this process, or a worker that can be reached.
   * Rejects at the first event if there is no such session.
   */
  readonly follow: (tenant: string, id: string, request: FollowRequest) => AsyncIterable<FollowedEvent>;
  /** Lists sessions, newest first. */
  readonly list: (tenant: string, request?: ListRequest) => Promise<ServiceSessionPage>;
  readonly read: (tenant: string, id: string) => Promise<ServiceSession>;
  /** Writes out a session: its log, byte for byte as a session file, or its conversation as JSON. */
  readonly export: (tenant: string, id: string, format: ExportFormat) => AsyncIterable<Uint8Array>;
  /** Removes a session and everything stored for it. A turn that runs is cancelled first. */
  readonly remove: (tenant: string, id: string) => Promise<void>;
  /** The numbers an operator watches. */
  readonly gauges: () => Promise<ServiceGauges>;
  /** Resolves if sessions can be created and posted to now. */
  readonly checkReady: () => Promise<void>;
  /** Starts no more turns, and resolves once none runs: approvals are parked, turns are awaited for at most this long. */
  readonly drain: (milliseconds: number) => Promise<void>;
  readonly close: () => Promise<void>;
};

/** A new session. */
export type CreateRequest = {
  /** The project's folder. Default: the first one the service offers. */
  readonly folder?: string;
  /** The model, as `provider/model`. Default: that of the settings. */
  readonly model?: string;
  readonly title?: string;
  /** The sender's idempotency key, unique in its tenant. */
  readonly key?: string;
};

export type CreatedServiceSession = { readonly id: string; readonly isDuplicate: boolean; readonly sequence: number };

/** A command to a session, with the sender's idempotency key. */
export type PostRequest = {
  readonly command: SessionCommand;
  readonly key?: string;
  /** The span of the request that posts it, as a `traceparent`: the turn it leads to belongs to it. */
  readonly trace?: string | undefined;
};

/** The acknowledgement of a command: it is durable. */
export type PostReceipt = {
  /** The number of the command in its session. */
  readonly command: number;
  /** Whether the key was seen before; `command` is then that of the first post. */
  readonly isDuplicate: boolean;
  /** The sequence number of the session's log at that moment: effects of the command come after it. */
  readonly sequence: number;
};

/** A command to a session. */
export type SessionCommand =
  /** A prompt. It begins a turn after those before it; calls that still await approval are cancelled. */
  | { readonly type: "user"; readonly parts: readonly UserPart[]; readonly blobs?: Blobs }
  /** A message for the turn that runs, sent with its next request; a prompt if none runs. */
  | { readonly type: "steer"; readonly parts: readonly UserPart[]; readonly blobs?: Blobs }
  /**
   * The answer to an approval request. With a digest it counts only for the question that has it; without, for the
   * question that is open when it is posted. `agent` names the subagent that asks.
   */
  | {
      readonly type: "decide";
      readonly call: CallId;
      readonly decision: ApprovalDecision;
      readonly digest?: string;
      readonly agent?: string;
    }
  /** Cancels the turn, also one that is parked, and the prompts posted before it. */
  | { readonly type: "cancel" }
  /** Switches to another model from the next request on. */
  | { readonly type: "model"; readonly model: string }
  | { readonly type: "title"; readonly title: string };

export type FollowRequest = {
  /** Events of records with a higher sequence number are yielded; 0 for all. */
  readonly after: number;
  readonly signal: AbortSignal;
  /** Whether live events are wanted: text as it arrives, the state and output of calls. */
  readonly isLive?: boolean;
  /** Whether the iteration ends once the session is idle or parked, instead of waiting for more. */
  readonly untilIdle?: boolean;
  /** Whether the iteration ends with the records that exist now. */
  readonly untilNow?: boolean;
};

export type ListRequest = {
  readonly limit?: number;
  /** The `next` of the page before. */
  readonly cursor?: string;
};

/** A page of a list. `next` is absent at the end. */
export type ServiceSessionPage = { readonly sessions: readonly ServiceSession[]; readonly next?: string };

/** A session as a front door shows it. */
export type ServiceSession = {
  readonly id: string;
  readonly title: string;
  readonly folder: string;
  readonly model?: string;
  /** Milliseconds since 1970. */
  readonly created: number;
  readonly modified: number;
  readonly state: ServiceSessionState;
  /** The sequence number of the last record. */
  readonly sequence: number;
  /** The approval requests that await a decision. */
  readonly pending: readonly OpenQuestion[];
  /** Why its commands cannot be carried out at the moment. They are tried again. */
  readonly problem?: string;
};

/** The state of a session: without work, waiting to run, running a turn, or waiting for a decision of a person. */
export type ServiceSessionState = "idle" | "queued" | "running" | "parked";

/** An approval request that awaits a decision. */
export type OpenQuestion = {
  readonly call: CallId;
  readonly tool?: string;
  readonly input?: JsonObject;
  readonly approval: JsonObject;
  readonly digest?: string;
  readonly agent?: string;
};

/** The log as lines of a session file, or the conversation as one JSON document. */
export type ExportFormat = "records" | "conversation";

/** Numbers over all tenants, without any tenant's name. */
export type ServiceGauges = {
  readonly openSessions: number;
  readonly runningTurns: number;
  readonly queuedSessions: number;
  readonly followers: number;
};

/** A service whose commands are posted by the request with this span. */
export const withTrace = (service: SessionService, trace: string | undefined): SessionService =>
  trace === undefined
    ? service
    : { ...service, post: (tenant, id, request) => service.post(tenant, id, { ...request, trace }) };
