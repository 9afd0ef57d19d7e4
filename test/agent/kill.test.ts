import { beforeAll, describe, expect, it } from "vitest";
import { ensureBuilt } from "../built.ts";
import { killAgents } from "../support/agent-kill.ts";
import { perTier, seedFor } from "../support/tier.ts";

const kills = perTier({ quick: 5, all: 25 });

beforeAll(ensureBuilt);

describe("the program, killed at any moment", () => {
  it("has lost nothing it had printed, and its sessions can be resumed on any provider", async () => {
    const { killed, broken } = await killAgents(kills, seedFor(7));
    expect({ killed, broken }).toEqual({ killed: kills, broken: undefined });
  });
});
