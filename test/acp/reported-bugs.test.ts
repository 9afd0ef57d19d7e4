import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ModelFunction } from "../../src/sim/family.ts";
import { bin, ensureBuilt } from "../built.ts";
import { serveProgram, type AcpError, type Json, type ServedProgram } from "../support/acp-client.ts";
import { openProgramStage, type ProgramStage } from "../support/agent-program.ts";
import { untilGone } from "../support/processes.ts";

/*
 * Bugs that users reported of other agents, as promises of this one, with the built program.
 */

const speak: ModelFunction = ({ turns }) => {
  const isAnswered = turns.at(-1)?.by !== "user" || turns.some((turn) => turn.by === "model");
  if (isAnswered) return { parts: [{ type: "say", text: "Done." }] };
  return {
    parts: [
      { type: "call", tool: "run_shell_command", input: { command: "echo $$ > shell.pid; echo noise; sleep 1000" } },
    ],
  };
};

let stage: ProgramStage;
beforeAll(async () => {
  ensureBuilt();
  stage = await openProgramStage(["anthropic"], { script: speak });
}, 240_000);
afterAll(() => stage.close());

const beside = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

const start = (more: { readonly env?: NodeJS.ProcessEnv; readonly preload?: string } = {}): ServedProgram =>
  serveProgram(["-m", "anthropic", "--approval-mode", "yolo"], {
    cwd: stage.home,
    ...more,
    env: { ...stage.env, ...more.env },
  });

const codeOf = (answer: Promise<Json>): Promise<number> =>
  answer.then(
    () => 0,
    (error: AcpError) => error.code,
  );

describe("the program", () => {
  it("writes nothing but JSON to stdout, whatever libraries print", async () => {
    const { client, close, stderr } = start({ preload: beside("../support/acp-noise.mjs") });
    await client.initialize();
    await client.request("session/new", { cwd: stage.project, mcpServers: [] });
    expect(await close()).toBe(0);
    expect(client.problems).toEqual([]);
    expect(stderr()).toContain("Loaded cached credentials.");
    expect(stderr()).toContain("more noise");
  });

  it("answers initialize before it reads settings; an invalid file is an error of session/new", async () => {
    const home = join(stage.home, "broken");
    mkdirSync(home, { recursive: true });
    writeFileSync(join(home, "settings.json"), "{ not json");
    const { client, close } = start({ env: { PARLEY_HOME: home } });
    expect(await client.initialize()).toMatchObject({ protocolVersion: 1 });
    const error = await client
      .request("session/new", { cwd: stage.project, mcpServers: [] })
      .catch((e) => e as AcpError);
    expect(error).toMatchObject({ code: -32603, message: expect.stringContaining("settings.json") });
    expect(await close()).toBe(0);
  });

  it("serves every method it advertises", async () => {
    const { client, close } = start();
    const { agentCapabilities } = await client.initialize();
    const methods = [
      "session/new",
      "session/prompt",
      "session/set_mode",
      "session/set_config_option",
      ...(agentCapabilities.loadSession === true ? ["session/load"] : []),
      ...Object.keys(agentCapabilities.sessionCapabilities as object)
        .filter((name) => name !== "additionalDirectories")
        .map((name) => `session/${name}`),
    ];
    const codes = await Promise.all(methods.map((method) => codeOf(client.request(method, { sessionId: "x" }))));
    expect(methods).toHaveLength(9);
    expect(codes).not.toContain(-32601);
    expect(codes).not.toContain(-32603);
    expect(await close()).toBe(0);
  });

  it("refuses what is no message of the protocol, and goes on", async () => {
    const { client, close, child } = start();
    const odd = await client.request("initialize", { protocolVersion: "1.0" }).catch((e) => e as AcpError);
    expect(odd).toMatchObject({ code: -32602, message: "protocolVersion must be a whole number, such as 1." });
    child.stdin?.write('{"jsonrpc": nonsense\n[{"jsonrpc":"2.0"}]\n\n{"jsonrpc":"2.0","method":"unknown/notice"}\n');
    expect(await client.initialize()).toMatchObject({ protocolVersion: 1 });
    expect(await client.request("initialize", { protocolVersion: 7 })).toMatchObject({ protocolVersion: 1 });
    expect(await codeOf(client.request("session/teleport"))).toBe(-32601);
    const errors = client.messages.flatMap(({ from, message }) =>
      from === "agent" && message["id"] === null ? [message["error"].code as number] : [],
    );
    expect(errors).toEqual([-32700, -32600]);
    expect(await close()).toBe(0);
  });

  it("says which session is not there, also for the beginning of an id", async () => {
    const { client, close } = start();
    await client.initialize();
    for (const sessionId of ["gone", "1"]) {
      const error = await client
        .request("session/load", { sessionId, cwd: stage.project, mcpServers: [] })
        .catch((e) => e as AcpError);
      expect(error).toMatchObject({ code: -32002, data: { sessionId } });
    }
    expect(await codeOf(client.request("session/new", { cwd: "relative", mcpServers: [] }))).toBe(-32602);
    expect(await codeOf(client.request("session/new", { cwd: "/nowhere/at/all", mcpServers: [] }))).toBe(-32602);
    expect(await close()).toBe(0);
  });

  it("ends with its commands when the editor is killed, and the session can be loaded", async () => {
    const editor = spawn(process.execPath, [beside("../support/acp-editor.mjs"), bin, stage.project, "Work."], {
      env: stage.env,
      stdio: ["ignore", "pipe", "ignore"],
    });
    let agent = 0;
    let sessionId = "";
    for await (const line of createInterface({ input: editor.stdout })) {
      const { pid, result, params } = JSON.parse(line) as Json;
      if (pid !== undefined) agent = pid as number;
      if (result?.sessionId !== undefined) sessionId = result.sessionId as string;
      // The output of the command: it runs.
      if (JSON.stringify(params?.update?.content ?? "").includes("noise")) break;
    }
    editor.kill("SIGKILL");
    const shell = Number(readFileSync(join(stage.project, "shell.pid"), "utf8"));
    await untilGone(agent);
    await untilGone(shell);
    const { client, close } = start();
    await client.initialize();
    await client.request("session/load", { sessionId, cwd: stage.project, mcpServers: [] });
    const shown = client.updates.map((update) => [update["sessionUpdate"], update["status"]]);
    expect(shown.slice(0, 2)).toEqual([
      ["user_message_chunk", undefined],
      ["tool_call", "failed"],
    ]);
    expect(await client.prompt(sessionId, "Continue.")).toEqual({ stopReason: "end_turn" });
    expect(await close()).toBe(0);
    expect(client.problems).toEqual([]);
  });
});
