import {
  type DiffStat,
  type ToolDisplay,
  type ToolContent,
  type ToolError,
  type ToolResult,
  ToolFailure,
} from "../../tools/tool.ts";
import { asToolFailure } from "../capabilities.ts";
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
  const failure = asToolFailure(error);
  if (failure instanceof CallStoppedError) return cancelledResult(`${failure.message} before it ran.`);
  if (failure instanceof CallRefusedError) return cancelledResult(failure.message);
  if (failure instanceof ToolFailure) return failedResult({ type: failure.type, message: failure.message }, output);
  const message = failure instanceof Error ? failure.message : String(failure);
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
