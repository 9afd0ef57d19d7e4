import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { compareModels, type ComparedTurn } from "../../src/agent/compare/compare-models.ts";
import { loadAgentEnvironment } from "../../src/agent/environment.ts";
import { modelName, parseModel } from "../../src/agent/models/parse.ts";
import { openAgent } from "../../src/agent/open-agent.ts";
import { openSessionStore } from "../../src/session/store/store.ts";
import type { ModelFunction } from "../../src/sim/family.ts";
import { realWorld } from "../../src/world/real/world.ts";
import { ensureBuilt } from "../built.ts";
import { openProgramStage, type ProgramStage } from "../support/agent-program.ts";

/** Reads a file and tries to make one, then says what it is. */
const work: ModelFunction = ({ model, turns }) => {
  const prompt = turns.findLastIndex((turn) => turn.by === "user" && !turn.text.startsWith("Several models"));
  const results = turns.slice(prompt).flatMap((turn) => (turn.by === "tools" ? turn.results : []));
  const last = turns[prompt];
  if (last?.by === "user" && last.text.includes("Hello")) return { parts: [{ type: "say", text: "Hello." }] };
  return results.length > 0
    ? { parts: [{ type: "say", text: `${model} is done.` }] }
    : {
        parts: [
          { type: "call", tool: "read_file", input: { absolute_path: "dot.png" } },
          { type: "call", tool: "run_shell_command", input: { command: "touch made" } },
          { type: "call", tool: "write_file", input: { file_path: "made", content: "x" } },
        ],
      };
};

let stage: ProgramStage;
beforeAll(async () => {
  ensureBuilt();
  stage = await openProgramStage(["anthropic", "openai"], { script: work });
});
beforeEach(() => void stage.modelRequests.splice(0));
afterAll(() => stage.close());

const { signal } = new AbortController();
const models = ["anthropic", "openai"].map(parseModel);
const environment = () =>
  loadAgentEnvironment({ world: realWorld(stage.env), folder: stage.project, home: join(stage.home, ".parley") });

const outline = (turns: readonly ComparedTurn[]): readonly unknown[] =>
  turns.map(({ model, text, problem, calls }) => [
    modelName(model),
    text,
    problem,
    calls.map(({ tool, status }) => `${tool} ${status}`),
  ]);

describe("a comparison", () => {
  it("runs the same turn on each model, with read-only tools alone, in sessions of their own", async () => {
    const turns = await compareModels({ environment: await environment(), prompt: "Do it.", models }, signal);
    const calls = ["read_file done", "run_shell_command refused", "write_file refused"];
    expect(outline(turns)).toEqual(
      models.map((model) => [modelName(model), `${model.model} is done.`, undefined, calls]),
    );
    expect(existsSync(join(stage.project, "made"))).toBe(false);
    expect(turns.every(({ elapsedMs, usage }) => elapsedMs > 0 && usage.requests === 2 && usage.cost > 0)).toBe(true);
    const { home, world } = await environment();
    const sessions = openSessionStore(world, { home: home.data });
    const saved = await Promise.all(turns.map(({ session }) => sessions.read(session ?? "")));
    expect(saved.map(({ title, model }) => [title, `${model?.provider}/${model?.model}`])).toEqual(
      models.map((model) => [`Do it. (${modelName(model)})`, modelName(model)]),
    );
  });

  it("continues copies of a session, which itself stays as it is", async () => {
    const given = await environment();
    const first = await openAgent({ ...given, model: "anthropic" });
    for await (const _ of first.agent.send("Hello!"));
    const { id } = first.session;
    const before = (await openSessionStore(given.world, { home: given.home.data }).read(id)).entries;
    stage.modelRequests.splice(0);
    const turns = await compareModels({ environment: given, session: id, prompt: "Do it.", models }, signal);
    expect((await openSessionStore(given.world, { home: given.home.data }).read(id)).entries).toEqual(before);
    expect(turns.map(({ session }) => session !== undefined && session !== id)).toEqual([true, true]);
    for (const { turns: sent } of stage.modelRequests)
      expect(JSON.stringify(sent.slice(0, 2))).toMatch(/Hello!.*Hello\./);
    await first.close();
  });

  it("keeps no session of a model that did not answer, and says why", async () => {
    const given = await environment();
    const world = { ...given.world, env: { ...given.world.env, OPENAI_API_KEY: "" } };
    const [one, other] = await compareModels({ environment: { ...given, world }, prompt: "Hello", models }, signal);
    expect([one?.text, one?.session === undefined]).toEqual(["Hello.", false]);
    expect([other?.text, other?.session, other?.problem]).toEqual(["", undefined, expect.stringContaining("OpenAI")]);
  });

  it("ends when it is cancelled", async () => {
    const turns = await compareModels(
      { environment: await environment(), prompt: "Do it.", models },
      AbortSignal.abort(),
    );
    expect(outline(turns)).toEqual(models.map((model) => [modelName(model), "", "Cancelled.", []]));
  });
});

describe("parley compare", () => {
  it("prints answers with time, tokens and price, and sessions to resume", async () => {
    const { code, out, err } = await stage.run(["compare", "-m", "anthropic", "-m", "openai", "Do it."]);
    expect([code, err]).toEqual([0, ""]);
    expect(
      out
        .replaceAll(/\d+\.\d s/g, "N s")
        .replaceAll(/\d+ in, \d+ out/g, "N in, N out")
        .replaceAll(/\$\d\.\d{4}/g, "$N")
        .replaceAll(/Session \w+: parley -r \w+/g, "Session ID: parley -r ID")
        .split("\n\n")
        .map((part) => part.split("\n"))
        .slice(0, 1),
    ).toEqual([
      [
        `== ${modelName(models[0]!)} ==`,
        "N s · N in, N out · $N",
        "Session ID: parley -r ID",
        "done: read_file dot.png",
        "refused: run_shell_command touch made",
        "refused: write_file made",
      ],
    ]);
    expect(out).toContain(`${models[1]!.model} is done.`);
  });

  it("prints JSON, and continues a session", async () => {
    await stage.run(["-p", "Hello", "-m", "anthropic"]);
    const { code, out } = await stage.run(["compare", "-c", "-m", "anthropic", "-m", "openai", "--json", "Do it."]);
    const { answers } = JSON.parse(out) as { readonly answers: readonly Record<string, unknown>[] };
    expect([code, answers.map(({ response }) => response)]).toEqual([
      0,
      models.map(({ model }) => `${model} is done.`),
    ]);
    expect(stage.modelRequests.at(-1)?.turns.at(0)).toMatchObject({
      by: "user",
      text: expect.stringContaining("Hello") as string,
    });
  });

  it.each([
    [["compare", "-m", "anthropic", "x"], "Name two or three different models"],
    [["compare", "-m", "anthropic", "-m", "anthropic", "x"], "Name two or three different models"],
    [["compare", "-m", "anthropic", "-m", "opnai", "x"], "opnai"],
    [["compare", "-m", "anthropic", "-m", "openai"], "TEXT"],
    [["compare", "-c", "-r", "1", "-m", "anthropic", "-m", "openai", "x"], "Use -c or -r, not both."],
  ])("%j is wrong usage", async (args, message) => {
    const { code, err } = await stage.run(args);
    expect([code, err]).toEqual([2, expect.stringContaining(message)]);
  });
});
