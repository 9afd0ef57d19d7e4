import { setMaxListeners } from "node:events";
import type { Capabilities } from "../../tools/capabilities.ts";
import { normalizeResult } from "../../tools/result/normalize.ts";
import type { ToolResult, ToolReturn } from "../../tools/tool.ts";
import type { SchedulerClock } from "../clock.ts";
import {
  cancelledResult,
  cancelledResultWith,
  resultFromReturn,
  resultFromError,
  type CallCompletion,
} from "../result/call-result.ts";
import { LiveOutput } from "./live-output.ts";
import { CallStoppedError, untilAborted, withTimeout } from "./stop.ts";

/** One run of a tool. */
export type Execution = {
  readonly run: (capabilities: Pick<Capabilities, "signal" | "report">) => ToolReturn;
  /** Whether its effect is atomic, so that a returned result means it happened. */
  readonly isAtomic: boolean;
  readonly clock: SchedulerClock;
  /** Time limit in milliseconds; undefined for a tool with limits of its own. */
  readonly timeLimit: number | undefined;
  /** Aborted with `CallStoppedError`. */
  readonly signal: AbortSignal;
  readonly onOutput: (text: string) => void;
};

/** Milliseconds a tool may take to end after it was told to stop. */
const stopGracePeriod = 400;

/** Runs a tool until it returns, times out or is stopped. Never rejects; a result that comes later is dropped. */
export const execute = async (execution: Execution): Promise<CallCompletion> => {
  const { run, clock, timeLimit, signal, onOutput } = execution;
  const output = new LiveOutput(clock, onOutput);
  const stop = new AbortController();
  setMaxListeners(0, stop.signal);
  const work = settleRun(() => run({ signal: stop.signal, report: (text) => output.add(text) }));
  try {
    const end = await untilAborted(signal, timeLimit === undefined ? work : withTimeout(clock, timeLimit, work)).catch(
      (reason: unknown) => reason as Error,
    );
    if (!(end instanceof Error))
      return "result" in end ? resultFromReturn(end.result) : resultFromError(end.error, output.text);
    stop.abort(end);
    return await waitAfterStop(execution, work, end, output);
  } finally {
    output.close();
  }
};

type SettledRun = { readonly result: ToolResult } | { readonly error: unknown };

/** A tool that throws before it returns a promise ends like any other. */
const settleRun = async (run: () => ToolReturn): Promise<SettledRun> => {
  try {
    return { result: await normalizeResult(await run()) };
  } catch (error) {
    return { error };
  }
};

/** Waits a moment for the result of a tool that was told to stop. */
const waitAfterStop = async (
  { clock, isAtomic }: Execution,
  work: Promise<SettledRun>,
  reason: Error,
  output: LiveOutput,
): Promise<CallCompletion> => {
  const end = await new Promise<SettledRun | undefined>((resolve) => {
    const stopWaiting = clock.after(stopGracePeriod, () => resolve(undefined));
    void work.then(resolve).finally(stopWaiting);
  });
  const result = end !== undefined && "result" in end ? end.result : undefined;
  if (isAtomic && result !== undefined && result.error === undefined) return resultFromReturn(result);
  if (!(reason instanceof CallStoppedError)) return resultFromError(reason, output.text);
  const why = `${reason.message} while it ran.`;
  return result === undefined ? cancelledResult(why, output.text) : cancelledResultWith(why, result);
};
