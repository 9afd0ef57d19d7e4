import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import type { AgentEvent } from "../../src/agent/events.ts";
import { parseModel } from "../../src/agent/models/parse.ts";
import { findProvider } from "../../src/providers/find.ts";
import type { Script } from "../../src/sim/model/script.ts";
import { RequestComposer } from "../../src/wire/compose.ts";
import { defineTool } from "../../src/tools/tool.ts";
import { openAgentStage, playTurn, type AgentStage, type AgentStageOptions } from "../support/agent-stage.ts";
import { describeEvents, describeEntries } from "../support/agent-describe.ts";
import { warmUp } from "../support/agent-warm.ts";

beforeAll(warmUp);

const script: Script = {
  rules: [
    { prompt: "and the last?", replies: [{ say: "And the last." }] },
    {
      prompt: "add",
      replies: [
        {
          think: "Two sums.",
          call: [
            { tool: "add", input: { a: 1, b: 2 } },
            { tool: "add", input: { a: 3, b: 4 } },
          ],
        },
        { say: "They are 3 and 7." },
      ],
    },
    {
      prompt: "do",
      replies: [
        {
          call: [
            { tool: "do", input: { what: "one", ms: 1000 } },
            { tool: "do", input: { what: "two" } },
          ],
        },
        { say: "Did both." },
      ],
    },
    {
      prompt: "wait",
      replies: [
        {
          call: [
            { tool: "add", input: { a: 1, b: 1 } },
            { tool: "wait", input: {} },
          ],
        },
        { say: "Done." },
      ],
    },
    { prompt: "hello", replies: [{ say: "Good day to you. How are you? I am well, thank you very much." }] },
  ],
  otherwise: { say: "Go on." },
};

const is =
  (type: AgentEvent["type"], state?: string) =>
  (event: AgentEvent): boolean =>
    event.type === type && (state === undefined || (event.type === "call-updated" && event.status.state === state));

/** Acts on the first event that matches. */
const once = (fits: (event: AgentEvent) => boolean, act: () => unknown): ((event: AgentEvent) => void) => {
  let isDone = false;
  return (event) => {
    if (isDone || !fits(event)) return;
    isDone = true;
    act();
  };
};

/** Checks that the log equals the conversation, and that no call is open. */
const expectCommitted = async ({ journal, session }: AgentStage): Promise<void> => {
  const records: unknown[] = [];
  for await (const { record } of session.records()) if (record.kind === "entry") records.push(record.entry);
  expect(records).toEqual(journal.ledger.entries);
  expect(journal.ledger.pending()).toEqual([]);
};

describe("a turn", () => {
  it.each(["anthropic", "google", "openai", "openai-chat", "bedrock"])(
    "runs the calls of %s as a batch and ends when the model stops",
    async (provider) => {
      const stage = await openAgentStage({ providers: [provider], script });
      const events = await playTurn(stage, "Please add.");
      expect(describeEvents(events.filter(({ type }) => type !== "thought"))).toEqual([
        "user: Please add.",
        `request 1 to ${provider}`,
        "hist_tool_1: add",
        "hist_tool_2: add",
        "hist_tool_1: complete: 3",
        "hist_tool_2: complete: 7",
        `request 2 to ${provider}`,
        "text: They are 3 and 7.",
        "finished stop: They are 3 and 7.",
      ]);
      expect(stage.simulators[provider]?.log.map(({ verdict }) => verdict)).toEqual(["accepted", "accepted"]);
      await expectCommitted(stage);
    },
  );

  it.each(["anthropic", "bedrock"])(
    "passes a tool its arguments under its own names if %s was sent others",
    async (provider) => {
      const teams: unknown[] = [];
      const askTeam = defineTool({
        name: "ask_team",
        description: "Asks a team.",
        access: "read",
        input: z.object({ "team:": z.string() }),
        touches: () => ({}),
        title: () => "ask",
        run: async (input) => {
          teams.push(input);
          return { content: [{ type: "text", text: "Asked." }], display: { type: "text", text: "Asked." } };
        },
      });
      const parameters = { type: "object", properties: { "team:": { type: "string" } }, required: ["team:"] } as const;
      const stage = await openAgentStage({
        providers: [provider],
        tools: [askTeam],
        script: {
          rules: [
            {
              prompt: "ask",
              replies: [{ call: [{ tool: "ask_team", input: { team_: "blue" } }] }, { say: "They were asked." }],
            },
          ],
        },
        agent: { prefix: { system: "Be brief.", tools: [{ name: "ask_team", description: "Asks.", parameters }] } },
      });
      await playTurn(stage, "Please ask.");
      expect(teams).toEqual([{ "team:": "blue" }]);
      expect(stage.simulators[provider]?.log.map(({ verdict }) => verdict)).toEqual(["accepted", "accepted"]);
      const sent = JSON.stringify(stage.simulators[provider]?.log.at(-1));
      expect([sent.includes("team:"), sent.includes("team_")]).toEqual([false, true]);
    },
  );

  it("records the digest of its request with every answer", async () => {
    const stage = await openAgentStage({ script });
    await playTurn(stage, "Please add.");
    await playTurn(stage, "Please add again.");
    const { entries } = stage.journal.ledger;
    const { system, tools } = stage.session.head;
    const digestUpTo = (end: number): string => {
      const destination = findProvider("anthropic").destination(parseModel("anthropic").model);
      const composer = new RequestComposer({ destination, system, tools, blobs: stage.journal.blobs });
      composer.add(entries.slice(0, end));
      return composer.digest();
    };
    const remembered = entries.flatMap((entry, at) => (entry.type === "model" ? [[at, entry.prefix] as const] : []));
    expect(remembered).toHaveLength(4);
    for (const [at, prefix] of remembered) expect(prefix).toBe(digestUpTo(at));
  });

  it("emits the usage of every answer, and the totals", async () => {
    const stage = await openAgentStage({ script });
    const events = await playTurn(stage, "Please add.");
    const used = events.flatMap((event) => (event.type === "usage" ? [event] : []));
    expect(used.map(({ model, spent }) => [model, spent.requests, spent.cost > 0])).toEqual([
      ["anthropic/claude-sonnet-5", 1, true],
      ["anthropic/claude-sonnet-5", 2, true],
    ]);
    expect(stage.agent.usageTotals()).toEqual(used[1]?.spent);
    expect(used[1]?.spent.input).toBe((used[0]?.usage.input ?? 0) + (used[1]?.usage.input ?? 0));
  });

  it("runs one prompt at a time", async () => {
    const { agent, world } = await openAgentStage({ script });
    const first = agent.send("hello");
    await first.next();
    await expect(agent.send("hello").next()).rejects.toThrow(
      "A turn is running already. Queue a message, or cancel the turn.",
    );
    await expect(agent.compact()).rejects.toThrow("A turn is running already");
    await world.run(first.return());
    expect(agent.queueMessage("Are you there?")).toBe(false);
  });
});

describe("a message queued during a turn", () => {
  it("is sent after the running calls", async () => {
    const stage = await openAgentStage({ script });
    const events = await playTurn(
      stage,
      "Please do.",
      once(is("call-updated", "executing"), () => expect(stage.agent.queueMessage("Quickly!")).toBe(true)),
    );
    expect(describeEvents(events)).toEqual([
      "user: Please do.",
      "request 1 to anthropic",
      "hist_tool_1: do",
      "hist_tool_2: do",
      "hist_tool_2: complete: Did two.",
      "hist_tool_1: complete: Did one.",
      "user: Quickly!",
      "request 2 to anthropic",
      "text: Did both.",
      "finished stop: Did both.",
    ]);
    expect(describeEntries(stage.journal.ledger.entries)).toEqual([
      "user: Please do.",
      'anthropic: do({"what":"one","ms":1000}) | do({"what":"two"})',
      "hist_tool_2: complete: Did two.",
      "hist_tool_1: complete: Did one.",
      "user: Quickly!",
      "anthropic: Did both.",
    ]);
    await expectCommitted(stage);
  });

  it("during the last answer is answered in the same turn", async () => {
    const stage = await openAgentStage({ script });
    const events = await playTurn(
      stage,
      "hello",
      once(is("text"), () => stage.agent.queueMessage("and the last?")),
    );
    expect(describeEvents(events)).toEqual([
      "user: hello",
      "request 1 to anthropic",
      "text: Good day to you. How are you? I am well, thank you very much.",
      "user: and the last?",
      "request 2 to anthropic",
      "text: And the last.",
      "finished stop: And the last.",
    ]);
    await expectCommitted(stage);
  });

  it("when the last answer is complete but the turn has not ended is answered too", async () => {
    const stage = await openAgentStage({ script });
    const events = await playTurn(
      stage,
      "hello",
      once(is("message"), () => stage.agent.queueMessage("and the last?")),
    );
    expect(describeEvents(events).slice(-3)).toEqual([
      "request 2 to anthropic",
      "text: And the last.",
      "finished stop: And the last.",
    ]);
  });

  it("is refused once the turn has ended", async () => {
    const stage = await openAgentStage({ script });
    let taken: boolean | undefined;
    await playTurn(stage, "hello", (event) => {
      if (event.type === "finished") taken = stage.agent.queueMessage("and the last?");
    });
    expect(taken).toBe(false);
  });

  it("before a cancelled turn ended is the first message of the next", async () => {
    const stage = await openAgentStage({ script });
    await playTurn(
      stage,
      "Please wait.",
      once(is("call-updated", "executing"), () => {
        stage.agent.queueMessage("and the last?");
        void stage.agent.cancel();
      }),
    );
    const events = await playTurn(stage, "Well?");
    expect(describeEvents(events)).toEqual([
      "user: and the last?",
      "user: Well?",
      "request 2 to anthropic",
      "text: And the last.",
      "finished stop: And the last.",
    ]);
    await expectCommitted(stage);
  });
});

describe("a notice added during a turn", () => {
  it("is sent with the results of the running calls", async () => {
    const stage = await openAgentStage({ script });
    await playTurn(
      stage,
      "Please do.",
      once(is("call-updated", "executing"), () => stage.agent.addNotice("A file changed.")),
    );
    expect(describeEntries(stage.journal.ledger.entries).slice(2)).toEqual([
      "hist_tool_2: complete: Did two.",
      "hist_tool_1: complete: Did one.",
      "notice: A file changed.",
      "anthropic: Did both.",
    ]);
    await expectCommitted(stage);
  });

  it("causes no request: after the last answer it waits for the next prompt", async () => {
    const stage = await openAgentStage({ script });
    const events = await playTurn(
      stage,
      "hello",
      once(is("text"), () => stage.agent.addNotice("A file changed.")),
    );
    expect(describeEvents(events).filter((event) => event.startsWith("request"))).toHaveLength(1);
    await playTurn(stage, "and the last?");
    expect(describeEntries(stage.journal.ledger.entries).slice(2)).toEqual([
      "notice: A file changed.",
      "user: and the last?",
      "anthropic: And the last.",
    ]);
    await expectCommitted(stage);
  });
});

type Cancelled = {
  readonly when: string;
  readonly words: string;
  readonly at: (event: AgentEvent) => boolean;
  readonly faults?: AgentStageOptions["faults"];
  readonly mode?: "default";
  readonly left: readonly string[];
};

const cancellations: readonly Cancelled[] = [
  {
    when: "while the provider is silent",
    words: "hello",
    at: is("request"),
    faults: { anthropic: [{ on: 1, fault: { type: "never-answer" } }] },
    left: ["user: hello"],
  },
  {
    when: "while the answer streams",
    words: "hello",
    at: (event) => event.type === "text" && event.text.includes("you?"),
    faults: { anthropic: [{ on: 1, fault: { type: "drip", ms: 100 } }] },
    left: [
      "user: hello",
      "anthropic: Good day to you. How are you? I am well,",
      "notice: The person stopped the answer above before it was complete.",
    ],
  },
  {
    when: "while tools run",
    words: "Please wait.",
    at: (event) => event.type === "call-completed",
    left: [
      "user: Please wait.",
      'anthropic: add({"a":1,"b":1}) | wait({})',
      "hist_tool_1: complete: 2",
      "hist_tool_2: cancelled: The user cancelled this call while it ran.",
    ],
  },
  {
    when: "while an approval waits",
    words: "Please do.",
    at: is("call-updated", "awaiting_approval"),
    mode: "default",
    left: [
      "user: Please do.",
      'anthropic: do({"what":"one","ms":1000}) | do({"what":"two"})',
      "hist_tool_1: cancelled: The user cancelled this call before it ran.",
      "hist_tool_2: cancelled: The user cancelled this call before it ran.",
    ],
  },
  {
    when: "during retry backoff",
    words: "hello",
    at: is("retrying"),
    faults: { anthropic: [{ on: 1, fault: { type: "status", status: 429, headers: { "retry-after": "30" } } }] },
    left: ["user: hello"],
  },
];

describe("a turn that is cancelled", () => {
  it.each(cancellations)("$when ends there, and the next one continues", async ({ words, at, faults, mode, left }) => {
    const stage = await openAgentStage({ script, ...(faults && { faults }), ...(mode && { mode }) });
    let settled: readonly string[] | undefined;
    const events = await playTurn(
      stage,
      words,
      once(at, () => void stage.agent.cancel().then(() => (settled = describeEntries(stage.journal.ledger.entries)))),
    );
    expect(events.at(-1)).toEqual({ type: "cancelled" });
    // After cancel resolves, nothing more happens.
    expect(settled).toEqual(left);
    expect(describeEntries(stage.journal.ledger.entries)).toEqual(left);
    expect(stage.done).toEqual([]);
    await expectCommitted(stage);
    expect(describeEvents(await playTurn(stage, "and the last?")).at(-1)).toBe("finished stop: And the last.");
  });

  it("before it starts sends no request", async () => {
    const stage = await openAgentStage({ script });
    const events = await playTurn(stage, "hello", undefined, AbortSignal.abort());
    expect(describeEvents(events)).toEqual(["user: hello", "cancelled"]);
    expect(stage.simulators["anthropic"]?.log).toEqual([]);
    await expectCommitted(stage);
  });

  it("by leaving the event loop ends before another begins", async () => {
    const stage = await openAgentStage({ script });
    await stage.world.run(
      (async () => {
        for await (const event of stage.agent.send("Please wait.")) if (event.type === "call-completed") break;
      })(),
    );
    expect(describeEntries(stage.journal.ledger.entries).slice(-2)).toEqual([
      "hist_tool_1: complete: 2",
      "hist_tool_2: cancelled: This call was cancelled while it ran.",
    ]);
    expect(describeEvents(await playTurn(stage, "and the last?")).at(-1)).toBe("finished stop: And the last.");
    await expectCommitted(stage);
  });

  it("by an answer to an approval stops the batch and the turn", async () => {
    const stage = await openAgentStage({ script, mode: "default" });
    const events = await playTurn(
      stage,
      "Please do.",
      once(is("call-updated", "awaiting_approval"), () => stage.agent.decide("hist_tool_1", { type: "cancel" })),
    );
    expect(describeEvents(events).slice(-3)).toEqual([
      "hist_tool_1: cancelled: The user cancelled this call before it ran.",
      "hist_tool_2: cancelled: The user cancelled this call before it ran.",
      "cancelled",
    ]);
    expect(stage.done).toEqual([]);
  });
});

describe("an approval", () => {
  it("is answered once per call, and a refused call does not run", async () => {
    const stage = await openAgentStage({ script, mode: "default" });
    const events = await playTurn(stage, "Please do.", (event) => {
      if (!is("call-updated", "awaiting_approval")(event) || event.type !== "call-updated") return;
      stage.agent.decide(
        event.call,
        event.call === "hist_tool_1" ? { type: "refuse", reason: "Not that." } : { type: "once" },
      );
    });
    expect(describeEvents(events).slice(2)).toEqual([
      "hist_tool_1: do",
      "hist_tool_2: do",
      "hist_tool_1: cancelled: The user refused this call: Not that.",
      "hist_tool_2: complete: Did two.",
      "request 2 to anthropic",
      "text: Did both.",
      "finished stop: Did both.",
    ]);
    expect(stage.done).toEqual(["two"]);
  });

  it.each([["deny"], ["no"], [{}], [undefined], [null], [{ type: "yes" }]])(
    "answered with an invalid decision runs nothing: %j",
    async (answer) => {
      const stage = await openAgentStage({ script, mode: "default" });
      const events = await playTurn(stage, "Please do.", (event) => {
        if (event.type === "call-updated" && event.status.state === "awaiting_approval")
          stage.agent.decide(event.call, answer as never);
      });
      expect([stage.done, describeEvents(events).at(-1)]).toEqual([[], "finished stop: Did both."]);
    },
  );
});
