import { expect, it } from "vitest";
import { describeOnPostgres } from "../support/postgres.ts";
import { perTier, seedFor } from "../support/tier.ts";
import { killFleet } from "./support/kill.ts";

const kills = perTier({ quick: { workers: 3, databases: 1 }, all: { workers: 40, databases: 3 } });

describeOnPostgres("a fleet whose workers and database are killed", () => {
  it("loses nothing acknowledged, takes no command twice, and runs no call twice", async () => {
    const report = await killFleet(kills, seedFor(7));
    expect(report.problems).toEqual([]);
    expect(report.workersKilled).toBe(kills.workers);
    expect(report.databasesKilled).toBe(kills.databases);
    expect(report.acknowledged).toBeGreaterThan(0);
  });
});
