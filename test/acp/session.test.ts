import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { ModelFunction } from "../../src/sim/family.ts";
import { scriptedServer } from "../mcp/with-servers.ts";
import { AcpError, type AcpTestClient, type Json } from "../support/acp-client.ts";
import { openAcpStage, type AcpStage } from "../support/acp-stage.ts";
import { openProgramStage, type ProgramStage } from "../support/agent-program.ts";

/*
 * Sessions of editors, in this process: real tools and files, simulated providers. Every line is validated against the
 * protocol's JSON Schema.
 */

const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** A model that does what the last prompt says: `call TOOL JSON`, else repeats it. */
const obey: ModelFunction = ({ turns }) => {
  const at = turns.findLastIndex((turn) => turn.by === "user" && turn.text !== "");
  const turn = turns[at];
  const said = turn?.by === "user" ? turn.text : "";
  const answered = turns.slice(at).filter((each) => each.by === "model").length;
  const calls = [...said.matchAll(/^call (\w+) (\{.*\})$/gm)];
  const next = calls[answered];
  if (next !== undefined)
    return { parts: [{ type: "call", tool: next[1] ?? "", input: JSON.parse(next[2] ?? "{}") as object }] };
  return { parts: [{ type: "say", text: `You said: ${said.slice(-200)}` }] };
};

let stage: ProgramStage;
let acp: AcpStage;
let client: AcpTestClient;
let project: string;

beforeAll(async () => {
  stage = await openProgramStage(["anthropic", "openai"], { script: obey as ModelFunction });
});
afterAll(() => stage.close());
beforeEach(() => {
  project = realpathSync(mkdtempSync(join(tmpdir(), "parley-acp-")));
  stage.modelRequests.splice(0);
});
afterEach(async () => {
  await acp.server.close();
  expect(client.problems).toEqual([]);
});

const connect = async (capabilities: Json = {}, flags = {}): Promise<Json> => {
  acp = openAcpStage(stage, flags);
  client = acp.client;
  return client.initialize(capabilities);
};

const open = async (more: Json = {}): Promise<string> =>
  (await client.request("session/new", { cwd: project, mcpServers: [], ...more }))["sessionId"] as string;

const allow = (optionId = "once"): void => {
  client.handlers["session/request_permission"] = () => ({ outcome: { outcome: "selected", optionId } });
};

/** Resolves at the next message of the agent that matches. */
const until = (matches: (message: Json) => boolean): Promise<Json> =>
  new Promise((resolve) => {
    const before = client.onMessage;
    client.onMessage = (message) => {
      before(message);
      if (matches(message)) resolve(message);
    };
  });

const updateOf =
  (kind: string) =>
  (message: Json): boolean =>
    message["params"]?.update?.sessionUpdate === kind;

describe("a prompt", () => {
  it("brings images, audio, embedded text and linked files to the model", async () => {
    writeFileSync(join(project, "note.txt"), "from the file");
    await connect();
    const sessionId = await open();
    await client.request("session/prompt", {
      sessionId,
      prompt: [
        { type: "text", text: "Look at" },
        { type: "resource_link", uri: `file://${project}/note.txt`, name: "note.txt" },
        { type: "resource", resource: { uri: `file://${project}/draft.txt`, text: "not saved" } },
        { type: "image", data: dot, mimeType: "image/png" },
        { type: "audio", data: Buffer.from("RIFF0000WAVE").toString("base64"), mimeType: "audio/wav" },
        { type: "resource_link", uri: "https://example.test/page", name: "a page" },
      ],
    });
    const sent = JSON.stringify(stage.log.at(-1)?.entry.body);
    expect(sent).toContain("from the file");
    expect(sent).toContain("not saved");
    expect(sent).toContain(dot);
    // This model takes no audio: the file is named in text, not dropped.
    expect(sent).toContain("audio/wav");
    expect(sent).toContain("[a page](https://example.test/page)");
  });

  it("that is no list of content blocks is refused with a clear sentence", async () => {
    await connect();
    const sessionId = await open();
    const answer = await client
      .request("session/prompt", { sessionId, prompt: [{ type: "hologram" }] })
      .catch((e) => e);
    expect([answer.code, answer.message]).toEqual([-32602, 'Unknown content block "hologram" in prompt.']);
  });

  it("while a turn runs joins it, and both are answered when it ends", async () => {
    await connect();
    const sessionId = await open();
    let second: Promise<Json> | undefined;
    client.handlers["session/request_permission"] = async () => {
      second = client.prompt(sessionId, "And this.");
      await new Promise((resolve) => setImmediate(resolve));
      return { outcome: { outcome: "selected", optionId: "refuse" } };
    };
    const first = await client.prompt(sessionId, 'call run_shell_command {"command":"touch x"}');
    expect([first, await second]).toEqual([{ stopReason: "end_turn" }, { stopReason: "end_turn" }]);
    expect(client.text()).toContain("And this.");
  });

  it("with a slash command is answered by the program, without a request to the model", async () => {
    await connect();
    const sessionId = await open();
    await until(updateOf("available_commands_update"));
    expect(await client.prompt(sessionId, "/approval plan")).toEqual({ stopReason: "end_turn" });
    expect(await client.prompt(sessionId, "/context")).toEqual({ stopReason: "end_turn" });
    expect(client.text()).toContain("Approval mode: plan.");
    expect(client.text()).toContain("| system prompt |");
    expect(stage.modelRequests).toEqual([]);
    expect(client.updates).toContainEqual({ sessionUpdate: "current_mode_update", currentModeId: "plan" });
  });

  it("with a custom command sends its prompt", async () => {
    mkdirSync(join(stage.home, "commands"), { recursive: true });
    writeFileSync(join(stage.home, "commands", "greet.md"), "Greet $ARGUMENTS politely.");
    await connect();
    const sessionId = await open();
    await client.prompt(sessionId, "/greet Ada");
    expect(client.text()).toContain("Greet Ada politely.");
  });

  it("with the name of a skill sends its instructions", async () => {
    const folder = join(stage.home, "skills", "rhyme");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "SKILL.md"), "---\nname: rhyme\ndescription: Rhymes.\n---\nRhyme with $ARGUMENTS.");
    await connect();
    const sessionId = await open();
    await client.prompt(sessionId, "/rhyme snow");
    rmSync(join(stage.home, "skills"), { recursive: true });
    expect(client.text()).toContain("Rhyme with snow.");
  });
});

describe("a secret in the arguments of a call", () => {
  it("does not reach the client's view of the call", async () => {
    const key = stage.env["ANTHROPIC_API_KEY"] ?? "";
    await connect();
    allow();
    const sessionId = await open();
    await client.prompt(sessionId, `call run_shell_command {"command":"mkdir ${key}"}`);
    const shown = client.messages.flatMap(({ message }) => {
      const { update, toolCall } = message["params"] ?? {};
      return [update?.sessionUpdate === "tool_call" ? update : undefined, toolCall].flatMap((call) =>
        call === undefined ? [] : [JSON.stringify([call.title, call.rawInput])],
      );
    });
    expect(shown.length).toBeGreaterThan(1);
    expect(shown.filter((text) => text.includes(key))).toEqual([]);
    expect(shown[0]).toContain("[secret]");
  });
});

describe("modes and models", () => {
  it("are the same as modes, config options and models, and stay in step", async () => {
    await connect();
    const opened = await client.request("session/new", { cwd: project, mcpServers: [] });
    const sessionId = opened["sessionId"] as string;
    const { configOptions } = opened as { configOptions: readonly Json[] };
    expect(configOptions.map(({ id, category }) => [id, category])).toEqual([
      ["mode", "mode"],
      ["model", "model"],
      ["thought_level", "thought_level"],
    ]);
    expect(opened["modes"]).toMatchObject({ currentModeId: "default" });
    const groups = configOptions[1]?.["options"] as readonly Json[];
    expect(groups.map(({ group }) => group as string)).toEqual(expect.arrayContaining(["anthropic", "openai"]));
    expect(configOptions[1]?.["currentValue"]).toBe(opened["models"].currentModelId);
    await client.request("session/set_mode", { sessionId, modeId: "auto_edit" });
    const { configOptions: after } = await client.request("session/set_config_option", {
      sessionId,
      configId: "thought_level",
      value: "high",
    });
    expect((after as readonly Json[]).map(({ currentValue }) => currentValue as string)).toEqual([
      "auto_edit",
      configOptions[1]?.["currentValue"],
      "high",
    ]);
    const changes = client.updates.filter(({ sessionUpdate }) => sessionUpdate === "config_option_update");
    expect(changes.at(-1)?.["configOptions"]).toEqual(after);
  });

  it("change the provider in the middle of a session, and say what that costs", async () => {
    await connect({ session: { notices: {} } });
    const sessionId = await open();
    await client.prompt(sessionId, "Hello.");
    await client.request("session/set_model", { sessionId, modelId: "openai/gpt-5.1" });
    const notices = client.updates.filter(({ sessionUpdate }) => sessionUpdate === "notice");
    expect(notices.at(-1)?.["title"]).toContain("tokens are not cached");
    await client.prompt(sessionId, "Again.");
    expect(stage.log.at(-1)?.provider).toBe("openai");
    expect(client.text()).toContain("You said: Again.");
  });

  it("refuse unknown values", async () => {
    await connect();
    const sessionId = await open();
    const tries = [
      client.request("session/set_mode", { sessionId, modeId: "careless" }),
      client.request("session/set_config_option", { sessionId, configId: "model", value: "unknown/x" }),
      client.request("session/set_config_option", { sessionId, configId: "color", value: "red" }),
    ];
    expect(
      (await Promise.all(tries.map((each) => each.catch((error: AcpError) => error)))).map(({ code }) => code),
    ).toEqual([-32602, -32602, -32602]);
  });
});

describe("files of the client", () => {
  const files = { fs: { readTextFile: true, writeTextFile: true } };

  it("are read with unsaved changes, and written through the client", async () => {
    const path = join(project, "a.txt");
    writeFileSync(path, "saved\n");
    await connect(files, { "approval-mode": ["auto_edit"] });
    const written: Json[] = [];
    client.handlers["fs/read_text_file"] = (params) => ({ content: params["path"] === path ? "unsaved\n" : "" });
    client.handlers["fs/write_text_file"] = (params) => {
      written.push(params);
      writeFileSync(params["path"] as string, params["content"] as string);
      return {};
    };
    const sessionId = await open();
    await client.prompt(
      sessionId,
      [
        'call read_file {"absolute_path":"a.txt"}',
        'call replace {"file_path":"a.txt","old_string":"unsaved","new_string":"changed"}',
      ].join("\n"),
    );
    expect(JSON.stringify(stage.log.at(-1)?.entry.body)).toContain("unsaved");
    expect(written).toEqual([{ sessionId, path, content: "changed\n" }]);
    expect(readFileSync(path, "utf8")).toBe("changed\n");
    const diff = client.updates.findLast(({ content }) => content?.[0]?.type === "diff");
    expect(diff?.["content"][0]).toEqual({ type: "diff", path, oldText: "unsaved\n", newText: "changed\n" });
  });

  it("are used from disk where the client fails", async () => {
    writeFileSync(join(project, "a.txt"), "saved\n");
    await connect(files, { "approval-mode": ["auto_edit"] });
    const sessionId = await open();
    await client.prompt(sessionId, 'call write_file {"file_path":"b.txt","content":"new\\n"}');
    expect(readFileSync(join(project, "b.txt"), "utf8")).toBe("new\n");
    await client.prompt(sessionId, 'call read_file {"absolute_path":"a.txt"}');
    expect(JSON.stringify(stage.log.at(-1)?.entry.body)).toContain("saved");
  });

  it("are never written before the gate allowed it", async () => {
    await connect(files);
    client.handlers["fs/write_text_file"] = () => {
      throw new Error("written");
    };
    allow("refuse");
    const sessionId = await open();
    await client.prompt(sessionId, 'call write_file {"file_path":"b.txt","content":"new\\n"}');
    await client.prompt(sessionId, 'call write_file {"file_path":"/etc/b.txt","content":"new\\n"}');
    const asked = client.messages.filter(({ message }) => message["method"] === "fs/write_text_file");
    expect(asked).toEqual([]);
  });
});

describe("MCP servers of the client", () => {
  const server = { name: "scripted", command: process.execPath, args: [scriptedServer], env: [] };

  it("start only with consent, which holds for exactly this program", async () => {
    await connect();
    const questions: Json[] = [];
    client.handlers["session/request_permission"] = (params) => {
      questions.push(params);
      const isServer = params["toolCall"].title.startsWith("Start");
      return { outcome: { outcome: "selected", optionId: isServer ? "always" : "once" } };
    };
    const first = await open({ mcpServers: [server] });
    await client.prompt(first, "Hello.");
    await client.prompt(first, "call wait_for_servers {}");
    expect(questions.map(({ toolCall }) => toolCall.title as string)).toEqual(["Start the MCP server scripted?"]);
    await client.prompt(first, 'call echo {"message":"hi"}');
    expect(client.updates.findLast(({ status }) => status !== undefined)).toMatchObject({ status: "completed" });
    const second = await open({ mcpServers: [server] });
    await client.prompt(second, "Hello.");
    expect(questions.filter(({ toolCall }) => toolCall.title.startsWith("Start"))).toHaveLength(1);
    const third = await open({ mcpServers: [{ ...server, args: [scriptedServer, "other"] }] });
    await client.prompt(third, "Hello.");
    expect(questions.filter(({ toolCall }) => toolCall.title.startsWith("Start"))).toHaveLength(2);
  });

  it("do not start without it", async () => {
    await connect();
    const marker = join(project, "started");
    const command = { name: "touch", command: "touch", args: [marker], env: [] };
    allow("no");
    const sessionId = await open({ mcpServers: [command] });
    await client.prompt(sessionId, "Hello.");
    await client.prompt(sessionId, "call wait_for_servers {}");
    expect(() => readFileSync(marker)).toThrow("ENOENT");
  });
});

describe("questions of the model", () => {
  const question = { question: "Which?", options: [{ label: "one" }, { label: "two" }] };
  const words = `call ask_user ${JSON.stringify({ questions: [question, { question: "Why?" }] })}`;

  it("are forms, with room for another answer", async () => {
    await connect({ elicitation: { form: {} } });
    let form: Json = {};
    client.handlers["elicitation/create"] = (params) => {
      form = params;
      return { action: "accept", content: { answer_0: "two", answer_1: "because" } };
    };
    const sessionId = await open();
    await client.prompt(sessionId, words);
    expect(form).toMatchObject({ sessionId, mode: "form", message: "Which?\nWhy?" });
    expect(Object.keys(form["requestedSchema"].properties as object)).toEqual(["answer_0", "other_0", "answer_1"]);
    expect(JSON.stringify(stage.log.at(-1)?.entry.body)).toContain("Answer: because");
  });

  it("are not asked where the client has no forms, and the model learns it", async () => {
    await connect();
    await client.prompt(await open(), words);
    expect(JSON.stringify(stage.log.at(-1)?.entry.body)).toContain("No person can answer");
  });

  it("leave a plan for the client", async () => {
    await connect();
    const todos = [
      { description: "First", status: "completed" },
      { description: "Second", status: "in_progress" },
    ];
    await client.prompt(await open(), `call write_todos ${JSON.stringify({ todos })}`);
    expect(client.updates.find(({ sessionUpdate }) => sessionUpdate === "plan")?.["entries"]).toMatchObject([
      { content: "First", status: "completed" },
      { content: "Second", status: "in_progress" },
    ]);
  });
});

describe("sessions", () => {
  it("use additional folders", async () => {
    const other = realpathSync(mkdtempSync(join(tmpdir(), "parley-acp-other-")));
    writeFileSync(join(other, "far.txt"), "from afar");
    await connect();
    const sessionId = await open({ additionalDirectories: [other] });
    await client.prompt(sessionId, `call read_file {"absolute_path":"${other}/far.txt"}`);
    expect(JSON.stringify(stage.log.at(-1)?.entry.body)).toContain("from afar");
  });

  it("are listed, closed, resumed without a replay, and deleted", async () => {
    await connect();
    const sessionId = await open();
    await client.prompt(sessionId, "Hello.");
    await client.request("session/close", { sessionId });
    const gone = await client.prompt(sessionId, "Hello.").catch((error: AcpError) => error);
    expect(gone).toMatchObject({ code: -32002, data: { sessionId } });
    const before = client.updates.length;
    await client.request("session/resume", { sessionId, cwd: project, mcpServers: [] });
    expect(client.updates.slice(before).filter(({ sessionUpdate }) => /chunk/.test(sessionUpdate as string))).toEqual(
      [],
    );
    await client.prompt(sessionId, "Again.");
    expect(stage.modelRequests.at(-1)?.turns.filter(({ by }) => by === "user")).toHaveLength(2);
    await client.request("session/delete", { sessionId });
    expect((await client.request("session/list", { cwd: project }))["sessions"]).toEqual([]);
    const deleted = await client
      .request("session/load", { sessionId, cwd: project, mcpServers: [] })
      .catch((error: AcpError) => error);
    expect(deleted).toMatchObject({ code: -32002, data: { sessionId } });
  });

  it("without a prompt leave nothing behind", async () => {
    await connect();
    const sessionId = await open();
    await client.request("session/close", { sessionId });
    expect((await client.request("session/list", { cwd: project }))["sessions"]).toEqual([]);
  });
});
