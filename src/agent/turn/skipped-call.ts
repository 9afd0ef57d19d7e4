import { inputObject } from "../../conversation/call-input.ts";
import type { Call } from "../../conversation/parts.ts";
import type { FinishedCall } from "../../scheduler/events.ts";

/** The end of a call that was never given to the scheduler. `why` is for the model. */
export const skippedCallResult = (call: Call, why: string): FinishedCall => ({
  call,
  outcome: { status: "error", content: [{ type: "text", text: why }] },
  blobs: {},
  display: { type: "text", text: why },
  error: { type: "execution_failed", message: why },
  duration: 0,
  record: {
    function_name: call.tool,
    function_args: inputObject(call.input),
    duration_ms: 0,
    success: false,
    error: why,
    error_type: "execution_failed",
    tool_type: "native",
  },
});
