import type { Kind } from "./openai-responses-items.ts";
import { idOf, stringOf } from "./reader.ts";

/** An item that has begun. Some servers give it another id in every event; then its place in the output tells. */
export type Open = {
  readonly id: string;
  readonly place: number | undefined;
  readonly kind: Kind;
  /** Its parts that have begun, by their place in it. */
  readonly slots: ReadonlyMap<number, Slot>;
};

/** A part that has begun: its number, and whether any of it was streamed. */
export type Slot = { readonly index: number; readonly streamed: boolean };

/** The items that have ended: how many, the furthest place of them all, and what each is known by. */
export type Ended = { readonly count: number; readonly furthest: number; readonly marks: Marks };

/** Sets, each at most half as large as the one before it: to add a mark or to find one costs little, however many there are. */
type Marks = { readonly set: ReadonlySet<string>; readonly before: Marks } | undefined;

/** Before any item has ended. */
export const noneEnded: Ended = { count: 0, furthest: -1, marks: undefined };

/** The items that have ended, and one more. */
export const withEnded = (
  { count, furthest, marks }: Ended,
  { key, id, place }: { readonly key: string; readonly id: string; readonly place: number | undefined },
): Ended => ({
  count: count + 1,
  furthest: Math.max(furthest, place ?? -1),
  marks: withMarks(marks, new Set([keyMark(key), idMark(id), placeMark(place)])),
});

const keyMark = (key: string): string => `key ${key}`;
const idMark = (id: string): string => `id ${id}`;
const placeMark = (place: number | undefined): string => `place ${place}`;

const withMarks = (before: Marks, set: ReadonlySet<string>): Marks =>
  before === undefined || before.set.size >= 2 * set.size
    ? { set, before }
    : withMarks(before.before, new Set([...before.set, ...set]));

const isMarked = (marks: Marks, mark: string): boolean => {
  for (let some = marks; some !== undefined; some = some.before) if (some.set.has(mark)) return true;
  return false;
};

/** Where an item stands among the open ones, or -1. */
export const openAt = (open: readonly Open[], id: string, place: number | undefined): number => {
  const named = id === "" ? -1 : open.findIndex((item) => item.id === id);
  return named === -1 && place !== undefined ? open.findLastIndex((item) => item.place === place) : named;
};

/** Whether an item has ended. One that stands further on than all of those has not. */
export const hasEnded = (ended: Ended, key: string, place: number | undefined): boolean =>
  (place === undefined || place <= ended.furthest) && isAmong(ended, key);

/** Whether the item of this key is among those that have ended. */
export const isAmong = ({ marks }: Ended, key: string): boolean => isMarked(marks, keyMark(key));

/** Whether a piece belongs to an item that has ended, by its id or its place. */
export const isLate = ({ marks }: Ended, id: string, place: number | undefined): boolean =>
  isMarked(marks, idMark(id)) || isMarked(marks, placeMark(place));

/** Tells an item from all others of an answer. */
export const keyOf = ({ type, id, call_id }: Record<string, unknown>, place: number | undefined): string => {
  const own = `${idOf(id)} ${idOf(call_id)}`;
  return `${stringOf(type) ?? ""} ${own === " " ? (place ?? "") : own}`;
};
