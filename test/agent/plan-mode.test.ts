import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { AgentEvent } from "../../src/agent/events.ts";
import { openAgent, type AgentSession } from "../../src/agent/open-agent.ts";
import type { OpenAgentOptions } from "../../src/agent/options.ts";
import { loadSettings } from "../../src/settings/load/load.ts";
import type { ModelFunction } from "../../src/sim/family.ts";
import type { PlanReview } from "../../src/tools/capabilities.ts";
import { realWorld } from "../../src/world/real/world.ts";
import { openProgramStage, type ProgramStage } from "../support/agent-program.ts";

/* Plan mode: read-only, until the person approves a plan the model presents. */

const write = { tool: "write_file", input: { file_path: "a.txt", content: "a" } };
const present = { tool: "present_plan", input: { plan: "1. Write a.txt" } };

/** Presents a plan, then writes the file, then says "Done.". */
const model: ModelFunction = ({ turns }) => {
  const at = turns.findLastIndex((turn) => turn.by === "user" && turn.text.includes("go"));
  const step = [present, write][turns.slice(at).filter(({ by }) => by === "model").length];
  return step === undefined
    ? { parts: [{ type: "say", text: "Done." }] }
    : { parts: [{ type: "call", tool: step.tool, input: step.input }] };
};

let stage: ProgramStage;
let session: AgentSession | undefined;
beforeEach(async () => {
  stage = await openProgramStage(["anthropic"], { script: model });
});
afterEach(async () => {
  await session?.close();
  await stage.close();
});

const open = async (options: Partial<OpenAgentOptions> = {}, mode = "plan"): Promise<AgentSession> => {
  const world = realWorld(stage.env);
  const flags = { model: ["anthropic"], "approval-mode": [mode] };
  const loaded = await loadSettings(world, { home: stage.home, root: stage.project, scope: "inert", flags });
  session = await openAgent({ world, home: stage.home, folder: stage.project, loaded, interactive: true, ...options });
  return session;
};

const send = async ({ agent }: AgentSession): Promise<readonly string[]> => {
  const results: string[] = [];
  for await (const event of agent.send("go") as AsyncIterable<AgentEvent>)
    if (event.type === "call-completed")
      results.push(event.finished.outcome.content.map((part) => (part.type === "text" ? part.text : "")).join("\n"));
  return results;
};

const notices = ({ agent }: AgentSession): readonly string[] =>
  agent
    .conversation()
    .entries.flatMap((entry) => (entry.type === "notice" && entry.text.startsWith("Plan mode") ? [entry.text] : []));

const denied =
  "Plan mode is read-only: write_file was not run. Read what you need, then present your plan (present_plan); the user decides when to leave plan mode.";
const isOn = expect.stringContaining("Plan mode is on: everything is read-only.");
const isOff = expect.stringContaining("Plan mode is off: changes are possible again");

describe("plan mode", () => {
  it("ends with an approved plan, in the approval mode the person chose", async () => {
    const seen: string[] = [];
    const reviewPlan = async (plan: string): Promise<PlanReview> => {
      seen.push(plan);
      return { type: "approved", mode: "auto_edit", plan };
    };
    const opened = await open({ reviewPlan });
    const [result, written] = await send(opened);
    expect(seen).toEqual(["1. Write a.txt"]);
    expect(result).toBe(
      "The user approved the plan. Plan mode is off and the approval mode is auto_edit: carry out the plan now.",
    );
    expect(written).toContain("a.txt");
    expect(existsSync(join(stage.project, "a.txt"))).toBe(true);
    expect((await opened.services()).gate.mode()).toBe("auto_edit");
    expect(notices(opened)).toEqual([isOn, isOff]);
  });

  it("gives the model the plan as the person changed it", async () => {
    const [result] = await send(
      await open({ reviewPlan: async () => ({ type: "approved", mode: "auto_edit", plan: "1. Write b.txt" }) }),
    );
    expect(result).toContain("They changed it first. This is the plan now:\n\n1. Write b.txt");
  });

  it.each([
    [{ type: "refused", reason: "use b.txt" }, "They say: use b.txt"],
    [{ type: "refused" }, "End your turn and ask what to change."],
  ] as const)("stays on if the plan is refused: %j", async (review, words) => {
    const opened = await open({ reviewPlan: async () => review });
    const results = await send(opened);
    expect(results[0]).toContain(words);
    expect(results[1]).toBe(denied);
    expect((await opened.services()).gate.mode()).toBe("plan");
    await send(opened);
    expect(notices(opened)).toEqual([isOn]);
  });

  it("asks by a question where the front end shows no plans, and takes other words for a refusal", async () => {
    const asked: unknown[] = [];
    const answers = ["Yes, and ask before each edit", "rather not"];
    const askUser: OpenAgentOptions["askUser"] = async (questions) => {
      asked.push(questions);
      return [[answers.pop() ?? ""]];
    };
    const opened = await open({ askUser, approve: () => ({ type: "refuse" }) });
    expect((await send(opened))[0]).toContain("They say: rather not");
    expect(asked).toMatchObject([[{ question: "1. Write a.txt\n\nApprove this plan?" }]]);
    expect((await send(opened))[0]).toContain("the approval mode is default");
  });

  it("prints the plan and ends where no person is there", async () => {
    const [result, second] = await send(await open({ interactive: false }));
    expect([result, second]).toEqual([
      "No person can approve the plan here. Write the whole plan as your final answer, and end your turn.",
      denied,
    ]);
  });

  it("is not needed in another mode, and a notice says when the person leaves it", async () => {
    const opened = await open({}, "yolo");
    expect((await send(opened))[0]).toBe("Plan mode is off, so the plan needs no approval. Carry it out.");
    const { gate } = await opened.services();
    gate.setMode("plan");
    await send(opened);
    gate.setMode("yolo");
    await send(opened);
    expect(notices(opened)).toEqual([isOn, isOff]);
  });
});
