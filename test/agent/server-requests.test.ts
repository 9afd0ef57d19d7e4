import { beforeAll, describe, expect, it } from "vitest";
import { createServerRequestHandlers, type ServerRequestHandlers } from "../../src/agent/mcp/server-requests.ts";
import type { SamplingRequest } from "../../src/mcp/requests/handlers.ts";
import { openAgentStage, type AgentStage, type AgentStageOptions } from "../support/agent-stage.ts";
import { warmUp } from "../support/agent-warm.ts";

beforeAll(warmUp);

/** One red pixel. */
const picture = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

const request: SamplingRequest = {
  server: "parrot",
  system: "Be a pirate.",
  messages: [
    { role: "user", content: { type: "text", text: "What is this?" } },
    { role: "assistant", content: { type: "text", text: "Show me." } },
    {
      role: "user",
      content: [
        { type: "image", data: picture, mimeType: "image/png" },
        { type: "audio", data: "AAAA", mimeType: "audio/wav" },
        { type: "tool_use", name: "x" },
      ],
    },
  ],
  maxTokens: 1_000_000,
  raw: { temperature: 0.5, includeContext: "allServers", modelPreferences: { hints: [{ name: "other" }] } },
};

const script = { rules: [], otherwise: { say: "Arr, a pixel." } };

/** Servers answered by the agent of a stage. */
const open = async (
  asking: ServerRequestHandlers,
  options: AgentStageOptions = {},
  limit = Number.POSITIVE_INFINITY,
): Promise<
  AgentStage & { readonly told: string[]; readonly asked: ReturnType<typeof createServerRequestHandlers> }
> => {
  const told: string[] = [];
  const stage = await openAgentStage({
    script,
    ...options,
    agent: { onEvent: (event) => void (event.type === "notice" && told.push(event.text)) },
  });
  return { ...stage, told, asked: createServerRequestHandlers(asking, { agent: Promise.resolve(stage.agent), limit }) };
};

const { signal } = new AbortController();
const bodies = ({ simulators }: AgentStage): readonly unknown[] =>
  simulators["anthropic"]?.log.map((entry) => entry.body) ?? [];

describe("a server that may have a model's words", () => {
  it("gets them from one request that holds what it sent and nothing else, and they are counted", async () => {
    const stage = await open({ sample: async () => "allowed" });
    const { world, asked, agent, told, journal } = stage;
    expect(await world.run(asked.sample!(request, signal))).toEqual({
      model: expect.stringMatching(/^anthropic\//) as string,
      text: "Arr, a pixel.",
    });
    const [body] = bodies(stage) as readonly { messages: unknown[]; max_tokens: number; tools?: unknown }[];
    expect(bodies(stage).length).toBe(1);
    expect(body).toMatchObject({ max_tokens: 8192, stream: true });
    expect(JSON.stringify(body)).toContain("Be a pirate.");
    expect(body?.tools ?? []).toEqual([]);
    expect(body?.messages).toEqual([
      { role: "user", content: [{ type: "text", text: "What is this?" }] },
      { role: "assistant", content: [{ type: "text", text: "Show me." }] },
      {
        role: "user",
        content: [
          { type: "image", source: { type: "base64", media_type: "image/png", data: picture } },
          { type: "text", text: expect.stringContaining("audio/wav") as string },
          { type: "text", text: '[A piece of the kind "tool_use", which cannot be passed on.]' },
        ],
      },
    ]);
    expect([agent.usageTotals().requests, agent.usageTotals().output > 0, agent.usageTotals().cost > 0]).toEqual([
      1,
      true,
      true,
    ]);
    expect([journal.ledger.entries, told]).toEqual([
      [],
      [`The MCP server parrot was answered by anthropic/${agent.model().model}.`],
    ]);
  });

  it("gets fewer tokens where it asks for fewer, and is told when the words were cut", async () => {
    const stage = await open({ sample: async () => "allowed" });
    const given = await stage.world.run(stage.asked.sample!({ ...request, maxTokens: 2 }, signal));
    expect([given, bodies(stage)]).toEqual([
      expect.objectContaining({ isCut: true }),
      [expect.objectContaining({ max_tokens: 2 })],
    ]);
  });

  it("gets the person's no, or words of somebody else's, without any request", async () => {
    const refused = await open({ sample: async () => "refused" });
    const own = await open({ sample: async () => ({ model: "me", text: "Mine." }) });
    expect([
      await refused.asked.sample!(request, signal),
      await own.asked.sample!(request, signal),
      bodies(refused),
      bodies(own),
    ]).toEqual(["refused", { model: "me", text: "Mine." }, [], []]);
  });

  it("gets none once the session has cost what it may", async () => {
    const stage = await open({}, {}, 0);
    expect([await stage.asked.sampleWithoutAsking!(request, signal), stage.told, bodies(stage)]).toEqual([
      "refused",
      ["The MCP server parrot was refused an answer: the session has cost as much as it may."],
      [],
    ]);
  });

  it("hears that the model failed, but not how; the person does", async () => {
    const faults = { anthropic: [{ fault: { type: "status" as const, status: 401 } }] };
    const stage = await open({ sample: async () => "allowed" }, { faults });
    const failed = stage.world.run(stage.asked.sample!(request, signal));
    await expect(failed).rejects.toThrow(/^The model gave no answer\.$/);
    expect(stage.told).toEqual([expect.stringMatching(/^The MCP server parrot got no answer\. .*key/s)]);
  });
});

describe("a server that nobody answers", () => {
  it("is told so beforehand, unless it may have words unasked, and the person hears that it asked", async () => {
    const { asked, told } = await open({});
    asked.onUnsupported?.("par\u001b[2Jrot", "elicitation");
    asked.onUnsupported?.("parrot", "sampling");
    await Promise.resolve();
    expect([Object.keys(asked), told]).toEqual([
      ["sampleUnasked", "unanswered"],
      [
        "The MCP server par␛[2Jrot asked a question, and nobody is there to be asked.",
        "The MCP server parrot asked for the words of a model, and nobody is there to be asked.",
      ],
    ]);
  });
});
