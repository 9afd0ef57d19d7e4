import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { text } from "../../src/conversation/builders.ts";
import type { ModelReply, SimModelRequest } from "../../src/sim/model/types.ts";
import { openFakeCollector } from "../../src/telemetry/collector.cases.ts";
import { root } from "../built.ts";
import { hasBubblewrap } from "../support/sandbox-fixture.ts";
import { describeOnPostgres, openTestDatabase, type TestDatabase } from "../support/postgres.ts";
import { openWorkerStage, tenant, type WorkerStage } from "./support/program-stage.ts";

const user = (words: string) => ({ type: "user", parts: [text(words)] }) as const;

/** A model that runs one command for each prompt, and answers with the end of its result. */
const runOnce =
  (command: string) =>
  ({ turns }: SimModelRequest): ModelReply => {
    const last = turns.at(-1);
    if (last?.by !== "tools") return { parts: [{ type: "call", tool: "run_shell_command", input: { command } }] };
    return { parts: [{ type: "say", text: last.results[0]?.text.slice(0, 80) ?? "" }] };
  };

describeOnPostgres("workers as programs", () => {
  let database: TestDatabase;
  let stage: WorkerStage;
  afterEach(async () => {
    await stage.close();
    await database.close();
  });

  const linesOf = (name: string): readonly string[] =>
    readFileSync(join(stage.folder, name), "utf8").trimEnd().split("\n");

  it("export the spans of a turn, as part of the request that posted its prompt", async () => {
    database = await openTestDatabase();
    const collector = await openFakeCollector();
    stage = await openWorkerStage(database, {
      slots: 1,
      model: () => ({ parts: [{ type: "say", text: "Done." }] }),
      settings: { telemetry: { endpoint: collector.url } },
    });
    const id = await stage.create();
    const [trace, parent] = ["4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"];
    await stage.service.post(tenant, id, { command: user("marmalade"), trace: `00-${trace}-${parent}-01` });
    const worker = stage.startWorker(0);
    await stage.waitFor(id, ({ state, sequence }) => state === "idle" && sequence > 2);
    await worker.end("SIGTERM");
    const turn = collector.spans().find(({ name }) => name === "invoke_agent parley");
    expect([turn?.trace, turn?.parent, turn?.attributes["gen_ai.conversation.id"]]).toEqual([trace, parent, id]);
    const chat = collector.spans().find(({ name }) => name.startsWith("chat "));
    expect([chat?.trace, chat?.parent]).toEqual([trace, turn?.id]);
    expect(collector.requests.map(({ body }) => body).join()).not.toContain("marmalade");
    expect(collector.faults).toEqual([]);
    await collector.close();
  });

  it("one that is paused past its lease cannot write when it wakes up; a follower sees each event once", async () => {
    database = await openTestDatabase();
    stage = await openWorkerStage(database, {
      slots: 2,
      model: runOnce("echo began >> ran.txt; until [ -e go ]; do sleep 0.05; done; echo ended >> ran.txt"),
    });
    const id = await stage.create();
    const stop = new AbortController();
    const seen: string[] = [];
    const following = (async () => {
      for await (const { sequence, event } of stage.service.follow(tenant, id, { after: 0, signal: stop.signal }))
        seen.push(`${sequence} ${event.type}`);
    })();
    const zombie = stage.startWorker(0, ["--lease", "3"]);
    await stage.post(id, user("Begin."));
    await until(() => seen.some((line) => line.endsWith(" message")));
    await until(() => existsText(join(stage.folder, "ran.txt")));
    zombie.child.kill("SIGSTOP");
    const heir = stage.startWorker(1, ["--lease", "3"]);
    await stage.waitFor(id, ({ state, sequence }) => state === "idle" && sequence > 5);
    expect(heir.printed()).toContain(`${id}: freed from a dead worker`);
    // Its command ends meanwhile: with the session, the worker would store the result next.
    writeFileSync(join(stage.folder, "go"), "");
    zombie.child.kill("SIGCONT");
    await zombie.waitFor("all sessions stop here");
    await zombie.waitFor(`${id}: lost to another worker`);

    const { rows } = await database.pool.query(
      "select sequence::int as sequence, fence::int as fence, body from parley.record where session = $1 order by sequence",
      [id],
    );
    const records = rows as readonly { readonly sequence: number; readonly fence: number; readonly body: string }[];
    expect(records.map(({ sequence }) => sequence)).toEqual(records.map((_, index) => index + 1));
    const fences = records.map(({ fence }) => fence);
    expect(fences).toEqual(fences.toSorted((one, other) => one - other));
    expect(records.filter(({ body }) => body.includes('"type":"completion"'))).toHaveLength(1);
    expect(records.some(({ body }) => body.includes("Its outcome is unknown"))).toBe(true);
    const all: string[] = [];
    for await (const { sequence, event } of stage.service.follow(tenant, id, {
      after: 0,
      signal: stop.signal,
      untilIdle: true,
    }))
      all.push(`${sequence} ${event.type}`);
    await until(() => seen.length >= all.length);
    stop.abort();
    await following;
    expect(seen).toEqual(all);
  });

  it("an append of a paused worker that arrives after another has the session is refused", async () => {
    database = await openTestDatabase();
    let hold: (() => Promise<void>) | undefined;
    let isAnswered = false;
    stage = await openWorkerStage(database, {
      slots: 2,
      model: runOnce("echo began >> ran.txt; until [ -e go ]; do sleep 0.05; done"),
      onMoment: (slot, moment) => {
        if (slot !== 0) return undefined;
        isAnswered = moment === "append-answered";
        return moment === "append-sent" ? hold?.() : undefined;
      },
    });
    const id = await stage.create();
    const zombie = stage.startWorker(0, ["--lease", "3"]);
    await stage.post(id, user("Begin."));
    await until(() => existsText(join(stage.folder, "ran.txt")));
    let pass = (): void => undefined;
    const isHeld = new Promise<void>((resolve) => {
      hold = () => {
        zombie.child.kill("SIGSTOP");
        resolve();
        return new Promise<void>((resume) => (pass = resume));
      };
    });
    writeFileSync(join(stage.folder, "go"), "");
    await isHeld;
    stage.startWorker(1, ["--lease", "3"]);
    const { sequence } = await stage.waitFor(id, (session) => session.state === "idle" && session.sequence > 5);
    isAnswered = false;
    pass();
    await until(() => isAnswered);
    zombie.child.kill("SIGCONT");
    await zombie.waitFor(`${id}: lost to another worker`);
    expect((await stage.service.read(tenant, id)).sequence).toBe(sequence);
    const { rows } = await database.pool.query(
      "select fence::int as fence, body from parley.record where session = $1 order by sequence",
      [id],
    );
    const records = rows as readonly { readonly fence: number; readonly body: string }[];
    const fences = records.map(({ fence }) => fence);
    expect(fences).toEqual(fences.toSorted((one, other) => one - other));
    expect(records.filter(({ body }) => body.includes("Its outcome is unknown"))).not.toEqual([]);
  });

  it("an approval that comes after the program ended runs exactly that call in another one", async () => {
    database = await openTestDatabase();
    stage = await openWorkerStage(database, {
      slots: 2,
      model: runOnce("echo ran >> ran.txt"),
      settings: { permissions: { mode: "default" } },
    });
    const id = await stage.create();
    const first = stage.startWorker(0, ["--park-after", "1"]);
    await stage.post(id, user("Begin."));
    const { pending } = await stage.waitFor(id, ({ state }) => state === "parked");
    await first.end("SIGKILL");
    expect(pending.map(({ tool, input }) => ({ tool, input }))).toEqual([
      { tool: "run_shell_command", input: { command: "echo ran >> ran.txt" } },
    ]);
    await stage.post(id, { type: "decide", call: pending[0]!.call, decision: { type: "once" } });
    stage.startWorker(1);
    await stage.waitFor(id, ({ state, pending: left }) => state === "idle" && left.length === 0);
    expect(linesOf("ran.txt")).toEqual(["ran"]);
    expect(stage.simulators.map(({ log }) => log.length)).toEqual([1, 1]);
  });

  it("the wait that a provider asks one for holds for all: none sends a request before it ends", async () => {
    database = await openTestDatabase();
    const headers = { "retry-after": "3600" };
    stage = await openWorkerStage(database, {
      slots: 2,
      model: () => ({ parts: [{ type: "say", text: "Yes." }] }),
      faultsOf: (slot) => (slot === 0 ? [{ on: 1, fault: { type: "status", status: 429, headers } }] : []),
    });
    const ask = async (id: string): Promise<string> => {
      const { sequence } = await stage.service.read(tenant, id);
      await stage.post(id, user("Hello."));
      await stage.waitFor(id, (session) => session.state === "idle" && session.sequence > sequence);
      const { rows } = await database.pool.query(
        "select body from parley.record where session = $1 order by sequence desc limit 1",
        [id],
      );
      return (JSON.parse((rows[0] as { readonly body: string }).body) as { end: { type: string } }).end.type;
    };
    const counts = (): readonly number[] => stage.simulators.map(({ log }) => log.length);
    const [one, other] = [await stage.create(), await stage.create()];
    const first = stage.startWorker(0);
    expect(await ask(one)).toBe("failed");
    expect(counts()).toEqual([1, 0]);
    await first.end("SIGTERM");

    stage.startWorker(1);
    expect(await ask(other)).toBe("failed");
    expect(await ask(one)).toBe("failed");
    expect(counts()).toEqual([1, 0]);
    // The hour is over.
    await database.pool.query("update parley.bucket set closed_until = now()");
    expect(await ask(other)).toBe("finished");
    expect(counts()).toEqual([1, 1]);
  });

  it.skipIf(!hasBubblewrap)(
    "tools of one session cannot read the folder of another; a folder made anew is announced",
    async () => {
      // Outside of /tmp, which no command sees anyway.
      mkdirSync(join(root, ".cache"), { recursive: true });
      const base = realpathSync(mkdtempSync(join(root, ".cache", "workplaces-")));
      database = await openTestDatabase();
      stage = await openWorkerStage(database, {
        slots: 1,
        model: runOnce(
          `echo "file of $PWD" > mine.txt; cat ${base}/*/*/mine.txt; ls ${base}/*/; cat "$PARLEY_HOME/settings.json"`,
        ),
      });
      const worker = stage.startWorker(0, ["--workplace", "folder", "--workplaces", base]);
      const run = async (id: string): Promise<readonly { readonly type: string; readonly text: string }[]> => {
        const { sequence } = await stage.service.read(tenant, id);
        await stage.post(id, user("Begin."));
        await stage.waitFor(id, (session) => session.state === "idle" && session.sequence > sequence);
        const found: { type: string; text: string }[] = [];
        for await (const { event } of stage.service.follow(tenant, id, {
          after: sequence,
          untilIdle: true,
          signal: new AbortController().signal,
        }))
          found.push({ type: event.type, text: JSON.stringify(event) });
        return found;
      };
      try {
        const ids = [await stage.create(), await stage.create()];
        for (const id of ids) {
          const events = await run(id);
          const result = events.find(({ type }) => type === "result")?.text ?? "";
          expect(result).toContain(`/${id}\\n`);
          for (const other of ids) if (other !== id) expect(result).not.toContain(other);
          expect(result).not.toContain("anthropic");
          const notices = events.filter(({ type }) => type === "notice").map(({ text: words }) => words);
          expect(notices).toHaveLength(1);
          expect(notices[0]).toContain(`/${id}, a folder of its own. Use paths below it, not below ${stage.folder}.`);
        }
        expect((await run(ids[0]!)).filter(({ type }) => type === "notice")).toEqual([]);
        const [home = ""] = readdirSync(base);
        rmSync(join(base, home, ids[0]!), { recursive: true });
        expect((await run(ids[0]!)).find(({ type }) => type === "notice")?.text).toContain("It was made anew");
        await worker.end("SIGTERM");
      } finally {
        rmSync(base, { recursive: true, force: true });
      }
    },
  );
});

const existsText = (path: string): boolean => {
  try {
    return readFileSync(path, "utf8") !== "";
  } catch {
    return false;
  }
};

const until = async (test: () => boolean): Promise<void> => {
  while (!test()) await new Promise((resolve) => setTimeout(resolve, 20));
};
