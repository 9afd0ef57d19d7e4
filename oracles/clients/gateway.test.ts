import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { openGateway } from "../../src/gateway/gateway.ts";
import { serveGateway, type RunningGateway } from "../../src/gateway/serve.ts";
import { lint } from "../../src/rules/lint.ts";
import { realWorld } from "../../src/world/real/world.ts";
import { everyKey } from "../../test/support/exchange.ts";
import { environmentFor, serveSimulators, type ServedSimulators } from "../../test/support/serve-simulators.ts";
import { checkResponse } from "../check.ts";
import { openAnthropic, openAnthropic2023 } from "./anthropic.ts";
import { differences } from "./differences.ts";
import type { ClientTurn, OpenClient } from "./client.ts";
import { openGemini, openGeminiChat } from "./gemini.ts";
import { openGroq } from "./groq.ts";
import { openMistral, openMistralWithEffort } from "./mistral.ts";
import { openChat, openCompatible } from "./openai-chat.ts";
import { openResponses } from "./openai-responses.ts";
import { openOpenRouter } from "./openrouter.ts";
import { modelOutput, picture, question, script } from "./scene.ts";
import { withServer } from "./server.ts";

/*
 * The vendors' clients run their scene through the gateway, at a target of every API family: thinking, text and two calls,
 * their results with an image, the final text. The simulators refuse what the vendor would refuse.
 */

/** The clients, the path of their API at the gateway, and the types every event of a response must match. */
const clients: readonly (readonly [string, OpenClient, string, string])[] = [
  ["Anthropic", openAnthropic, "", "anthropic-2026-10-21"],
  ["Anthropic, version 2023-06-01", openAnthropic2023, "", "anthropic"],
  ["OpenAI Responses", openResponses, "/v1", "openai"],
  ["OpenAI chat", openCompatible("reasoning_content", { reasoning_effort: "medium" }), "/v1", "deepseek"],
  ["OpenRouter", openOpenRouter, "/v1", "openrouter"],
  ["Groq", openGroq({ thinks: true, sees: true }), "", "groq"],
  ["Mistral", openMistralWithEffort, "", "mistral"],
  ["Gemini", openGemini, "", "google"],
  ["Gemini chat", openGeminiChat, "", "google"],
];

const targets: readonly string[] = [
  "anthropic/claude-opus-5",
  "google/gemini-3.1-pro-preview",
  "openai/gpt-5.6",
  "bedrock/us.anthropic.claude-opus-5",
  "openrouter/anthropic/claude-opus-5",
  "kimi/kimi-k3",
];

let simulators: ServedSimulators;
let gateway: RunningGateway;
let target = "";
/** The bodies of the gateway's responses, as they were sent. */
const sent: string[] = [];

beforeAll(async () => {
  vi.spyOn(console, "warn").mockReturnValue();
  simulators = await serveSimulators({ script, now: () => Date.UTC(2026, 10, 15) });
  const world = realWorld({ ...everyKey, ...environmentFor(simulators.bases) });
  const inner = openGateway({ world, config: () => ({ routes: [{ to: target }] }) });
  gateway = await serveGateway({
    ...inner,
    handle: async (request) => {
      const response = await inner.handle(request);
      const { body } = response;
      if (typeof body === "string" || body instanceof Uint8Array) return response;
      const at = sent.push("") - 1;
      const chunks = (async function* () {
        for await (const chunk of body.chunks) {
          sent[at] += typeof chunk === "string" ? chunk : Buffer.from(chunk).toString();
          yield chunk;
        }
      })();
      return { ...response, body: { ...body, chunks } };
    },
  });
});
afterAll(async () => {
  await gateway.close();
  await simulators.close();
  vi.restoreAllMocks();
});

describe.each(clients)("the client of %s, through the gateway", (_name, open, path, types) => {
  it.each(targets)("completes the scene at %s", async (to) => {
    target = to;
    const { log } = simulators.simulators[to.split("/")[0] ?? ""]!;
    const before = log.length;
    sent.length = 0;
    const turns = await open({ origin: gateway.url, base: gateway.url + path }, "some-model").loop();
    const entries = log.slice(before);

    expect(entries.map(({ verdict }) => verdict)).toEqual(["accepted", "accepted"]);
    expect(turns.map(contentOf)).toEqual([
      { thought: modelOutput.thought, text: modelOutput.words, calls: modelOutput.calls },
      { thought: "", text: modelOutput.end, calls: [] },
    ]);
    const [, last] = entries;
    expect(last?.verdict === "accepted" && last.usage?.inputBy.image).toBe(picture.tokens);
    expect(last?.verdict === "accepted" && (last.dropped ?? [])).toEqual([]);
    // Every event has the form that the vendor's own types give it.
    const events = sent.flatMap(eventsIn);
    expect(events.length).toBeGreaterThan(4);
    const extra = extraFields[types];
    const checked = extra === undefined ? events : events.map((event) => withoutFields(event, extra));
    expect(checked.flatMap((event) => checkResponse(types, "event", event))).toEqual([]);
  });
});

it("the client of Mistral reads thinking, text and calls of a complete response", async () => {
  target = "anthropic/claude-opus-5";
  const parameters = { type: "object", properties: {} };
  const body = {
    model: "some-model",
    reasoning_effort: "medium",
    messages: [{ role: "user", content: question }],
    tools: ["look", "measure"].map((name) => ({ type: "function", function: { name, parameters } })),
  };
  const client = openMistral({ origin: gateway.url, base: gateway.url }, "some-model");
  const response = await client.send({ model: "some-model", body });
  const text = (words: string): object => ({ type: "text", text: words });
  expect(response).toMatchObject({
    choices: [
      {
        finishReason: "tool_calls",
        message: {
          content: [{ type: "thinking", thinking: [text(modelOutput.thought)] }, text(modelOutput.words)],
          toolCalls: modelOutput.calls.map(({ tool, input }) => ({
            function: { name: tool, arguments: JSON.stringify(input) },
          })),
        },
      },
    ],
    usage: { promptTokens: expect.any(Number), completionTokens: expect.any(Number) },
  });
});

/*
 * The same scene straight at the simulator of the client's own API: the client gets the same from the gateway, but for
 * seals and ids.
 */
it.each([
  ["Anthropic", openAnthropic, "", "anthropic/claude-opus-5"],
  ["OpenAI Responses", openResponses, "/v1", "openai/gpt-5.6"],
  ["Gemini", openGemini, "", "google/gemini-3.1-pro-preview"],
  ["OpenRouter", openOpenRouter, "/v1", "openrouter/anthropic/claude-opus-5"],
] as const)("the client of %s gets from the gateway what its own API answers", async (_name, open, path, to) => {
  target = to;
  const [provider = "", ...model] = to.split("/");
  const alone = { provider, script, now: () => Date.UTC(2026, 10, 15) };
  const direct = await withServer(alone, ({ origin, base }) => open({ origin, base }, model.join("/")).loop());
  const through = await open({ origin: gateway.url, base: gateway.url + path }, model.join("/")).loop();
  // The gateway composes the request again, so its input may have a few tokens more or less.
  const comparable = (turn: ClientTurn): object => ({
    ...turn,
    usage: { ...turn.usage, input: typeof turn.usage.input },
  });
  expect(through.map(comparable)).toEqual(direct.map(comparable));
});

/*
 * Body for body: where the target is the owner of the client's API, the bodies of the client arrive there as without the
 * gateway. The second one holds the content of the first response with its ids and seals.
 */
it.each([
  ["Anthropic", openAnthropic, "", "anthropic/claude-opus-5"],
  ["Anthropic, version 2023-06-01", openAnthropic2023, "", "anthropic/claude-opus-5"],
  ["OpenAI Responses", openResponses, "/v1", "openai/gpt-5.6"],
  ["OpenAI chat", openChat, "/v1", "openai-chat/gpt-5.2"],
  ["Gemini", openGemini, "", "google/gemini-3.1-pro-preview"],
  ["Gemini chat", openGeminiChat, "", "google/gemini-3.1-pro-preview"],
] as const)("the bodies of the client of %s arrive at their own API unchanged", async (_name, open, path, to) => {
  const [direct, through] = await bodiesOfScene(open, path, to);
  expect(through).toEqual(direct);
});

/** The gateway gives requests of a conversation a cache key, calls ids of its own, and leaves out what Mistral's client always adds. */
const mistralDifferences = [
  ["+ /prompt_cache_key"],
  [
    "~ /messages/2/tool_calls/0/id",
    "- /messages/2/tool_calls/0/index",
    "~ /messages/2/tool_calls/1/id",
    "- /messages/2/tool_calls/1/index",
    "- /messages/2/prefix",
    "~ /messages/3/tool_call_id",
    "~ /messages/4/tool_call_id",
    "+ /prompt_cache_key",
  ],
];
const groqDifferences = [[], []];

/*
 * Groq and Mistral have Chat Completions in forms of their own, so the gateway composes the bodies of their clients again. At
 * their own API they have the same content: these are all differences.
 */
it.each([
  ["Groq", openGroq({ thinks: true, sees: false }), "groq/openai/gpt-oss-120b", groqDifferences],
  ["Mistral", openMistral, "mistral/magistral-medium-latest", mistralDifferences],
] as const)(
  "the bodies of the client of %s arrive at their own API with the same content",
  async (_, open, to, known) => {
    const [direct, through] = await bodiesOfScene(open, "", to);
    expect(through?.map((body, index) => differences(direct?.[index], body))).toEqual(known);
  },
);

/** The bodies that a target gets from a client, without the gateway and through it. */
const bodiesOfScene = async (open: OpenClient, path: string, to: string): Promise<readonly (readonly unknown[])[]> => {
  const [provider = "", ...names] = to.split("/");
  const model = names.join("/");
  const alone = { provider, script, now: () => Date.UTC(2026, 10, 15) };
  const direct = await withServer(alone, async (server) => {
    await open(server, model).loop();
    return server.log.map(({ body }) => body);
  });
  const through = await withServer(alone, async (server) => {
    // The client's own key, which seals depend on.
    const keys = Object.fromEntries(Object.keys(everyKey).map((name) => [name, "key-1"]));
    const world = realWorld({ ...keys, ...environmentFor({ [provider]: server.base }) });
    const passing = await serveGateway(openGateway({ world, lint, config: () => ({ routes: [{ to }] }) }));
    try {
      // `openai/gpt-oss-120b` would name a target.
      await open({ origin: passing.url, base: passing.url + path }, names.at(-1) ?? "").loop();
    } finally {
      await passing.close();
    }
    return server.log.map(({ body }) => body);
  });
  return [direct, through];
};

/**
 * Chat Completions has no field for seals; they ride in the one of OpenRouter, which other clients skip. Mistral's client skips
 * OpenAI's `logprobs` too.
 */
const extraFields: { readonly [types: string]: readonly string[] } = {
  deepseek: ["reasoning_details"],
  groq: ["reasoning_details"],
  mistral: ["reasoning_details", "logprobs"],
};

const withoutFields = (event: unknown, fields: readonly string[]): unknown =>
  JSON.parse(JSON.stringify(event), (name, value: unknown) => (fields.includes(name) ? undefined : value));

/** The data of server-sent events. */
const eventsIn = (body: string): readonly unknown[] =>
  [...body.matchAll(/^data: (\{.*)$/gm)].map(([, json]) => JSON.parse(json?.trim() ?? "") as unknown);

const contentOf = ({ thought, text, calls }: ClientTurn): object => ({ thought, text, calls });
