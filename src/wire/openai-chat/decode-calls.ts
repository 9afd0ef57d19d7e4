import { isObject } from "../../conversation/json.ts";
import type { NewCall } from "../../conversation/ledger.ts";
import type { ResponseEvent } from "../decode/events.ts";
import { toList, newCall } from "../openai/read.ts";
import { idOf, numberOf, objectOf } from "../reader.ts";

/*
 * Assembles streamed tool calls. Servers send an index, an id, or neither; some send index 0 for all of them. This file
 * finds the call a delta belongs to and never mixes two.
 */

/** A tool call whose arguments may still grow. */
export type OpenCall = {
  readonly index: number;
  readonly place: CallPlace;
  readonly id: string;
  readonly tool: string;
  readonly text: string;
  /** Arguments sent as a value and not as text. */
  readonly value: unknown;
  /** Whether it takes free text instead of JSON. */
  readonly isFreeText: boolean;
  /** Whether its start was emitted. That waits for the arguments: until then, more of the name may follow. */
  readonly isAnnounced: boolean;
  /** Whether the last delta closed an object. */
  readonly isClosed: boolean;
};

/** A delta of one call. */
export type CallDelta = {
  readonly place: CallPlace;
  /** Whether the server sent an index. */
  readonly hasServerIndex: boolean;
  readonly id: string;
  readonly tool: string;
  readonly text: string;
  readonly value: unknown;
  readonly isFreeText: boolean;
};

/** The server's index of a call, or its position in the list; the legacy field `function_call` holds a single call. */
type CallPlace = number | "function_call";

/** Parses the call deltas of a message delta, in order. */
export const parseCallDeltas = (delta: Record<string, unknown>): readonly CallDelta[] => {
  const { tool_calls: calls, function_call: legacyCall } = delta;
  if (calls === undefined && legacyCall === undefined) return [];
  const pieces = toList(calls).map((value, position) =>
    callDeltaOf(value, numberOf(objectOf(value)["index"]) ?? position),
  );
  return isObject(legacyCall) ? [...pieces, callDeltaOf(legacyCall, "function_call")] : pieces;
};

const callDeltaOf = (value: unknown, place: CallPlace): CallDelta => {
  const call = objectOf(value);
  const isPlaced = place === "function_call" || numberOf(call["index"]) !== undefined;
  const id = idOf(call["id"]);
  if (call["type"] === "custom" || (isObject(call["custom"]) && !isObject(call["function"]))) {
    const { name, input } = objectOf(call["custom"]);
    return {
      place,
      hasServerIndex: isPlaced,
      id,
      tool: textOf(name),
      text: textOf(input),
      value: undefined,
      isFreeText: true,
    };
  }
  const { name, arguments: rawArguments } = isObject(call["function"]) ? call["function"] : call;
  const given = typeof rawArguments === "string" || rawArguments === null ? undefined : rawArguments;
  return {
    place,
    hasServerIndex: isPlaced,
    id,
    tool: textOf(name),
    text: textOf(rawArguments),
    value: given,
    isFreeText: false,
  };
};

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** Whether a delta is empty, as from servers that send every field they have. */
export const isEmptyDelta = ({ id, tool, text, value }: CallDelta): boolean =>
  id === "" && tool === "" && text === "" && value === undefined;

/**
 * Finds the call a delta belongs to: its position among the open calls, "new" for a new call, "repeat" for one that was
 * sent before, "stray" for arguments of a call that never started. `earlier` are the calls before this frame.
 */
export const matchCall = (
  calls: readonly OpenCall[],
  piece: CallDelta,
  earlier: readonly OpenCall[],
): number | "new" | "repeat" | "stray" => {
  const at = findCallPosition(calls, piece);
  const call = calls[at];
  if (call === undefined) return piece.id === "" && piece.tool === "" ? "stray" : "new";
  // Without a name no call starts, not even with another id: some servers send a new id with every delta.
  if (piece.tool === "") return at;
  if (call !== earlier[at] || (piece.id !== "" && call.id !== "" && piece.id !== call.id)) return "new";
  if (!hasArguments(call)) return at;
  if (piece.tool !== call.tool && call.tool !== "") return "new";
  if (!isComplete(call, piece)) return at;
  return piece.id !== "" && call.value === undefined && piece.text === call.text ? "repeat" : "new";
};

/** Returns the position of the call: by the server's index, else by id, else by position in the list, else the last. */
const findCallPosition = (calls: readonly OpenCall[], piece: CallDelta): number => {
  if (!piece.hasServerIndex && piece.id !== "") return calls.findLastIndex(({ id }) => id === piece.id);
  const at = calls.findLastIndex(({ place }) => place === piece.place);
  return at === -1 && !piece.hasServerIndex && piece.tool === "" ? calls.length - 1 : at;
};

const hasArguments = ({ text, value }: OpenCall | CallDelta): boolean => text !== "" || value !== undefined;

/** Whether a delta cannot continue a call: JSON never contains `}{` between objects. */
const isComplete = (call: OpenCall, piece: CallDelta): boolean =>
  call.value === undefined ? call.isClosed && piece.text.trimStart().startsWith("{") : hasArguments(piece);

/** Returns a call with one more delta. */
export const extendCall = (call: OpenCall, piece: CallDelta): OpenCall => {
  const isNamed = piece.tool === call.tool || (call.tool !== "" && hasArguments(call));
  const tool = isNamed ? call.tool : call.tool + piece.tool;
  return {
    index: call.index,
    place: call.place,
    id: call.id === "" ? piece.id : call.id,
    tool,
    text: call.text + piece.text,
    value: piece.value ?? call.value,
    isFreeText: call.isFreeText,
    isAnnounced: call.isAnnounced || (tool !== "" && (hasArguments(call) || hasArguments(piece))),
    isClosed: piece.text === "" ? call.isClosed : piece.text.trimEnd().endsWith("}"),
  };
};

/** Returns a new call without content. */
export const startCall = (index: number, { place, isFreeText: isFree }: CallDelta): OpenCall => ({
  index,
  place,
  id: "",
  tool: "",
  text: "",
  value: undefined,
  isFreeText: isFree,
  isAnnounced: false,
  isClosed: false,
});

/** Returns the events for a delta of a call. */
export const callDeltaEvents = (before: OpenCall, after: OpenCall, piece: CallDelta): readonly ResponseEvent[] => {
  if (!after.isAnnounced) return [];
  const { index } = after;
  const text = before.isAnnounced ? piece.text : after.text;
  const delta: readonly ResponseEvent[] = text === "" ? [] : [{ type: "call-delta", index, text }];
  return before.isAnnounced ? delta : [callStart(after), ...delta];
};

const callStart = ({ index, tool, id }: OpenCall): ResponseEvent => ({
  type: "call-start",
  index,
  tool,
  ...(id === "" ? {} : { id }),
});

/** Returns the events for the end of a call. */
export const callEndEvents = (call: OpenCall): readonly ResponseEvent[] => {
  const { index } = call;
  const end: ResponseEvent = { type: "part-end", index, part: wholeCall(call) };
  if (call.isAnnounced) return [end];
  // A call without arguments, or without a name.
  const delta: readonly ResponseEvent[] = call.text === "" ? [] : [{ type: "call-delta", index, text: call.text }];
  return [callStart(call), ...delta, end];
};

const wholeCall = ({ id, tool, text, value, isFreeText: isFree }: OpenCall): NewCall =>
  newCall({ tool, id, input: isFree ? { input: text } : (value ?? text) });
