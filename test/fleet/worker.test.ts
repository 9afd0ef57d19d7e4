import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { text } from "../../src/conversation/builders.ts";
import type { SqlDatabase } from "../../src/postgres/database.ts";
import { releaseStatement, takeStatement, unreadStatement } from "../../src/postgres/statements.ts";
import { realWorld } from "../../src/world/real/world.ts";
import { describeOnPostgres, openTestDatabase, type TestDatabase } from "../support/postgres.ts";
import { openFleetStage, tenant, type FleetStage } from "./stage.ts";

const user = (words: string) => ({ type: "user", parts: [text(words)] }) as const;

describeOnPostgres("a fleet", () => {
  let database: TestDatabase;
  let stage: FleetStage;
  beforeAll(async () => {
    database = await openTestDatabase();
  });
  afterAll(() => database.close());
  afterEach(async () => {
    await stage.close();
    await database.pool.query("delete from parley.session; delete from parley.worker");
  });

  /** The events of a session as one line each. */
  const eventsOf = async (id: string, after = 0): Promise<readonly string[]> => {
    const events: string[] = [];
    const signal = new AbortController().signal;
    for await (const { sequence, event } of stage.service.follow(tenant, id, { after, signal, untilIdle: true }))
      events.push(`${sequence} ${event.type}`);
    return events;
  };

  it("carries out a prompt once, however often it is posted", async () => {
    stage = await openFleetStage(database);
    const { id } = await stage.service.create(tenant, { key: "one" });
    expect((await stage.service.create(tenant, { key: "one" })).id).toBe(id);
    const first = await stage.post(id, user("Hello"), "k1");
    expect(await stage.post(id, user("Hello"), "k1")).toEqual({ ...(first as object), isDuplicate: true });
    await expect(stage.post(id, user("Other"), "k1")).rejects.toMatchObject({ failure: { kind: "key-reused" } });
    stage.startWorker();
    stage.startWorker();
    await stage.waitFor(id, ({ state }) => state === "idle");

    expect((await eventsOf(id)).map((line) => line.split(" ")[1])).toEqual([
      "created",
      "user",
      "message",
      "usage",
      "turn",
    ]);
    expect(await stage.post(id, user("Hello"), "k1")).toMatchObject({ isDuplicate: true });
    await expect(stage.service.read("other", id)).rejects.toMatchObject({ failure: { kind: "not-found" } });
  });

  /** The end of the last turn of a session. */
  const lastTurn = async (id: string): Promise<unknown> => {
    let end: unknown;
    const signal = new AbortController().signal;
    for await (const { event } of stage.service.follow(tenant, id, { after: 0, signal, untilIdle: true }))
      if (event.type === "turn") ({ end } = event);
    return end;
  };

  it.each([
    // The connection breaks after the statement was carried out, or before.
    ["the answer to a take was lost", [{ statement: takeStatement, isCarriedOut: true }]],
    [
      "the database was away when its worker failed and gave it back",
      [
        { statement: unreadStatement, isCarriedOut: false },
        { statement: releaseStatement, isCarriedOut: false },
      ],
    ],
  ])("continues a session after %s", async (_, faults) => {
    stage = await openFleetStage(database);
    const { id } = await stage.service.create(tenant, {});
    await stage.post(id, user("Hello"));
    const left = [...faults];
    const query: SqlDatabase["query"] = async (statement, values) => {
      const at = left.findIndex((fault) => fault.statement === statement);
      const [fault] = at === -1 ? [] : left.splice(at, 1);
      const result =
        fault?.isCarriedOut === false ? { rows: [] } : await database.pool.query(statement, [...(values ?? [])]);
      if (fault !== undefined) throw Object.assign(new Error("The connection broke."), { code: "ECONNRESET" });
      return result;
    };
    stage.startWorker({ store: { database: { query }, world: realWorld() }, leaseMs: 1500 });
    await stage.waitFor(id, ({ state }) => state === "idle");
    expect([left, await lastTurn(id)]).toEqual([[], { type: "finished", reason: "stop" }]);
  });

  it("a cancel that arrives while the turn is being parked cancels it", async () => {
    stage = await openFleetStage(database);
    const { id } = await stage.service.create(tenant, {});
    await stage.post(id, user("Write 1"));
    stage.startWorker({
      openAgent: async (request) => {
        const opened = await stage.openAgent(request);
        const { agent } = opened;
        const cancel = async (): Promise<void> => {
          void agent.park();
          await agent.cancel();
        };
        return { ...opened, agent: { ...agent, cancel } };
      },
    });
    await stage.waitFor(id, ({ pending }) => pending.length > 0);
    await stage.post(id, { type: "cancel" });
    await stage.waitFor(id, ({ state, pending }) => state === "idle" && pending.length === 0);
    expect(await lastTurn(id)).toEqual({ type: "cancelled" });
    expect(await stage.countRuns()).toBe(0);
  });

  it("a cancel that arrives before the turn begins takes its prompt back", async () => {
    stage = await openFleetStage(database);
    const { id } = await stage.service.create(tenant, {});
    await stage.post(id, user("Write 1"));
    await stage.post(id, { type: "cancel" });
    await stage.post(id, user("Hello"));
    stage.startWorker();
    await stage.waitFor(id, ({ state }) => state === "idle");
    expect((await eventsOf(id)).map((line) => line.split(" ")[1])).toEqual([
      "created",
      "user",
      "message",
      "usage",
      "turn",
    ]);
  });

  it("an approval waits without a process, and another worker runs exactly that call", async () => {
    stage = await openFleetStage(database);
    const { id } = await stage.service.create(tenant, {});
    await stage.post(id, user("Write 1"));
    const first = stage.startWorker({ parkAfter: 1 });
    const parked = await stage.waitFor(id, ({ state }) => state === "parked");
    expect(parked.pending.map(({ call, tool }) => [call, tool])).toEqual([["hist_tool_1", "run_shell_command"]]);
    await first.drain(10_000);
    expect(await stage.countRuns()).toBe(0);
    const { rows } = await database.pool.query("select owner, state from parley.session where id = $1", [id]);
    expect(rows).toEqual([{ owner: null, state: "parked" }]);

    await expect(
      stage.post(id, { type: "decide", call: "hist_tool_9" as never, decision: { type: "once" } }),
    ).rejects.toMatchObject({ failure: { kind: "not-asked" } });
    const call = parked.pending[0]!.call;
    await stage.post(id, { type: "decide", call, decision: { type: "once" } }, "d1");
    await stage.post(id, { type: "decide", call, decision: { type: "once" } }, "d1");
    stage.startWorker();
    const done = await stage.waitFor(id, ({ state, pending }) => state === "idle" && pending.length === 0);
    expect(await stage.countRuns()).toBe(1);
    expect(await eventsOf(id, parked.sequence)).toEqual(
      ["asked", "decided", "result", "message", "usage", "turn"].map(
        (type, index) => `${parked.sequence + index + 1} ${type}`,
      ),
    );
    expect(done.pending).toEqual([]);
  });

  it("a switch to a model that does not exist is reported, and the session goes idle", async () => {
    stage = await openFleetStage(database);
    const { id } = await stage.service.create(tenant, {});
    await stage.post(id, { type: "model", model: "nowhere/none" });
    stage.startWorker();
    await stage.waitFor(id, ({ state }) => state === "idle");
    expect(stage.reports).toContainEqual({
      type: "failed",
      tenant,
      id,
      message: expect.stringContaining("nowhere") as string,
    });
  });

  it("a decision reaches the worker that waits for it", async () => {
    stage = await openFleetStage(database);
    const { id } = await stage.service.create(tenant, {});
    stage.startWorker();
    await stage.post(id, user("Write 1"));
    const { pending, state } = await stage.waitFor(id, (session) => session.pending.length === 1);
    expect(state).toBe("running");
    await stage.post(id, { type: "decide", call: pending[0]!.call, decision: { type: "refuse" } });
    await stage.waitFor(id, (session) => session.state === "idle");
    expect(await stage.countRuns()).toBe(0);
  });

  it("a cancel reaches the worker, and ends the command of the turn", async () => {
    stage = await openFleetStage(database, { permissions: { mode: "yolo" } });
    const { id } = await stage.service.create(tenant, {});
    stage.startWorker();
    await stage.post(id, user("Wait"));
    for (let runs = 0; runs === 0; runs = await stage.countRuns())
      await stage.waitFor(id, ({ state }) => state === "running");
    await stage.post(id, { type: "cancel" });
    await stage.waitFor(id, ({ state }) => state === "idle");
    expect((await eventsOf(id)).at(-1)).toContain("turn");
  });

  it("drains: takes nothing new, parks approvals, and gives everything back", async () => {
    stage = await openFleetStage(database);
    const { id } = await stage.service.create(tenant, {});
    const worker = stage.startWorker();
    await stage.post(id, user("Write 1"));
    await stage.waitFor(id, ({ pending }) => pending.length === 1);
    await worker.drain(10_000);
    await worker.ended;
    const { rows } = await database.pool.query(
      "select state, owner, (select count(*)::int from parley.worker where drives) as workers from parley.session where id = $1",
      [id],
    );
    expect(rows).toEqual([{ state: "parked", owner: null, workers: 0 }]);
  });

  it("a worker that is found dead stops its sessions, and another completes the turn; followers see each event once", async () => {
    stage = await openFleetStage(database, { permissions: { mode: "yolo" } });
    const { id } = await stage.service.create(tenant, {});
    const stop = new AbortController();
    const seen: number[] = [];
    const following = (async () => {
      for await (const { sequence } of stage.service.follow(tenant, id, { after: 0, signal: stop.signal }))
        seen.push(sequence);
    })();
    const first = stage.startWorker({ leaseMs: 2000 });
    await stage.post(id, user("Wait"));
    for (let runs = 0; runs === 0; runs = await stage.countRuns())
      await stage.waitFor(id, ({ state }) => state === "running");
    const second = stage.startWorker();
    // Repeated, as a heartbeat of the first worker may come before the second sees it.
    const ownerQuery = "select 1 from parley.session where id = $1 and owner = $2";
    while ((await database.pool.query(ownerQuery, [id, first.id()])).rows.length > 0)
      await database.pool.query("update parley.worker set expires = now() - interval '1 minute' where id = $1", [
        first.id(),
      ]);
    await stage.waitFor(id, ({ state }) => state === "idle");
    expect(await stage.countRuns()).toBe(1);
    const { rows } = await database.pool.query(
      "select sequence::int, fence::int from parley.record where session = $1 order by sequence",
      [id],
    );
    const records = rows as readonly { readonly sequence: number; readonly fence: number }[];
    expect(records.map(({ sequence }) => sequence)).toEqual(records.map((_, index) => index + 1));
    expect(new Set(records.map(({ fence }) => fence)).size).toBeGreaterThan(2);
    const all = await eventsOf(id);
    for (let attempt = 0; attempt < 500 && seen.length < all.length; attempt++)
      await new Promise((resolve) => setTimeout(resolve, 10));
    stop.abort();
    await following;
    expect(seen).toEqual(all.map((line) => Number(line.split(" ")[0])));
    await Promise.all([first.drain(0), second.drain(0)]);
  });
});
