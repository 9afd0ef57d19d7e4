import { isDeepStrictEqual } from "node:util";
import type { Session } from "../../../src/session/session.ts";
import { openSessionStore } from "../../../src/session/store/store.ts";
import { simulatedDisk, type DiskFault, type SimulatedDisk } from "../../../src/world/simulated/disk.ts";
import { simulatedWorld } from "../../../src/world/simulated/world.ts";
import { Random } from "../../support/random.ts";
import { findRefusedRequest } from "./render.ts";
import { findLostRecord, recordText, createScript, type SessionScript } from "./script.ts";

const home = "/home/someone/.parley";

/** A disk after a power loss, and what had been acknowledged by then. */
type State = {
  readonly disk: SimulatedDisk;
  readonly id: string | undefined;
  readonly acknowledged: number;
  readonly issued: number;
  /** Called before every change to the remaining disk. */
  readonly hook: { before?: () => DiskFault | undefined };
};

/** The number of states checked, and the error of the first bad one. */
export type CrashReport = { readonly states: number; readonly broken?: string };

/**
 * Runs the script for a seed on a simulated disk, simulates a power loss before every change, `each` times differently, and
 * opens the result. Some have a second power loss during the repair.
 */
export const crashEverywhere = async (seed: number, each: number): Promise<CrashReport> => {
  const script = createScript(seed);
  const random = new Random(seed);
  const { states, issued } = await run(script, seed, () => random.next(), each);
  for (const [index, state] of states.entries()) {
    const broken = await check(state, { issued, script, random, isRendered: index % 40 === 0 }).catch(
      (error: unknown) => String(error instanceof Error ? error.stack : error),
    );
    if (broken !== undefined) return { states: index + 1, broken: `seed ${seed}, state ${index}: ${broken}` };
  }
  return { states: states.length };
};

const run = async (
  { start, actions: acts }: SessionScript,
  seed: number,
  random: () => number,
  each: number,
): Promise<{ readonly states: readonly State[]; readonly issued: readonly string[] }> => {
  const states: State[] = [];
  const issued = (start.records ?? []).flatMap((record) => recordText(record) ?? []);
  let acknowledged = 0;
  let session: Session | undefined;
  const snapshot = (): undefined => {
    for (let count = 0; count < each; count++) {
      const hook: State["hook"] = {};
      const left = disk.crash(random, () => hook.before?.());
      states.push({ disk: left, id: session?.id, acknowledged, issued: issued.length, hook });
    }
  };
  const disk = simulatedDisk({ before: snapshot });
  disk.seed("/home/someone", { kind: "folder" });
  const sessions = openSessionStore(simulatedWorld({ seed, disk, start: Date.UTC(2026, 0, 1) }), { home });
  session = await sessions.create(start);
  acknowledged = issued.length;
  for (const act of acts) {
    switch (act.type) {
      case "keep":
        await session.storeBlobs(act.blobs);
        break;
      case "reopen": {
        const { id } = session;
        await session.close();
        session = await sessions.open(id);
        break;
      }
      case "write": {
        const { append: write } = session;
        await Promise.all(
          act.writes.map(async (records) => {
            issued.push(...records.flatMap((record) => recordText(record) ?? []));
            const upTo = issued.length;
            await write(records);
            acknowledged = upTo;
          }),
        );
        break;
      }
    }
  }
  snapshot();
  return { states, issued };
};

type Promised = {
  readonly issued: readonly string[];
  readonly script: SessionScript;
  readonly random: Random;
  readonly isRendered: boolean;
};

/** Returns the first error of a state, or undefined. One in five has a second power loss during the repair of the first. */
const check = async (state: State, { issued, script, random, isRendered }: Promised): Promise<string | undefined> => {
  let second: SimulatedDisk | undefined;
  let changes = 0;
  const failAt = random.chance(0.2) ? 1 + random.below(10) : 0;
  state.hook.before = (): undefined => {
    if ((changes += 1) === failAt) second = state.disk.crash(() => random.next());
  };
  const promised = { issued: [...issued.slice(0, state.issued), last], acknowledged: state.acknowledged };
  const broken = await reopened(state.disk, { ...promised, id: state.id, script, isRendered, me: "2-0" });
  if (broken !== undefined || second === undefined) return broken;
  const again = await reopened(second, { ...promised, id: state.id, script, isRendered, me: "3-0" });
  return again === undefined ? undefined : `after a second power loss: ${again}`;
};

const closing = { kind: "title", title: "The end." } as const;
const last = JSON.stringify(closing);

type Expected = {
  readonly id: string | undefined;
  readonly issued: readonly string[];
  readonly acknowledged: number;
  readonly script: SessionScript;
  readonly isRendered: boolean;
  readonly me: string;
};

const reopened = async (disk: SimulatedDisk, expected: Expected): Promise<string | undefined> => {
  const sessions = openSessionStore(simulatedWorld({ disk, identity: expected.me, start: Date.UTC(2026, 0, 2) }), {
    home,
  });
  const listed = await sessions.list();
  const id = expected.id ?? listed[0]?.id;
  if (id === undefined) return undefined;
  const session = await sessions.open(id);
  // A session in which nothing was said is not listed.
  const isUsed = session.title !== undefined || session.entries.some(({ type }) => type !== "notice");
  if (isUsed && !listed.some((summary) => summary.id === id)) return "the session is not in the list";
  const wrong = findLostRecord(await all(session.records()), expected) ?? faultsOf(session, expected);
  if (wrong !== undefined) return wrong;
  await session.append([closing]);
  await session.close();
  const after = await sessions.open(id);
  await after.close();
  if (after.damage.some(({ kind }) => kind !== "missing-blob"))
    return `it needs repair twice: ${JSON.stringify(after.damage)}`;
  const [final] = (await all(after.records())).toReversed();
  return isDeepStrictEqual(final?.record, closing) ? undefined : "the record appended after the repair is missing";
};

const faultsOf = (session: Session, { script, isRendered }: Expected): string | undefined => {
  const missing = session.damage.find(
    (finding) => finding.kind === "missing-blob" && finding.hash in script.conversation.blobs,
  );
  if (missing !== undefined) return `blobs are missing: ${JSON.stringify(missing)}`;
  const wrongBlob = Object.entries(session.blobs).find(([hash, base64]) => base64 !== script.conversation.blobs[hash]);
  if (wrongBlob !== undefined) return `blob ${wrongBlob[0]} has changed`;
  if (session.head.system !== script.start.system || session.head.root !== script.start.root)
    return "the head has changed";
  return isRendered ? findRefusedRequest(session) : undefined;
};

const all = async <Item>(items: AsyncIterable<Item>): Promise<readonly Item[]> => {
  const list: Item[] = [];
  for await (const item of items) list.push(item);
  return list;
};
