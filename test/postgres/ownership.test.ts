import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  postCommand,
  readSessionCommands,
  reapWorkers,
  releaseSession,
  takeSessions,
  type TakenSession,
} from "../../src/postgres/ownership.ts";
import { closeBucket, setRateLimit, takeFromBucket } from "../../src/postgres/buckets.ts";
import { createSessionRow } from "../../src/postgres/create.ts";
import { openClaimed, openPostgresSessions, type PostgresSession } from "../../src/postgres/store.ts";
import { setTenantLimits } from "../../src/postgres/tenants.ts";
import { checkStore } from "../../src/postgres/transfer.ts";
import { enlistStatement } from "../../src/postgres/statements.ts";
import { userRecord } from "../../src/session/session.cases.ts";
import { realWorld } from "../../src/world/real/world.ts";
import { fc, runsPerTier } from "../support/fast-check.ts";
import { describeOnPostgres, openTestDatabase, type TestDatabase } from "../support/postgres.ts";

const world = realWorld();

describeOnPostgres("the ownership of sessions", () => {
  let database: TestDatabase;
  let count = 0;
  beforeAll(async () => {
    database = await openTestDatabase();
  });
  afterAll(() => database.close());

  const openTenant = (): string => `tenant-${(count += 1)}`;
  const create = async (tenant: string): Promise<string> =>
    (await createSessionRow({ database: database.pool, tenant, world }, { start: { root: "/project" } })).id;
  /** A worker that lives for an hour, or is dead already. */
  const enlist = async (lease = 3600): Promise<string> => {
    const id = `worker-${(count += 1)}`;
    await database.pool.query(enlistStatement, [id, null, "test", true, lease]);
    return id;
  };
  const declareDead = (id: string): Promise<unknown> =>
    database.pool.query("update parley.worker set expires = now() - interval '1 second' where id = $1", [id]);
  const post = (tenant: string, id: string, key: string): Promise<unknown> =>
    postCommand(database.pool, { tenant, id }, { key, command: JSON.stringify({ key }) });
  const openTaken = (taken: TakenSession): Promise<PostgresSession> =>
    openClaimed(
      { database: database.pool, tenant: taken.tenant, world },
      { ...taken, isLost: () => false, releases: false },
    );
  const problems = async (tenant: string): Promise<readonly unknown[]> => {
    const found: unknown[] = [];
    for await (const each of checkStore({ database: database.pool, tenant }))
      if (!("checked" in each)) found.push(each);
    return found;
  };
  /** Workers take whatever is ready, so each test begins without sessions. */
  const empty = (): Promise<unknown> =>
    database.pool.query(
      "delete from parley.session; delete from parley.record; delete from parley.inbox; delete from parley.worker",
    );
  beforeEach(empty);
  const take = (worker: string, most = 100): Promise<readonly TakenSession[]> =>
    takeSessions(database.pool, worker, most);

  it("a command wakes its session once, however often it is posted", async () => {
    const tenant = openTenant();
    const id = await create(tenant);
    const worker = await enlist();
    expect(await take(worker)).toEqual([]);

    expect(await post(tenant, id, "a")).toMatchObject({ id: expect.any(Number) as number, sequence: 1 });
    expect(await post(tenant, id, "a")).toEqual({ id: undefined, sequence: 1 });
    expect(await post(tenant, "nothing", "a")).toBeUndefined();
    expect(await post("another", id, "a")).toBeUndefined();
    expect((await take(worker)).map((each) => each.id)).toEqual([id]);
    expect(await take(worker)).toEqual([]);
    expect((await readSessionCommands(database.pool, { tenant, id })).map(({ command }) => command)).toEqual([
      '{"key":"a"}',
    ]);
  });

  it("a worker that lost its session cannot write, and the next one continues where it ended", async () => {
    const tenant = openTenant();
    const id = await create(tenant);
    await post(tenant, id, "a");
    const [one, other] = [await enlist(), await enlist()];
    const [first] = await take(one);
    const zombie = await openTaken(first!);
    await zombie.append([userRecord("one")]);
    await declareDead(one);
    expect(await reapWorkers(database.pool, 5)).toContainEqual({ tenant, id, state: "ready", crashes: 1 });

    await expect(zombie.append([userRecord("late")])).rejects.toMatchObject({ failure: { kind: "lost", id } });
    const [second] = await take(other);
    expect(second?.fence).toBe(first!.fence + 2);
    await expect(zombie.append([userRecord("late")])).rejects.toMatchObject({ failure: { kind: "lost", id } });
    expect(await releaseSession(database.pool, first!)).toBeUndefined();
    const session = await openTaken(second!);
    await session.append([userRecord("two")]);
    expect(session.sequence()).toBe(3);
    expect(await problems(tenant)).toEqual([]);
  });

  it("a worker that was found dead takes nothing any more", async () => {
    const tenant = openTenant();
    const id = await create(tenant);
    await post(tenant, id, "a");
    const dead = await enlist();
    await declareDead(dead);
    expect(await takeSessions(database.pool, dead, 10)).toEqual([]);
    await reapWorkers(database.pool, 5);
    expect(await takeSessions(database.pool, dead, 10)).toEqual([]);
  });

  it("a session that ends every worker pauses longer each time, then waits for a person", async () => {
    const tenant = openTenant();
    const id = await create(tenant);
    await post(tenant, id, "a");
    for (const state of ["ready", "ready", "parked"]) {
      const worker = await enlist();
      await database.pool.query("update parley.session set ready_at = now() where tenant = $1", [tenant]);
      expect(await take(worker)).toHaveLength(1);
      await declareDead(worker);
      expect((await reapWorkers(database.pool, 3)).map((each) => each.state)).toEqual([state]);
    }
    expect(await take(await enlist())).toEqual([]);
    await post(tenant, id, "b");
    expect(await take(await enlist())).toHaveLength(1);
  });

  it("a session that comes further with each worker that ends goes on, however many end", async () => {
    const tenant = openTenant();
    const id = await create(tenant);
    for (const key of ["a", "b", "c", "d"]) await post(tenant, id, key);
    for (let number = 0; number < 4; number++) {
      const worker = await enlist();
      await database.pool.query("update parley.session set ready_at = now() where tenant = $1", [tenant]);
      const [taken] = await take(worker);
      const session = await openTaken(taken!);
      const [command] = await readSessionCommands(database.pool, { tenant, id });
      await session.markTaken([command!.id]);
      await declareDead(worker);
      expect((await reapWorkers(database.pool, 3)).map(({ state, crashes }) => [state, crashes])).toEqual([
        ["ready", 1],
      ]);
    }
  });

  it("tenants share workers evenly, within their limits", async () => {
    const [large, small] = [openTenant(), openTenant()];
    for (let each = 0; each < 6; each++) await post(large, await create(large), "a");
    for (let each = 0; each < 2; each++) await post(small, await create(small), "a");
    await setTenantLimits(database.pool, large, { mostRunning: 3 });
    const worker = await enlist();
    const names = async (most: number): Promise<readonly string[]> =>
      (await take(worker, most)).map(({ tenant }) => tenant).toSorted();

    expect(await names(4)).toEqual([large, large, small, small].toSorted());
    expect(await names(10)).toEqual([large]);
    await setTenantLimits(database.pool, large, { mostRunning: 9, mostSpend: 1 });
    await database.pool.query("update parley.tenant set spent = 2 where id = $1", [large]);
    expect(await names(10)).toEqual([]);
    await setTenantLimits(database.pool, large, { mostSpend: 5 });
    expect(await names(10)).toEqual([large, large, large]);
  });

  it("a session is taken by one of many workers", async () => {
    const tenant = openTenant();
    for (let each = 0; each < 12; each++) await post(tenant, await create(tenant), "a");
    const workers = await Promise.all(Array.from({ length: 8 }, () => enlist()));
    const taken = (await Promise.all(workers.map((worker) => takeSessions(database.pool, worker, 3))))
      .flat()
      .filter((each) => each.tenant === tenant);
    expect(new Set(taken.map(({ id }) => id)).size).toBe(taken.length);
  });

  it("a tenant has no more running sessions than its limit, however many workers take at once", async () => {
    const tenant = openTenant();
    await setTenantLimits(database.pool, tenant, { mostRunning: 3 });
    for (let at = 0; at < 9; at++) {
      const id = await create(tenant);
      await postCommand(database.pool, { tenant, id }, { key: "k", command: "{}" });
    }
    const workers = await Promise.all(Array.from({ length: 8 }, () => enlist()));
    const count = async (): Promise<number> => {
      const taken = await Promise.all(workers.map((worker) => takeSessions(database.pool, worker, 3)));
      return taken.flat().filter((each) => each.tenant === tenant).length;
    };
    let running = 0;
    for (let round = 0; round < 10; round++) running += await count();
    expect(running).toBe(3);
  });

  it("a rate limit is shared, and can be closed for everyone", async () => {
    const { pool } = database;
    const [provider, tenant] = ["limited", openTenant()];
    const take = (bucket: string) => takeFromBucket(pool, { bucket, provider, tenant });
    expect(await take("one")).toBe(0);
    await setRateLimit(pool, provider, { perMinute: 0.001, burst: 3 });
    const waits = await Promise.all(Array.from({ length: 6 }, () => take("one")));
    expect(waits.filter((wait) => wait === 0)).toHaveLength(3);
    // Another account has its own.
    expect(await take("other")).toBe(0);
    await closeBucket(pool, "other", 3_600_000);
    await closeBucket(pool, "other", 1);
    expect(await take("other")).toBeGreaterThan(1_000_000);
    await setRateLimit(pool, provider, undefined);
    expect(await take("one")).toBe(0);
    expect(await take("other")).toBeGreaterThan(1_000_000);
    await setTenantLimits(pool, tenant, { mostSpend: 0 });
    expect(await take("one")).toBe("spent");
  });

  it("a program's own session is not continued by workers when it ends", async () => {
    const tenant = openTenant();
    const sessions = openPostgresSessions({ database: database.pool, tenant, world });
    const session = await sessions.create({ root: "/project" });
    const { rows } = await database.pool.query("select owner from parley.session where tenant = $1", [tenant]);
    await declareDead((rows[0] as { owner: string }).owner);

    expect(await reapWorkers(database.pool, 5)).toEqual([{ tenant, id: session.id, state: "idle", crashes: 0 }]);
    await expect(session.append([userRecord("late")])).rejects.toMatchObject({ failure: { kind: "lost" } });
    await sessions.close();
  });

  /*
   * Random steps of two workers, senders and reapers on one session, against a model of it. The model knows who may
   * write; the store must agree after every step.
   */
  describe("in any order of events", () => {
    type Step =
      | { readonly type: "post"; readonly key: number }
      | { readonly type: "take" | "append" | "append-taking" | "release" | "park" | "die"; readonly worker: 0 | 1 }
      | { readonly type: "reap" };
    const worker = fc.constantFrom<0 | 1>(0, 1);
    const step: fc.Arbitrary<Step> = fc.oneof(
      fc.record({ type: fc.constant("post" as const), key: fc.nat(6) }),
      fc.record({
        type: fc.constantFrom("take", "take", "append", "append-taking", "release", "park", "die" as const),
        worker,
      }) as fc.Arbitrary<Step>,
      fc.constant({ type: "reap" as const }),
    );

    it("one worker writes, records have no gaps, and each command is taken once", async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
          await empty();
          const tenant = openTenant();
          const id = await create(tenant);
          const ids = [await enlist(), await enlist()];
          const held: (PostgresSession | undefined)[] = [undefined, undefined];
          const claims: (TakenSession | undefined)[] = [undefined, undefined];
          const model = {
            owner: undefined as number | undefined,
            isReady: false,
            sequence: 1,
            keys: new Set<number>(),
            unread: 0,
          };
          let takenCommands = 0;
          const dead = new Set<number>();
          for (const each of steps) {
            switch (each.type) {
              case "post": {
                const isNew = !model.keys.has(each.key);
                expect((await post(tenant, id, String(each.key))) as object).toMatchObject({
                  id: isNew ? (expect.any(Number) as number) : undefined,
                  sequence: model.sequence,
                });
                model.keys.add(each.key);
                if (isNew) model.unread += 1;
                if (isNew && model.owner === undefined) model.isReady = true;
                break;
              }
              case "take": {
                const canTake = model.isReady && !dead.has(each.worker);
                const [taken] = await take(ids[each.worker]!);
                expect(taken !== undefined).toBe(canTake);
                if (taken === undefined) break;
                model.owner = each.worker;
                model.isReady = false;
                claims[each.worker] = taken;
                held[each.worker] = await openTaken(taken);
                break;
              }
              case "append":
              case "append-taking": {
                const session = held[each.worker];
                if (session === undefined) break;
                const waiting = each.type === "append" ? [] : await readSessionCommands(database.pool, { tenant, id });
                const work =
                  each.type === "append"
                    ? session.append([userRecord("x"), userRecord("y")])
                    : session.markTaken(waiting.map((command) => command.id));
                if (model.owner !== each.worker) {
                  if (each.type === "append" || waiting.length > 0)
                    await expect(work).rejects.toMatchObject({ failure: { kind: "lost" } });
                  else await work;
                  break;
                }
                await work;
                if (each.type === "append") model.sequence += 2;
                else {
                  expect(waiting.length).toBe(model.unread);
                  takenCommands += model.unread;
                  model.unread = 0;
                }
                break;
              }
              case "release":
              case "park": {
                const claim = claims[each.worker];
                if (claim === undefined) break;
                const state = await releaseSession(database.pool, claim, { isParked: each.type === "park" });
                if (model.owner !== each.worker) expect(state).toBeUndefined();
                else {
                  expect(state).toBe(model.unread > 0 ? "ready" : each.type === "park" ? "parked" : "idle");
                  model.owner = undefined;
                  model.isReady = model.unread > 0;
                }
                break;
              }
              case "die":
                await declareDead(ids[each.worker]!);
                dead.add(each.worker);
                break;
              case "reap": {
                const freed = (await reapWorkers(database.pool, 1000)).filter((session) => session.tenant === tenant);
                const isFreed = model.owner !== undefined && dead.has(model.owner);
                expect(freed.length).toBe(isFreed ? 1 : 0);
                if (isFreed) {
                  model.owner = undefined;
                  model.isReady = true;
                  await database.pool.query("update parley.session set ready_at = now() where tenant = $1", [tenant]);
                }
                for (const number of dead) ids[number] = await enlist();
                dead.clear();
                break;
              }
            }
          }
          const { rows } = await database.pool.query(
            "select count(*) filter (where taken is not null) as taken, count(*) as all from parley.inbox where tenant = $1",
            [tenant],
          );
          expect(rows).toEqual([{ taken: String(takenCommands), all: String(model.keys.size) }]);
          expect(await problems(tenant)).toEqual([]);
        }),
        { numRuns: runsPerTier(200) },
      );
    });
  });

  it("no post is lost while a worker releases the session", async () => {
    const tenant = openTenant();
    const ids = [await create(tenant), await create(tenant)];
    const total = 60;
    let isDone = false;
    const work = async (worker: string): Promise<number> => {
      let taken = 0;
      for (let quiet = 0; !isDone || quiet < 3;) {
        const sessions = (await takeSessions(database.pool, worker, 2)).filter((each) => each.tenant === tenant);
        quiet = sessions.length === 0 ? quiet + 1 : 0;
        for (const claim of sessions) {
          const session = await openTaken(claim);
          const waiting = await readSessionCommands(database.pool, claim);
          await session.markTaken(waiting.map(({ id }) => id));
          taken += waiting.length;
          await releaseSession(database.pool, claim);
        }
      }
      return taken;
    };
    const workers = [work(await enlist()), work(await enlist())];
    await Promise.all(
      Array.from({ length: 3 }, async (_, sender) => {
        for (let number = sender; number < total; number += 3) await post(tenant, ids[number % 2]!, `k${number}`);
      }),
    );
    isDone = true;
    expect((await Promise.all(workers)).reduce((sum, each) => sum + each, 0)).toBe(total);
    const { rows } = await database.pool.query("select distinct state, unread from parley.session where tenant = $1", [
      tenant,
    ]);
    expect(rows).toEqual([{ state: "idle", unread: 0 }]);
  });
});
