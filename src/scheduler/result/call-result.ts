import {
  type DiffStat,
  type ToolDisplay,
  type ToolContent,
  type ToolError,
  type ToolResult,
  ToolFailure,
} from "../../tools/tool.ts";
import type { CallDecision } from "../events.ts";
import { CallStoppedError } from "../call/stop.ts";

/** How a call ended, before it is converted for the conversation, the screen and telemetry. */
export type CallCompletion = {
  readonly state: "success" | "error" | "cancelled";
  readonly content: readonly ToolContent[];
  readonly display: ToolDisplay;
  readonly error?: ToolError;
};

/** The user refused this call. The message is for the model. */
export class CallRefusedError extends Error {
  readonly decision: CallDecision = "reject";
}

/** Converts the return value of a tool. */
export const resultFromReturn = ({ content, display, error }: ToolResult): CallCompletion =>
  error === undefined
    ? { state: "success", content, display }
    : { state: "error", content: content.length > 0 ? content : textContent(error.message), display, error };

/** Converts an error thrown on the way or by the tool. A tool that crashes ends like one that fails. */
export const resultFromError = (error: unknown, output = ""): CallCompletion => {
  if (error instanceof CallStoppedError) return cancelledResult(`${error.message} before it ran.`);
  if (error instanceof CallRefusedError) return cancelledResult(error.message);
  if (error instanceof ToolFailure) return failedResult({ type: error.type, message: error.message }, output);
  const message = error instanceof Error ? error.message : String(error);
  return failedResult({ type: "unhandled_exception", message: `The tool failed unexpectedly: ${message}` }, output);
};

/** A failure, with the output printed until then. */
const failedResult = (error: ToolError, output: string): CallCompletion => ({
  state: "error",
  content: textContent(error.message, output),
  display: { type: "text", text: error.message },
  error,
});

/** A cancelled call, with the output printed until then. */
export const cancelledResult = (reason: string, output = ""): CallCompletion => ({
  state: "cancelled",
  content: textContent(reason, output),
  display: { type: "text", text: reason },
});

/** A cancelled call that still returned a result. */
export const cancelledResultWith = (reason: string, { content, display }: ToolResult): CallCompletion => ({
  state: "cancelled",
  content: [...textContent(reason), ...content],
  display,
});

const textContent = (message: string, output = ""): readonly ToolContent[] => [
  { type: "text", text: output === "" ? message : `${message} Output until then:\n${output}` },
];

/** The line counts of a diff display. */
export const diffStatOf = (display: ToolDisplay): DiffStat | undefined =>
  display.type === "diff" ? display.stat : undefined;
