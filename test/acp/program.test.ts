import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { ModelFunction } from "../../src/sim/family.ts";
import { ensureBuilt } from "../built.ts";
import { serveProgram, type AcpError, type Json, type ServedProgram } from "../support/acp-client.ts";
import { openProgramStage, type ProgramStage } from "../support/agent-program.ts";
import { itInAll } from "../support/tier.ts";

/*
 * The built program `parley acp`, as an editor starts it. Every line is validated against the protocol's JSON Schema.
 */

const speak: ModelFunction = ({ turns }) => {
  const last = turns.findLast((turn) => turn.by === "user");
  const said = last?.by === "user" ? last.text : "";
  const answered = turns.slice(turns.findLastIndex((turn) => turn.by === "user")).some((turn) => turn.by === "model");
  if (said.includes("Edit.") && !answered)
    return {
      parts: [
        { type: "think", text: "An edit." },
        { type: "say", text: "Editing." },
        { type: "call", tool: "write_file", input: { file_path: "a.txt", content: "two\n" } },
      ],
    };
  if (said.includes("Run.") && !answered)
    return {
      parts: [{ type: "call", tool: "run_shell_command", input: { command: "echo out; echo err >&2; exit 3" } }],
    };
  return { parts: [{ type: "say", text: "Done." }] };
};

let stage: ProgramStage;
let served: ServedProgram;
beforeAll(async () => {
  ensureBuilt();
  stage = await openProgramStage(["anthropic", "openai"], { script: speak });
}, 240_000);
afterAll(() => stage.close());
afterEach(async () => {
  expect(await served.close()).toBe(0);
  expect(served.client.problems).toEqual([]);
});

const start = async (args: readonly string[] = [], capabilities: Json = {}): Promise<Json> => {
  served = serveProgram(["-m", "anthropic", ...args], { env: stage.env, cwd: stage.home });
  return served.client.initialize(capabilities);
};

const open = async (): Promise<string> => {
  const { sessionId } = await served.client.request("session/new", { cwd: stage.project, mcpServers: [] });
  return sessionId as string;
};

const kinds = (): readonly string[] => [
  ...new Set(served.client.updates.map((update) => update["sessionUpdate"] as string)),
];

describe("parley acp", () => {
  it("answers initialize with its capabilities and a way to sign in", async () => {
    expect(await start()).toMatchObject({
      protocolVersion: 1,
      agentCapabilities: { loadSession: true, sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {} } },
      authMethods: [{ id: "environment" }],
      agentInfo: { name: "parley" },
    });
    expect(await served.client.request("authenticate", { methodId: "environment" })).toEqual({});
  });

  itInAll(
    "offers to set up a key in a terminal where the client has one, and refuses an unknown way to sign in",
    async () => {
      const { authMethods } = await start([], { auth: { terminal: true } });
      expect((authMethods as readonly Json[]).map(({ id, type, args }) => [id, type, args])).toEqual([
        ["environment", undefined, undefined],
        ["terminal-login", "terminal", ["--login"]],
      ]);
      const { client } = served;
      expect(await client.request("authenticate", { methodId: "terminal-login" })).toEqual({});
      const unknown = await client.request("authenticate", { methodId: "magic" }).catch((error: AcpError) => error);
      expect(unknown).toMatchObject({ code: -32602, message: 'Unknown sign-in method "magic".' });
    },
  );

  it("says that a key is missing, and how to set one", async () => {
    served = serveProgram(["-m", "anthropic"], { env: { ...stage.env, ANTHROPIC_API_KEY: "" }, cwd: stage.home });
    await served.client.initialize();
    const error = await served.client.request("authenticate", { methodId: "environment" }).catch((e) => e as AcpError);
    expect(error).toMatchObject({ code: -32000, message: expect.stringContaining("ANTHROPIC_API_KEY") });
  });

  it("runs a turn with an edit that the client allows", async () => {
    writeFileSync(join(stage.project, "a.txt"), "one\n");
    await start();
    const { client } = served;
    let question: Json = {};
    client.handlers["session/request_permission"] = (params) => {
      question = params;
      return { outcome: { outcome: "selected", optionId: "once" } };
    };
    const sessionId = await open();
    expect(await client.prompt(sessionId, "Edit.")).toEqual({ stopReason: "end_turn" });
    expect(readFileSync(join(stage.project, "a.txt"), "utf8")).toBe("two\n");
    expect(client.text()).toBe("Editing.Done.");
    const path = join(stage.project, "a.txt");
    const diff = { type: "diff", path, oldText: "one\n", newText: "two\n" };
    expect(question).toMatchObject({
      sessionId,
      toolCall: { toolCallId: "hist_tool_1", kind: "edit", locations: [{ path }] },
    });
    expect(question["toolCall"].content[0]).toEqual(diff);
    const optionKinds = (question["options"] as readonly Json[]).map(({ kind }) => kind as string);
    expect(optionKinds).toEqual(["allow_once", "allow_always", "reject_once"]);
    const calls = client.updates.filter((update) => "toolCallId" in update);
    expect(calls).toMatchObject([
      { sessionUpdate: "tool_call", title: "Write a.txt", status: "pending", locations: [{ path }] },
      { sessionUpdate: "tool_call_update", status: "in_progress" },
      { sessionUpdate: "tool_call_update", status: "completed", content: [diff] },
    ]);
    expect(kinds()).toEqual(expect.arrayContaining(["agent_thought_chunk", "usage_update", "session_info_update"]));
  });

  itInAll("does not write what the client rejects, and the turn goes on", async () => {
    writeFileSync(join(stage.project, "a.txt"), "one\n");
    await start();
    const { client } = served;
    client.handlers["session/request_permission"] = () => ({ outcome: { outcome: "selected", optionId: "refuse" } });
    expect(await client.prompt(await open(), "Edit.")).toEqual({ stopReason: "end_turn" });
    expect(readFileSync(join(stage.project, "a.txt"), "utf8")).toBe("one\n");
    expect(client.updates.filter((update) => update["status"] === "failed")).toHaveLength(1);
  });

  itInAll("shows a command as a live terminal where the client can, with its exit code", async () => {
    await start(["--approval-mode", "yolo"], { _meta: { terminal_output: true } });
    const { client } = served;
    await client.prompt(await open(), "Run.");
    const calls = client.updates.filter((update) => "toolCallId" in update);
    const terminal = { type: "terminal", terminalId: "hist_tool_1" };
    expect(calls[0]).toMatchObject({
      kind: "execute",
      content: [terminal],
      _meta: { terminal_info: { terminal_id: "hist_tool_1", cwd: stage.project } },
    });
    const data = calls
      .map((update) => update["_meta"]?.terminal_output?.data ?? "")
      .join("")
      .trimEnd();
    expect(data).toBe("out\nerr");
    expect(calls.at(-1)).toMatchObject({
      status: "completed",
      content: [terminal],
      _meta: { terminal_exit: { terminal_id: "hist_tool_1", exit_code: 3, signal: null } },
    });
  });

  itInAll("ends a call that waits for permission when the turn is cancelled, and answers cancelled", async () => {
    await start();
    const { client } = served;
    const sessionId = await open();
    let answerLate: (answer: Json) => void = () => undefined;
    client.handlers["session/request_permission"] = () => {
      client.notify("session/cancel", { sessionId });
      return new Promise((resolve) => (answerLate = resolve));
    };
    expect(await client.prompt(sessionId, "Edit.")).toEqual({ stopReason: "cancelled" });
    const final = client.updates.filter(({ status }) => status === "failed" || status === "completed");
    expect(final).toMatchObject([{ toolCallId: "hist_tool_1", status: "failed" }]);
    answerLate({ outcome: { outcome: "selected", optionId: "once" } });
    expect(await client.prompt(sessionId, "Hello.")).toEqual({ stopReason: "end_turn" });
    expect(existsSync(join(stage.project, "b.txt"))).toBe(false);
  });

  it("loads a session after a restart: every message, thought and call, with the same message ids", async () => {
    writeFileSync(join(stage.project, "a.txt"), "one\n");
    await start(["--approval-mode", "yolo"]);
    const sessionId = await open();
    await served.client.prompt(sessionId, "Edit.");
    const ids = (type: string): readonly string[] => [
      ...new Set(
        served.client.updates.flatMap((each) => (each["sessionUpdate"] === type ? [`${each["messageId"]}`] : [])),
      ),
    ];
    const live = [ids("agent_message_chunk"), ids("agent_thought_chunk")];
    await served.close();
    await start();
    const { client } = served;
    const { sessions } = await client.request("session/list", { cwd: stage.project });
    const row = (sessions as readonly Json[]).find((each) => each["sessionId"] === sessionId);
    expect(row).toMatchObject({ cwd: stage.project, title: "Edit." });
    expect(await client.request("session/load", { sessionId, cwd: stage.project, mcpServers: [] })).toMatchObject({
      modes: { currentModeId: "default" },
    });
    const shown = client.updates
      // The list of commands follows the response, when it is known.
      .filter(({ sessionUpdate }) => sessionUpdate !== "available_commands_update")
      .map((update) => [update["sessionUpdate"], update["content"]?.text ?? update["title"]]);
    expect(shown).toEqual([
      ["user_message_chunk", "Edit."],
      ["agent_thought_chunk", "An edit."],
      ["agent_message_chunk", "Editing."],
      ["tool_call", "Write a.txt"],
      ["agent_message_chunk", "Done."],
      ["session_info_update", "Edit."],
      ["usage_update", undefined],
    ]);
    expect([ids("agent_message_chunk"), ids("agent_thought_chunk")]).toEqual(live);
    const again = await client.request("session/list", { cwd: stage.project });
    expect((again["sessions"] as readonly Json[]).find((each) => each["sessionId"] === sessionId)).toEqual(row);
    expect(await client.prompt(sessionId, "Hello.")).toEqual({ stopReason: "end_turn" });
  });
});
