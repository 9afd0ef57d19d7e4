import type { JsonObject, JsonValue } from "../conversation/json.ts";

/* The data of A2A 1.0 as ProtoJSON writes it: camelCase, enums by their full names, times in ISO 8601. */

export type A2aState =
  | "TASK_STATE_SUBMITTED"
  | "TASK_STATE_WORKING"
  | "TASK_STATE_INPUT_REQUIRED"
  | "TASK_STATE_COMPLETED"
  | "TASK_STATE_FAILED"
  | "TASK_STATE_CANCELED"
  | "TASK_STATE_REJECTED"
  | "TASK_STATE_AUTH_REQUIRED";

/** Exactly one of text, raw (base64), url and data. */
export type A2aPart = {
  readonly text?: string;
  readonly raw?: string;
  readonly url?: string;
  readonly data?: JsonValue;
  readonly mediaType?: string;
  readonly filename?: string;
};

export type A2aMessage = {
  readonly messageId: string;
  readonly role: "ROLE_USER" | "ROLE_AGENT";
  readonly parts: readonly A2aPart[];
  readonly contextId?: string;
  readonly taskId?: string;
  readonly metadata?: JsonObject;
};

export type A2aArtifact = {
  readonly artifactId: string;
  readonly name?: string;
  readonly description?: string;
  readonly parts: readonly A2aPart[];
};

export type A2aStatus = { readonly state: A2aState; readonly message?: A2aMessage; readonly timestamp: string };

export type A2aTask = {
  readonly id: string;
  readonly contextId: string;
  readonly status: A2aStatus;
  readonly artifacts?: readonly A2aArtifact[];
  readonly history?: readonly A2aMessage[];
};

/** One item of a stream. */
export type A2aStreamItem =
  | { readonly task: A2aTask }
  | { readonly statusUpdate: { readonly taskId: string; readonly contextId: string; readonly status: A2aStatus } }
  | {
      readonly artifactUpdate: {
        readonly taskId: string;
        readonly contextId: string;
        readonly artifact: A2aArtifact;
        readonly append: boolean;
        readonly lastChunk: boolean;
      };
    };

const terminal: ReadonlySet<A2aState> = new Set([
  "TASK_STATE_COMPLETED",
  "TASK_STATE_FAILED",
  "TASK_STATE_CANCELED",
  "TASK_STATE_REJECTED",
]);

export const isTerminal = (state: A2aState): boolean => terminal.has(state);

/** Whether a request that waits for the task has its answer. */
export const isInterrupted = (state: A2aState): boolean => isTerminal(state) || state === "TASK_STATE_INPUT_REQUIRED";

/** The errors of A2A, with their code in JSON-RPC and their status in HTTP. */
const failures = {
  TASK_NOT_FOUND: { code: -32001, status: 404, message: "Task not found." },
  TASK_NOT_CANCELABLE: { code: -32002, status: 400, message: "The task has ended and cannot be cancelled." },
  PUSH_NOTIFICATION_NOT_SUPPORTED: { code: -32003, status: 400, message: "Push notifications are not supported." },
  UNSUPPORTED_OPERATION: { code: -32004, status: 400, message: "This operation is not supported for the task." },
  CONTENT_TYPE_NOT_SUPPORTED: { code: -32005, status: 400, message: "This kind of part is not supported." },
  EXTENDED_AGENT_CARD_NOT_CONFIGURED: { code: -32007, status: 400, message: "There is no extended agent card." },
  VERSION_NOT_SUPPORTED: {
    code: -32009,
    status: 400,
    message: "This version of A2A is not supported. Use 1.0 or 0.3.",
  },
  INVALID_REQUEST: { code: -32600, status: 400, message: "Invalid request." },
  METHOD_NOT_FOUND: { code: -32601, status: 404, message: "Unknown method." },
  INVALID_PARAMS: { code: -32602, status: 400, message: "Invalid parameters." },
  INTERNAL: { code: -32603, status: 500, message: "Internal error." },
} as const;

/** A failure of A2A. */
export class A2aError extends Error {
  readonly reason: keyof typeof failures;

  constructor(reason: keyof typeof failures, message: string = failures[reason].message) {
    super(message);
    this.name = "A2aError";
    this.reason = reason;
  }

  get code(): number {
    return failures[this.reason].code;
  }

  get status(): number {
    return failures[this.reason].status;
  }

  /** The details both bindings send: an ErrorInfo of Google's RPC. */
  get details(): readonly JsonObject[] {
    return [
      {
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        reason: this.reason,
        domain: "a2a-protocol.org",
        metadata: {},
      },
    ];
  }
}
