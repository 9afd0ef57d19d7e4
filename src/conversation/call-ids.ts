import type { CallId } from "./parts.ts";

/** Builds our own tool-call id for the n-th call of a conversation, counted from 1. */
export const callId = (ordinal: number): CallId => `hist_tool_${ordinal}`;

/** Returns the ordinal in a tool-call id. Called for every call of every render, so it reads the digits in place. */
export const callOrdinal = (id: CallId): number => {
  let ordinal = 0;
  for (let index = "hist_tool_".length; index < id.length; index++) ordinal = ordinal * 10 + id.charCodeAt(index) - 48;
  return ordinal;
};

/** Whether a string is a tool-call id of ours. */
export const isCallId = (id: string): id is CallId => /^hist_tool_[1-9]\d*$/.test(id);
