import { beforeAll, describe, expect, it } from "vitest";
import { parseModel } from "../../src/agent/models/parse.ts";
import type { SimFault } from "../../src/sim/faults/fault.ts";
import type { Script } from "../../src/sim/model/script.ts";
import { openAgentStage, playTurn, type AgentStage } from "../support/agent-stage.ts";
import { describeEvents, describeEntries } from "../support/agent-describe.ts";
import { warmUp } from "../support/agent-warm.ts";

beforeAll(warmUp);

const script: Script = {
  rules: [
    { prompt: "never", replies: [{ parts: [] }] },
    { prompt: "answer was empty", replies: [{ say: "Something after all." }] },
    { prompt: "nothing", replies: [{ parts: [] }] },
    { prompt: "could not be read", replies: [{ say: "Now it can be read." }] },
    { prompt: "unreadable", replies: [{ parts: [], finish: "malformed" }] },
    {
      prompt: "too much",
      replies: [
        {
          say: "So many.",
          call: [
            { tool: "do", input: { what: "one" } },
            { tool: "do", input: { what: "two" } },
          ],
          finish: "length",
        },
        { say: "Fewer then." },
      ],
    },
    {
      prompt: "wrong",
      replies: [
        {
          call: [
            { tool: "ad", input: { a: 1, b: 2 } },
            { tool: "add", input: { a: "one" } },
            { tool: "add", input: { a: 1, b: 2 } },
          ],
        },
        { say: "One of three." },
      ],
    },
    { prompt: "hello", replies: [{ say: "Good day to you. How are you? I am well, thank you very much." }] },
  ],
};

const remarksOf = async ({ session }: AgentStage): Promise<readonly string[]> => {
  const list: string[] = [];
  for await (const { record } of session.records())
    if (record.kind === "model") list.push(`${record.provider}: ${record.reason ?? ""}`);
  return list;
};

const both = { providers: ["anthropic", "openai"], script } as const;
const always = (fault: SimFault) => ({ anthropic: [{ fault }] });

describe("when a provider fails", () => {
  it.each([
    { what: "overloaded", fault: { type: "status", status: 529 } as const },
    { what: "rate-limited", fault: { type: "status", status: 429 } as const },
    { what: "quota-gone", fault: { type: "status", status: 429, kind: "quota" } as const },
    { what: "bad-key", fault: { type: "status", status: 401 } as const },
    { what: "network", fault: { type: "refuse-connection" } as const },
  ])("the next one of the pool takes over: $what", async ({ what, fault }) => {
    const stage = await openAgentStage({ ...both, faults: always(fault) });
    const events = describeEvents(await playTurn(stage, "hello")).filter(
      (line) => !line.startsWith("retrying") && line !== "request 1 to anthropic",
    );
    expect(events).toEqual([
      "user: hello",
      `anthropic -> openai: ${what}`,
      "request 2 to openai",
      "text: Good day to you. How are you? I am well, thank you very much.",
      "finished stop: Good day to you. How are you? I am well, thank you very much.",
    ]);
    expect(await remarksOf(stage)).toEqual(["openai: failover"]);
    expect(describeEntries(stage.journal.ledger.entries)).toEqual([
      "user: hello",
      "openai: Good day to you. How are you? I am well, thank you very much.",
    ]);
  });

  it("returns to the first of the pool after its cooldown", async () => {
    const stage = await openAgentStage({
      ...both,
      faults: { anthropic: [{ on: 1, fault: { type: "status", status: 401 } }] },
    });
    await playTurn(stage, "hello");
    expect(describeEvents(await playTurn(stage, "hello"))[1]).toBe("request 3 to openai");
    await stage.world.run(stage.world.clock.sleep(60_000));
    expect(describeEvents(await playTurn(stage, "hello")).slice(0, 3)).toEqual([
      "openai -> anthropic: recovered",
      "user: hello",
      "request 4 to anthropic",
    ]);
    expect(await remarksOf(stage)).toEqual(["openai: failover", "anthropic: recovered"]);
  });

  it("and there is no other model, the turn fails with the provider's failure", async () => {
    const stage = await openAgentStage({ script, faults: always({ type: "status", status: 401 }) });
    expect(describeEvents(await playTurn(stage, "hello"))).toEqual([
      "user: hello",
      "request 1 to anthropic",
      "failed bad-key",
    ]);
    expect(describeEntries(stage.journal.ledger.entries)).toEqual(["user: hello"]);
  });

  it("with a refusal, no other model gets the request", async () => {
    const stage = await openAgentStage({ ...both, faults: always({ type: "status", status: 400, message: "No." }) });
    expect(describeEvents(await playTurn(stage, "hello"))).toEqual([
      "user: hello",
      "request 1 to anthropic",
      "failed refused",
    ]);
    expect(stage.simulators["openai"]?.log).toEqual([]);
  });

  it("in the middle of an answer, the request is sent again and the partial answer discarded", async () => {
    const stage = await openAgentStage({
      ...both,
      faults: { anthropic: [{ on: [1, 2], fault: { type: "stream-error", after: 5 } }] },
    });
    const events = describeEvents(await playTurn(stage, "hello"));
    expect(events).toEqual([
      "user: hello",
      "request 1 to anthropic",
      "text: Good day to you.",
      "retrying after overloaded, discarded",
      "request 2 to anthropic",
      "text: Good day to you.",
      "retrying after overloaded, discarded",
      "request 3 to anthropic",
      "text: Good day to you. How are you? I am well, thank you very much.",
      "finished stop: Good day to you. How are you? I am well, thank you very much.",
    ]);
    expect(describeEntries(stage.journal.ledger.entries)).toHaveLength(2);
  });

  it("repeatedly in the middle of its answers, another model takes over; without another, the partial answer is kept", async () => {
    const cuts = always({ type: "stream-error", after: 5 });
    const stage = await openAgentStage({ ...both, faults: cuts });
    expect(describeEvents(await playTurn(stage, "hello")).slice(-5)).toEqual([
      "retrying after overloaded, discarded",
      "anthropic -> openai: overloaded",
      "request 4 to openai",
      "text: Good day to you. How are you? I am well, thank you very much.",
      "finished stop: Good day to you. How are you? I am well, thank you very much.",
    ]);
    const alone = await openAgentStage({ script, faults: cuts });
    expect(describeEvents(await playTurn(alone, "hello")).slice(-2)).toEqual([
      "text: Good day to you.",
      "failed overloaded",
    ]);
    expect(describeEntries(alone.journal.ledger.entries)).toEqual([
      "user: hello",
      "anthropic: Good day to you.",
      "notice: The connection broke before the answer above was complete.",
    ]);
  });
});

describe("a round-robin pool", () => {
  it("uses the next model for every turn, and emits the change", async () => {
    const stage = await openAgentStage({ ...both, strategy: "round-robin" });
    const turns = [await playTurn(stage, "hello"), await playTurn(stage, "hello"), await playTurn(stage, "hello")];
    expect(turns.map((events) => describeEvents(events).slice(0, -2))).toEqual([
      ["user: hello", "request 1 to anthropic"],
      ["anthropic -> openai: round-robin", "user: hello", "request 2 to openai"],
      ["openai -> anthropic: round-robin", "user: hello", "request 3 to anthropic"],
    ]);
    expect(await remarksOf(stage)).toEqual(["openai: round-robin", "anthropic: round-robin"]);
  });
});

describe("a model switched during a response", () => {
  const pool = { models: both.providers.map(parseModel), strategy: "failover", cooldown: 60_000 } as const;

  it("gets the next request; the answer is recorded for the model that gave it", async () => {
    const stage = await openAgentStage(both);
    const events = await playTurn(stage, "hello", (event) => {
      if (event.type === "request" && event.request.number === 1)
        void stage.agent.switchModel(pool, parseModel("openai"));
    });
    const [used] = events.filter((event) => event.type === "usage");
    expect(used?.model).toBe("anthropic/claude-sonnet-5");
    expect(describeEntries(stage.journal.ledger.entries)[1]).toMatch(/^anthropic: Good day/);
    expect(describeEvents(await playTurn(stage, "hello"))[1]).toBe("request 2 to openai");
    expect(await remarksOf(stage)).toEqual(["openai: requested"]);
  });

  it("takes over if the one before it fails", async () => {
    const stage = await openAgentStage({ ...both, faults: always({ type: "status", status: 401 }) });
    const events = await playTurn(stage, "hello", (event) => {
      if (event.type === "request" && event.request.number === 1)
        void stage.agent.switchModel(pool, parseModel("openai"));
    });
    expect(describeEvents(events)).toEqual([
      "user: hello",
      "request 1 to anthropic",
      "anthropic -> openai: requested",
      "request 2 to openai",
      "text: Good day to you. How are you? I am well, thank you very much.",
      "finished stop: Good day to you. How are you? I am well, thank you very much.",
    ]);
  });
});

describe("an unusable answer", () => {
  it("that is empty is requested again, with a notice", async () => {
    const stage = await openAgentStage({ script });
    expect(describeEvents(await playTurn(stage, "Say nothing.")).at(-1)).toBe("finished stop: Something after all.");
    expect(describeEntries(stage.journal.ledger.entries)).toEqual([
      "user: Say nothing.",
      "notice: Your last answer was empty. Answer, or call a tool.",
      "anthropic: Something after all.",
    ]);
  });

  it("with an unreadable call is requested again, with a notice", async () => {
    const stage = await openAgentStage({ providers: ["google"], script });
    expect(describeEvents(await playTurn(stage, "unreadable")).at(-1)).toBe("finished stop: Now it can be read.");
    expect(describeEntries(stage.journal.ledger.entries)[1]).toBe(
      "notice: Your last tool call could not be read. Make it again, with arguments that are valid JSON.",
    );
  });

  it("three times in a row ends the turn", async () => {
    const stage = await openAgentStage({ script });
    expect(describeEvents(await playTurn(stage, "Say never."))).toEqual([
      "user: Say never.",
      "request 1 to anthropic",
      "request 2 to anthropic",
      "request 3 to anthropic",
      "failed no-answer",
    ]);
  });

  it("that reached its length limit has its calls completed without being run", async () => {
    const stage = await openAgentStage({ script });
    const cut =
      "This call was not run: the answer that holds it reached its length limit. Make fewer or smaller calls in one answer.";
    expect(describeEvents(await playTurn(stage, "too much"))).toEqual([
      "user: too much",
      "request 1 to anthropic",
      "text: So many.",
      "hist_tool_1: do",
      "hist_tool_2: do",
      `hist_tool_1: error: ${cut}`,
      `hist_tool_2: error: ${cut}`,
      "request 2 to anthropic",
      "text: Fewer then.",
      "finished stop: Fewer then.",
    ]);
    expect(stage.done).toEqual([]);
  });
});

describe("an invalid call", () => {
  it.each(["anthropic", "openai", "openai-chat"])("gets an error result, and the others run (%s)", async (provider) => {
    const stage = await openAgentStage({ providers: [provider], script });
    const events = describeEvents(await playTurn(stage, "wrong"));
    expect(events.slice(-6).map((line) => line.split("\n")[0])).toEqual([
      expect.stringMatching(/^hist_tool_1: error: There is no tool "ad"\. Did you mean add/),
      "hist_tool_2: error: The arguments of add do not fit:",
      "hist_tool_3: complete: 3",
      `request 2 to ${provider}`,
      "text: One of three.",
      "finished stop: One of three.",
    ]);
  });
});
