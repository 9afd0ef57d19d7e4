import type { Blobs, Conversation } from "../../../src/conversation/entry.ts";
import type { NewSession } from "../../../src/session/store/create.ts";
import type { NewRecord, SessionRecord, UnknownRecord, StoredRecord } from "../../../src/session/log/record.ts";
import { buildHistory, makeHistory } from "../../support/histories.ts";
import { Random } from "../../support/random.ts";

/** One thing a scripted program does with its session. */
type ScriptedAction =
  | { readonly type: "write"; readonly writes: readonly (readonly NewRecord[])[] }
  | { readonly type: "keep"; readonly blobs: Blobs }
  | { readonly type: "reopen" };

/** A program that works in one session: how it begins, and all that it does, in order. */
export type SessionScript = {
  readonly start: NewSession;
  readonly actions: readonly ScriptedAction[];
  readonly conversation: Conversation;
};

/** The script with this seed. Bytes are kept before anything names them. */
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

/** What a record says, whatever its place. Heads and repairs are nobody's words. */
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
    case "unknown":
      return JSON.stringify(record);
  }
};

/**
 * Holds what is in a file against what was written: all that was acknowledged is there, in order; of the rest some may
 * be there, in order; and nothing else is, except where a notice says that something is lost.
 */
export const findLostRecord = (
  found: readonly StoredRecord[],
  { issued, acknowledged }: { readonly issued: readonly string[]; readonly acknowledged: number },
): string | undefined => {
  let next = 0;
  for (const { record, sequence } of found) {
    const said = recordText(record);
    if (said === undefined || (said !== issued[next] && isPlaceholder(said))) continue;
    const at = issued.indexOf(said, next);
    if (at === -1) return `record ${sequence} was never written there: ${said.slice(0, 200)}`;
    if (at > next && next < acknowledged) return `record ${next + 1} of ${issued.length} is lost, and was acknowledged`;
    next = at + 1;
  }
  return next < acknowledged ? `records ${next + 1} to ${acknowledged} are lost, and were acknowledged` : undefined;
};

const isPlaceholder = (said: string): boolean =>
  said === '{"kind":"entry","entry":{"type":"notice","text":""}}' ||
  said.includes("Part of the conversation was lost here");
