import { afterAll, beforeAll } from "vitest";
import { openPostgresSessions } from "../../src/postgres/store.ts";
import { describeSessionStore } from "../../src/session/store/contract.cases.ts";
import { realWorld } from "../../src/world/real/world.ts";
import { describeOnPostgres, openTestDatabase, type TestDatabase } from "../support/postgres.ts";

describeOnPostgres("the session store on PostgreSQL", () => {
  let database: TestDatabase;
  let tenants = 0;
  beforeAll(async () => {
    database = await openTestDatabase();
  });
  afterAll(() => database.close());

  describeSessionStore("PostgreSQL", async () => {
    const options = { database: database.pool, tenant: `tenant-${(tenants += 1)}`, world: realWorld() };
    const sessions = openPostgresSessions(options);
    const other = openPostgresSessions(options);
    return {
      sessions,
      other,
      passTime: () => options.world.clock.sleep(2),
      close: async () => {
        await sessions.close();
        await other.close();
      },
    };
  });
});
