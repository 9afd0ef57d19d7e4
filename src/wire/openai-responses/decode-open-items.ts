import type { ItemKind } from "./decode-items.ts";
import { idOf, stringOf } from "../reader.ts";

/** An item that has begun. Some servers give it another id in every event; then its place in the output tells. */
export type OpenItem = {
  readonly id: string;
  readonly place: number | undefined;
  readonly kind: ItemKind;
  /** Its parts that have begun, by their place in it. */
  readonly slots: ReadonlyMap<number, OpenItemPart>;
};

/** A part that has begun: its number, and whether any of it was streamed. */
export type OpenItemPart = { readonly index: number; readonly streamed: boolean };

/** The items that have ended: how many, the furthest place of them all, and what each is known by. */
export type EndedItems = { readonly count: number; readonly furthest: number; readonly marks: MarkSets };

/** Sets, each at most half as large as the one before it: to add a mark or to find one costs little, however many there are. */
type MarkSets = { readonly set: ReadonlySet<string>; readonly before: MarkSets } | undefined;

/** Before any item has ended. */
export const noEndedItems: EndedItems = { count: 0, furthest: -1, marks: undefined };

/** The items that have ended, and one more. */
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

/** Where an item stands among the open ones, or -1. */
export const findOpenItem = (open: readonly OpenItem[], id: string, place: number | undefined): number => {
  const named = id === "" ? -1 : open.findIndex((item) => item.id === id);
  return named === -1 && place !== undefined ? open.findLastIndex((item) => item.place === place) : named;
};

/** Whether an item has ended. One that stands further on than all of those has not. */
export const isEnded = (ended: EndedItems, key: string, place: number | undefined): boolean =>
  (place === undefined || place <= ended.furthest) && includesItem(ended, key);

/** Whether the item of this key is among those that have ended. */
export const includesItem = ({ marks }: EndedItems, key: string): boolean => isMarked(marks, keyMark(key));

/** Whether a piece belongs to an item that has ended, by its id or its place. */
export const isPartOfEndedItem = ({ marks }: EndedItems, id: string, place: number | undefined): boolean =>
  isMarked(marks, idMark(id)) || isMarked(marks, placeMark(place));

/** Tells an item from all others of an answer. */
export const itemKey = ({ type, id, call_id }: Record<string, unknown>, place: number | undefined): string => {
  const own = `${idOf(id)} ${idOf(call_id)}`;
  return `${stringOf(type) ?? ""} ${own === " " ? (place ?? "") : own}`;
};
