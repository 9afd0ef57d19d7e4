import { outcomeUnknown } from "../../../src/session/interrupted-calls.ts";
import type { ModelReply, SimModelRequest } from "../../../src/sim/model/types.ts";

/**
 * A model that runs one command for each prompt `Run call-17.`: it notes the slot of its worker in a file, waits a moment
 * and appends a line with the number of its request, which no other call has. If the outcome is unknown, it asks
 * again for every other prompt.
 */
export const callModel = (): ((request: SimModelRequest, slot: number) => ModelReply) => {
  let asks = 0;
  return ({ turns }, slot) => {
    const prompt = turns.findLastIndex((turn) => turn.by === "user" && /Run call-\d+\./.test(turn.text));
    const turn = turns[prompt];
    const name = (turn?.by === "user" ? [...turn.text.matchAll(/Run (call-\d+)\./g)].at(-1)?.[1] : undefined) ?? "none";
    const last = turns.at(-1);
    const results = last?.by === "tools" ? last.results : [];
    const isUnknown = results.some((result) => result.text.includes(outcomeUnknown));
    const isFirst = !turns.slice(prompt).some((each) => each.by === "model" && each.calls.length > 0);
    if (isFirst || (isUnknown && Number(name.split("-")[1]) % 2 === 0)) {
      const ask = `ask-${(asks += 1)}`;
      const command = `echo ${slot} > began/${ask}; sleep 0.02; echo ${name} ${ask} >> ran.txt`;
      return { parts: [{ type: "call", tool: "run_shell_command", input: { command } }] };
    }
    return { parts: [{ type: "say", text: `${isUnknown ? "The outcome is unknown:" : "Finished"} ${name}.` }] };
  };
};
