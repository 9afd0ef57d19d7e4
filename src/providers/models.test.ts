import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import type { TokenUsage } from "../wire/decode/events.ts";
import { providers } from "./all.ts";
import { findProvider } from "./find.ts";
import { catalogue } from "./models.data.ts";
import { computeCost, factsDate, findModelFacts, listModelFacts, type ModelFacts, type Price } from "./models.ts";

const src = fileURLToPath(new URL("..", import.meta.url));
const all: readonly ModelFacts[] = providers.flatMap(({ id }) => listModelFacts(id));
const nameOf = ({ provider, id }: ModelFacts): string => `${provider}/${id}`;

describe("the facts about models", () => {
  it("cover the default model of every provider in the catalogue", () => {
    const covered = providers.filter(({ id }) => id in catalogue);
    expect(covered.map(({ id }) => id).toSorted()).toEqual(Object.keys(catalogue).toSorted());
    expect(covered.length).toBeGreaterThanOrEqual(20);
    expect(covered.filter(({ id, defaultModel }) => !findModelFacts(id, defaultModel).known)).toEqual([]);
  });

  it("name each model once, in order", () => {
    for (const id of Object.keys(catalogue)) {
      const ids = listModelFacts(id).map((model) => model.id);
      expect(ids).toEqual([...new Set(ids)].toSorted());
      expect(ids.length).toBeGreaterThan(0);
    }
  });

  it("have plausible sizes only", () => {
    const isSize = (value: number): boolean => Number.isSafeInteger(value) && value >= 1000;
    const odd = all.filter(({ context, maxOutput }) => !isSize(context) || !isSize(maxOutput) || maxOutput > context);
    expect(odd.map(nameOf)).toEqual([]);
  });

  it("have plausible prices only: none below zero, cached reads not dearer, longer prompts not cheaper", () => {
    const isFine = ({ longer = [], ...base }: Price): boolean => {
      const steps = [{ above: 0, ...base }, ...longer];
      return steps.every(({ above, input, output, cachedRead, cachedWrite }, index) => {
        const before = steps[index - 1];
        return (
          [above, input, output, cachedRead ?? 0, cachedWrite ?? 0].every(
            (value) => Number.isFinite(value) && value >= 0,
          ) &&
          (cachedRead ?? input) <= input &&
          (cachedWrite ?? input) >= input &&
          (before === undefined || (above > before.above && input > before.input && output > before.output))
        );
      });
    };
    expect(all.filter(({ price }) => price !== undefined && !isFine(price)).map(nameOf)).toEqual([]);
  });

  it("are free only at providers that do not charge", () => {
    const free = all.filter(({ price }) => price !== undefined && (price.input === 0 || price.output === 0));
    expect(free.map(nameOf)).toEqual(["local/qwen3", "offline/parley"]);
  });

  it("state their date, source and licence", () => {
    const text = readFileSync(join(src, "providers", "models.data.ts"), "utf8");
    const header = text.slice(0, text.indexOf("*/"));
    expect(header).toContain(`Model facts as of ${factsDate}`);
    expect(header).toMatch(
      /From @earendil-works\/pi-ai \d+\.\d+\.\d+ \(MIT, copyright [^)]+\), published \d{4}-\d\d-\d\d/,
    );
    expect(header).toMatch(
      /@pydantic\/genai-prices \d+\.\d+\.\d+ \(MIT, copyright [^)]+\),\s+\* published \d{4}-\d\d-\d\d/,
    );
    expect(text.length).toBeLessThan(120_000);
    expect(text).not.toMatch(/https?:/);
  });

  it("are loaded on demand only", () => {
    const reached = new Set<string>();
    const visit = (path: string): void => {
      if (reached.has(path)) return;
      reached.add(path);
      const text = readFileSync(join(src, path), "utf8");
      for (const [, specifier = ""] of text.matchAll(/\bfrom "(\.[^"]+)";/g)) visit(join(dirname(path), specifier));
    };
    for (const door of [join("api", "index.ts"), join("cli", "main.ts")]) visit(door);
    expect([...reached].filter((path) => path.startsWith(join("providers", "models")))).toEqual([]);
    expect(reached).toContain(join("providers", "all.ts"));
  });
});

describe("a model's input", () => {
  it("matches the media of user messages, except for the known differences", () => {
    const found = all.filter(({ provider }) => provider !== "openrouter").flatMap(differenceOf);
    const expected = knownDifferences.flatMap(({ provider, models, difference }) =>
      models.map((id) => `${provider}/${id}: ${difference}`),
    );
    expect(found.toSorted()).toEqual(expected.toSorted());
  });

  it("is not restricted at OpenRouter: messages may contain every kind for any model", () => {
    const rows = new Set(listModelFacts("openrouter").map((facts) => rowsOf(facts).join(" ")));
    expect([...rows]).toEqual(["image document audio video"]);
    expect(listModelFacts("openrouter").filter(({ input }) => !input.includes("document"))).toEqual([]);
  });

  it("includes text", () => {
    expect(all.filter(({ input }) => input[0] !== "text")).toEqual([]);
  });
});

/** The kinds of file a user message to this model may contain. */
const rowsOf = ({ provider, id }: ModelFacts): readonly string[] =>
  Object.keys(findProvider(provider).destination(id).target.media.user);

/** Kinds of file in the provider's rows but not in the facts (+), and the reverse (-). */
const differenceOf = (facts: ModelFacts): readonly string[] => {
  const [rows, kinds] = [rowsOf(facts), facts.input.filter((kind) => kind !== "text")];
  const more = rows.filter((kind) => !facts.input.some((other) => other === kind)).map((kind) => `+${kind}`);
  const less = kinds.filter((kind) => !rows.includes(kind)).map((kind) => `-${kind}`);
  return more.length + less.length === 0 ? [] : [`${nameOf(facts)}: ${[...more, ...less].join(" ")}`];
};

/**
 * Models for which a provider sends more (+) or fewer (-) kinds of file than the facts list. Remove a line once it is
 * fixed.
 */
const knownDifferences = [
  {
    why: "Models for pictures, robots and screens, and open ones: no more is certain of them than text and images.",
    provider: "google",
    models: [
      "gemini-2.5-computer-use-preview-10-2025",
      "gemini-2.5-flash-image",
      "gemini-3-pro-image",
      "gemini-robotics-er-2-preview",
      "gemma-4-26b-a4b-it",
      "gemma-4-31b-it",
    ],
    difference: "+document +audio +video",
  },
  {
    why: "The same, on Google Cloud.",
    provider: "vertex",
    models: ["gemini-2.5-flash-image", "gemini-3-pro-image"],
    difference: "+document +audio +video",
  },
  {
    why: "An unknown model gets images, and these accept text only.",
    provider: "bedrock",
    models: [
      "global.zai.glm-5.3",
      "us.zai.glm-5.3",
      "zai.glm-4.7",
      "zai.glm-4.7-flash",
      "zai.glm-5",
      "minimax.minimax-m2",
      "minimax.minimax-m2.1",
      "minimax.minimax-m2.5",
      "moonshot.kimi-k2-thinking",
      "nvidia.nemotron-nano-3-30b",
      "nvidia.nemotron-nano-9b-v2",
      "nvidia.nemotron-super-3-120b",
      "qwen.qwen3-235b-a22b-2507-v1:0",
      "qwen.qwen3-32b-v1:0",
      "qwen.qwen3-coder-30b-a3b-v1:0",
      "qwen.qwen3-coder-480b-a35b-v1:0",
      "qwen.qwen3-coder-next",
      "qwen.qwen3-next-80b-a3b",
    ],
    difference: "+image",
  },
  {
    why: "Mistral's models but Pixtral are held for blind; the newer ones see.",
    provider: "bedrock",
    models: [
      "mistral.magistral-small-2509",
      "mistral.ministral-3-14b-instruct",
      "mistral.ministral-3-3b-instruct",
      "mistral.ministral-3-8b-instruct",
      "mistral.mistral-large-3-675b-instruct",
    ],
    difference: "-image",
  },
  ...["openai", "openai-chat", "azure"].map((provider) => ({
    why: "The first GPT-4 reads words only.",
    provider,
    models: ["gpt-4"],
    difference: "+image +document",
  })),
  {
    why: "Every model with qwen3 in its name is held for blind; from 3.6 on they see.",
    provider: "groq",
    models: ["qwen/qwen3.6-27b", "qwen/qwen3.8-27b"],
    difference: "-image",
  },
  {
    why: "Every model of Mistral's gets pictures, and these read or hear only.",
    provider: "mistral",
    models: [
      "codestral-2508",
      "codestral-latest",
      "devstral-2512",
      "devstral-latest",
      "devstral-medium-latest",
      "open-mistral-nemo",
      "voxtral-small-2507",
      "voxtral-small-latest",
    ],
    difference: "+image",
  },
  {
    why: "Models of other makers on Mistral's platform, which read words only.",
    provider: "mistral",
    models: ["deepseek-v4-1-flash-1017", "glm-5-2", "zai-glm-5-2", "zai-glm-5-3"],
    difference: "+image +document",
  },
  {
    why: "It is not certain that the platform reads documents for these.",
    provider: "mistral",
    models: ["labs-leanstral-1-5-1", "zai-glm-5-3-flash"],
    difference: "+document",
  },
  {
    why: "Only names with vision in them are held to see; this is V4.1, which does.",
    provider: "deepseek",
    models: ["deepseek-flash"],
    difference: "-image",
  },
  {
    why: "Every model with max in its name is held for blind; this one sees.",
    provider: "qwen",
    models: ["qwen3.8-max"],
    difference: "-image",
  },
  {
    why: "Models without a v in their number are held for blind; this one sees.",
    provider: "zai",
    models: ["glm-5.3-flash"],
    difference: "-image",
  },
];

describe("a model name", () => {
  it.each([
    ["google", "models/gemini-3.8-flash", "gemini-3.8-flash"],
    ["vertex", "projects/p/locations/global/publishers/google/models/gemini-2.5-pro", "gemini-2.5-pro"],
    ["google", "gemini-flash-latest", "gemini-flash-latest"],
    ["anthropic", "claude-sonnet-5-20260401", "claude-sonnet-5"],
    ["anthropic", "claude-haiku-4-5-20251001", "claude-haiku-4-5-20251001"],
    ["anthropic", "claude-sonnet-4-5-latest", "claude-sonnet-4-5"],
    ["openai", "gpt-5.6-sol-2026-07-01", "gpt-5.6-sol"],
    ["openai", "gpt-4-0613", "gpt-4"],
    ["bedrock", "us.anthropic.claude-sonnet-5-v1:0", "us.anthropic.claude-sonnet-5"],
    ["bedrock", "apac.anthropic.claude-sonnet-5", "anthropic.claude-sonnet-5"],
    ["bedrock", "eu.anthropic.claude-opus-4-6-v1:0", "eu.anthropic.claude-opus-4-6-v1"],
    ["bedrock", "ca.anthropic.claude-opus-4-7-20260301-v1:0", "anthropic.claude-opus-4-7"],
    ["bedrock", "arn:aws:bedrock:us-east-1:1:inference-profile/us.amazon.nova-pro-v1:0", "us.amazon.nova-pro-v1:0"],
    ["groq", "openai/gpt-oss-120b", "openai/gpt-oss-120b"],
    ["local", "qwen3:latest", "qwen3"],
  ])("%s/%s is found as %s", (provider, model, id) => {
    const { known, ...facts } = findModelFacts(provider, model);
    expect({ known, provider: facts.provider, id: facts.id }).toEqual({ known: true, provider, id });
  });

  it("matches exactly first: a region keeps its own price", () => {
    const [everywhere, here] = ["global.anthropic.claude-sonnet-5", "eu.anthropic.claude-sonnet-5"].map(
      (model) => findModelFacts("bedrock", model).price,
    );
    expect(everywhere).toEqual({ input: 2, output: 10, cachedRead: 0.2, cachedWrite: 2.5 });
    expect(here).toEqual({ input: 2.2, output: 11, cachedRead: 0.22, cachedWrite: 2.75 });
  });

  it.each([
    ["anthropic", "claude-99"],
    ["anthropic", ""],
    ["openai", "claude-sonnet-5"],
    ["mistral", "mistral-large-2411"],
    ["unknown", "claude-sonnet-5"],
    ["constructor", "name"],
    ["__proto__", "0"],
  ])("that is unknown gets safe defaults: %s/%s", (provider, id) => {
    expect(findModelFacts(provider, id)).toEqual({
      provider,
      id,
      known: false,
      context: 128_000,
      maxOutput: 8192,
      input: ["text"],
      reasoning: false,
    });
  });

  it("of an unknown provider has no models", () => {
    expect(["unknown", "constructor", "__proto__"].map(listModelFacts)).toEqual([[], [], []]);
  });
});

describe("the cost of a response", () => {
  const base: ModelFacts = findModelFacts("unknown", "unknown");
  const priced = (price: Price): ModelFacts => ({ ...base, price });
  const used = (usage: Partial<TokenUsage>): TokenUsage => ({
    input: 0,
    cachedRead: 0,
    cachedWrite: 0,
    output: 0,
    reasoning: 0,
    ...usage,
  });

  it("counts cached tokens as part of the prompt, and reasoning as part of the output", () => {
    const facts = priced({ input: 3, output: 15, cachedRead: 0.3, cachedWrite: 3.75 });
    const usage = used({
      input: 1_000_000,
      cachedRead: 600_000,
      cachedWrite: 100_000,
      output: 200_000,
      reasoning: 150_000,
    });
    expect(computeCost(facts, usage)).toBeCloseTo(0.9 + 0.18 + 0.375 + 3, 10);
  });

  it("uses the prompt's price for cached tokens without one", () => {
    const usage = used({ input: 500_000, cachedRead: 200_000, cachedWrite: 100_000 });
    expect(computeCost(priced({ input: 2, output: 8 }), usage)).toBe(1);
  });

  it("uses the higher price for all of a long prompt and its output", () => {
    const facts = priced({
      input: 1,
      output: 2,
      longer: [
        { above: 100_000, input: 10, output: 20 },
        { above: 200_000, input: 100, output: 200, cachedRead: 50 },
      ],
    });
    const cost = (input: number, cachedRead = 0): number | undefined =>
      computeCost(facts, used({ input, cachedRead, output: 1_000_000 }));
    expect([cost(100_000), cost(100_001), cost(200_000)]).toEqual([2.1, 21.00001, 22]);
    expect(cost(300_000, 100_000)).toBe(225);
  });

  it("is never negative, even when a server reports more cached tokens than input", () => {
    expect(
      computeCost(priced({ input: 3, output: 15, cachedRead: 1 }), used({ input: 5, cachedRead: 1_000_000 })),
    ).toBe(1);
  });

  it("is zero without tokens, and zero for local models", () => {
    expect(computeCost(findModelFacts("anthropic", "claude-sonnet-5"), used({}))).toBe(0);
    expect(computeCost(findModelFacts("local", "qwen3"), used({ input: 1000, output: 1000 }))).toBe(0);
  });

  it("is undefined without a known price", () => {
    expect(computeCost(findModelFacts("openai", "gpt-99"), used({ input: 1000 }))).toBeUndefined();
    expect(computeCost(findModelFacts("code-assist", "gemini-3.8-flash"), used({ input: 1000 }))).toBeUndefined();
  });
});
