import type { CallId } from "./parts.ts";

/** The canonical id of the n-th call of a conversation, counted from 1. */
export const callId = (ordinal: number): CallId => `hist_tool_${ordinal}`;

/** The ordinal inside a canonical id. */
export const ordinalOf = (id: CallId): number => Number(id.slice("hist_tool_".length));

/** Whether a string is a canonical call id. */
export const isCallId = (id: string): id is CallId => /^hist_tool_[1-9]\d*$/.test(id);
