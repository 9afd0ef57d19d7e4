import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import type { JsonObject } from "../../src/conversation/json.ts";
import { openSessionStore } from "../../src/session/store/store.ts";
import type { Script } from "../../src/sim/model/script.ts";
import { defineTool } from "../../src/tools/tool.ts";
import type { DiskChange, DiskFault } from "../../src/world/simulated/disk.ts";
import { home, openAgentStage, playTurn, type AgentStage } from "../support/agent-stage.ts";
import { describeEvents, describeEntries } from "../support/agent-describe.ts";
import { warmUp } from "../support/agent-warm.ts";

beforeAll(warmUp);

/** Unhandled rejections, which would end the program. */
const uncaught: unknown[] = [];
const record = (reason: unknown): void => void uncaught.push(reason);
beforeEach(() => void process.on("unhandledRejection", record));
afterEach(() => {
  process.off("unhandledRejection", record);
  expect(uncaught.splice(0)).toEqual([]);
});

const script: Script = {
  rules: [
    { prompt: "hello", replies: [{ say: "Good day." }] },
    {
      prompt: "do",
      replies: [
        {
          call: [
            { tool: "add", input: { a: 1, b: 2 } },
            { tool: "do", input: { what: "one", ms: 5000 } },
          ],
        },
        { say: "Did it." },
      ],
    },
  ],
};

/** A disk that is full from one write to another. */
const fullAt = (from: number, to = Infinity) => {
  let changes = 0;
  return (change: DiskChange): DiskFault | undefined => {
    if (change.kind !== "append" || !change.path.endsWith(".jsonl")) return undefined;
    changes += 1;
    return changes >= from && changes < to ? { code: "ENOSPC", written: 7 } : undefined;
  };
};

/** The first record after the beginning of the file. */
const first = 1;

describe("a session", () => {
  it("stores the files of results as blobs", async () => {
    const stage = await openAgentStage({
      script: { rules: [{ replies: [{ call: { tool: "picture", input: {} } }, { say: "A dot." }] }] },
    });
    await playTurn(stage, "Draw.");
    await stage.session.close();
    const { blobs, damage: healed } = await openSessionStore(stage.world, { home }).read(stage.session.id);
    expect(healed).toEqual([]);
    expect(blobs).toEqual(stage.journal.blobs);
    expect(Object.keys(blobs)).toHaveLength(1);
  });

  it("with an interrupted call can be resumed: the unknown outcome is recorded before a request is sent", async () => {
    const stage = await openAgentStage({ script });
    stage.journal.ledger.user([{ type: "text", text: "Before." }]);
    stage.journal.ledger.model({ provider: "anthropic", model: "claude-sonnet-5" }, [
      { type: "call", tool: "add", input: { value: { a: 1, b: 2 } } },
    ]);
    expect(describeEvents(await playTurn(stage, "hello")).at(-1)).toBe("finished stop: Good day.");
    expect(describeEntries(stage.journal.ledger.entries).slice(2)).toEqual([
      "user: hello",
      "hist_tool_1: interrupted: ",
      "anthropic: Good day.",
    ]);
    expect(stage.simulators["anthropic"]?.log.map(({ verdict }) => verdict)).toEqual(["accepted"]);
  });
});

describe("one write to the disk", () => {
  const countWrites = async (tool: string, ...inputs: readonly JsonObject[]): Promise<number> => {
    let appends = 0;
    const before = ({ kind, path }: DiskChange): undefined => {
      if (kind === "append" && path.endsWith(".jsonl")) appends += 1;
    };
    const stage = await openAgentStage({
      script: { rules: [{ replies: [{ call: inputs.map((input) => ({ tool, input })) }, { say: "Done." }] }] },
      before,
    });
    appends = 0;
    expect(describeEvents(await playTurn(stage, "Go.")).at(-1)).toBe("finished stop: Done.");
    return appends;
  };

  it("holds an answer and the results of read-only calls", async () => {
    // The prompt, the answer with the result, the last answer.
    expect(await countWrites("add", { a: 1, b: 2 })).toBe(3);
    expect(await countWrites("add", { a: 1, b: 2 }, { a: 3, b: 4 }, { a: 5, b: 6 })).toBe(3);
  });

  it("holds an answer alone before a call with side effects runs", async () => {
    expect(await countWrites("do", { what: "one", ms: 0 })).toBe(4);
  });

  it("is not delayed by slow calls", async () => {
    const slow = defineTool({
      name: "slow",
      description: "Looks for long.",
      access: "read",
      isReadOnly: true,
      input: z.object({}),
      touches: () => ({}),
      title: () => "slow",
      run: async () => {
        await stage.world.clock.sleep(5000);
        return { content: [{ type: "text", text: "seen" }], display: { type: "text", text: "seen" } };
      },
    });
    const stage: AgentStage = await openAgentStage({
      script: { rules: [{ replies: [{ call: { tool: "slow", input: {} } }, { say: "Done." }] }] },
      tools: [slow],
    });
    const times: Record<string, number> = {};
    await playTurn(stage, "Look.", ({ type }) => (times[type] ??= stage.world.clock.elapsed()));
    expect(times["call-completed"]).toBeGreaterThanOrEqual(5000);
    expect(times["call-requested"]).toBeLessThan(100);
    expect(times["call-updated"]).toBeLessThan(100);
  });
});

describe("a full disk", () => {
  it("that confirmed a folder too late has lost no blob after a power cut", async () => {
    let isMade = false;
    let isFull = true;
    const before = ({ kind, path }: DiskChange): DiskFault | undefined => {
      isMade ||= kind === "make" && path.endsWith("/blobs");
      if (!isMade || !isFull || kind !== "flush") return undefined;
      isFull = false;
      return { code: "ENOSPC" };
    };
    const drawing = {
      rules: [
        { prompt: "hello", replies: [{ say: "Good day." }] },
        { replies: [{ call: { tool: "picture", input: {} } }] },
      ],
    };
    const stage = await openAgentStage({ script: drawing, before });
    expect(describeEvents(await playTurn(stage, "Draw.")).at(-1)).toBe("failed storage");
    expect(describeEvents(await playTurn(stage, "hello")).at(-1)).toBe("finished stop: Good day.");
    const left = { ...stage.world, disk: stage.world.disk.crash(() => 0) };
    const { entries, blobs, damage: healed } = await openSessionStore(left, { home }).read(stage.session.id);
    expect({ entries, blobs, healed }).toEqual({
      entries: stage.journal.ledger.entries,
      blobs: stage.journal.blobs,
      healed: [],
    });
    expect(Object.keys(blobs)).toHaveLength(1);
  });

  it("fails the turn before anything is sent", async () => {
    const stage = await openAgentStage({ script, before: fullAt(first) });
    expect(describeEvents(await playTurn(stage, "hello"))).toEqual(["failed storage"]);
    expect(stage.simulators["anthropic"]?.log).toEqual([]);
  });

  it("fails the turn if an answer cannot be committed, and none of its calls is run", async () => {
    const stage = await openAgentStage({ script, before: fullAt(first + 1) });
    expect(describeEvents(await playTurn(stage, "do"))).toEqual([
      "user: do",
      "request 1 to anthropic",
      "failed storage",
    ]);
    expect(stage.done).toEqual([]);
  });

  it("fails the turn if a result cannot be committed, after the other calls have ended, and sends nothing more", async () => {
    const stage = await openAgentStage({ script, before: fullAt(first + 2) });
    expect(describeEvents(await playTurn(stage, "do"))).toEqual([
      "user: do",
      "request 1 to anthropic",
      "hist_tool_1: add",
      "hist_tool_2: do",
      "failed storage",
    ]);
    expect(stage.simulators["anthropic"]?.log).toHaveLength(1);
    expect(stage.journal.ledger.pending()).toEqual([]);
  });

  it("that has space again in the same turn loses nothing, and all events are emitted", async () => {
    const stage = await openAgentStage({ script, before: fullAt(first + 2, first + 3) });
    expect(describeEvents(await playTurn(stage, "do")).slice(-3)).toEqual([
      "hist_tool_1: complete: 3",
      "hist_tool_2: complete: Did one.",
      "failed storage",
    ]);
  });

  it("that has space again gets the failed records, in order, and the session continues", async () => {
    const stage = await openAgentStage({ script, before: fullAt(first + 2, first + 5) });
    await playTurn(stage, "do");
    expect(describeEvents(await playTurn(stage, "hello")).at(-1)).toBe("finished stop: Good day.");
    await stage.session.close();
    const { entries, damage: healed } = await openSessionStore(stage.world, { home }).read(stage.session.id);
    expect(healed).toEqual([]);
    expect(entries).toEqual(stage.journal.ledger.entries);
    expect(describeEntries(entries)).toEqual([
      "user: do",
      'anthropic: add({"a":1,"b":2}) | do({"what":"one","ms":5000})',
      "hist_tool_1: complete: 3",
      "hist_tool_2: complete: Did one.",
      "user: hello",
      "anthropic: Good day.",
    ]);
  });
});
