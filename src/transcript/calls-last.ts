import type { AddNote } from "./decision-log.ts";

/**
 * Moves text and media a model wrote after a call to before its first call, for targets that accept nothing after a call.
 * The model wrote it before it knew any result, so the order still makes sense.
 */
export const moveCallsLast = <Part extends { readonly type: string }>(
  parts: readonly Part[],
  addNote: AddNote,
): readonly Part[] => {
  const first = parts.findIndex(isCall);
  if (first === -1 || parts.slice(first).every(isCall)) return parts;
  addNote(
    "text-before-calls",
    "Text the model wrote after a call is placed before its calls: this API accepts none after them.",
  );
  return [...parts.filter((part) => !isCall(part)), ...parts.filter(isCall)];
};

const isCall = ({ type }: { readonly type: string }): boolean => type === "exchange";
