import type { AddNote } from "./decision-log.ts";

/**
 * Puts what a model said after a call before its first call, for targets that take nothing behind one. The model said
 * it before it knew any result, so nothing is told in the wrong order.
 */
export const moveCallsLast = <Part extends { readonly type: string }>(
  parts: readonly Part[],
  decide: AddNote,
): readonly Part[] => {
  const first = parts.findIndex(isCall);
  if (first === -1 || parts.slice(first).every(isCall)) return parts;
  decide("text-before-calls", "Words the model said after a call stand before its calls: this API takes none behind.");
  return [...parts.filter((part) => !isCall(part)), ...parts.filter(isCall)];
};

const isCall = ({ type }: { readonly type: string }): boolean => type === "exchange";
