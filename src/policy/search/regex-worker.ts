import type { Clock } from "../../world/world.ts";
import { PolicyError } from "../error.ts";

/** The time limit for one regular expression on one file. It does not include the start of the worker thread. */
const matchTimeoutMs = 2000;

/** A matching line, truncated. */
type MatchedLine = { readonly line: number; readonly text: string };

/** Matches a regular expression in a worker thread, one text after the other. */
export type RegexWorker = {
  readonly matchLines: (text: string, maxLength: number) => Promise<readonly MatchedLine[]>;
  readonly close: () => Promise<unknown>;
};

/** The code of the worker thread. It receives only an expression and texts. */
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

/** Starts a worker thread for an expression, so that one that takes too long can be stopped without blocking others. */
export const startRegexWorker = async (pattern: string, clock: Clock, signal: AbortSignal): Promise<RegexWorker> => {
  const { source, flags } = compilePattern(pattern);
  const { Worker } = await import("node:worker_threads");
  signal.throwIfAborted();
  const worker = new Worker(workerSource, { eval: true, workerData: { source, flags }, env: {} });
  const stop = (): void => void worker.terminate();
  signal.addEventListener("abort", stop, { once: true });
  const started = new Promise<void>((resolve) => worker.once("online", resolve));
  const failed = new Promise<never>((_, reject) => {
    worker.once("error", reject);
    worker.once("exit", () => reject(new PolicyError("grep_execution_error", "The search was stopped.")));
  });
  failed.catch(() => undefined);
  return {
    matchLines: async (text, maxLength) => {
      await Promise.race([started, failed]);
      const found = new Promise<readonly MatchedLine[]>((resolve) => worker.once("message", resolve));
      worker.postMessage({ text, longest: maxLength });
      let cancelTimeout = (): void => {};
      const timedOut = new Promise<never>((_, reject) => {
        const message = "The regular expression takes too long. Use a simpler one.";
        cancelTimeout = clock.after(matchTimeoutMs, () => reject(new PolicyError("timeout", message)));
      });
      try {
        return await Promise.race([found, failed, timedOut]);
      } finally {
        cancelTimeout();
        signal.throwIfAborted();
      }
    },
    close: () => {
      signal.removeEventListener("abort", stop);
      return worker.terminate();
    },
  };
};

/** Compiles a pattern like ripgrep as far as possible: case-insensitive, by code points instead of UTF-16 units. */
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
    const reason = error instanceof Error ? error.message : String(error);
    throw new PolicyError("grep_execution_error", `The search failed: ${reason}`);
  }
};
