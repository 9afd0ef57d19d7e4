import { describe, expect, it } from "vitest";
import { checkBody, type OracleName } from "../oracles/check.ts";
import { isObject, type JsonObject } from "../src/conversation/json.ts";
import { providers } from "../src/providers/all.ts";
import { findProvider } from "../src/providers/find.ts";
import { composeRequest } from "../src/wire/compose.ts";
import { createOutputFormat } from "../src/wire/schema/output.ts";
import type { RequestSettings, WireId } from "../src/wire/wire.ts";
import { buildHistory, makeHistory } from "./support/histories.ts";
import { Random } from "./support/random.ts";
import { perTier, seedFor } from "./support/tier.ts";

const histories = perTier({ quick: 8, all: 120 });
const first = seedFor(1);

/** The types that check each provider's bodies. Providers without an entry use their API family's own vendor. */
const oracles: Readonly<Record<string, OracleName>> = {
  vertex: "vertex",
  "code-assist": "code-assist-request",
  groq: "groq-chat",
  mistral: "mistral-chat",
  openrouter: "openrouter-chat",
  kimi: "kimi-chat",
  deepseek: "deepseek-chat",
  zai: "zai-chat",
  qwen: "qwen-chat",
  minimax: "minimax-chat",
  local: "local-chat",
  offline: "local-chat",
};

/** The types of each API family's own vendor. */
const familyOracles: Readonly<Record<WireId, OracleName>> = {
  gemini: "gemini",
  anthropic: "anthropic-messages-2023-06-01",
  bedrock: "bedrock-converse",
  "openai-chat": "openai-chat",
  "openai-responses": "openai-responses",
};

const settings = (random: Random): RequestSettings => ({
  maxTokens: 4096,
  ...(random.chance(0.5) ? { stream: true } : {}),
  ...(random.chance(0.5)
    ? { toolChoice: random.pick(["auto", "none", "required", { tool: "read_file" }] as const) }
    : {}),
  ...(random.chance(0.5) ? { thinking: { effort: random.pick(["none", "low", "medium", "high"] as const) } } : {}),
  ...(random.chance(0.5) ? { cache: { marks: true, key: "one" } } : {}),
  ...(random.chance(0.5) ? { output: createOutputFormat(random.pick(outputSchemas)) } : {}),
});

const city = { type: "string", minLength: 1, description: "In English." };
const outputSchemas: readonly JsonObject[] = [
  { type: "object", properties: { city, near: { type: "array", items: city } }, required: ["city", "near"] },
  { type: "object", properties: { city: { anyOf: [city, { type: "null" }] } } },
  { type: "object", additionalProperties: city },
];

/** Fields that OpenAI's types require and its API, or a compatible one, does not. */
const isTaken = (provider: string, problem: string): boolean =>
  // xAI has no `strict` on a tool. Encrypted reasoning is accepted without its id, as OpenAI's own Codex sends it.
  (provider === "xai" && /^\/tools\/\d+: missing "strict"$/.test(problem)) ||
  (["openai", "azure"].includes(provider) && /^\/input\/\d+: missing "id"$/.test(problem));

describe.each(providers.map(({ id }) => ({ id })))("the vendor's own types", ({ id }) => {
  it(`accept every field Parley sends to ${id}`, () => {
    const provider = findProvider(id);
    for (let seed = first; seed < first + histories; seed++) {
      const { conversation } = buildHistory(makeHistory(seed));
      const { body } = composeRequest(conversation, provider.destination(provider.defaultModel), {
        policy: { unsupportedMedia: "stub" },
        settings: settings(new Random(seed)),
      });
      const judged = id === "code-assist" && isObject(body["request"]) ? (body["request"] as JsonObject) : body;
      const problems = checkBody(oracles[id] ?? familyOracles[provider.wire], judged).filter(
        (problem) => !isTaken(id, problem),
      );
      expect(problems, `history ${seed}`).toEqual([]);
    }
  });
});
