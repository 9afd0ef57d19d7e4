import { readFileSync } from "node:fs";
import { join } from "node:path";
import { checkStore } from "../../../src/postgres/transfer.ts";
import type { TestDatabase } from "../../support/postgres.ts";
import type { FleetKillReport, FollowedSession } from "./kill.ts";
import { tenant, type WorkerStage } from "./program-stage.ts";

type Evidence = {
  readonly stage: WorkerStage;
  readonly database: TestDatabase;
  /** The acknowledged prompts, and the session of each. */
  readonly posted: ReadonlyMap<string, string>;
  readonly sessions: readonly FollowedSession[];
  readonly kills: Pick<FleetKillReport, "workersKilled" | "killedAtWork" | "databasesKilled" | "moments">;
};

/** A call of the model, as the log tells it. */
type LoggedCall = {
  readonly id: string;
  readonly name: string;
  readonly ask: string;
  status?: string;
  result?: string;
};

/** Compares what was posted, followed and done with what the logs tell. */
export const examineKills = async ({
  stage,
  database,
  posted,
  sessions,
  kills,
}: Evidence): Promise<FleetKillReport> => {
  const problems: string[] = [];
  const calls: LoggedCall[] = [];
  const prompts = new Map<string, number>();
  for (const session of sessions) {
    const events: { sequence: number; text: string }[] = [];
    let openPrompts = 0;
    for await (const { sequence, event } of stage.service.follow(tenant, session.id, {
      after: 0,
      untilIdle: true,
      signal: new AbortController().signal,
    })) {
      events.push({ sequence, text: JSON.stringify(event) });
      if (event.type === "user") {
        const name = /Run (call-\d+)\./.exec(JSON.stringify(event.parts))?.[1] ?? "none";
        if (posted.get(name) !== session.id)
          problems.push(`${name} reached session ${session.id} and was not posted to it`);
        prompts.set(name, (prompts.get(name) ?? 0) + 1);
        if (openPrompts > 0) problems.push(`${name} began before the turn before it had ended`);
        openPrompts = 1;
      }
      if (event.type === "turn") {
        openPrompts = 0;
        if (event.end.type !== "finished")
          problems.push(`a turn of ${session.id} ended as ${JSON.stringify(event.end)}`);
      }
      if (event.type === "message")
        for (const { id, input } of event.calls) {
          const [, name = "", ask = ""] = /echo (call-\d+) (ask-\d+) >>/.exec(JSON.stringify(input)) ?? [];
          calls.push({ id, name, ask });
        }
      if (event.type === "result") {
        const call = calls.findLast(({ id }) => id === event.call);
        if (call === undefined || call.status !== undefined) problems.push(`${event.call} has a result too many`);
        else {
          call.status = event.status;
          call.result = JSON.stringify(event);
        }
      }
    }
    if (openPrompts > 0) problems.push(`the last turn of ${session.id} has not ended`);
    if (JSON.stringify(session.seen) !== JSON.stringify(events))
      problems.push(`the follower of ${session.id} saw ${session.seen.length} events, not these ${events.length}`);
  }
  const counts = [...posted.keys()].map((name) => [name, prompts.get(name) ?? 0] as const);
  for (const [name, count] of counts) if (count !== 1) problems.push(`${name} is in the conversation ${count} times`);

  const ran = readLines(join(stage.folder, "ran.txt"));
  const repeated = examineEffects(calls, ran, problems);
  for await (const found of checkStore({ database: database.pool, tenant }))
    if ("problem" in found) problems.push(found.problem);
  return {
    ...kills,
    sessions: sessions.length,
    posted: posted.size,
    lost: counts.filter(([, count]) => count === 0).length,
    takenTwice: counts.filter(([, count]) => count > 1).length,
    followed: sessions.reduce((sum, { seen }) => sum + seen.length, 0),
    ran: ran.length,
    unknown: calls.filter(({ status }) => status === "interrupted").length,
    repeated,
    problems,
  };
};

/** Returns the number of prompts with two effects. Such a prompt has a call whose outcome the model read as unknown. */
const examineEffects = (calls: readonly LoggedCall[], ran: readonly string[], problems: string[]): number => {
  const byAsk = new Map(calls.map((call) => [call.ask, call]));
  const effects = new Map<string, LoggedCall[]>();
  const seen = new Set<string>();
  for (const line of ran) {
    const [name = "", ask = ""] = line.split(" ");
    if (seen.has(ask)) problems.push(`${line} ran twice`);
    seen.add(ask);
    const call = byAsk.get(ask);
    if (call === undefined) problems.push(`${line} ran and is in no log`);
    else effects.set(name, [...(effects.get(name) ?? []), call]);
  }
  for (const { name, ask, status, result } of calls) {
    if (status === undefined) problems.push(`${name} ${ask} has no result`);
    if (status === "complete" && !seen.has(ask)) problems.push(`${name} ${ask} is complete and did not run: ${result}`);
    if (status !== "complete" && status !== "interrupted") problems.push(`${name} ${ask} ended as ${status}`);
  }
  const repeated = [...effects].filter(([, done]) => done.length > 1);
  for (const [name, done] of repeated)
    if (done.slice(0, -1).some(({ status }) => status !== "interrupted")) problems.push(`${name} ran twice in silence`);
  return repeated.length;
};

const readLines = (path: string): readonly string[] =>
  readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line !== "");
