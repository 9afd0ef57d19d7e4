import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { openGateway } from "../../src/gateway/gateway.ts";
import { serveGateway, type RunningGateway } from "../../src/gateway/serve.ts";
import { lint } from "../../src/rules/lint.ts";
import { realWorld } from "../../src/world/real/world.ts";
import { everyKey } from "../../test/support/exchange.ts";
import { environmentFor, serveSimulators, type ServedSimulators } from "../../test/support/serve-simulators.ts";
import { checkResponse } from "../check.ts";
import { openAnthropic, openAnthropic2023 } from "./anthropic.ts";
import type { ClientTurn, OpenClient } from "./client.ts";
import { openGemini, openGeminiChat } from "./gemini.ts";
import { openChat, openCompatible } from "./openai-chat.ts";
import { openResponses } from "./openai-responses.ts";
import { openOpenRouter } from "./openrouter.ts";
import { modelOutput, picture, script } from "./scene.ts";
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
    const checked = types === "deepseek" ? events.map(withoutDetails) : events;
    expect(checked.flatMap((event) => checkResponse(types, "event", event))).toEqual([]);
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
  const [provider = "", model = ""] = to.split("/");
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
      await open({ origin: passing.url, base: passing.url + path }, model).loop();
    } finally {
      await passing.close();
    }
    return server.log.map(({ body }) => body);
  });
  expect(through).toEqual(direct);
});

/** Chat Completions has no field for seals; they ride in the one of OpenRouter, which other clients skip. */
const withoutDetails = (event: unknown): unknown =>
  JSON.parse(JSON.stringify(event), (name, value: unknown) => (name === "reasoning_details" ? undefined : value));

/** The data of server-sent events. */
const eventsIn = (body: string): readonly unknown[] =>
  [...body.matchAll(/^data: (\{.*)$/gm)].map(([, json]) => JSON.parse(json?.trim() ?? "") as unknown);

const contentOf = ({ thought, text, calls }: ClientTurn): object => ({ thought, text, calls });
