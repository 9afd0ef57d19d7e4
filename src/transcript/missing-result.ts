import type { CallInput, Outcome } from "../conversation/parts.ts";
import { unreadableArguments } from "./words.ts";

/** What is known about a call that has no completion: never that it succeeded, never that someone stopped it. */
export const missingOutcome = (input: CallInput): Outcome =>
  input.type === "malformed"
    ? { status: "error", content: [{ type: "text", text: unreadableArguments }], synthetic: true }
    : { status: "interrupted", content: [], synthetic: true };
