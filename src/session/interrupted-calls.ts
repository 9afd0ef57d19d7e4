import type { Entry } from "../conversation/entry.ts";
import type { Ledger } from "../conversation/ledger.ts";
import type { Call } from "../conversation/parts.ts";

/** Tool calls completed because their run was interrupted, the entries added for them, and messages for the user. */
export type InterruptedCalls = {
  readonly calls: readonly Call[];
  readonly entries: readonly Entry[];
  readonly messages: readonly string[];
};

/** The result a model reads for a call that was running when the program ended. */
const outcomeUnknown =
  "No result was recorded: the run was interrupted before this call finished. Its outcome is unknown, and it may have had effects.";

/** Commands end with the program; processes that left its process group, or run where there are none, do not. */
const mayStillRun = "A program it started may still be running.";

const isCommand = (tool: string): boolean => tool === "run_shell_command";

/**
 * Completes tool calls without a result as `interrupted`: their outcome is unknown. Calls with malformed arguments never
 * ran; the next request completes those.
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
  const messages = calls.map(
    ({ tool, input }) =>
      `${tool} was running when the session ended, so its outcome is unknown; it may have had effects (${formatArguments(input)}).${isCommand(tool) ? ` ${mayStillRun}` : ""}`,
  );
  return { calls, entries: ledger.entries.slice(before), messages };
};

const maxArgumentLength = 120;

const formatArguments = (input: Call["input"]): string => {
  const text = input.type === "parsed" ? JSON.stringify(input.value) : input.text;
  return text.length > maxArgumentLength ? `${text.slice(0, maxArgumentLength - 1).toWellFormed()}…` : text;
};
