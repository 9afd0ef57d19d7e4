import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { openSessionStore } from "../../src/session/store/store.ts";
import { realWorld } from "../../src/world/real/world.ts";
import { AcpError, type Json } from "../support/acp-client.ts";
import { isUpdate, useAcpSessions } from "./session-fixture.ts";

/*
 * Sessions of editors, in this process: real tools and files, simulated providers. Every line is validated against the
 * protocol's JSON Schema.
 */

const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** Another image: the same pixel, with a comment after its end. */
const otherDot = Buffer.concat([Buffer.from(dot, "base64"), Buffer.from("other")]).toString("base64");

const at = useAcpSessions(["anthropic", "openai"]);

describe("a prompt", () => {
  it("brings images, audio, embedded text and linked files to the model", async () => {
    writeFileSync(join(at.project, "note.txt"), "from the file");
    await at.connect();
    const sessionId = await at.open();
    await at.client.request("session/prompt", {
      sessionId,
      prompt: [
        { type: "text", text: "Look at" },
        { type: "resource_link", uri: `file://${at.project}/note.txt`, name: "note.txt" },
        { type: "resource", resource: { uri: `file://${at.project}/draft.txt`, text: "not saved" } },
        { type: "image", data: dot, mimeType: "image/png" },
        { type: "resource", resource: { uri: "memory:///x.png", mimeType: "image/png", blob: otherDot } },
        { type: "audio", data: Buffer.from("RIFF0000WAVE").toString("base64"), mimeType: "audio/wav" },
        { type: "resource_link", uri: "https://example.test/page", name: "a page" },
      ],
    });
    const sent = JSON.stringify(at.stage.log.at(-1)?.entry.body);
    expect(sent).toContain("from the file");
    expect(sent).toContain("not saved");
    expect(sent).toContain(dot);
    expect(sent).toContain(otherDot);
    // This model takes no audio: the file is named in text, not dropped.
    expect(sent).toContain("audio/wav");
    expect(sent).toContain("[a page](https://example.test/page)");
  });

  it("that is no list of content blocks is refused with a clear sentence", async () => {
    await at.connect();
    const sessionId = await at.open();
    const answer = await at.client
      .request("session/prompt", { sessionId, prompt: [{ type: "hologram" }] })
      .catch((e) => e);
    expect([answer.code, answer.message]).toEqual([-32602, 'Unknown content block "hologram" in prompt.']);
  });

  it("while a turn runs joins it, and both are answered when it ends", async () => {
    await at.connect();
    const sessionId = await at.open();
    let second: Promise<Json> | undefined;
    at.client.handlers["session/request_permission"] = async () => {
      second = at.client.prompt(sessionId, "And this.");
      await new Promise((resolve) => setImmediate(resolve));
      return { outcome: { outcome: "selected", optionId: "refuse" } };
    };
    const first = await at.client.prompt(sessionId, 'call run_shell_command {"command":"touch x"}');
    expect([first, await second]).toEqual([{ stopReason: "end_turn" }, { stopReason: "end_turn" }]);
    expect(at.client.text()).toContain("And this.");
  });

  it("with a slash command is answered by the program, without a request to the model", async () => {
    await at.connect();
    const sessionId = await at.open();
    await at.until(isUpdate("available_commands_update"));
    expect(await at.client.prompt(sessionId, "/approval plan")).toEqual({ stopReason: "end_turn" });
    expect(await at.client.prompt(sessionId, "/context")).toEqual({ stopReason: "end_turn" });
    expect(at.client.text()).toContain("Approval mode: plan.");
    expect(at.client.text()).toContain("| system prompt |");
    expect(at.stage.modelRequests).toEqual([]);
    expect(at.client.updates).toContainEqual({ sessionUpdate: "current_mode_update", currentModeId: "plan" });
  });

  it("with a custom command sends its prompt", async () => {
    mkdirSync(join(at.stage.home, "commands"), { recursive: true });
    writeFileSync(join(at.stage.home, "commands", "greet.md"), "Greet $ARGUMENTS politely.");
    await at.connect();
    const sessionId = await at.open();
    await at.client.prompt(sessionId, "/greet Ada");
    expect(at.client.text()).toContain("Greet Ada politely.");
  });

  it("with the name of a skill sends its instructions", async () => {
    const folder = join(at.stage.home, "skills", "rhyme");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "SKILL.md"), "---\nname: rhyme\ndescription: Rhymes.\n---\nRhyme with $ARGUMENTS.");
    await at.connect();
    const sessionId = await at.open();
    await at.client.prompt(sessionId, "/rhyme snow");
    rmSync(join(at.stage.home, "skills"), { recursive: true });
    expect(at.client.text()).toContain("Rhyme with snow.");
  });
});

describe("a call", () => {
  it("that returns an image shows it, with kind, path and line", async () => {
    const path = join(at.project, "dot.png");
    writeFileSync(path, Buffer.from(dot, "base64"));
    writeFileSync(join(at.project, "a.txt"), "one\ntwo\n");
    await at.connect();
    const sessionId = await at.open();
    await at.client.prompt(
      sessionId,
      'call read_file {"absolute_path":"dot.png"}\ncall read_file {"absolute_path":"a.txt","offset":1}',
    );
    const calls = at.client.updates.filter(({ sessionUpdate }) => sessionUpdate === "tool_call");
    expect(calls.map(({ kind, title, locations }) => [kind, title, locations])).toEqual([
      ["read", "Read dot.png", [{ path }]],
      ["read", "Read a.txt", [{ path: join(at.project, "a.txt"), line: 2 }]],
    ]);
    const image = { type: "content", content: { type: "image", data: dot, mimeType: "image/png" } };
    const shown = at.client.updates.find(({ status }) => status === "completed");
    expect(shown?.["content"]).toContainEqual(image);
    const before = at.client.updates.length;
    await at.client.request("session/load", { sessionId, cwd: at.project, mcpServers: [] });
    const loaded = at.client.updates.slice(before).find(({ sessionUpdate }) => sessionUpdate === "tool_call");
    expect([loaded?.["status"], loaded?.["locations"]]).toEqual(["completed", [{ path }]]);
    expect(loaded?.["content"]).toContainEqual(image);
  });
});

describe("a compaction", () => {
  const long = "A long story about ships. ".repeat(400);

  /** Fills a session, compacts it, and returns the updates about it, without ids. */
  const compact = async (session: Json): Promise<readonly Json[]> => {
    await at.connect({ session });
    const sessionId = await at.open();
    for (const word of ["One.", "Two.", "Three."]) await at.client.prompt(sessionId, `${long} ${word}`);
    const before = at.client.updates.length;
    expect(await at.client.prompt(sessionId, "/compact")).toEqual({ stopReason: "end_turn" });
    return at.client.updates.slice(before);
  };

  const title = /^Older messages were summarized: about \d+ tokens before, \d+ after$/;

  it("is an update of its own for clients that know it, with one id from begin to end", async () => {
    const updates = (await compact({ compaction: {}, notices: {} })).filter(
      ({ sessionUpdate }) => sessionUpdate === "compaction_update",
    );
    expect(updates.map(({ status }) => status as string)).toEqual(["in_progress", "completed"]);
    expect(new Set(updates.map(({ compactionId }) => compactionId as string)).size).toBe(1);
    expect(updates[1]?.["summary"]).toEqual([{ type: "text", text: expect.stringMatching(title) as string }]);
  });

  it("is a notice for clients that know only those, and a thought for all others", async () => {
    const notices = (await compact({ notices: {} })).filter(({ sessionUpdate }) => sessionUpdate === "notice");
    expect(notices).toEqual([
      { sessionUpdate: "notice", severity: "info", title: expect.stringMatching(title) as string },
    ]);
    const thoughts = (await compact({})).flatMap(({ sessionUpdate, content }) =>
      sessionUpdate === "agent_thought_chunk" ? [(content.text as string).trimEnd()] : [],
    );
    expect(thoughts).toContainEqual(expect.stringMatching(title));
  });
});

describe("a secret in the arguments of a call", () => {
  it("does not reach the client's view of the call", async () => {
    const key = at.stage.env["ANTHROPIC_API_KEY"] ?? "";
    await at.connect();
    at.allow();
    const sessionId = await at.open();
    await at.client.prompt(sessionId, `call run_shell_command {"command":"mkdir ${key}"}`);
    const shown = at.client.messages.flatMap(({ message }) => {
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
    await at.connect();
    const opened = await at.client.request("session/new", { cwd: at.project, mcpServers: [] });
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
    await at.client.request("session/set_mode", { sessionId, modeId: "auto_edit" });
    const { configOptions: after } = await at.client.request("session/set_config_option", {
      sessionId,
      configId: "thought_level",
      value: "high",
    });
    expect((after as readonly Json[]).map(({ currentValue }) => currentValue as string)).toEqual([
      "auto_edit",
      configOptions[1]?.["currentValue"],
      "high",
    ]);
    const changes = at.client.updates.filter(({ sessionUpdate }) => sessionUpdate === "config_option_update");
    expect(changes.at(-1)?.["configOptions"]).toEqual(after);
  });

  it("change the provider in the middle of a session, and say what that costs", async () => {
    await at.connect({ session: { notices: {} } });
    const sessionId = await at.open();
    await at.client.prompt(sessionId, "Hello.");
    await at.client.request("session/set_model", { sessionId, modelId: "openai/gpt-5.1" });
    const notices = at.client.updates.filter(({ sessionUpdate }) => sessionUpdate === "notice");
    expect(notices.at(-1)?.["title"]).toContain("tokens are not cached");
    await at.client.prompt(sessionId, "Again.");
    expect(at.stage.log.at(-1)?.provider).toBe("openai");
    expect(at.client.text()).toContain("You said: Again.");
  });

  it("refuse unknown values", async () => {
    await at.connect();
    const sessionId = await at.open();
    const tries = [
      at.client.request("session/set_mode", { sessionId, modeId: "careless" }),
      at.client.request("session/set_config_option", { sessionId, configId: "model", value: "unknown/x" }),
      at.client.request("session/set_config_option", { sessionId, configId: "color", value: "red" }),
    ];
    expect(
      (await Promise.all(tries.map((each) => each.catch((error: AcpError) => error)))).map(({ code }) => code),
    ).toEqual([-32602, -32602, -32602]);
  });
});

describe("files of the client", () => {
  const files = { fs: { readTextFile: true, writeTextFile: true } };

  it("are read with unsaved changes, and written through the client", async () => {
    const path = join(at.project, "a.txt");
    writeFileSync(path, "saved\n");
    await at.connect(files, { "approval-mode": ["auto_edit"] });
    const written: Json[] = [];
    at.client.handlers["fs/read_text_file"] = (params) => ({ content: params["path"] === path ? "unsaved\n" : "" });
    at.client.handlers["fs/write_text_file"] = (params) => {
      written.push(params);
      writeFileSync(params["path"] as string, params["content"] as string);
      return {};
    };
    const sessionId = await at.open();
    await at.client.prompt(
      sessionId,
      [
        'call read_file {"absolute_path":"a.txt"}',
        'call replace {"file_path":"a.txt","old_string":"unsaved","new_string":"changed"}',
      ].join("\n"),
    );
    expect(JSON.stringify(at.stage.log.at(-1)?.entry.body)).toContain("unsaved");
    expect(written).toEqual([{ sessionId, path, content: "changed\n" }]);
    expect(readFileSync(path, "utf8")).toBe("changed\n");
    const diff = at.client.updates.findLast(({ content }) => content?.[0]?.type === "diff");
    expect(diff?.["content"][0]).toEqual({ type: "diff", path, oldText: "unsaved\n", newText: "changed\n" });
  });

  it("are used from disk where the client fails", async () => {
    writeFileSync(join(at.project, "a.txt"), "saved\n");
    await at.connect(files, { "approval-mode": ["auto_edit"] });
    const sessionId = await at.open();
    await at.client.prompt(sessionId, 'call write_file {"file_path":"b.txt","content":"new\\n"}');
    expect(readFileSync(join(at.project, "b.txt"), "utf8")).toBe("new\n");
    await at.client.prompt(sessionId, 'call read_file {"absolute_path":"a.txt"}');
    expect(JSON.stringify(at.stage.log.at(-1)?.entry.body)).toContain("saved");
  });

  it("are never written before the gate allowed it", async () => {
    await at.connect(files);
    at.client.handlers["fs/write_text_file"] = () => {
      throw new Error("written");
    };
    at.allow("refuse");
    const sessionId = await at.open();
    await at.client.prompt(sessionId, 'call write_file {"file_path":"b.txt","content":"new\\n"}');
    await at.client.prompt(sessionId, 'call write_file {"file_path":"/etc/b.txt","content":"new\\n"}');
    const asked = at.client.messages.filter(({ message }) => message["method"] === "fs/write_text_file");
    expect(asked).toEqual([]);
  });
});

describe("questions of the model", () => {
  const question = { question: "Which?", options: [{ label: "one" }, { label: "two" }] };
  const words = `call ask_user ${JSON.stringify({ questions: [question, { question: "Why?" }] })}`;

  it("are forms, with room for another answer", async () => {
    await at.connect({ elicitation: { form: {} } });
    let form: Json = {};
    at.client.handlers["elicitation/create"] = (params) => {
      form = params;
      return { action: "accept", content: { answer_0: "two", answer_1: "because" } };
    };
    const sessionId = await at.open();
    await at.client.prompt(sessionId, words);
    expect(form).toMatchObject({ sessionId, mode: "form", message: "Which?\nWhy?" });
    expect(Object.keys(form["requestedSchema"].properties as object)).toEqual(["answer_0", "other_0", "answer_1"]);
    expect(JSON.stringify(at.stage.log.at(-1)?.entry.body)).toContain("Answer: because");
  });

  it("are not asked where the client has no forms, and the model learns it", async () => {
    await at.connect();
    await at.client.prompt(await at.open(), words);
    expect(JSON.stringify(at.stage.log.at(-1)?.entry.body)).toContain("No person can answer");
  });

  it("leave a plan for the client", async () => {
    await at.connect();
    const todos = [
      { description: "First", status: "completed" },
      { description: "Second", status: "in_progress" },
    ];
    await at.client.prompt(await at.open(), `call write_todos ${JSON.stringify({ todos })}`);
    expect(at.client.updates.find(({ sessionUpdate }) => sessionUpdate === "plan")?.["entries"]).toMatchObject([
      { content: "First", status: "completed" },
      { content: "Second", status: "in_progress" },
    ]);
  });
});

describe("sessions", () => {
  it("use additional folders", async () => {
    const other = realpathSync(mkdtempSync(join(tmpdir(), "parley-acp-other-")));
    onTestFinished(() => rmSync(other, { recursive: true, force: true }));
    writeFileSync(join(other, "far.txt"), "from afar");
    await at.connect();
    const sessionId = await at.open({ additionalDirectories: [other] });
    await at.client.prompt(sessionId, `call read_file {"absolute_path":"${other}/far.txt"}`);
    expect(JSON.stringify(at.stage.log.at(-1)?.entry.body)).toContain("from afar");
  });

  it("are listed, closed, resumed without a replay, and deleted", async () => {
    await at.connect();
    const sessionId = await at.open();
    await at.client.prompt(sessionId, "Hello.");
    await at.client.request("session/close", { sessionId });
    const gone = await at.client.prompt(sessionId, "Hello.").catch((error: AcpError) => error);
    expect(gone).toMatchObject({ code: -32002, data: { sessionId } });
    const before = at.client.updates.length;
    await at.client.request("session/resume", { sessionId, cwd: at.project, mcpServers: [] });
    expect(
      at.client.updates.slice(before).filter(({ sessionUpdate }) => /chunk/.test(sessionUpdate as string)),
    ).toEqual([]);
    await at.client.prompt(sessionId, "Again.");
    expect(at.stage.modelRequests.at(-1)?.turns.filter(({ by }) => by === "user")).toHaveLength(2);
    await at.client.request("session/delete", { sessionId });
    expect((await at.client.request("session/list", { cwd: at.project }))["sessions"]).toEqual([]);
    const deleted = await at.client
      .request("session/load", { sessionId, cwd: at.project, mcpServers: [] })
      .catch((error: AcpError) => error);
    expect(deleted).toMatchObject({ code: -32002, data: { sessionId } });
  });

  it("that are loaded show their to-do list and the use of the context window", async () => {
    await at.connect();
    const sessionId = await at.open();
    const todos = [{ description: "First", status: "in_progress" }];
    await at.client.prompt(sessionId, `call write_todos ${JSON.stringify({ todos })}`);
    await at.client.request("session/close", { sessionId });
    const before = at.client.updates.length;
    await at.client.request("session/load", { sessionId, cwd: at.project, mcpServers: [] });
    const shown = at.client.updates.slice(before);
    expect(shown.find(({ sessionUpdate }) => sessionUpdate === "plan")?.["entries"]).toEqual([
      { content: "First", priority: "medium", status: "in_progress" },
    ]);
    const usage = shown.find(({ sessionUpdate }) => sessionUpdate === "usage_update");
    expect(usage?.["used"]).toBeGreaterThan(0);
    expect(usage?.["size"]).toBeGreaterThan(usage?.["used"] as number);
  });

  it("are listed in pages", async () => {
    await at.connect();
    const store = openSessionStore(realWorld({}), { home: at.stage.home });
    const ids: string[] = [];
    for (let count = 0; count < 51; count += 1) {
      const saved = await store.create({ root: at.project });
      await saved.append([{ kind: "entry", entry: { type: "user", parts: [{ type: "text", text: "Hello." }] } }]);
      await saved.close();
      ids.push(saved.id);
    }
    const first = await at.client.request("session/list", { cwd: at.project });
    const second = await at.client.request("session/list", { cwd: at.project, cursor: first["nextCursor"] });
    const listed = [first, second].flatMap(({ sessions }) => (sessions as Json[]).map(({ sessionId }) => sessionId));
    expect([first["sessions"].length, "nextCursor" in second]).toEqual([50, false]);
    expect(new Set(listed)).toEqual(new Set(ids));
    const wrong = await at.client.request("session/list", { cursor: "later" }).catch((error: AcpError) => error);
    expect(wrong).toMatchObject({ code: -32602, message: 'Unknown cursor "later".' });
  });

  it("without a prompt leave nothing behind", async () => {
    await at.connect();
    const sessionId = await at.open();
    await at.client.request("session/close", { sessionId });
    expect((await at.client.request("session/list", { cwd: at.project }))["sessions"]).toEqual([]);
  });
});
