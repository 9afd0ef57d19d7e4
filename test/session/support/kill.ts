import { spawn } from "node:child_process";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { StoredRecord } from "../../../src/session/log/record.ts";
import { openSessionStore } from "../../../src/session/store/store.ts";
import { realWorld } from "../../../src/world/real/world.ts";
import { root } from "../../built.ts";
import { bundleScript } from "../../support/bundle-script.ts";
import { Random } from "../../support/random.ts";
import { findRefusedRequest } from "./render.ts";
import { findLostRecord, recordText, createScript, type SessionScript } from "./script.ts";

/** How many processes were killed, how many finished first, and the first error. */
export type KillReport = { readonly killed: number; readonly finished: number; readonly broken?: string };

/** Kills `count` processes at random moments and opens the sessions they leave. Each session is resumed by three of them. */
export const killPrograms = async (count: number, seed: number): Promise<KillReport> => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "parley-kill-")));
  try {
    const child = buildChildProgram(folder);
    return await runRounds(child, { home: join(folder, "home"), count, seed });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

/** Bundles the scripted program. */
export const buildChildProgram = (folder: string): string =>
  bundleScript(join(root, "test/session/support/kill-child.ts"), folder);

type KillOptions = { readonly home: string; readonly count: number; readonly seed: number };

const runRounds = async (child: string, { home, count, seed: first }: KillOptions): Promise<KillReport> => {
  const sessions = openSessionStore(realWorld({}), { home });
  const random = new Random(first);
  let killed = 0;
  let finished = 0;
  let id: string | undefined;
  let there: readonly string[] = [];
  for (let seed = first; killed < count; seed++) {
    if (seed % 3 === 0) [id, there] = [undefined, []];
    const script = createScript(seed);
    const life = await runAndKill([child, home, `${seed}`, ...(id === undefined ? [] : [id])], random);
    if (life.isDone) finished += 1;
    else killed += 1;
    const opened = life.id ?? id;
    if (opened === undefined) continue;
    const session = await sessions.open(opened);
    const found = await collect(session.records());
    const issued = [...there, ...listScriptRecords(script, id === undefined)];
    const broken =
      findLostRecord(found, { issued, acknowledged: there.length + life.acknowledged }) ??
      // Two scripts in one session both count their calls from one, which no ledger does.
      (id === undefined ? findRefusedRequest(session) : undefined);
    await session.close();
    if (broken !== undefined) return { killed, finished, broken: `seed ${seed}: ${broken}` };
    id = opened;
    there = found.flatMap(({ record }) => recordText(record) ?? []);
  }
  return { killed, finished };
};

const listScriptRecords = ({ start, actions: acts }: SessionScript, isNew: boolean): readonly string[] =>
  [...(isNew ? [start.records ?? []] : []), ...acts.flatMap((act) => (act.type === "write" ? act.writes : []))]
    .flat()
    .flatMap((record) => recordText(record) ?? []);

type ChildRun = { readonly id: string | undefined; readonly acknowledged: number; readonly isDone: boolean };

/** Starts a process and kills it a random number of acknowledgements and event-loop turns after it has opened its session. */
const runAndKill = (args: readonly string[], random: Random): Promise<ChildRun> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
    const lines = random.below(random.chance(0.5) ? 3 : 12);
    const turns = random.below(60);
    let text = "";
    let error = "";
    let isAimed = false;
    const aim = (left: number): void => void (left === 0 ? child.kill("SIGKILL") : setImmediate(aim, left - 1));
    child.stdout.on("data", (piece: Buffer) => {
      text += piece.toString();
      if (isAimed || text.split("\n").length <= lines) return;
      isAimed = true;
      aim(turns);
    });
    child.stderr.on("data", (piece: Buffer) => (error += piece.toString()));
    child.on("error", reject);
    child.on("close", (_, signal) => {
      if (signal !== "SIGKILL" && !text.includes("done")) return reject(new Error(`The program failed: ${error}`));
      const said = text.split("\n").slice(0, -1);
      resolve({
        id: said.find((line) => line.startsWith("open "))?.slice("open ".length),
        acknowledged: Number(said.findLast((line) => line.startsWith("ack "))?.slice("ack ".length) ?? 0),
        isDone: said.includes("done"),
      });
    });
  });

const collect = async (records: AsyncIterable<StoredRecord>): Promise<readonly StoredRecord[]> => {
  const list: StoredRecord[] = [];
  for await (const record of records) list.push(record);
  return list;
};
