import type { Blobs } from "../conversation/entry.ts";
import type { JsonObject } from "../conversation/json.ts";
import type { Call, CallId, Outcome } from "../conversation/parts.ts";
import type { CommandProgram } from "../policy/command/analysis.ts";
import type { AlwaysAllow } from "../policy/gate/create.ts";

import type { DiffStat, ToolDisplay, ToolError } from "../tools/tool.ts";

/** Something that happened to a call. Whoever shows calls needs nothing else. */
export type SchedulerEvent =
  | { readonly type: "call-changed"; readonly call: CallId; readonly status: CallStatus }
  /** What a running call has printed so far, or the end of it. At most once a second. */
  | { readonly type: "call-output"; readonly call: CallId; readonly text: string };

/** Where a call stands. It is validating first and finished last; it waits as often as there is something new to ask. */
export type CallStatus =
  | { readonly state: "validating"; readonly call: Call }
  | { readonly state: "awaiting_approval"; readonly approval: ApprovalRequest }
  | { readonly state: "scheduled"; readonly title: string }
  | { readonly state: "executing"; readonly title: string }
  | { readonly state: "success" | "error" | "cancelled"; readonly finished: FinishedCall };

/** What a person should know before answering. */
export type ApprovalRequest = {
  /** One line: what the call does. */
  readonly title: string;
  /** Why it is asked about. */
  readonly reason: string;
  /** The answers for always that can be given. */
  readonly always: readonly AlwaysAllow[];
  /** Why the person's own version could not be taken. */
  readonly problem?: string;
  readonly subject: ApprovalSubject;
};

/** What is asked about. Everything is safe to show, but `before` and `after`: they are the files as they are, for an editor. */
export type ApprovalSubject =
  | {
      readonly type: "edit";
      /** Where it really leads. */
      readonly path: string;
      /** What the model wrote. */
      readonly requestedPath: string;
      /** Whether a link stands between the two. */
      readonly isLink: boolean;
      readonly before: string | undefined;
      readonly after: string;
      readonly patch: string;
      readonly stat: DiffStat;
      /** Whether the person may write another version. */
      readonly isEditable: boolean;
    }
  | {
      readonly type: "execute";
      /** All of it. */
      readonly command: string;
      readonly commands: readonly CommandProgram[];
      readonly folder: string;
    }
  | {
      readonly type: "mcp";
      readonly server: string;
      /** What the server itself calls it. */
      readonly tool: string;
      /** The name models and rules know it by, where that is another. */
      readonly exposedAs?: string;
      /** All the server says of it, as the model is told. */
      readonly description: string;
      readonly arguments: JsonObject;
    }
  /** The addresses, and who is really behind each: the host in ASCII. */
  | { readonly type: "network"; readonly urls: readonly { readonly url: string; readonly host: string }[] }
  | { readonly type: "info"; readonly text: string };

/** A person's answer. */
export type ApprovalDecision =
  | { readonly type: "once" }
  /** Now, and from now on. An answer that was not offered counts for this once. */
  | { readonly type: "always"; readonly scope: AlwaysAllow["type"] }
  /** This text instead of the proposed one. It is asked about again, as changed. */
  | { readonly type: "edit"; readonly text: string }
  /** The reason is for the model. */
  | { readonly type: "refuse"; readonly reason?: string }
  /** Ends the whole batch. */
  | { readonly type: "cancel" };

/** A call that has ended. */
export type FinishedCall = {
  readonly call: Call;
  /** What the conversation keeps. */
  readonly outcome: Outcome;
  /** The bytes of the files in the outcome. */
  readonly blobs: Blobs;
  /** What a person sees. */
  readonly display: ToolDisplay;
  readonly error?: ToolError;
  /** Set where policy did not let it run. */
  readonly denial?: CallDenial;
  /** Milliseconds from arrival to end. */
  readonly duration: number;
  readonly record: ToolCallRecord;
};

/** Why policy did not let a call run, and the command-line options that would have allowed it. */
export type CallDenial = { readonly reason: string; readonly allowedBy: readonly string[] };

/** One line of telemetry, in the words of Gemini CLI's tool_call event. */
export type ToolCallRecord = {
  readonly function_name: string;
  readonly function_args: JsonObject;
  readonly duration_ms: number;
  readonly success: boolean;
  /** Absent where nothing was decided: the call could not be understood, or was cancelled before. */
  readonly decision?: CallDecision;
  readonly error?: string;
  readonly error_type?: ToolError["type"];
  readonly tool_type: "native" | "mcp";
  /** The prompt the call served, as `session#number`; the agent adds it. */
  readonly prompt_id?: string;
  readonly metadata?: {
    readonly ai_added_lines: number;
    readonly ai_removed_lines: number;
    readonly user_added_lines: number;
    readonly user_removed_lines: number;
  };
};

export type CallDecision = "accept" | "auto_accept" | "modify" | "reject";
