import { beforeAll, describe, expect, it } from "vitest";
import type { AgentEvent } from "../../src/agent/events.ts";
import { resumeAgentSession } from "../../src/agent/session/resume.ts";
import { SpendingTracker } from "../../src/agent/models/spending.ts";
import { openSessionStore } from "../../src/session/store/store.ts";
import type { SimFault } from "../../src/sim/faults/fault.ts";
import type { ScriptReply, Script } from "../../src/sim/model/script.ts";
import { home, openAgentStage, playTurn, type AgentStage } from "../support/agent-stage.ts";
import { describeEvents, describeEntries } from "../support/agent-describe.ts";
import { warmUp } from "../support/agent-warm.ts";
import { ordinaryTexts } from "../support/ordinary-texts.ts";
import { Random } from "../support/random.ts";
import { itInAll, perTier } from "../support/tier.ts";

beforeAll(warmUp);

const sumCount = perTier({ quick: 20, all: 150 });

const sums = (count: number): readonly ScriptReply[] =>
  Array.from({ length: count }, (_, index) => ({ call: { tool: "add", input: { a: index, b: 1 } } }));
const same = (count: number): readonly ScriptReply[] =>
  Array.from({ length: count }, () => ({ call: { tool: "add", input: { a: 1, b: 1 } } }));
const big: ScriptReply = { call: { tool: "long", input: { characters: 40_000 } } };
const summary = "## Goal\nTo read much.\n## Done\nRead it.";

const script: Script = {
  rules: [
    { prompt: "too long", replies: [{ say: summary }] },
    { prompt: "hello", replies: [{ say: "Good day." }] },
    { prompt: "count", replies: [...sums(sumCount), { say: "Counted." }] },
    { prompt: "circle", replies: [...same(25), { say: "Said at last." }] },
    {
      prompt: "babble",
      replies: [{ say: "This sentence is said over and over without any end in sight at all. ".repeat(400) }],
    },
    {
      prompt: "flood",
      replies: [
        { call: Array.from({ length: 560 }, (_, index) => ({ tool: "add", input: { a: index, b: 1 } })) },
        { say: "Added." },
      ],
    },
    { prompt: "read", replies: [big, { say: "Read." }] },
  ],
};

const expectValid = ({ simulators }: AgentStage): void => {
  const refused = Object.values(simulators).flatMap(({ log }) => log.filter((entry) => entry.verdict === "refused"));
  expect(refused).toEqual([]);
};

describe("a turn without an end", () => {
  it("stops after the most requests (limits.maxTurns)", async () => {
    const stage = await openAgentStage({ script, agent: { limits: { turns: 3 } } });
    const events = describeEvents(await playTurn(stage, "count"));
    expect(events.filter((line) => line.startsWith("request"))).toHaveLength(3);
    expect(events.at(-1)).toBe("finished max-turns: ");
    expect(stage.journal.ledger.pending()).toEqual([]);
    expect(describeEvents(await playTurn(stage, "hello")).at(-1)).toBe("finished stop: Good day.");
  });

  it("runs the first 500 calls of one answer, and tells the model that the rest did not run", async () => {
    const stage = await openAgentStage({ script });
    const events = await playTurn(stage, "flood");
    const ends = events.flatMap((event) => (event.type === "call-completed" ? [event.finished] : []));
    const surplus = ends.filter(({ error }) => error !== undefined);
    expect([ends.length, surplus.length]).toEqual([560, 60]);
    expect(new Set(surplus.map(({ error }) => error?.message))).toEqual(
      new Set([
        "This call was not run: one answer may hold at most 500 calls. Make it again in the next answer, if it is still needed.",
      ]),
    );
    expect(events.at(-1)).toEqual({ type: "finished", reason: "stop", text: "Added." });
    expectValid(stage);
  });

  it("has no limit of requests unless one is set", async () => {
    const stage = await openAgentStage({ script });
    const events = describeEvents(await playTurn(stage, "count"));
    expect(events.filter((line) => line.startsWith("request"))).toHaveLength(sumCount + 1);
    expect(events.at(-1)).toBe("finished stop: Counted.");
  });

  it("stops at the spending limit (limits.spend)", async () => {
    const stage = await openAgentStage({ script, agent: { limits: { spend: 0.001 } } });
    const events = await playTurn(stage, "count");
    expect(events.at(-1)).toEqual({ type: "finished", reason: "max-spend", text: "" });
    const costs = events.flatMap((event) => (event.type === "usage" ? [event.spent.cost] : []));
    expect(costs.map((cost) => cost >= 0.001)).toEqual([...costs.slice(1).map(() => false), true]);
  });

  itInAll("stops at the spending limit of its parent session, and adds its own cost to it", async () => {
    const whole = new SpendingTracker();
    const part = { limits: { spend: 0.001 }, spending: new SpendingTracker({ parent: whole }) };
    const stage = await openAgentStage({ script, agent: part });
    await playTurn(stage, "hello");
    expect(stage.agent.usageTotals().requests).toBe(1);
    expect(whole.totals).toEqual(stage.agent.usageTotals());
    const other = await openAgentStage({ script, agent: { spending: new SpendingTracker({ parent: whole }) } });
    while (whole.totals.cost < 0.001) await playTurn(other, "count");
    expect(stage.agent.usageTotals().cost).toBeLessThan(0.001);
    expect(describeEvents(await playTurn(stage, "hello")).at(-1)).toBe("finished max-spend: ");
    expect(stage.agent.usageTotals().requests).toBe(1);
  });

  it("stops when the same calls had the same result ten times; they are not run again", async () => {
    const stage = await openAgentStage({ script });
    const events = describeEvents(await playTurn(stage, "circle"));
    expect(events.slice(-3)).toEqual([
      "hist_tool_11: add",
      "hist_tool_11: error: This call was not run: the same calls were made several times in a row. Do something else, or say what is in the way.",
      "finished loop: ",
    ]);
    expect(events.filter((line) => line.endsWith("complete: 2"))).toHaveLength(10);
  });

  it("stops when an answer repeats itself, and keeps its text", async () => {
    const stage = await openAgentStage({ script });
    const events = await playTurn(stage, "babble");
    const text = events.flatMap((event) => (event.type === "text" ? [event.text] : [])).join("");
    expect(events.at(-1)).toEqual({ type: "finished", reason: "loop", text });
    expect(text.length).toBeLessThan(14_000);
    expect(describeEntries(stage.journal.ledger.entries)).toEqual(["user: babble", `anthropic: ${text}`]);
    expect(describeEvents(await playTurn(stage, "hello")).at(-1)).toBe("finished stop: Good day.");
  });

  it("asks the person, if there is one, whether to continue", async () => {
    const questions: string[] = [];
    const answers = [true, true, true, false];
    const confirm = async (question: string): Promise<boolean> => {
      questions.push(question);
      return answers.shift() ?? false;
    };
    const stage = await openAgentStage({ script, agent: { confirm } });
    expect(describeEvents(await playTurn(stage, "circle")).at(-1)).toBe("finished stop: Said at last.");
    const whole = (await playTurn(stage, "babble")).at(-1);
    expect(whole).toMatchObject({ type: "finished", reason: "stop" });
    expect(describeEvents(await playTurn(stage, "circle")).at(-1)).toBe("finished loop: ");
    const calls = "The model keeps making the same calls (add) without a new result. Let it continue?";
    const text = "The answer has repeated the same text for thousands of characters. Let it continue?";
    expect(questions).toEqual([calls, calls, text, calls]);
  });

  it("is cancelled if the person cancels instead of answering", async () => {
    const stop = new AbortController();
    const confirm = (_: string, signal: AbortSignal): Promise<boolean> =>
      new Promise((resolve) => {
        signal.addEventListener("abort", () => resolve(false));
        stop.abort();
      });
    const stage = await openAgentStage({ script, agent: { confirm } });
    const events = await playTurn(stage, "circle", () => undefined, stop.signal);
    expect(events.at(-1)).toEqual({ type: "cancelled" });
    expect(stage.journal.ledger.pending()).toEqual([]);
  });

  itInAll("is not stopped by ordinary files of any kind", async () => {
    const kinds = Object.entries(ordinaryTexts);
    const rules = kinds.map(([kind, make]) => ({
      prompt: `file: ${kind}`,
      replies: [{ say: `\`\`\`\n${make(150, new Random(1))}\n\`\`\`` }],
    }));
    const stage = await openAgentStage({ script: { rules: rules.toReversed() }, agent: { compactAt: 0 } });
    for (const [kind] of kinds)
      expect([kind, (await playTurn(stage, `file: ${kind}`)).at(-1)]).toMatchObject([kind, { reason: "stop" }]);
  });
});

const tooLong: SimFault = {
  type: "status",
  status: 400,
  kind: "context",
  message: "prompt is too long: 300000 tokens > 200000 maximum",
};

/** A model with a context window of so many tokens. */
const reading = (tokens: number) => ({ modelSettings: () => ({ context: tokens }) });

describe("a conversation that fills the context window", () => {
  it("first has its old long results shortened", async () => {
    const stage = await openAgentStage({ script, agent: reading(45_000) });
    for (const _ of [1, 2, 3]) await playTurn(stage, "read");
    const events = describeEvents(await playTurn(stage, "read"));
    expect(events.at(-4)).toBe("compacted by shortening");
    expect(describeEntries(stage.journal.ledger.entries).at(-2)).toBe("shortened to 2000");
    const last = JSON.stringify(stage.simulators["anthropic"]?.log.at(-1)?.body);
    // Three of four are shortened; the one no model has read yet is complete.
    expect(Math.round(last.split("many words").length / 100)).toBe(Math.round((40_000 + 3 * 2000) / 1100));
    expectValid(stage);
    const used = await stage.agent.contextUsage();
    expect(used.used).toBeLessThan(used.size);
  });

  it("is summarized if that is not enough; recent entries stay as they are", async () => {
    const words = "Hello there, hello again and hello once more. ".repeat(200);
    const stage = await openAgentStage({ script, agent: reading(9000) });
    for (const one of ["first", "second"]) await playTurn(stage, `hello, ${one}: ${words}`);
    const newest = `hello, third: ${words}`;
    expect(describeEvents(await playTurn(stage, newest)).slice(0, 3)).toEqual([
      `user: ${newest}`,
      "compacted by summary",
      "request 3 to anthropic",
    ]);
    const kept = [`user: ${newest}`, `summary: ${summary}`, "anthropic: Good day."];
    expect(describeEntries(stage.journal.ledger.entries)).toEqual(kept);
    const { entries } = await openSessionStore(stage.world, { home }).read(stage.session.id);
    expect(describeEntries(entries).slice(-3)).toEqual(kept);
    expect(entries.map(({ type }) => type)).toEqual(["user", "model", "user", "model", "user", "compaction", "model"]);
    expect(entries[5]).toMatchObject({ type: "compaction", from: 4 });
    await stage.session.close();
    const again = await resumeAgentSession(
      openSessionStore(stage.world, { home }),
      { id: stage.session.id },
      { world: stage.world, folder: "/project" },
    );
    expect(again.journal.ledger.entries).toEqual(stage.journal.ledger.entries);
    expect([again.journal.entryCount, again.journal.ledger.dropped]).toEqual([7, 4]);
    await again.session.close();
    const last = JSON.stringify(stage.simulators["anthropic"]?.log.at(-1)?.body);
    expect(["To read much.", "first: Hello", "third: Hello"].map((part) => last.includes(part))).toEqual([
      true,
      false,
      true,
    ]);
    expectValid(stage);
  });

  it("keeps the initial context in every later request, after every summary", async () => {
    const environment = "Today is Monday, 1 June 2026. The platform is linux. The workspace is /project.";
    const stage = await openAgentStage({ script });
    stage.journal.ledger.notice(environment);
    for (const _ of [1, 2]) {
      for (const each of [1, 2, 3]) await playTurn(stage, `hello ${each} ${"and so on ".repeat(500)}`);
      expect(await stage.world.run(stage.agent.compact())).toBe(true);
      await playTurn(stage, "hello");
    }
    const sent = (stage.simulators["anthropic"]?.log ?? []).map(({ body }) => JSON.stringify(body));
    expect(sent.map((body) => body.split(environment).length - 1)).toEqual(sent.map(() => 1));
    expect(sent.at(-1)).toContain("Summary of the conversation so far");
    expectValid(stage);
  });

  it("is unchanged if the summary fails, and the turn continues", async () => {
    const words = "Hello there, hello again and hello once more. ".repeat(200);
    const silent = {
      rules: [{ prompt: "too long", replies: [{ error: { status: 400, message: "No." } }] }, ...script.rules.slice(1)],
    };
    const stage = await openAgentStage({ script: silent, agent: reading(9000) });
    for (const _ of [1, 2]) await playTurn(stage, `hello ${words}`);
    const before = [...stage.journal.ledger.entries];
    const events = describeEvents(await playTurn(stage, `hello ${words}`));
    expect(events[1]).toMatch(
      /^notice: anthropic\/claude-sonnet-5 could not summarize the conversation, which is unchanged\./,
    );
    expect(events.at(-1)).toBe("finished stop: Good day.");
    expect(stage.journal.ledger.entries.slice(0, before.length)).toEqual(before);
    expect(describeEntries(stage.journal.ledger.entries.slice(before.length))).toEqual([
      `user: hello ${words}`,
      "anthropic: Good day.",
    ]);
    await expect(stage.world.run(stage.agent.compact())).resolves.toBe(false);
  });

  it("is not summarized on request if that would gain nothing: no request is sent", async () => {
    const stage = await openAgentStage({ script });
    for (const each of [1, 2, 3]) await playTurn(stage, `hello ${each}`);
    const sent = stage.simulators["anthropic"]?.log.length;
    expect(await stage.world.run(stage.agent.compact())).toBe(false);
    expect(stage.simulators["anthropic"]?.log.length).toBe(sent);
  });

  it("is summarized on request with the focus the user gave", async () => {
    const stage = await openAgentStage({ script });
    for (const each of [1, 2, 3]) await playTurn(stage, `hello ${each} ${"and so on ".repeat(500)}`);
    expect(await stage.world.run(stage.agent.compact("the failing test"))).toBe(true);
    const last = JSON.stringify(stage.simulators["anthropic"]?.log.at(-1)?.body);
    expect(last).toContain("The user asks you to keep in detail: the failing test");
  });

  it("is unchanged if the summary is empty", async () => {
    const silent = { rules: [{ prompt: "too long", replies: [{ parts: [] }] }, ...script.rules.slice(1)] };
    const notices: string[] = [];
    const listen = (event: AgentEvent): void => void (event.type === "notice" && notices.push(event.text));
    const stage = await openAgentStage({ script: silent, agent: { onEvent: listen } });
    for (const _ of [1, 2, 3]) await playTurn(stage, `hello ${"and so on ".repeat(500)}`);
    const before = [...stage.journal.ledger.entries];
    expect(await stage.world.run(stage.agent.compact())).toBe(false);
    expect(stage.journal.ledger.entries).toEqual(before);
    expect(notices).toEqual(["The model's summary was not usable; the conversation is unchanged."]);
  });

  it("is summarized if the provider refuses it as too long, and sent again once", async () => {
    const stage = await openAgentStage({ script, faults: { anthropic: [{ on: 3, fault: tooLong }] } });
    for (const _ of [1, 2]) await playTurn(stage, `hello ${"and so on ".repeat(500)}`);
    const events = describeEvents(await playTurn(stage, "hello"));
    expect(events).toEqual([
      "user: hello",
      "request 3 to anthropic",
      "compacted by summary",
      "request 4 to anthropic",
      "text: Good day.",
      "finished stop: Good day.",
    ]);
  });

  it("and cannot be compacted is not sent again", async () => {
    const stage = await openAgentStage({ script, faults: { anthropic: [{ fault: tooLong }] } });
    expect(describeEvents(await playTurn(stage, "hello"))).toEqual([
      "user: hello",
      "request 1 to anthropic",
      "failed context-too-long",
    ]);
    expect(stage.simulators["anthropic"]?.log).toHaveLength(1);
  });

  it("is summarized at once on demand, but not twice without need", async () => {
    const stage = await openAgentStage({ script });
    for (const _ of [1, 2, 3]) await playTurn(stage, `hello ${"and so on ".repeat(500)}`);
    const { world, agent } = stage;
    expect(await world.run(agent.compact())).toBe(true);
    expect(describeEvents(await playTurn(stage, "hello")).at(-1)).toBe("finished stop: Good day.");
    expectValid(stage);
  });

  it("is not compacted while a call is open", async () => {
    const stage = await openAgentStage({ script });
    for (const _ of [1, 2, 3]) await playTurn(stage, `hello ${"and so on ".repeat(500)}`);
    const { journal, world, agent } = stage;
    journal.ledger.model({ provider: "anthropic", model: "claude-sonnet-5" }, [
      { type: "call", tool: "add", input: { value: { a: 1, b: 2 } } },
    ]);
    const entries = [...journal.ledger.entries];
    expect(await world.run(agent.compact())).toBe(false);
    expect(journal.ledger.entries).toEqual(entries);
  });
});
