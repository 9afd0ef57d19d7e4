import { beforeAll, describe, expect, it } from "vitest";
import { ensureBuilt } from "../built.ts";
import { killAgents } from "../support/agent-kill.ts";

beforeAll(ensureBuilt);

describe("the program, killed at any moment", () => {
  it("has lost nothing it had printed, and its sessions can be resumed on any provider", async () => {
    const { killed, broken } = await killAgents(25, 7);
    expect({ killed, broken }).toEqual({ killed: 25, broken: undefined });
  });
});
