import type { ItemKind } from "./decode-items.ts";
import { idOf, stringOf } from "../reader.ts";

/** An item that has started. Some servers send another id in every event; then its output index identifies it. */
export type OpenItem = {
  readonly id: string;
  readonly place: number | undefined;
  readonly kind: ItemKind;
  /** Its parts that have started, by their content index. */
  readonly slots: ReadonlyMap<number, OpenItemPart>;
};

/** A part that has started: its index, and whether any of it was streamed. */
export type OpenItemPart = { readonly index: number; readonly streamed: boolean };

/** The items that have ended: how many, the highest output index, and what identifies each. */
export type EndedItems = { readonly count: number; readonly furthest: number; readonly marks: MarkSets };

/** A persistent set as a list of sets, each at most half as large as the one before it: adding and lookup are cheap. */
type MarkSets = { readonly set: ReadonlySet<string>; readonly before: MarkSets } | undefined;

/** The state before any item has ended. */
export const noEndedItems: EndedItems = { count: 0, furthest: -1, marks: undefined };

/** Adds an ended item. */
export const addEndedItem = (
  { count, furthest, marks }: EndedItems,
  { key, id, place }: { readonly key: string; readonly id: string; readonly place: number | undefined },
): EndedItems => ({
  count: count + 1,
  furthest: Math.max(furthest, place ?? -1),
  marks: withMarks(marks, new Set([keyMark(key), idMark(id), placeMark(place)])),
});

const keyMark = (key: string): string => `key ${key}`;
const idMark = (id: string): string => `id ${id}`;
const placeMark = (place: number | undefined): string => `place ${place}`;

const withMarks = (before: MarkSets, set: ReadonlySet<string>): MarkSets =>
  before === undefined || before.set.size >= 2 * set.size
    ? { set, before }
    : withMarks(before.before, new Set([...before.set, ...set]));

const isMarked = (marks: MarkSets, mark: string): boolean => {
  for (let some = marks; some !== undefined; some = some.before) if (some.set.has(mark)) return true;
  return false;
};

/** Returns the position of an item among the open ones, or -1. */
export const findOpenItem = (open: readonly OpenItem[], id: string, place: number | undefined): number => {
  const named = id === "" ? -1 : open.findIndex((item) => item.id === id);
  return named === -1 && place !== undefined ? open.findLastIndex((item) => item.place === place) : named;
};

/** Whether an item has ended. One with a higher output index than all ended ones has not. */
export const isEnded = (ended: EndedItems, key: string, place: number | undefined): boolean =>
  (place === undefined || place <= ended.furthest) && includesItem(ended, key);

/** Whether the item with this key has ended. */
export const includesItem = ({ marks }: EndedItems, key: string): boolean => isMarked(marks, keyMark(key));

/** Whether a delta belongs to an item that has ended, by id or output index. */
export const isPartOfEndedItem = ({ marks }: EndedItems, id: string, place: number | undefined): boolean =>
  isMarked(marks, idMark(id)) || isMarked(marks, placeMark(place));

/** Returns a key that is unique within the response. */
export const itemKey = ({ type, id, call_id }: Record<string, unknown>, place: number | undefined): string => {
  const own = `${idOf(id)} ${idOf(call_id)}`;
  return `${stringOf(type) ?? ""} ${own === " " ? (place ?? "") : own}`;
};
