import type { UserPart } from "../conversation/parts.ts";
import type { Agent } from "./agent.ts";
import type { AgentFailure, EndReason } from "./events.ts";

/** The answer of a turn. `reason` is `stop` unless the turn ended early. */
export type Answer = { readonly text: string; readonly reason: EndReason };

/** Why a turn gave no answer: it failed, or it was cancelled. */
export class TurnError extends Error {
  override readonly name = "TurnError";
  readonly failure: AgentFailure | { readonly kind: "cancelled" };

  constructor(failure: AgentFailure | { readonly kind: "cancelled" }) {
    super("message" in failure ? failure.message : "The turn was cancelled.");
    this.failure = failure;
  }
}

/** Runs a turn and returns its answer. Throws a `TurnError`. */
export const askAgent = async (
  agent: Agent,
  input: string | readonly UserPart[],
  signal: AbortSignal | undefined,
): Promise<Answer> => {
  for await (const event of agent.send(input, signal)) {
    if (event.type === "finished") return { text: event.text, reason: event.reason };
    if (event.type === "failed") throw new TurnError(event.failure);
  }
  throw new TurnError({ kind: "cancelled" });
};
