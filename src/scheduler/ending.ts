import {
  type DiffStat,
  type Display,
  type ToolContent,
  type ToolError,
  type ToolResult,
  ToolFailure,
} from "../tools/tool.ts";
import { asToolFailure } from "./capabilities.ts";
import type { CallDecision } from "./events.ts";
import { Stopped } from "./stop.ts";

/** How a call ended, before it is put into the forms others know. */
export type Ending = {
  readonly state: "success" | "error" | "cancelled";
  readonly content: readonly ToolContent[];
  readonly display: Display;
  readonly error?: ToolError;
};

/** A person said no to this call. The message is for the model. */
export class Refused extends Error {
  readonly decision: CallDecision = "reject";
}

/** What a tool returned. */
export const returned = ({ content, display, error }: ToolResult): Ending =>
  error === undefined
    ? { state: "success", content, display }
    : { state: "error", content: content.length > 0 ? content : said(error.message), display, error };

/** What was thrown, on the way or by the tool. A tool that crashes ends like one that fails. */
export const thrown = (error: unknown, output = ""): Ending => {
  const failure = asToolFailure(error);
  if (failure instanceof Stopped) return cancelled(`${failure.message} before it ran.`);
  if (failure instanceof Refused) return cancelled(failure.message);
  if (failure instanceof ToolFailure) return failed({ type: failure.type, message: failure.message }, output);
  const message = failure instanceof Error ? failure.message : String(failure);
  return failed({ type: "unhandled_exception", message: `The tool failed unexpectedly: ${message}` }, output);
};

/** A failure, with what had been printed until then. */
const failed = (error: ToolError, output: string): Ending => ({
  state: "error",
  content: said(error.message, output),
  display: { type: "text", text: error.message },
  error,
});

/** A call that was stopped, with what had been printed until then. */
export const cancelled = (reason: string, output = ""): Ending => ({
  state: "cancelled",
  content: said(reason, output),
  display: { type: "text", text: reason },
});

/** A call that was stopped, and still told what it had done. */
export const cancelledWith = (reason: string, { content, display }: ToolResult): Ending => ({
  state: "cancelled",
  content: [...said(reason), ...content],
  display,
});

const said = (message: string, output = ""): readonly ToolContent[] => [
  { type: "text", text: output === "" ? message : `${message} Output until then:\n${output}` },
];

/** The lines a result's display counts. */
export const statOf = (display: Display): DiffStat | undefined => (display.type === "diff" ? display.stat : undefined);
