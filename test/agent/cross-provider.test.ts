import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Agent } from "../../src/agent/agent.ts";
import { createAgent } from "../../src/agent/create-agent.ts";
import { singleModelPool } from "../../src/agent/models/choose.ts";
import type { AgentEvent } from "../../src/agent/events.ts";
import { Journal } from "../../src/agent/session/journal.ts";
import { parseModel } from "../../src/agent/models/parse.ts";
import { isObject, type JsonObject } from "../../src/conversation/json.ts";
import { destinationOf } from "../../src/providers/find.ts";
import { listSimulatedProviders } from "../../src/sim/registry.ts";
import type { LogEntry } from "../../src/sim/request-log.ts";
import type { Script } from "../../src/sim/model/script.ts";
import { realWorld } from "../../src/world/real/world.ts";
import { failTool, pictureTool, createTestScheduler } from "../support/agent-tools.ts";
import { serveSimulators, type ServedSimulators } from "../support/serve-simulators.ts";
import { testedProviders } from "../support/tested-providers.ts";
import { sampleCases } from "../support/tier.ts";

/*
 * The whole agent over real HTTP: one session that does a task with parallel calls, an image, an error and a cancelled
 * batch on one provider, and then switches to every other, is compacted, and resumed.
 */

const script: Script = {
  rules: [
    { prompt: "too long", replies: [{ say: "## Goal\nTo test.\n## Done\nA sum, a picture, a failure." }] },
    { prompt: "again", replies: [{ call: { tool: "add", input: { a: 2, b: 2 } } }, { say: "Four." }] },
    {
      prompt: "work",
      replies: [
        {
          think: "I look at everything at once.",
          say: "Looking.",
          call: [
            { tool: "add", input: { a: 1, b: 2 } },
            { tool: "picture", input: {} },
            { tool: "fails", input: {} },
          ],
        },
        { say: "One sum, one picture, one failure." },
      ],
    },
    {
      prompt: "hang",
      replies: [
        {
          call: [
            { tool: "add", input: { a: 5, b: 5 } },
            { tool: "wait", input: {} },
          ],
        },
        { say: "Never said." },
      ],
    },
  ],
};

let served: ServedSimulators;
beforeAll(async () => {
  served = await serveSimulators({ script });
});
afterAll(() => served.close());

const ids = listSimulatedProviders();

const agentWith = (journal: Journal, provider: string): Agent => {
  const world = realWorld();
  const { scheduler, declarations } = createTestScheduler(world, [pictureTool, failTool]);
  return createAgent({
    clock: world.clock,
    transport: served.transport,
    journal,
    prefix: { system: "Be brief.", tools: declarations },
    pool: singleModelPool(parseModel(provider)),
    openScheduler: async () => scheduler,
  });
};

const all = async (events: AsyncIterable<AgentEvent>): Promise<readonly AgentEvent[]> => {
  const seen: AgentEvent[] = [];
  for await (const event of events) seen.push(event);
  return seen;
};

const ends = async (agent: Agent, words: string): Promise<AgentEvent | undefined> =>
  (await all(agent.send(words))).at(-1);

const hang = async (agent: Agent): Promise<AgentEvent | undefined> => {
  let last: AgentEvent | undefined;
  for await (const event of agent.send("Please hang.")) {
    last = event;
    if (event.type === "call-updated" && event.status.state === "executing" && event.status.title === "wait")
      void agent.cancel();
  }
  return last;
};

/** The conversation requests a simulator accepted since a position in its log. */
const since = (provider: string, from: number): readonly LogEntry[] =>
  (served.simulators[provider]?.log ?? []).slice(from).filter(({ body }) => body !== undefined);

const lengths = (): ReadonlyMap<string, number> =>
  new Map(ids.map((id) => [id, served.simulators[id]?.log.length ?? 0]));

const messagesIn = (provider: string, { body }: LogEntry): readonly string[] => {
  if (!isObject(body)) throw new Error("A request without a body.");
  return destinationOf(provider)
    .wire.extractMessages(body as JsonObject)
    .map((message) => JSON.stringify(message));
};

describe.each(sampleCases(testedProviders, 3))("a session that starts on %s", (home) => {
  it("switches to every other provider and back, is compacted and resumed in another process, and no request is refused", async () => {
    const start = lengths();
    const log: unknown[] = [];
    const journal = new Journal({
      append: async (records) => void log.push(...structuredClone(records)),
      storeBlobs: async () => undefined,
    });
    const agent = agentWith(journal, home);
    expect(await ends(agent, "Please work.")).toEqual({
      type: "finished",
      reason: "stop",
      text: "One sum, one picture, one failure.",
    });
    expect(await hang(agent)).toEqual({ type: "cancelled" });
    const before = since(home, start.get(home) ?? 0).map((entry) => messagesIn(home, entry));
    for (const other of ids) {
      if (other === home) continue;
      await agent.switchModel(singleModelPool(parseModel(other)));
      expect(await ends(agent, "Once again."), other).toMatchObject({ type: "finished", text: "Four." });
    }
    await agent.switchModel(singleModelPool(parseModel(home)));
    expect(await ends(agent, "Once again.")).toMatchObject({ type: "finished", text: "Four." });
    const requests = since(home, start.get(home) ?? 0).map((entry) => messagesIn(home, entry));
    for (const [index, request] of before.entries())
      expect(requests[index + 1]?.slice(0, request.length)).toEqual(request);

    expect(await agent.compact()).toBe(true);
    expect(await ends(agent, "Once again.")).toMatchObject({ type: "finished", text: "Four." });
    const resumed = agentWith(new Journal(undefined, { entries: journal.ledger.entries, blobs: journal.blobs }), home);
    expect(await ends(resumed, "Once again.")).toMatchObject({ type: "finished", text: "Four." });
    const refused = ids.flatMap((id) => since(id, start.get(id) ?? 0).filter(({ verdict }) => verdict === "refused"));
    expect(refused).toEqual([]);
    // Entries replaced by the summary are released from memory; the log keeps them.
    expect(log.filter((record) => isObject(record) && record["kind"] === "entry")).toHaveLength(
      journal.ledger.dropped + journal.ledger.entries.length,
    );
  });
});
