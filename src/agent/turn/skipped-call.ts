import { inputObject } from "../../conversation/call-input.ts";
import type { Call } from "../../conversation/parts.ts";
import type { FinishedCall } from "../../scheduler/events.ts";

/** The result of a call that is not run. The model reads the reason. */
export const skippedCallResult = (call: Call, reason: string): FinishedCall => ({
  call,
  outcome: { status: "error", content: [{ type: "text", text: reason }] },
  blobs: {},
  display: { type: "text", text: reason },
  error: { type: "execution_failed", message: reason },
  duration: 0,
  record: {
    function_name: call.tool,
    function_args: inputObject(call.input),
    duration_ms: 0,
    success: false,
    error: reason,
    error_type: "execution_failed",
    tool_type: "native",
  },
});
