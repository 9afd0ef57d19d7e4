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

/** Request handlers of the agent of a stage. */
const open = async (
  given: ServerRequestHandlers,
  options: AgentStageOptions = {},
  limit = Number.POSITIVE_INFINITY,
): Promise<
  AgentStage & { readonly notices: string[]; readonly handlers: ReturnType<typeof createServerRequestHandlers> }
> => {
  const notices: string[] = [];
  const stage = await openAgentStage({
    script,
    ...options,
    agent: { onEvent: (event) => void (event.type === "notice" && notices.push(event.text)) },
  });
  return {
    ...stage,
    notices,
    handlers: createServerRequestHandlers(given, { agent: Promise.resolve(stage.agent), limit }),
  };
};

const { signal } = new AbortController();
const bodies = ({ simulators }: AgentStage): readonly unknown[] =>
  simulators["anthropic"]?.log.map((entry) => entry.body) ?? [];

describe("a sampling request of an MCP server", () => {
  it("is answered by one request that holds its messages and nothing else, and its usage is counted", async () => {
    const stage = await open({ sample: async () => "allowed" });
    const { world, handlers, agent, notices, journal } = stage;
    expect(await world.run(handlers.sample!(request, signal))).toEqual({
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
    expect([journal.ledger.entries, notices]).toEqual([
      [],
      [`The MCP server parrot was answered by anthropic/${agent.model().model}.`],
    ]);
  });

  it("gets fewer tokens if it asks for fewer, and learns that the answer was cut short", async () => {
    const stage = await open({ sample: async () => "allowed" });
    const given = await stage.world.run(stage.handlers.sample!({ ...request, maxTokens: 2 }, signal));
    expect([given, bodies(stage)]).toEqual([
      expect.objectContaining({ isTruncated: true }),
      [expect.objectContaining({ max_tokens: 2 })],
    ]);
  });

  it("gets the person's refusal, or the person's own answer, without any request", async () => {
    const refused = await open({ sample: async () => "refused" });
    const own = await open({ sample: async () => ({ model: "me", text: "Mine." }) });
    expect([
      await refused.handlers.sample!(request, signal),
      await own.handlers.sample!(request, signal),
      bodies(refused),
      bodies(own),
    ]).toEqual(["refused", { model: "me", text: "Mine." }, [], []]);
  });

  it("is refused once the spending limit is reached", async () => {
    const stage = await open({}, {}, 0);
    expect([await stage.handlers.sampleWithoutAsking!(request, signal), stage.notices, bodies(stage)]).toEqual([
      "refused",
      ["The MCP server parrot was refused an answer: the spending limit of the session is reached (limits.spend)."],
      [],
    ]);
  });

  it("learns that the model failed, but not why; the person does", async () => {
    const faults = { anthropic: [{ fault: { type: "status" as const, status: 401 } }] };
    const stage = await open({ sample: async () => "allowed" }, { faults });
    const failed = stage.world.run(stage.handlers.sample!(request, signal));
    await expect(failed).rejects.toThrow(/^The model gave no answer\.$/);
    expect(stage.notices).toEqual([expect.stringMatching(/^The MCP server parrot got no answer\. .*key/s)]);
  });
});

describe("an MCP server in a session without a person", () => {
  it("learns which requests are not supported, and a notice says what it asked for", async () => {
    const { handlers, notices } = await open({});
    handlers.onUnsupported?.("par\u001b[2Jrot", "elicitation");
    handlers.onUnsupported?.("parrot", "sampling");
    await Promise.resolve();
    expect([Object.keys(handlers), notices]).toEqual([
      ["sampleWithoutAsking", "onUnsupported"],
      [
        "The MCP server par␛[2Jrot asked a question. There is no person to ask, so it was refused.",
        "The MCP server parrot asked to use a model. There is no person to ask, so it was refused.",
      ],
    ]);
  });
});
