import type { Entry } from "../conversation/entry.ts";
import type { Ledger } from "../conversation/ledger.ts";
import type { Call, CallId } from "../conversation/parts.ts";
import type { NotBegun } from "./log/content.ts";

/** Tool calls completed because their run was interrupted, the entries added for them, and messages for the user. */
export type InterruptedCalls = {
  readonly calls: readonly Call[];
  readonly entries: readonly Entry[];
  readonly messages: readonly string[];
};

/** The result a model reads for a call that was running when the program ended. */
export const outcomeUnknown =
  "No result was recorded: the run was interrupted before this call finished. Its outcome is unknown, and it may have had effects.";

/** Commands end with the program; processes that left its process group, or run where there are none, do not. */
const mayStillRun = "A program it started may still be running.";

const isCommand = (tool: string): boolean => tool === "run_shell_command";

/** The result a model reads for a call that was refused when the program ended. */
const refused = "The user refused this call. It did not run.";

/**
 * Completes tool calls without a result when a session is resumed. A call that may have begun is `interrupted`: its outcome
 * is unknown. One that awaits a decision stays pending, so that the turn can continue with it. Calls with malformed
 * arguments never ran; the next request completes those.
 */
export const completeInterruptedCalls = (
  ledger: Ledger,
  notBegun: ReadonlyMap<CallId, NotBegun> = new Map(),
): InterruptedCalls => {
  const before = ledger.entries.length;
  const pending = ledger.pending().filter(({ input }) => input.type === "parsed");
  for (const { id, tool } of pending.filter(({ id }) => notBegun.get(id) === "refused"))
    ledger.complete(id, tool, { status: "cancelled", content: [{ type: "text", text: refused }] });
  const calls = pending.filter(({ id }) => !notBegun.has(id));
  for (const { id, tool } of calls)
    ledger.complete(id, tool, {
      status: "interrupted",
      content: [{ type: "text", text: isCommand(tool) ? `${outcomeUnknown} ${mayStillRun}` : outcomeUnknown }],
      synthetic: true,
    });
  const messages = [
    ...calls.map(
      ({ tool, input }) =>
        `${tool} was running when the session ended, so its outcome is unknown; it may have had effects (${formatArguments(input)}).${isCommand(tool) ? ` ${mayStillRun}` : ""}`,
    ),
    ...pending
      .filter(({ id }) => notBegun.get(id) === "undecided")
      .map(({ tool, input }) => `${tool} has not run: it still awaits approval (${formatArguments(input)}).`),
  ];
  return { calls, entries: ledger.entries.slice(before), messages };
};

const maxArgumentLength = 120;

const formatArguments = (input: Call["input"]): string => {
  const text = input.type === "parsed" ? JSON.stringify(input.value) : input.text;
  return text.length > maxArgumentLength ? `${text.slice(0, maxArgumentLength - 1).toWellFormed()}…` : text;
};
