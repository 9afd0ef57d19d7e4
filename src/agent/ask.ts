import type { UserPart } from "../conversation/parts.ts";
import type { Agent } from "./agent.ts";
import type { AgentFailure, EndReason } from "./events.ts";

/** The answer of a turn. `reason` is `stop` unless the turn ended early. */
export type Answer<Output = unknown> = {
  readonly text: string;
  readonly reason: EndReason;
  /** The validated value of the answer, where a schema is set. */
  readonly output: Output;
};

/** Why a turn gave no answer: it failed, or it was cancelled. */
export class TurnError extends Error {
  override readonly name = "TurnError";
  readonly failure: AgentFailure | { readonly kind: "cancelled" };

  constructor(failure: AgentFailure | { readonly kind: "cancelled" }) {
    super("message" in failure ? failure.message : "The turn was cancelled.");
    this.failure = failure;
  }
}

/** Runs a turn and returns its answer. Throws a `TurnError`, also if a schema is set and the turn ended without output. */
export const askAgent = async <Output>(
  agent: Agent,
  { input, hasOutput }: { readonly input: string | readonly UserPart[]; readonly hasOutput: boolean },
  signal: AbortSignal | undefined,
): Promise<Answer<Output>> => {
  for await (const event of agent.send(input, signal)) {
    if (event.type === "finished") {
      const { text, reason, output } = event;
      if (hasOutput && !("output" in event))
        throw new TurnError({ kind: "output", message: `The turn ended without an answer to the schema: ${reason}.` });
      return { text, reason, output: output as Output };
    }
    if (event.type === "failed") throw new TurnError(event.failure);
  }
  throw new TurnError({ kind: "cancelled" });
};
