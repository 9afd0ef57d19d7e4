import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { client, methods, ndJsonStream, type SessionUpdate } from "@agentclientprotocol/sdk";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ModelFunction } from "../../src/sim/family.ts";
import { bin, ensureBuilt } from "../built.ts";
import { openProgramStage, type ProgramStage } from "../support/agent-program.ts";

/*
 * The built program with the protocol's own client, which parses every message with its own schemas.
 */

const speak: ModelFunction = ({ turns }) =>
  turns.some((turn) => turn.by === "model")
    ? { parts: [{ type: "say", text: "Done." }] }
    : { parts: [{ type: "call", tool: "write_file", input: { file_path: "b.txt", content: "new\n" } }] };

let stage: ProgramStage;
beforeAll(async () => {
  ensureBuilt();
  stage = await openProgramStage(["anthropic"], { script: speak });
}, 240_000);
afterAll(() => stage.close());

describe("the protocol's own client", () => {
  it("runs a turn with a permission, and lists and loads the session", async () => {
    const child = spawn(process.execPath, [bin, "acp", "-m", "anthropic"], {
      env: stage.env,
      cwd: stage.home,
      stdio: ["pipe", "pipe", "ignore"],
    });
    const stream = ndJsonStream(
      Writable.toWeb(child.stdin) as WritableStream<Uint8Array>,
      Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>,
    );
    const updates: SessionUpdate[] = [];
    const app = client({ name: "test" })
      .onNotification(methods.client.session.update, ({ params }) => void updates.push(params.update))
      .onRequest(methods.client.session.requestPermission, ({ params }) => ({
        outcome: { outcome: "selected", optionId: params.options[0]?.optionId ?? "" },
      }));
    const ended = once(child, "close");
    await app.connectWith(stream, async (agent) => {
      const { agentInfo } = await agent.request(methods.agent.initialize, { protocolVersion: 1 });
      expect(agentInfo?.name).toBe("parley");
      const { sessionId } = await agent.request(methods.agent.session.new, { cwd: stage.project, mcpServers: [] });
      const prompt = [{ type: "text", text: "Write it." } as const];
      expect(await agent.request(methods.agent.session.prompt, { sessionId, prompt })).toMatchObject({
        stopReason: "end_turn",
      });
      expect(readFileSync(join(stage.project, "b.txt"), "utf8")).toBe("new\n");
      const { sessions } = await agent.request(methods.agent.session.list, {});
      expect(sessions.map((each) => each.sessionId)).toEqual([sessionId]);
      updates.splice(0);
      await agent.request(methods.agent.session.load, { sessionId, cwd: stage.project, mcpServers: [] });
      // The list of commands follows the response, when it is known.
      const shown = updates.filter(({ sessionUpdate }) => sessionUpdate !== "available_commands_update");
      expect(shown.map((update) => update.sessionUpdate)).toEqual([
        "user_message_chunk",
        "tool_call",
        "agent_message_chunk",
        "session_info_update",
        "usage_update",
      ]);
    });
    child.stdin.end();
    expect((await ended)[0]).toBe(0);
  });
});
