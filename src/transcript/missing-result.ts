import type { CallInput, Outcome } from "../conversation/parts.ts";
import { unreadableArguments } from "./words.ts";

/** Returns the outcome for a call without a completion: never `complete` and never `cancelled`, since neither was observed. */
export const missingOutcome = (input: CallInput): Outcome =>
  input.type === "malformed"
    ? { status: "error", content: [{ type: "text", text: unreadableArguments }], synthetic: true }
    : { status: "interrupted", content: [], synthetic: true };
