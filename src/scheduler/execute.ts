import { setMaxListeners } from "node:events";
import type { Capabilities } from "../tools/capabilities.ts";
import { normalizeResult } from "../tools/normalize-result.ts";
import type { ToolResult, ToolReturn } from "../tools/tool.ts";
import type { SchedulerClock } from "./clock.ts";
import { cancelled, cancelledWith, returned, thrown, type Ending } from "./ending.ts";
import { LiveOutput } from "./live-output.ts";
import { Stopped, until, within } from "./stop.ts";

/** One run of a tool. */
export type Execution = {
  readonly run: (can: Pick<Capabilities, "signal" | "report">) => ToolReturn;
  /** Whether what it does is done as a whole, so that an answer means it happened. */
  readonly atomic: boolean;
  readonly clock: SchedulerClock;
  /** How long it may take, in milliseconds; undefined where it ends by limits of its own. */
  readonly most: number | undefined;
  /** Aborted with `Stopped`. */
  readonly signal: AbortSignal;
  readonly tell: (text: string) => void;
};

/** How long a tool that was told to stop may take to do so. */
const grace = 400;

/** Runs a tool to some end: its own, or soon after it was told to stop. Never rejects; what comes later is not heard. */
export const execute = async (execution: Execution): Promise<Ending> => {
  const { run, clock, most, signal, tell } = execution;
  const output = new LiveOutput(clock, tell);
  const stop = new AbortController();
  setMaxListeners(0, stop.signal);
  const work = settled(() => run({ signal: stop.signal, report: (text) => output.add(text) }));
  try {
    const end = await until(signal, most === undefined ? work : within(clock, most, work)).catch(
      (reason: unknown) => reason as Error,
    );
    if (!(end instanceof Error)) return "result" in end ? returned(end.result) : thrown(end.error, output.text);
    stop.abort(end);
    return await stopped(execution, work, end, output);
  } finally {
    output.close();
  }
};

type Settled = { readonly result: ToolResult } | { readonly error: unknown };

/** Also a tool that throws before it returns a promise ends like any other. */
const settled = async (run: () => ToolReturn): Promise<Settled> => {
  try {
    return { result: await normalizeResult(await run()) };
  } catch (error) {
    return { error };
  }
};

/** Waits a moment for a tool that was told to stop. */
const stopped = async (
  { clock, atomic }: Execution,
  work: Promise<Settled>,
  reason: Error,
  output: LiveOutput,
): Promise<Ending> => {
  const end = await new Promise<Settled | undefined>((resolve) => {
    const stopWaiting = clock.after(grace, () => resolve(undefined));
    void work.then(resolve).finally(stopWaiting);
  });
  const result = end !== undefined && "result" in end ? end.result : undefined;
  if (atomic && result !== undefined && result.error === undefined) return returned(result);
  if (!(reason instanceof Stopped)) return thrown(reason, output.text);
  const why = `${reason.message} while it ran.`;
  return result === undefined ? cancelled(why, output.text) : cancelledWith(why, result);
};
