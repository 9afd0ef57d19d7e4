import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { openGateway } from "../../src/gateway/gateway.ts";
import { serveGateway, type RunningGateway } from "../../src/gateway/serve.ts";
import { realWorld } from "../../src/world/real/world.ts";
import { everyKey } from "../../test/support/exchange.ts";
import { environmentFor, serveSimulators, type ServedSimulators } from "../../test/support/serve-simulators.ts";
import { openAnthropic, openAnthropic2023 } from "./anthropic.ts";
import type { ClientTurn, OpenClient } from "./client.ts";
import { openGemini, openGeminiChat } from "./gemini.ts";
import { openCompatible } from "./openai-chat.ts";
import { openResponses } from "./openai-responses.ts";
import { openOpenRouter } from "./openrouter.ts";
import { modelOutput, picture, script } from "./scene.ts";

/*
 * The vendors' clients run their scene through the gateway, at a target of every API family: thinking, text and two calls,
 * their results with an image, the final text. The simulators refuse what the vendor would refuse.
 */

/** The clients, and the path of their API at the gateway. */
const clients: readonly (readonly [string, OpenClient, string])[] = [
  ["Anthropic", openAnthropic, ""],
  ["Anthropic, version 2023-06-01", openAnthropic2023, ""],
  ["OpenAI Responses", openResponses, "/v1"],
  ["OpenAI chat", openCompatible("reasoning_content", { reasoning_effort: "medium" }), "/v1"],
  ["OpenRouter", openOpenRouter, "/v1"],
  ["Gemini", openGemini, ""],
  ["Gemini chat", openGeminiChat, ""],
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

beforeAll(async () => {
  vi.spyOn(console, "warn").mockReturnValue();
  simulators = await serveSimulators({ script, now: () => Date.UTC(2026, 10, 15) });
  const world = realWorld({ ...everyKey, ...environmentFor(simulators.bases) });
  gateway = await serveGateway(openGateway({ world, config: () => ({ routes: [{ to: target }] }) }));
});
afterAll(async () => {
  await gateway.close();
  await simulators.close();
  vi.restoreAllMocks();
});

describe.each(clients)("the client of %s, through the gateway", (_name, open, path) => {
  it.each(targets)("completes the scene at %s", async (to) => {
    target = to;
    const { log } = simulators.simulators[to.split("/")[0] ?? ""]!;
    const before = log.length;
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
  });
});

const contentOf = ({ thought, text, calls }: ClientTurn): object => ({ thought, text, calls });
