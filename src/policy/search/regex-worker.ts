import type { Clock } from "../../world/world.ts";
import { PolicyError } from "../error.ts";

/** How long one expression may look at one file, in milliseconds. */
const matchTimeoutMs = 2000;

/** A line that fits, cut to a length. */
type MatchedLine = { readonly line: number; readonly text: string };

/** Looks for an expression in texts, one after the other. */
export type RegexWorker = {
  readonly matchLines: (text: string, longest: number) => Promise<readonly MatchedLine[]>;
  readonly close: () => Promise<unknown>;
};

/** What the thread runs. It knows nothing but an expression and texts. */
const workerSource = `
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
export const startRegexWorker = async (pattern: string, clock: Clock, signal: AbortSignal): Promise<RegexWorker> => {
  const { source, flags } = compilePattern(pattern);
  const { Worker } = await import("node:worker_threads");
  signal.throwIfAborted();
  const worker = new Worker(workerSource, { eval: true, workerData: { source, flags }, env: {} });
  const stop = (): void => void worker.terminate();
  signal.addEventListener("abort", stop, { once: true });
  const failed = new Promise<never>((_, reject) => {
    worker.once("error", reject);
    worker.once("exit", () => reject(new PolicyError("grep_execution_error", "The search was stopped.")));
  });
  failed.catch(() => undefined);
  return {
    matchLines: async (text, longest) => {
      const found = new Promise<readonly MatchedLine[]>((resolve) => worker.once("message", resolve));
      worker.postMessage({ text, longest });
      let inTime = (): void => {};
      const late = new Promise<never>((_, reject) => {
        const words = "The expression takes too long. Use a simpler one.";
        inTime = clock.after(matchTimeoutMs, () => reject(new PolicyError("timeout", words)));
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
const compilePattern = (pattern: string): RegExp => {
  try {
    return new RegExp(pattern, "iu");
  } catch {
    return compileWithoutUnicode(pattern);
  }
};

const compileWithoutUnicode = (pattern: string): RegExp => {
  try {
    return new RegExp(pattern, "i");
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new PolicyError("grep_execution_error", `The search failed: ${why}`);
  }
};
