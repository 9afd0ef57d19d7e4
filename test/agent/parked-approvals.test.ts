import { describe, expect, it } from "vitest";
import { createAgent } from "../../src/agent/create-agent.ts";
import type { AgentEvent } from "../../src/agent/events.ts";
import { parseModel } from "../../src/agent/models/parse.ts";
import { resumeAgentSession } from "../../src/agent/session/resume.ts";
import type { Journal } from "../../src/agent/session/journal.ts";
import type { SessionRecord, UnknownRecord } from "../../src/session/log/record.ts";
import type { Session } from "../../src/session/session.ts";
import { openSessionStore } from "../../src/session/store/store.ts";
import type { Script } from "../../src/sim/model/script.ts";
import { createRequestSigner } from "../../src/transport/credentials/request-signer.ts";
import { openTransport } from "../../src/transport/transport.ts";
import { describeEntries, describeEvents } from "../support/agent-describe.ts";
import { home, openAgentStage, playTurn, type AgentStage } from "../support/agent-stage.ts";
import { createDoTool, createTestScheduler } from "../support/agent-tools.ts";

const script: Script = {
  rules: [
    { prompt: "Never mind", replies: [{ say: "Very well." }] },
    {
      prompt: "Please do",
      replies: [
        {
          call: [
            { tool: "add", input: { a: 1, b: 2 } },
            { tool: "do", input: { what: "one", ms: 1000 } },
            { tool: "do", input: { what: "two" } },
          ],
        },
        { say: "Did both." },
      ],
    },
  ],
};

const isAsking = (event: AgentEvent): boolean =>
  event.type === "call-updated" && event.status.state === "awaiting_approval";
const isExecuting = (event: AgentEvent): boolean => event.type === "call-updated" && event.status.state === "executing";

/** A session opened again after its first process ended, with the notes for the person. */
type ResumedStage = Pick<AgentStage, "agent" | "world" | "done"> & {
  readonly journal: Journal;
  readonly session: Session;
  readonly notes: readonly string[];
};

/** Opens the session of a stage again; as a copy of its log at this moment if its process still runs. */
const resume = async ({ world, session }: AgentStage, isFork = false): Promise<ResumedStage> => {
  const done: string[] = [];
  const { scheduler } = createTestScheduler(world, [createDoTool(world.clock, (what) => done.push(what))], "default");
  const store = openSessionStore(world, { home });
  const options = { world, folder: "/project", isFork };
  const resumed = await resumeAgentSession(store, { id: session.id }, options);
  const agent = createAgent({
    clock: world.clock,
    transport: openTransport({ world, signer: createRequestSigner(world) }),
    journal: resumed.journal,
    prefix: resumed.prefix,
    pool: { models: [parseModel("openai")], strategy: "failover", cooldown: 60_000 },
    openScheduler: async () => scheduler,
  });
  return { ...resumed, agent, world, done };
};

/** Continues the turn; every question gets this answer. */
const playContinue = ({ world, agent }: ResumedStage, answer: "once" | "refuse"): Promise<readonly AgentEvent[]> =>
  world.run(
    (async () => {
      const events: AgentEvent[] = [];
      for await (const event of agent.continue()) {
        events.push(event);
        if (event.type === "call-updated" && event.status.state === "awaiting_approval")
          agent.decide(event.call, { type: answer });
      }
      return events;
    })(),
  );

const recordsOf = async (session: Session): Promise<readonly (SessionRecord | UnknownRecord)[]> => {
  const records: (SessionRecord | UnknownRecord)[] = [];
  for await (const { record } of session.records()) records.push(record);
  return records;
};

const openStage = (): Promise<AgentStage> =>
  openAgentStage({ script, mode: "default", providers: ["anthropic", "openai"] });

/** A session whose turn was parked with two questions open. */
const park = async (): Promise<{ readonly stage: AgentStage; readonly events: readonly AgentEvent[] }> => {
  const stage = await openStage();
  let asked = 0;
  const events = await playTurn(stage, "Please do it.", (event) => {
    if (isAsking(event) && ++asked === 2) void stage.agent.park();
  });
  return { stage, events };
};

describe("a turn that waits for approval", () => {
  it("can be parked: other calls end, and the calls in question have no result", async () => {
    const { stage, events } = await park();

    expect(describeEvents(events).slice(-2)).toEqual(["hist_tool_1: complete: 3", "parked"]);
    expect(stage.agent.pendingApprovals()).toEqual([]);
    expect(stage.journal.ledger.pending().map(({ id }) => id)).toEqual(["hist_tool_2", "hist_tool_3"]);
    const records = (await recordsOf(stage.session)).filter(({ kind }) => kind === "asked" || kind === "turn");
    expect(records).toMatchObject([
      {
        kind: "asked",
        call: "hist_tool_2",
        approval: { title: "one" },
        digest: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
      { kind: "asked", call: "hist_tool_3", approval: { title: "two" } },
      { kind: "turn", number: 1, end: { type: "parked" } },
    ]);
  });

  it("continues in another process, on another provider, with the same calls, each run once", async () => {
    const { stage } = await park();
    await stage.session.close();
    const resumed = await resume(stage);

    expect(resumed.notes).toEqual([
      'do has not run: it still awaits approval ({"what":"one","ms":1000}).',
      'do has not run: it still awaits approval ({"what":"two"}).',
    ]);
    expect(describeEvents(await playContinue(resumed, "once"))).toEqual([
      "hist_tool_3: complete: Did two.",
      "hist_tool_2: complete: Did one.",
      "request 1 to openai",
      "text: Did both.",
      "finished stop: Did both.",
    ]);
    expect(resumed.done).toEqual(["one", "two"]);
    expect(stage.done).toEqual([]);
    expect(await recordsOf(resumed.session)).toContainEqual({
      kind: "decided",
      call: "hist_tool_2",
      decision: { type: "once" },
    });
  });

  it("asks again in the process that parked it", async () => {
    const { stage } = await park();
    const events = await playContinue({ ...stage, notes: [] }, "refuse");

    expect(describeEvents(events).at(-1)).toBe("finished stop: Did both.");
    expect(stage.done).toEqual([]);
  });

  it("is given up by another prompt: its calls are cancelled, and the model learns that they did not run", async () => {
    const { stage } = await park();
    const events = await playTurn(stage, "Never mind.");

    expect(describeEvents(events).at(-1)).toBe("finished stop: Very well.");
    expect(describeEntries(stage.journal.ledger.entries).slice(-4)).toEqual([
      "hist_tool_2: cancelled: This call was not run: the user sent another message before approving it.",
      "hist_tool_3: cancelled: This call was not run: the user sent another message before approving it.",
      "user: Never mind.",
      "anthropic: Very well.",
    ]);
    expect(stage.done).toEqual([]);
  });

  it("has nothing to continue once the model has answered", async () => {
    const stage = await openStage();
    await playTurn(stage, "Never mind.");
    const events = await playContinue({ ...stage, notes: [] }, "once");

    expect(describeEvents(events)).toEqual(["finished stop: "]);
  });
});

describe("a process that dies", () => {
  /** Runs the turn and opens a copy of the log as it is on disk at a moment, as if the process had died there. */
  const dieAt = async (moment: (event: AgentEvent) => boolean): Promise<ResumedStage> => {
    const stage = await openStage();
    let copy: Promise<ResumedStage> | undefined;
    await playTurn(stage, "Please do it.", (event) => {
      if (moment(event)) copy ??= resume(stage, true);
      if (event.type !== "call-updated" || !isAsking(event)) return;
      void Promise.resolve(copy).then(() => stage.agent.decide(event.call, { type: "once" }));
    });
    if (copy === undefined) throw new Error("The moment never came.");
    return copy;
  };

  it("before an answer leaves the call for the next one, which asks again", async () => {
    const resumed = await dieAt(isAsking);

    expect(resumed.journal.ledger.pending().map(({ id }) => id)).toContain("hist_tool_2");
    await playContinue(resumed, "once");
    expect(resumed.done).toContain("one");
  });

  it("after an answer leaves a call that may have had effects, and is never run again", async () => {
    const resumed = await dieAt((event) => isExecuting(event) && "call" in event && event.call === "hist_tool_2");

    expect(describeEntries(resumed.journal.ledger.entries)).toContainEqual(
      expect.stringMatching(/^hist_tool_2: interrupted: No result was recorded: .* may have had effects\.$/),
    );
    await playContinue(resumed, "once");
    expect(resumed.done).not.toContain("one");
  });
});
