import type { Blobs } from "../conversation/entry.ts";
import type { JsonObject } from "../conversation/json.ts";
import type { Call, CallId, Outcome } from "../conversation/parts.ts";
import type { CommandProgram } from "../policy/command/analysis.ts";
import type { AddedRules, AlwaysAllow } from "../policy/gate/create.ts";
import type { RuleScope } from "../policy/gate/listed-rules.ts";

import type { DiffStat, ToolDisplay, ToolError } from "../tools/tool.ts";

/** An event of a call: everything a front end needs to show calls. */
export type SchedulerEvent =
  | { readonly type: "call-changed"; readonly call: CallId; readonly status: CallStatus }
  /** The output of a running call so far, or its tail. At most once a second. */
  | { readonly type: "call-output"; readonly call: CallId; readonly text: string }
  /** An answer of "always" added permission rules. */
  | ({ readonly type: "permission-added" } & AddedRules);

/**
 * The state of a call. It begins with validating and ends with a final state; it awaits approval as often as there is
 * something new to ask.
 */
export type CallStatus =
  | { readonly state: "validating"; readonly call: Call }
  | { readonly state: "awaiting_approval"; readonly approval: ApprovalRequest }
  | { readonly state: "scheduled"; readonly title: string }
  | { readonly state: "executing"; readonly title: string }
  | { readonly state: "success" | "error" | "cancelled"; readonly finished: FinishedCall };

/** An approval request: what the user should know before answering. */
export type ApprovalRequest = {
  /** One line: what the call does. */
  readonly title: string;
  /** Why approval is needed. */
  readonly reason: string;
  /** Whether it is an ordinary edit or command, for which a front end may put the focus on Yes. */
  readonly isRoutine: boolean;
  /** The rules that "always" can be answered with, each with the scopes it can have. */
  readonly always: readonly AlwaysAllow[];
  /** Why the user's own version could not be used. */
  readonly problem?: string;
  readonly subject: ApprovalSubject;
};

/**
 * What approval is requested for. Everything is sanitized, except `before` and `after`: they are the file's raw text,
 * for an editor.
 */
export type ApprovalSubject =
  | {
      readonly type: "edit";
      /** The real path, links resolved. */
      readonly path: string;
      /** The real path, relative to the workspace. */
      readonly relativePath: string;
      /** The path the model wrote. */
      readonly requestedPath: string;
      /** Whether the two differ because of a link. */
      readonly isLink: boolean;
      readonly before: string | undefined;
      readonly after: string;
      readonly patch: string;
      readonly stat: DiffStat;
      /** Whether the user may write another version. */
      readonly isEditable: boolean;
    }
  | {
      readonly type: "execute";
      /** The whole command line. */
      readonly command: string;
      readonly commands: readonly CommandProgram[];
      readonly folder: string;
      /** The folder relative to the workspace; empty for the workspace itself. */
      readonly relativeFolder: string;
      /** One line: the programs it runs and what else it is known to do. */
      readonly effects: string;
    }
  | {
      readonly type: "mcp";
      readonly server: string;
      /** The server's own name for the tool. */
      readonly tool: string;
      /** The name used by models and permission rules, where it differs. */
      readonly exposedAs?: string;
      /** The server's whole description of the tool, as sent to the model. */
      readonly description: string;
      readonly arguments: JsonObject;
    }
  /** A remote agent, and the task it would get. */
  | { readonly type: "agent"; readonly name: string; readonly url: string; readonly prompt: string }
  /** The URLs, each with its real host in ASCII. */
  | { readonly type: "network"; readonly urls: readonly { readonly url: string; readonly host: string }[] }
  | { readonly type: "info"; readonly text: string };

/** The user's answer. */
export type ApprovalDecision =
  | { readonly type: "once" }
  /** Now and from now on, for the session or in this project. A rule that was not offered counts for this call only. */
  | { readonly type: "always"; readonly rule: AlwaysAllow["type"]; readonly scope: RuleScope }
  /** Another text instead of the proposed one. Approval is requested again, with the change. */
  | { readonly type: "edit"; readonly text: string }
  /** The reason is for the model. */
  | { readonly type: "refuse"; readonly reason?: string }
  /** Cancels the whole batch. */
  | { readonly type: "cancel" };

/** A call that has ended. */
export type FinishedCall = {
  readonly call: Call;
  /** The outcome for the conversation. */
  readonly outcome: Outcome;
  /** The bytes of the files in the outcome. */
  readonly blobs: Blobs;
  /** The display for the user. */
  readonly display: ToolDisplay;
  readonly error?: ToolError;
  /** Set where policy denied the call. */
  readonly denial?: CallDenial;
  /** Milliseconds from arrival to end, without the time the user took to answer. */
  readonly duration: number;
  readonly record: ToolCallRecord;
};

/** Why policy denied a call, and the command-line options that would have allowed it. */
export type CallDenial = { readonly reason: string; readonly allowedBy: readonly string[] };

/** One telemetry record, with the fields of Gemini CLI's tool_call event. */
export type ToolCallRecord = {
  readonly function_name: string;
  readonly function_args: JsonObject;
  readonly duration_ms: number;
  readonly success: boolean;
  /** Absent where no decision was made: the call was invalid, or cancelled before. */
  readonly decision?: CallDecision;
  readonly error?: string;
  readonly error_type?: ToolError["type"];
  readonly tool_type: "native" | "mcp";
  /** The prompt the call belongs to, as `session#number`; set by the agent. */
  readonly prompt_id?: string;
  readonly metadata?: {
    readonly ai_added_lines: number;
    readonly ai_removed_lines: number;
    readonly user_added_lines: number;
    readonly user_removed_lines: number;
  };
};

export type CallDecision = "accept" | "auto_accept" | "modify" | "reject";
