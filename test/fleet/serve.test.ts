import { realpath } from "node:fs/promises";
import { tmpdir } from "node:os";
import { expect, it } from "vitest";
import { openServer, stopServer } from "../../src/cli/serve/run.ts";
import type { Arguments } from "../../src/cli/command.ts";
import { text } from "../../src/conversation/builders.ts";
import { describeOnPostgres, openTestDatabase } from "../support/postgres.ts";
import { openFleetStage, tenant } from "./stage.ts";

const argumentsOf = (values: Readonly<Record<string, string>>): Arguments => ({
  positionals: [],
  value: (name) => values[name],
  values: (name) => (values[name] === undefined ? [] : [values[name]]),
  has: (name) => name in values,
});

describeOnPostgres("parley serve on a database", () => {
  it("shows sessions that workers run, and says when it is not set up", async () => {
    const database = await openTestDatabase();
    const stage = await openFleetStage(database);
    const folder = await realpath(tmpdir());
    const { id } = await stage.service.create(tenant, {});
    await stage.post(id, { type: "user", parts: [text("Hello")] });
    stage.startWorker();
    await stage.waitFor(id, ({ state }) => state === "idle");
    const server = await openServer(argumentsOf({ store: database.url, folder }));

    const health = await fetch(`${server.door.url}/readyz`);
    expect(health.status).toBe(200);
    expect(await server.service.read(tenant, id)).toEqual(await stage.service.read(tenant, id));
    await stopServer(server, 1000);
    const empty = await openTestDatabase(undefined, { isMigrated: false });
    await expect(openServer(argumentsOf({ store: empty.url, folder }))).rejects.toThrow("parley store migrate");
    await stage.close();
    await empty.close();
    await database.close();
  });
});
