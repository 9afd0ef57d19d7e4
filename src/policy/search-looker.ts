import type { Clock } from "../world/world.ts";
import { PolicyError } from "./error.ts";

/** How long one expression may look at one file, in milliseconds. */
const longestLook = 2000;

/** A line that fits, cut to a length. */
type FoundLine = { readonly line: number; readonly text: string };

/** Looks for an expression in texts, one after the other. */
export type Looker = {
  readonly look: (text: string, longest: number) => Promise<readonly FoundLine[]>;
  readonly close: () => Promise<unknown>;
};

/** What the thread runs. It knows nothing but an expression and texts. */
const thread = `
const { parentPort, workerData } = require("node:worker_threads");
const expression = new RegExp(workerData.source, workerData.flags);
parentPort.on("message", ({ text, longest }) => {
  const found = [];
  const lines = text.split("\\n");
  if (lines.at(-1) === "") lines.pop();
  lines.forEach((whole, index) => {
    const line = whole.replace(/\\r$/, "");
    if (expression.test(line)) found.push({ line: index + 1, text: line.slice(0, longest) });
  });
  parentPort.postMessage(found);
});`;

/** Opens a thread for an expression: one that takes too long is stopped, and nothing else waits for it meanwhile. */
export const openLooker = async (pattern: string, clock: Clock, signal: AbortSignal): Promise<Looker> => {
  const { source, flags } = expressionOf(pattern);
  const { Worker } = await import("node:worker_threads");
  signal.throwIfAborted();
  const worker = new Worker(thread, { eval: true, workerData: { source, flags }, env: {} });
  const stop = (): void => void worker.terminate();
  signal.addEventListener("abort", stop, { once: true });
  const failed = new Promise<never>((_, reject) => {
    worker.once("error", reject);
    worker.once("exit", () => reject(new PolicyError("grep_execution_error", "The search was stopped.")));
  });
  failed.catch(() => undefined);
  return {
    look: async (text, longest) => {
      const found = new Promise<readonly FoundLine[]>((resolve) => worker.once("message", resolve));
      worker.postMessage({ text, longest });
      let inTime = (): void => {};
      const late = new Promise<never>((_, reject) => {
        const words = "The expression takes too long. Use a simpler one.";
        inTime = clock.after(longestLook, () => reject(new PolicyError("timeout", words)));
      });
      try {
        return await Promise.race([found, failed, late]);
      } finally {
        inTime();
        signal.throwIfAborted();
      }
    },
    close: () => {
      signal.removeEventListener("abort", stop);
      return worker.terminate();
    },
  };
};

/** As ripgrep reads it, as far as that can be: without regard to case, and by letters rather than halves of them. */
const expressionOf = (pattern: string): RegExp => {
  try {
    return new RegExp(pattern, "iu");
  } catch {
    return byHalves(pattern);
  }
};

const byHalves = (pattern: string): RegExp => {
  try {
    return new RegExp(pattern, "i");
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new PolicyError("grep_execution_error", `The search failed: ${why}`);
  }
};
