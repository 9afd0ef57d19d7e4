import type { StopReason } from "@agentclientprotocol/sdk";
import type { AgentEvent, AgentFailure, EndReason } from "../agent/events.ts";
import { errorCodes, internalError, RpcError } from "./rpc-error.ts";

/** The event that ends a turn. */
export type TurnEndEvent = Extract<AgentEvent, { type: "finished" | "failed" | "cancelled" }>;

/** The reason to stop, and a message for the person where it says too little. */
export const stopReasons: {
  readonly [reason in EndReason]: { readonly stopReason: StopReason; readonly message?: string };
} = {
  stop: { stopReason: "end_turn" },
  other: { stopReason: "end_turn" },
  paused: { stopReason: "end_turn" },
  length: { stopReason: "max_tokens", message: "The response reached its length limit and is incomplete." },
  // A client takes the prompt and what follows out of its history after "refusal"; Parley keeps both.
  refused: { stopReason: "end_turn", message: "The model declined to respond." },
  filtered: {
    stopReason: "end_turn",
    message: "A content filter stopped the response. Rephrase the prompt, or use another model.",
  },
  loop: {
    stopReason: "max_turn_requests",
    message: "Stopped: the model kept repeating the same step. Rephrase the prompt, or use another model.",
  },
  "max-turns": {
    stopReason: "max_turn_requests",
    message: "Stopped at the limit of requests (limits.maxTurns). Send another prompt to continue.",
  },
  hook: { stopReason: "end_turn", message: "Stopped by a hook." },
  "max-spend": {
    stopReason: "max_turn_requests",
    message: "Stopped: the spending limit is reached (limits.spend). Raise the limit, or use another model.",
  },
};

/** The error that a prompt is answered with. A missing or wrong key lets clients offer to sign in. */
export const failureError = (failure: AgentFailure): RpcError => {
  const kind = failure.kind === "provider" ? failure.failure.kind : failure.kind;
  const isAuth = kind === "no-key" || kind === "bad-key" || kind === "misconfigured";
  if (!isAuth) return internalError(failure.message, { kind });
  return new RpcError(errorCodes.authRequired, failure.message, { error: failure.message, kind });
};
