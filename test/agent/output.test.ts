import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { openAgent, TurnError } from "../../src/api/agent.ts";
import { realWorld } from "../../src/api/index.ts";
import { createOutputCheck } from "../../src/agent/turn/output.ts";
import type { ModelReply, SimModelRequest } from "../../src/sim/model/types.ts";
import { listSimulatedProviders } from "../../src/sim/registry.ts";
import { ensureBuilt } from "../built.ts";
import { openAgentStage, playTurn } from "../support/agent-stage.ts";
import { warmUp } from "../support/agent-warm.ts";
import { openProgramStage, type ProgramStage } from "../support/agent-program.ts";
import { sampleCases } from "../support/tier.ts";

/* Answers held to a schema: validated, requested again, and handed over as a value. */

const schema = {
  type: "object",
  properties: { city: { type: "string" }, degrees: { type: "integer" } },
  required: ["city", "degrees"],
  additionalProperties: false,
} as const;

const say = (text: string): ModelReply => ({ parts: [{ type: "say", text }] });

/** Says one text after another, and then the last one again. */
const sayEach =
  (...texts: readonly string[]) =>
  ({ turns }: SimModelRequest): ModelReply =>
    say(texts[Math.min(turns.filter(({ by }) => by === "model").length, texts.length - 1)] ?? "");

const good = '{"city":"Oslo","degrees":4}';

beforeAll(warmUp);

describe("an answer with a schema", () => {
  it.each(sampleCases(listSimulatedProviders(), 3))(
    "is requested from %s until it matches, and every request is valid",
    async (id) => {
      const replies = sayEach("It is cold.", '{"city":"Oslo","degrees":"4"}', good);
      const output = await createOutputCheck(schema);
      const stage = await openAgentStage({ providers: [id], script: replies, agent: { output } });
      const events = await playTurn(stage, "How cold is it in Oslo?");
      expect(events.at(-1)).toEqual({
        type: "finished",
        reason: "stop",
        text: good,
        output: { city: "Oslo", degrees: 4 },
      });
      expect(events.filter(({ type }) => type === "notice")).toEqual([
        {
          type: "notice",
          text: "The answer does not match the schema. It is not one JSON value. Requested again (1 of 2).",
        },
        {
          type: "notice",
          text: "The answer does not match the schema. degrees: must be integer. Requested again (2 of 2).",
        },
      ]);
      expect(stage.simulators[id]?.log.map(({ verdict }) => verdict)).toEqual(["accepted", "accepted", "accepted"]);
    },
  );

  it("that never matches fails the turn, and the conversation goes on", async () => {
    const output = await createOutputCheck(schema);
    const script = ({ turns }: SimModelRequest): ModelReply =>
      turns.some((turn) => turn.by === "user" && turn.text.includes("Again")) ? say(good) : say("No.");
    const stage = await openAgentStage({ script, agent: { output } });
    const failed = (await playTurn(stage, "How cold?")).at(-1);
    expect(failed).toEqual({
      type: "failed",
      failure: {
        kind: "output",
        message: "The answer does not match the schema, after 3 attempts. It is not one JSON value.",
      },
    });
    expect((await playTurn(stage, "Again.")).at(-1)).toMatchObject({ output: { city: "Oslo", degrees: 4 } });
    const notices = stage.journal.ledger.entries.filter((entry) => entry.type === "notice");
    expect(notices.filter(({ text }) => text.includes("JSON Schema:\n"))).toHaveLength(1);
  });

  it.each([
    ["bare", good],
    ["in a code fence", `\`\`\`json\n${good}\n\`\`\`\n`],
    ["with space around it", `\n  ${good}\n`],
  ])("may be %s", async (_, answer) => {
    const { check } = await createOutputCheck(schema);
    expect(await check(answer)).toEqual({ value: { city: "Oslo", degrees: 4 } });
  });

  it.each([
    ["", "It is not one JSON value."],
    [`Here it is: ${good}`, "It is not one JSON value."],
    [`${good}${good}`, "It is not one JSON value."],
    ["{}", "The value: must have required property 'city'; The value: must have required property 'degrees'."],
    ['{"city":"Oslo","degrees":4,"x":1}', "The value: must NOT have additional properties: x."],
  ])("that is %j does not match", async (answer, problem) => {
    const { check } = await createOutputCheck(schema);
    expect(await check(answer)).toEqual({ problem });
  });

  it("needs a schema that is valid", async () => {
    await expect(createOutputCheck({ type: "text" })).rejects.toThrow(/^Invalid JSON Schema: /);
    const old = { $schema: "http://json-schema.org/draft-07/schema#", type: "array", items: [{ type: "string" }] };
    expect(await (await createOutputCheck(old)).check("[1]")).toEqual({ problem: "0: must be string." });
  });
});

describe("an answer with a schema, from outside", () => {
  let stage: ProgramStage;
  let reply: (request: SimModelRequest) => ModelReply;
  beforeAll(ensureBuilt, 240_000);
  beforeEach(async () => {
    stage = await openProgramStage(["anthropic"], { script: (request) => reply(request) });
    writeFileSync(join(stage.project, "schema.json"), JSON.stringify(schema));
  });
  afterEach(() => stage.close());

  const options = () => ({
    folder: stage.project,
    model: "anthropic",
    home: stage.home,
    world: realWorld(stage.env),
  });

  it("is a typed value in a program", async () => {
    reply = sayEach(good);
    const output = z.object({ city: z.string().transform((name) => name.toUpperCase()), degrees: z.int() });
    const { ask, close } = await openAgent({ ...options(), output });
    const answer = await ask("How cold?");
    const city: string = answer.output.city;
    expect([city, answer.output.degrees, answer.text]).toEqual(["OSLO", 4, good]);
    await close();
  });

  it("is requested again from a Zod type's problems, and rejects in the end", async () => {
    reply = sayEach('{"city":1}');
    const { ask, close } = await openAgent({ ...options(), output: z.object({ city: z.string() }) });
    const error = await ask("How cold?").catch((thrown: unknown) => thrown);
    expect((error as TurnError).failure).toMatchObject({ kind: "output" });
    expect(String(error)).toContain("city: Invalid input");
    await close();
  });

  it("is sent to the API that enforces it", async () => {
    reply = sayEach(good);
    await stage.run(["-p", "How cold?", "-m", "anthropic", "--json-schema", "schema.json"]);
    expect(stage.log[0]?.entry.body).toMatchObject({ output_config: { format: { type: "json_schema", schema } } });
  });

  it("is printed as JSON, with the exit code 0", async () => {
    reply = sayEach(`\`\`\`json\n${JSON.stringify(JSON.parse(good), null, 2)}\n\`\`\``);
    const { code, out } = await stage.run(["-p", "How cold?", "-m", "anthropic", "--json-schema", "schema.json"]);
    expect([code, out]).toEqual([0, `${good}\n`]);
  });

  it.each(["json", "stream-json"])("is in the result of -o %s", async (format) => {
    reply = sayEach(good);
    const run = ["-p", "How cold?", "-m", "anthropic", "--json-schema", "schema.json", "-o", format];
    const { out } = await stage.run(run);
    const result = JSON.parse(format === "json" ? out : (out.trim().split("\n").at(-1) ?? "")) as object;
    expect(result).toMatchObject({ status: "success", output: { city: "Oslo", degrees: 4 } });
  });

  it("that never matches ends with exit code 1, and says why, with the last one", async () => {
    reply = sayEach("No.");
    const { code, out, err } = await stage.run([
      "-p",
      "How cold?",
      "-m",
      "anthropic",
      "--json-schema",
      "schema.json",
      "-o",
      "json",
    ]);
    expect([code, JSON.parse(out)]).toEqual([
      1,
      expect.objectContaining({ status: "error", reason: "failed", response: "No." }),
    ]);
    expect((JSON.parse(out) as { error: object }).error).toEqual({
      type: "output",
      message: "The answer does not match the schema, after 3 attempts. It is not one JSON value.",
    });
    expect(err).toContain("The answer does not match the schema, after 3 attempts.");
  });

  it.each([
    ["missing.json", undefined, "No such file: missing.json (--json-schema)."],
    ["broken.json", "{", "broken.json is not a JSON Schema."],
    ["list.json", "[]", "list.json is not a JSON Schema. A JSON Schema is an object."],
    ["wrong.json", '{"type":"text"}', "wrong.json is not a JSON Schema. Invalid JSON Schema: "],
  ])("with %s is refused before anything is sent", async (name, content, message) => {
    reply = sayEach(good);
    if (content !== undefined) writeFileSync(join(stage.project, name), content);
    const { code, err } = await stage.run(["-p", "How cold?", "-m", "anthropic", "--json-schema", name]);
    expect([code, stage.log.length]).toEqual([2, 0]);
    expect(err).toContain(message);
  });
});
