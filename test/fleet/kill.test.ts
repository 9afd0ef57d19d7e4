import { expect, it } from "vitest";
import { describeOnPostgres } from "../support/postgres.ts";
import { perTier, seedFor } from "../support/tier.ts";
import { killFleet } from "./support/kill.ts";

// 1,000 workers and 50 databases: tsx test/fleet/kill.ts
const kills = perTier({ quick: { workers: 3, databases: 1 }, all: { workers: 12, databases: 2 } });

describeOnPostgres("a fleet whose workers and database are killed", () => {
  it("loses nothing acknowledged, takes no command twice, and runs no call twice in silence", async () => {
    const report = await killFleet(kills, { seed: seedFor(7) });
    expect(report.problems).toEqual([]);
    expect(report.workersKilled).toBe(kills.workers);
    expect(report.databasesKilled).toBe(kills.databases);
    expect(report.ran).toBeGreaterThan(0);
  });
});
