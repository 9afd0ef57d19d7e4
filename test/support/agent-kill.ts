import { Random } from "./random.ts";
import type { Entry } from "../../src/conversation/entry.ts";
import type { Session } from "../../src/session/session.ts";
import { openSessionStore } from "../../src/session/store/store.ts";
import type { ModelFunction } from "../../src/sim/family.ts";
import type { ModelReply } from "../../src/sim/model/types.ts";
import { realWorld } from "../../src/world/real/world.ts";
import { findRefusedRequest } from "../session/support/render.ts";
import { openProgramStage, type OutputLine, type ProgramStage } from "./agent-program.ts";

/** The number of programs killed while they worked, the number that finished first, and the first broken promise. */
export type AgentKills = { readonly killed: number; readonly finished: number; readonly broken?: string };

const providers = ["anthropic", "openai", "google", "openai-chat"] as const;

/**
 * Kills `count` real programs at random moments of their work and opens their sessions. Each session is resumed by three
 * of them, each on a random provider.
 */
export const killAgents = async (count: number, seed: number): Promise<AgentKills> => {
  const stage = await openProgramStage(providers, { script: work });
  try {
    return await killAll(stage, count, new Random(seed));
  } finally {
    await stage.close();
  }
};

const shell = (command: string) => ({ type: "call", tool: "run_shell_command", input: { command } }) as const;

/** The steps of the work, followed by an answer. */
const steps: readonly ModelReply["parts"][] = [
  [
    { type: "think", text: "First I look." },
    { type: "say", text: "Looking." },
    shell("echo one"),
    shell("sleep 0.03; echo two"),
  ],
  [
    { type: "call", tool: "write_file", input: { file_path: "notes.txt", content: "some notes" } },
    { type: "call", tool: "read_file", input: { path: "dot.png" } },
    { type: "call", tool: "list_directory", input: { path: "." } },
  ],
  [{ type: "say", text: "Once more." }, shell("echo three"), shell("false")],
];

const work: ModelFunction = ({ turns }) => {
  const prompt = turns.findLastIndex((turn) => turn.by === "user" && turn.text.includes("Work."));
  const done = turns.slice(prompt).filter((turn) => turn.by === "model" && turn.calls.length > 0).length;
  return { parts: steps[done] ?? [{ type: "say", text: "All is done." }] };
};

const killAll = async (stage: ProgramStage, count: number, random: Random): Promise<AgentKills> => {
  const sessions = openSessionStore(realWorld({}), { home: `${stage.home}/.parley` });
  let killed = 0;
  let finished = 0;
  let id: string | undefined;
  let before: readonly Entry[] = [];
  for (let run = 0; killed < count; run++) {
    if (run % 3 === 0) [id, before] = [undefined, []];
    const from = stage.log.length;
    const { lines, isKilled, err } = await killOne(stage, id, random);
    if (isKilled) killed += 1;
    else finished += 1;
    const begun = lines[0]?.["session_id"];
    const opened = typeof begun === "string" ? begun : id;
    if (opened === undefined) continue;
    const session = await sessions.open(opened);
    await session.close();
    const refused = stage.log.slice(from).find(({ entry }) => entry.verdict === "refused");
    const broken =
      (isKilled || err === undefined ? undefined : err) ??
      (refused && `${refused.provider} refused a request: ${JSON.stringify({ ...refused.entry, body: undefined })}`) ??
      findLoss(lines, before, session) ??
      findRefusedRequest(session);
    if (broken !== undefined) return { killed, finished, broken: `run ${run}: ${broken}` };
    [id, before] = [session.id, session.entries];
  }
  return { killed, finished };
};

type KilledRun = { readonly lines: readonly OutputLine[]; readonly isKilled: boolean; readonly err?: string };

/** Runs the program until it has printed so many lines, and then so many turns of the event loop. */
const killOne = async (stage: ProgramStage, id: string | undefined, random: Random): Promise<KilledRun> => {
  const args = ["-p", "Work.", "-m", random.pick(providers), "--approval-mode", "yolo", "-o", "stream-json"];
  const after = random.below(random.chance(0.3) ? 6 : 40);
  const turns = random.below(80);
  let count = 0;
  const ran = await stage.runBuilt([...args, ...(id === undefined ? [] : ["--resume", id])], {
    line: (_, child) => {
      if (count++ !== after) return;
      const aim = (left: number): void => void (left === 0 ? child.kill("SIGKILL") : setImmediate(aim, left - 1));
      aim(turns);
    },
  });
  const isKilled = ran.signal === "SIGKILL";
  return {
    lines: ran.lines(),
    isKilled,
    ...(isKilled || ran.code === 0 ? {} : { err: `exit ${String(ran.code)}: ${ran.err}` }),
  };
};

/** Describes output that is not in the session, or not in this order, and entries of before that changed. */
const findLoss = (
  lines: readonly OutputLine[],
  before: readonly Entry[],
  { entries, damage: healed }: Session,
): string | undefined => {
  if (JSON.stringify(entries.slice(0, before.length)) !== JSON.stringify(before))
    return "what was kept before has changed";
  const missing = healed.find(({ kind }) => kind === "missing-blob");
  if (missing !== undefined) return `a file is missing: ${JSON.stringify(missing)}`;
  let at = before.length;
  for (const line of lines) {
    const fits = matchEntry(line);
    if (fits === undefined) continue;
    const next = entries.findIndex((entry, index) => index >= at && fits(entry));
    if (next === -1)
      return `this was printed and is not kept, or not in this order: ${JSON.stringify(line).slice(0, 300)}`;
    // Several calls stand in one entry.
    at = line.type === "tool_use" ? next : next + 1;
  }
  return undefined;
};

/** The entry a printed line tells of. */
const matchEntry = (line: OutputLine): ((entry: Entry) => boolean) | undefined => {
  if (line.type === "message" && line["role"] === "user")
    return (entry) => entry.type === "user" && JSON.stringify(entry.parts).includes(String(line["content"]));
  if (line.type === "tool_use")
    return (entry) =>
      entry.type === "model" && entry.parts.some((part) => part.type === "call" && part.id === line["tool_id"]);
  if (line.type === "tool_result") return (entry) => entry.type === "completion" && entry.call === line["tool_id"];
  return undefined;
};
