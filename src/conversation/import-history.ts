import type { Entry, Origin } from "./entry.ts";
import { Ledger, isSameOutcome, type NewPart } from "./ledger.ts";
import { note, type Note } from "./notes.ts";
import type { CallId, Outcome, UserPart } from "./parts.ts";

/** One record of another program's history, with that program's tool-call ids and in its order. */
export type ForeignEntry =
  | { readonly type: "user"; readonly parts: readonly UserPart[] }
  | { readonly type: "notice"; readonly text: string }
  | { readonly type: "model"; readonly origin: Origin; readonly parts: readonly NewPart[] }
  | ForeignCompaction
  | ForeignResult;

/** A summary that replaces every record before record `from` of the same history. */
export type ForeignCompaction = { readonly type: "compaction"; readonly summary: string; readonly from: number };

/** A tool result under the other program's tool-call id. Empty ids are common. */
export type ForeignResult = {
  readonly type: "result";
  readonly id: string;
  readonly tool?: string;
  readonly outcome: Outcome;
};

/** The imported entries, and notes on what was wrong with the history. */
export type ImportedHistory = { readonly entries: readonly Entry[]; readonly notes: readonly Note[] };

/**
 * Imports another program's history as entries of ours. Results are matched to calls by id, nearest call first; a result
 * with an unknown id is matched by position to the batch of calls before it. A result recorded before its call is moved
 * after it. With `missing`, calls without any result get that outcome before the next message; otherwise they stay pending.
 */
export const importHistory = (events: readonly ForeignEntry[], missing?: Outcome): ImportedHistory => {
  const ledger = new Ledger();
  const slots = callSlots(events);
  const match = matchResults(events, slots);
  const early = groupBy(
    events.flatMap((event, at) => {
      const slot = match.owners.get(at);
      return event.type === "result" && slot !== undefined && slot.message > at ? [{ result: event, at, slot }] : [];
    }),
    ({ slot }) => slot.message,
  );

  const firstEntries: number[] = [];
  let unanswered: readonly CallSlot[] = [];
  const completeUnanswered = (): void => {
    if (missing !== undefined) for (const { call, tool } of unanswered) ledger.complete(call!, tool, missing);
    unanswered = [];
  };

  events.forEach((event, at) => {
    if (event.type !== "result") completeUnanswered();
    firstEntries.push(ledger.entries.length);
    switch (event.type) {
      case "user":
        return ledger.user(event.parts);
      case "notice":
        return ledger.notice(event.text);
      case "compaction":
        return ledger.compact(event.summary, firstEntries[event.from] ?? ledger.entries.length);
      case "model": {
        const calls = ledger.model(event.origin, event.parts);
        slots.get(at)?.forEach((slot, index) => (slot.call = calls[index]?.id));
        unanswered = slots.get(at)?.filter(({ result }) => result === undefined) ?? [];
        for (const { result, slot } of early.get(at) ?? []) {
          ledger.notes.push(
            note("early-result", `The result of ${slot.tool} was recorded before its call.`, slot.call),
          );
          ledger.complete(slot.call!, slot.tool, result.outcome);
        }
        return;
      }
      case "result": {
        const slot = match.owners.get(at);
        if (slot === undefined) return ledger.orphan(event.tool ?? "unknown tool", event.outcome);
        if (slot.message > at) return;
        if (match.rekeyed.has(at))
          ledger.notes.push(
            note(
              "rekeyed-result",
              `A result with the unknown id "${event.id}" was given to the open call before it.`,
              slot.call,
            ),
          );
        return ledger.complete(slot.call!, slot.tool, event.outcome);
      }
    }
  });
  completeUnanswered();
  return { entries: ledger.entries, notes: [...ledger.notes, ...noteReusedIds(slots)] };
};

const groupBy = <Item, Key>(items: readonly Item[], keyOf: (item: Item) => Key): Map<Key, Item[]> => {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return groups;
};

/** A call of the imported history: the index of its message, and its result once one is matched. */
type CallSlot = {
  readonly message: number;
  readonly id: string;
  readonly tool: string;
  /** The matched result. */
  result?: Outcome;
  call?: CallId | undefined;
};

type CallSlots = ReadonlyMap<number, readonly CallSlot[]>;

const callSlots = (events: readonly ForeignEntry[]): CallSlots => {
  const slots = new Map<number, CallSlot[]>();
  events.forEach((event, message) => {
    if (event.type !== "model") return;
    const here = event.parts.flatMap((part) =>
      part.type === "call" ? [{ message, id: part.seal?.id ?? "", tool: part.tool }] : [],
    );
    if (here.length > 0) slots.set(message, here);
  });
  return slots;
};

type LocatedResult = ForeignResult & { readonly at: number };

type ResultMatches = { readonly owners: ReadonlyMap<number, CallSlot>; readonly rekeyed: ReadonlySet<number> };

/** Matches every result to a call: by id first, then by position. */
const matchResults = (events: readonly ForeignEntry[], slots: CallSlots): ResultMatches => {
  const byId = groupBy([...slots.values()].flat(), (slot) => slot.id);
  const owners = new Map<number, CallSlot>();
  const assign = ({ at, outcome }: LocatedResult, slot: CallSlot | undefined): boolean => {
    if (slot === undefined) return false;
    owners.set(at, slot);
    slot.result ??= outcome;
    return true;
  };
  const results = events.flatMap((event, at): readonly LocatedResult[] =>
    event.type === "result" ? [{ at, ...event }] : [],
  );

  const unplaced = results.filter(
    (result) => result.id === "" || !assign(result, findNearestFree(byId.get(result.id), result.at)),
  );
  const later = unplaced.filter(
    (result) => result.id === "" || !assign(result, findAnsweredOrLater(byId.get(result.id), result)),
  );
  const rekeyed = new Set<number>();
  const batches = [...slots.keys()];
  for (const result of later) {
    const { at, id, tool, outcome } = result;
    const sameId = id === "" ? undefined : byId.get(id);
    if (sameId !== undefined) {
      owners.set(at, lastSlotBefore(sameId, at) ?? sameId[0]!);
      continue;
    }
    const batch = slots.get(lastIndexBelow(batches, at) ?? -1) ?? [];
    const open = batch.find((slot) => slot.result === undefined && (tool === undefined || slot.tool === tool));
    const equal = batch.find((slot) => slot.result !== undefined && isSameOutcome(slot.result, outcome));
    if (assign(result, open)) {
      if (open?.id !== id) rekeyed.add(at);
    } else if (equal !== undefined) owners.set(at, equal);
  }
  return { owners, rekeyed };
};

/** Finds the nearest earlier message with an unmatched call of this id, and returns its first such call. */
const findNearestFree = (same: readonly CallSlot[] | undefined, at: number): CallSlot | undefined => {
  if (same === undefined) return undefined;
  let best: CallSlot | undefined;
  for (let index = countBelow(same, at) - 1; index >= 0; index--) {
    const slot = same[index]!;
    if (best !== undefined && slot.message !== best.message) break;
    if (slot.result === undefined) best = slot;
  }
  return best;
};

/**
 * Matches a result that no unmatched earlier call is left for: to the nearest earlier call of its id as a second result,
 * or, where no call came before it, to a later one.
 */
const findAnsweredOrLater = (
  same: readonly CallSlot[] | undefined,
  { at, outcome }: LocatedResult,
): CallSlot | undefined => {
  if (same === undefined) return undefined;
  const earlier = lastSlotBefore(same, at);
  if (earlier !== undefined) return earlier;
  const [next] = same;
  return next?.result !== undefined && isSameOutcome(next.result, outcome)
    ? next
    : same.find((slot) => slot.result === undefined);
};

const lastSlotBefore = (same: readonly CallSlot[], at: number): CallSlot | undefined => same[countBelow(same, at) - 1];

/** Counts the slots, sorted by message, before position `at`. */
const countBelow = (slots: readonly CallSlot[], at: number): number => {
  let low = 0;
  let high = slots.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (slots[middle]!.message < at) low = middle + 1;
    else high = middle;
  }
  return low;
};

const lastIndexBelow = (sorted: readonly number[], at: number): number | undefined => {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! < at) low = middle + 1;
    else high = middle;
  }
  return sorted[low - 1];
};

const noteReusedIds = (slots: CallSlots): readonly Note[] => {
  const seen = new Set<string>();
  return [...slots.values()].flat().flatMap((slot) => {
    if (!seen.has(slot.id)) {
      seen.add(slot.id);
      return [];
    }
    const how = slot.id === "" ? "has no id" : `shares the id "${slot.id}" with an earlier call`;
    return [note("reused-id", `A call of ${slot.tool} ${how}; it keeps an identity of its own.`, slot.call)];
  });
};
