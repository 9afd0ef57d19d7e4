import { afterEach, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/conversation/json.ts";
import { openGateway } from "../../src/gateway/gateway.ts";
import { toFetchHandler } from "../../src/gateway/fetch-handler.ts";
import type { SealFile } from "../../src/gateway/seal-store.ts";
import { realWorld } from "../../src/world/real/world.ts";
import { everyKey } from "../support/exchange.ts";
import { environmentFor, serveSimulators, type ServedSimulators } from "../support/serve-simulators.ts";

/*
 * Clients of Chat Completions keep the text and the calls of a message, and drop the fields of reasoning (opencode and Qwen
 * Code do). The gateway keeps the seals of calls for them.
 */
const script = {
  rules: [
    {
      replies: [
        {
          think: "Two places.",
          say: "Looking.",
          call: [
            { tool: "look", input: { at: "a" } },
            { tool: "look", input: { at: "b" } },
          ],
        },
        { think: "One more.", call: [{ tool: "look", input: { at: "c" } }] },
        { say: "All seen." },
      ],
    },
  ],
};

let sims: ServedSimulators;
afterEach(() => sims.close());

const open = (sealFile?: SealFile): ((body: object) => Promise<Response>) => {
  const world = realWorld({ ...everyKey, ...environmentFor(sims.bases) });
  const handler = toFetchHandler(
    openGateway({ world, config: () => ({}), ...(sealFile === undefined ? {} : { sealFile }) }),
  );
  return (body) =>
    handler(
      new Request("http://gateway/v1/chat/completions", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      }),
    );
};

type Message = { content: string | null; tool_calls?: readonly { id: string }[] };

/** Runs a tool loop of a client that returns nothing but text and calls. */
const runLoop = async (model: string, gatewayFor: () => (body: object) => Promise<Response>): Promise<string> => {
  const messages: unknown[] = [{ role: "user", content: "Look everywhere." }];
  const parameters = { type: "object", properties: { at: { type: "string" } } };
  const tools = [{ type: "function", function: { name: "look", description: "Looks.", parameters } }];
  for (;;) {
    const response = await gatewayFor()({
      model,
      reasoning_effort: "medium",
      max_completion_tokens: 4000,
      tools,
      messages,
    });
    const body = (await response.json()) as { choices: readonly { message: Message }[] };
    expect([response.status, body]).toEqual([200, expect.objectContaining({ object: "chat.completion" })]);
    const { content, tool_calls: calls } = body.choices[0]!.message;
    if (calls === undefined) return content ?? "";
    messages.push({ role: "assistant", content, tool_calls: calls });
    for (const { id } of calls) messages.push({ role: "tool", tool_call_id: id, content: `seen ${id}` });
  }
};

const bodiesAt = (provider: string): readonly JsonObject[] =>
  sims.simulators[provider]!.log.filter(({ verdict }) => verdict === "accepted").map(({ body }) => body as JsonObject);

/** The messages of the model. Those of the user have cache points, which move. */
const modelMessagesIn = (body: JsonObject | undefined): readonly string[] =>
  ((body?.["messages"] ?? body?.["contents"] ?? body?.["input"] ?? []) as readonly unknown[])
    .map((message) => JSON.stringify(message))
    .filter((text) => /"role":"(assistant|model)"|"type":"(reasoning|function_call)"/.test(text));

const targets: readonly (readonly [target: string, first: RegExp])[] = [
  [
    "anthropic/claude-opus-5",
    /\[\{"type":"thinking","thinking":"Two places\.","signature":"[^"]{8,}"\},\{"type":"text"/,
  ],
  [
    "bedrock/us.anthropic.claude-opus-5",
    /\[\{"reasoningContent":\{"reasoningText":\{"text":"Two places\.","signature":"[^"]{8,}"/,
  ],
  ["openai/gpt-5.6", /"type":"reasoning".*"encrypted_content":"[^"]{8,}".*"Looking\."/],
  ["google/gemini-3.1-pro-preview", /"thoughtSignature":"(?!skip_|context_)[\w+/=-]{12,}"/],
  ["openrouter/anthropic/claude-opus-5", /"reasoning_details":\[\{[^\]]*"signature":"[^"]{8,}"/],
  ["deepseek/deepseek-v4-pro", /"reasoning_content":"Two places\."/],
];

describe.each(targets)("a Chat Completions client that drops reasoning, at %s", (target, seal) => {
  const provider = target.split("/")[0] ?? "";

  it("gets a loop in which the target sees its thinking again, and every prefix stays", async () => {
    sims = await serveSimulators({ script });
    const gateway = open();
    expect(await runLoop(target, () => gateway)).toBe("All seen.");
    const bodies = bodiesAt(provider);
    expect(bodies).toHaveLength(3);
    expect(JSON.stringify(bodies[2])).toMatch(seal);
    expect(JSON.stringify(bodies)).not.toContain("parley1/");
    const [, second, third] = bodies.map(modelMessagesIn);
    expect(third?.slice(0, second?.length)).toEqual(second);
    expect(sims.simulators[provider]!.log.flatMap((entry) => ("dropped" in entry ? entry.dropped : []))).toEqual([]);
  });

  it("sends the same bytes after a restart with a file, and a valid request without one", async () => {
    sims = await serveSimulators({ script });
    let text = "";
    const file: SealFile = {
      read: () => text,
      append: (more) => (text += more),
      replace: (all) => (text = all),
    };
    expect(await runLoop(target, () => open(file))).toBe("All seen.");
    expect(JSON.stringify(bodiesAt(provider)[2])).toMatch(seal);
    const [, second, third] = bodiesAt(provider).map(modelMessagesIn);
    expect(third?.slice(0, second?.length)).toEqual(second);
    expect(await runLoop(target, () => open())).toBe("All seen.");
  });
});
