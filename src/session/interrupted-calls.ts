import type { Entry } from "../conversation/entry.ts";
import { Ledger } from "../conversation/ledger.ts";
import type { Call } from "../conversation/parts.ts";
import type { Session } from "./session.ts";

/** What was written about calls nobody saw end, and what to tell the person about it. */
export type InterruptedCalls = {
  readonly calls: readonly Call[];
  readonly entries: readonly Entry[];
  readonly messages: readonly string[];
};

/** What a model reads about a call that was running when the program ended. */
const outcomeUnknown =
  "No result was recorded: the run was interrupted before this call finished. Its outcome is unknown, and it may have had effects.";

/** Commands are ended with the program that runs them; what left its process group, or runs where there are none, is not. */
const mayStillRun = "A program it started may still be running.";

const isCommand = (tool: string): boolean => tool === "run_shell_command";

/**
 * Completes the calls of a run that ended before they did. Never that they succeeded, failed or were stopped: only that
 * nobody knows. Calls whose arguments nobody could read did not run, and are left to whoever sends the next request.
 */
export const completeInterruptedCalls = (ledger: Ledger): InterruptedCalls => {
  const before = ledger.entries.length;
  const calls = ledger.pending().filter(({ input }) => input.type === "parsed");
  for (const { id, tool } of calls)
    ledger.complete(id, tool, {
      status: "interrupted",
      content: [{ type: "text", text: isCommand(tool) ? `${outcomeUnknown} ${mayStillRun}` : outcomeUnknown }],
      synthetic: true,
    });
  const told = calls.map(
    ({ tool, input }) =>
      `${tool} was running when the session ended, so its outcome is unknown; it may have had effects (${formatArguments(input)}).${isCommand(tool) ? ` ${mayStillRun}` : ""}`,
  );
  return { calls, entries: ledger.entries.slice(before), messages: told };
};

/** A session's conversation, ready to go on: what was interrupted is written down before anything else happens. */
export const resumeSession = async (
  session: Pick<Session, "entries" | "append">,
): Promise<{ readonly ledger: Ledger; readonly interrupted: InterruptedCalls }> => {
  const ledger = Ledger.from(session.entries);
  const interrupted = completeInterruptedCalls(ledger);
  if (interrupted.entries.length > 0)
    await session.append(interrupted.entries.map((entry) => ({ kind: "entry", entry })));
  return { ledger, interrupted };
};

const maxArgumentLength = 120;

const formatArguments = (input: Call["input"]): string => {
  const text = input.type === "parsed" ? JSON.stringify(input.value) : input.text;
  return text.length > maxArgumentLength ? `${text.slice(0, maxArgumentLength - 1).toWellFormed()}…` : text;
};
