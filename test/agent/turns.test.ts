import { describe, expect, it } from "vitest";
import { createAgent, type Agent, type AgentOptions } from "../../src/agent/agent.ts";
import type { AgentEvent } from "../../src/agent/events.ts";
import { Journal } from "../../src/agent/journal.ts";
import { parseModel } from "../../src/agent/model-ref.ts";
import type { Call } from "../../src/conversation/index.ts";
import type { Script } from "../../src/sim/index.ts";
import { stage, type Stage } from "../support/exchange.ts";
import { simpleTools } from "../support/agent-tools.ts";

const agentOn = (
  { transport, world, provider }: Stage,
  options: Partial<AgentOptions> = {},
): Agent & { journal: Journal } => {
  const journal = options.journal ?? new Journal();
  const { scheduler, declarations } = simpleTools(world);
  return {
    journal,
    ...createAgent({
      clock: world.clock,
      transport,
      journal,
      head: { system: "Be brief.", tools: declarations },
      pool: { models: [parseModel(provider.id)], strategy: "failover", cooldown: 60_000 },
      tools: async () => scheduler,
      ...options,
    }),
  };
};

const all = async (events: AsyncIterable<AgentEvent>): Promise<AgentEvent[]> => {
  const seen: AgentEvent[] = [];
  for await (const event of events) seen.push(event);
  return seen;
};

const two: Script = {
  rules: [
    {
      asked: "add",
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
  ],
};

describe("a turn", () => {
  it.each(["anthropic", "google", "openai", "openai-chat", "bedrock"])(
    "runs the calls of %s as a batch and ends when the model stops",
    async (provider) => {
      const here = stage(provider, { script: two });
      const agent = agentOn(here);
      const events = await here.world.run(all(agent.send("Please add.")));
      const kinds = events.map(({ type }) => type).filter((type) => type !== "call-updated" && type !== "thought");
      expect(kinds).toEqual([
        "user",
        "request",
        "message",
        "usage",
        "call-requested",
        "call-requested",
        "call-completed",
        "call-completed",
        "request",
        "text",
        "message",
        "usage",
        "finished",
      ]);
      expect(events.at(-1)).toEqual({ type: "finished", reason: "stop", text: "They are 3 and 7." });
      expect(here.simulator.log.map(({ status }) => status)).toEqual([200, 200]);
      expect(agent.journal.ledger.pending()).toEqual([] satisfies Call[]);
    },
  );
});
