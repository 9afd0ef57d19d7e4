import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ModelFunction } from "../../src/sim/family.ts";
import type { AcpTestClient, Json } from "../support/acp-client.ts";
import { openAcpStage } from "../support/acp-stage.ts";
import { openProgramStage, type ProgramStage } from "../support/agent-program.ts";
import { fc } from "../support/fast-check.ts";

/*
 * Random histories of a session: prompts, answers to permissions, cancellations, prompts while one runs, changes of the
 * mode, loading it again, and clients that die. Whatever happens, in whatever order.
 */

/** Makes one or two calls that need approval, then speaks. */
const speak: ModelFunction = ({ turns }) => {
  const at = turns.findLastIndex((turn) => turn.by === "user" && turn.text !== "");
  const isNew = !turns.slice(at).some((turn) => turn.by === "model");
  const turn = turns[at];
  const isPlain = turn?.by === "user" && turn.text.endsWith("Talk.");
  if (isPlain || !isNew) return { parts: [{ type: "say", text: "Done." }] };
  const write = (name: string) => ({
    type: "call" as const,
    tool: "write_file",
    input: { file_path: `${name}.txt`, content: `${turns.length}\n` },
  });
  return { parts: [{ type: "say", text: "Writing." }, write("a"), write("b")] };
};

let stage: ProgramStage;
/** The folder with the projects of all histories. */
let projects: string;
beforeAll(async () => {
  stage = await openProgramStage(["anthropic"], { script: speak });
  projects = realpathSync(mkdtempSync(join(tmpdir(), "parley-acp-model-")));
});
afterAll(async () => {
  await stage.close();
  rmSync(projects, { recursive: true, force: true });
});

type Action =
  | { readonly type: "prompt"; readonly text: "Work." | "Talk." }
  | { readonly type: "answer"; readonly option: "once" | "always:edits" | "refuse" | "other" | "cancelled" }
  | { readonly type: "cancel" | "load" | "close" | "ticks" }
  | { readonly type: "mode"; readonly mode: "plan" | "default" | "auto_edit" | "yolo" };

const anyAction: fc.Arbitrary<Action> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ type: fc.constant("prompt"), text: fc.constantFrom("Work.", "Talk.") }) },
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant("answer"),
      option: fc.constantFrom("once", "always:edits", "refuse", "other", "cancelled"),
    }),
  },
  { weight: 3, arbitrary: fc.record({ type: fc.constant("ticks") }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant("cancel") }) },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant("mode"), mode: fc.constantFrom("plan", "default", "auto_edit", "yolo") }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constantFrom("load", "close") }) },
) as fc.Arbitrary<Action>;

/** Lets real work happen: some is done after a number of turns of the event loop that nothing can tell. */
const ticks = async (count: number): Promise<void> => {
  for (let at = 0; at < count; at += 1) await new Promise((resolve) => setImmediate(resolve));
};

/** Runs a history and returns the client's messages. */
const run = async (actions: readonly Action[]): Promise<AcpTestClient> => {
  const cwd = mkdtempSync(join(projects, "project-"));
  let acp = openAcpStage(stage);
  const { client } = acp;
  const waiting: ((answer: Json) => void)[] = [];
  const answers: Promise<unknown>[] = [];
  let isAlive = true;
  // Requests to a session that is being loaded are refused: that is an answer, too.
  const send = (answer: Promise<unknown>): void => void answers.push(answer.catch(() => undefined));
  client.handlers["session/request_permission"] = () => new Promise((resolve) => waiting.push(resolve));
  await client.initialize();
  const { sessionId } = await client.request("session/new", { cwd, mcpServers: [] });
  const reopen = { sessionId, cwd, mcpServers: [] };
  for (const action of actions) {
    if (!isAlive) break;
    switch (action.type) {
      case "prompt":
        send(client.prompt(sessionId as string, action.text));
        break;
      case "answer":
        waiting.shift()?.({
          outcome:
            action.option === "cancelled" ? { outcome: "cancelled" } : { outcome: "selected", optionId: action.option },
        });
        break;
      case "cancel":
        client.notify("session/cancel", { sessionId });
        // Clients answer open questions when they cancel.
        for (const answer of waiting.splice(0)) answer({ outcome: { outcome: "cancelled" } });
        break;
      case "mode":
        send(client.request("session/set_mode", { sessionId, modeId: action.mode }));
        break;
      case "load":
        send(client.request("session/load", reopen));
        break;
      case "close":
        isAlive = false;
        break;
      case "ticks":
        await ticks(200);
        break;
    }
    await ticks(3);
  }
  if (isAlive) {
    const all = Promise.all(answers);
    client.notify("session/cancel", { sessionId });
    for (;;) {
      for (const answer of waiting.splice(0)) answer({ outcome: { outcome: "cancelled" } });
      if ((await Promise.race([all, ticks(200)])) !== undefined) break;
      client.notify("session/cancel", { sessionId });
    }
    expect(answers.length).toBe((await all).length);
  }
  await acp.server.close();
  // A session with a prompt can be loaded by the next client, wherever this one stopped.
  if (actions.some(({ type }) => type === "prompt")) {
    acp = openAcpStage(stage);
    await acp.client.initialize();
    const loaded = await acp.client.request("session/load", reopen).catch((error: unknown) => error);
    if (loaded instanceof Error) expect(loaded).toMatchObject({ code: -32002 });
    await acp.server.close();
    expect(acp.client.problems).toEqual([]);
  }
  return client;
};

/** The kinds of updates that belong to a turn. */
const turnUpdates = new Set(["agent_message_chunk", "agent_thought_chunk", "tool_call", "tool_call_update", "plan"]);

/** Checks all promises on the messages of one client. */
const check = ({ messages, problems }: AcpTestClient): void => {
  expect(problems).toEqual([]);
  const running = new Map<unknown, string>();
  const open = new Set<unknown>();
  for (const { from, message } of messages) {
    const { id, method, params } = message;
    if (from === "client" && (method === "session/prompt" || method === "session/load")) running.set(id, method);
    if (from !== "agent") continue;
    const update = (params?.update ?? {}) as Json;
    if (update["sessionUpdate"] === "tool_call" && update["status"] === "pending") open.add(update["toolCallId"]);
    if (update["sessionUpdate"] === "tool_call_update") expect(open.has(update["toolCallId"])).toBe(true);
    if (update["status"] === "completed" || update["status"] === "failed") open.delete(update["toolCallId"]);
    // Updates are sent before the answer to the prompt they belong to.
    if (turnUpdates.has(update["sessionUpdate"] as string)) expect(running.size).toBeGreaterThan(0);
    if (method !== undefined || !running.has(id)) continue;
    const answered = running.get(id);
    running.delete(id);
    // A cancellation is never an error.
    if (answered === "session/prompt" && message["error"] !== undefined)
      expect(message["error"]).toMatchObject({ code: -32002 });
    if (![...running.values()].includes("session/prompt") && answered === "session/prompt")
      expect([...open]).toEqual([]);
  }
};

describe("any history of a session", () => {
  it("gives each call one final state, sends updates before answers, and answers every request once", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyAction, { maxLength: 10 }), async (actions) => check(await run(actions))),
      { numRuns: 25 },
    );
  }, 300_000);
});
