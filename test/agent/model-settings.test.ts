import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { ensureBuilt } from "../built.ts";
import { openProgramStage, type OutputLine, type ProgramStage } from "../support/agent-program.ts";

let stage: ProgramStage;
beforeAll(async () => {
  ensureBuilt();
  stage = await openProgramStage(["anthropic", "local"], { script: { rules: [], otherwise: { say: "Hello." } } });
});
beforeEach(() => describeModels({}));
afterAll(() => stage.close());

/** Writes what the user's settings say about models. */
const describeModels = (models: object, more: object = {}): void => {
  stage.log.splice(0);
  mkdirSync(join(stage.home, ".parley"), { recursive: true });
  writeFileSync(join(stage.home, ".parley", "settings.json"), JSON.stringify({ models, ...more }));
};

const run = (model: string, ...args: readonly string[]) =>
  stage.run(["-m", model, "-p", "Hi.", "-o", "json", "--no-save", ...args]);
const statsOf = (out: string): unknown => (JSON.parse(out) as OutputLine)["stats"];

describe("what settings say about a model", () => {
  it("decides what it costs, and so when a spending limit stops it", async () => {
    describeModels({ "anthropic/claude-sonnet-5": { price: { input: 1_000_000, output: 0 } } });
    const { out } = await run("anthropic");
    const { input_tokens, cost_usd } = statsOf(out) as { input_tokens: number; cost_usd: number };
    expect(cost_usd).toBe(input_tokens);
  });

  it("limits the answer, and turns thinking off for a model that does not reason", async () => {
    const name = "anthropic/claude-sonnet-5";
    const bodyWith = async (description: object, more: object): Promise<unknown> => {
      describeModels({ [name]: description }, more);
      await run("anthropic");
      const { max_tokens, thinking, output_config } = stage.log[0]!.entry.body as { readonly [field: string]: unknown };
      return { max_tokens, isThinking: thinking !== undefined, output_config };
    };
    const effort = { thinking: "high" };
    expect(await bodyWith({}, effort)).toMatchObject({ isThinking: true, output_config: { effort: "high" } });
    expect(await bodyWith({ maxOutput: 777, reasoning: false }, { ...effort, maxOutputTokens: 1000 })).toEqual({
      max_tokens: 777,
      isThinking: false,
      output_config: undefined,
    });
    expect(await bodyWith({ maxOutput: 777 }, { maxOutputTokens: 500 })).toMatchObject({ max_tokens: 500 });
  });
});

describe("a spending limit", () => {
  it("says that it cannot count a model without a known price, and how to set one", async () => {
    const { err } = await run("local/llama-3.3", "--max-spend", "1");
    expect(err).toBe(
      `parley: No price is known for local/llama-3.3, so the spending limit does not count its answers. Set it with parley config set 'models."local/llama-3.3".price' '{"input": 1, "output": 2}' (dollars per million tokens).\n`,
    );
    describeModels({ "local/llama-3.3": { price: { input: 1, output: 2 } } });
    expect((await run("local/llama-3.3", "--max-spend", "1")).err).toBe("");
    expect((await run("local/llama-3.3")).err).toBe("");
  });
});
