import type { Blobs, Conversation } from "../../../src/conversation/entry.ts";
import type { NewSession } from "../../../src/session/store/create.ts";
import type { NewRecord, SessionRecord, UnknownRecord, StoredRecord } from "../../../src/session/log/record.ts";
import { buildHistory, makeHistory } from "../../support/histories.ts";
import { Random } from "../../support/random.ts";

/** One action of a scripted program. */
type ScriptedAction =
  | { readonly type: "write"; readonly writes: readonly (readonly NewRecord[])[] }
  | { readonly type: "keep"; readonly blobs: Blobs }
  | { readonly type: "reopen" };

/** A program that writes one session: its initial state and its actions, in order. */
export type SessionScript = {
  readonly start: NewSession;
  readonly actions: readonly ScriptedAction[];
  readonly conversation: Conversation;
};

/** Creates the script for a seed. Blobs are stored before records refer to them. */
export const createScript = (seed: number): SessionScript => {
  const random = new Random(seed ^ 0x5e55);
  const { conversation } = buildHistory(makeHistory(seed));
  const records = conversation.entries.flatMap((entry): readonly NewRecord[] => [
    { kind: "entry", entry },
    ...(random.chance(0.2) ? [randomRequestRecord(random)] : []),
    ...(random.chance(0.05) ? [{ kind: "title", title: `Title ${random.below(1000)}` } as const] : []),
  ]);
  const first = random.below(3);
  const acts: ScriptedAction[] = [{ type: "keep", blobs: conversation.blobs }];
  for (let at = first; at < records.length;) {
    const writes: (readonly NewRecord[])[] = [];
    for (let count = 1 + random.below(3); count > 0 && at < records.length; count--) {
      const size = 1 + random.below(4);
      writes.push(records.slice(at, at + size));
      at += size;
    }
    acts.push({ type: "write", writes });
    if (random.chance(0.1)) acts.push({ type: "reopen" });
  }
  const { system, tools } = conversation;
  const start: NewSession = {
    root: "/home/someone/code",
    ...(system === undefined ? {} : { system }),
    ...(tools === undefined ? {} : { tools }),
    records: records.slice(0, first),
    blobs: first > 0 ? conversation.blobs : {},
  };
  return { start, actions: acts, conversation };
};

const randomRequestRecord = (random: Random): NewRecord => ({
  kind: "request",
  turn: random.below(100),
  provider: "anthropic",
  model: "claude-sonnet-5",
  usage: { input: random.below(10_000) },
  notes: [],
  digest: "0".repeat(random.below(600)),
});

/** Returns a record as text, without its index; undefined for heads and repair records, which scripts do not write. */
export const recordText = (record: NewRecord | SessionRecord | UnknownRecord): string | undefined => {
  switch (record.kind) {
    case "head":
    case "repair":
      return undefined;
    case "entry":
      return JSON.stringify({ kind: "entry", entry: record.entry });
    case "model":
    case "tools":
    case "input":
    case "request":
    case "title":
    case "todos":
    case "asked":
    case "decided":
    case "consent":
    case "turn":
    case "unknown":
      return JSON.stringify(record);
  }
};

/**
 * Compares the records in a file with the written ones. Every acknowledged record must be there, in order; others may be,
 * in order; nothing else, except notices about lost records.
 */
export const findLostRecord = (
  found: readonly StoredRecord[],
  { issued, acknowledged }: { readonly issued: readonly string[]; readonly acknowledged: number },
): string | undefined => {
  let next = 0;
  for (const { record, sequence } of found) {
    const text = recordText(record);
    if (text === undefined || (text !== issued[next] && isPlaceholder(text))) continue;
    const at = issued.indexOf(text, next);
    if (at === -1) return `record ${sequence} was never written there: ${text.slice(0, 200)}`;
    if (at > next && next < acknowledged) return `record ${next + 1} of ${issued.length} is lost, and was acknowledged`;
    next = at + 1;
  }
  return next < acknowledged ? `records ${next + 1} to ${acknowledged} are lost, and were acknowledged` : undefined;
};

const isPlaceholder = (text: string): boolean =>
  text === '{"kind":"entry","entry":{"type":"notice","text":""}}' ||
  text.includes("Part of the conversation was lost here");
