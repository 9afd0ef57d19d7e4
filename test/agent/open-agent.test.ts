import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { defineChatProvider, realWorld } from "../../src/api/index.ts";
import { openAgent, TurnError, type ApprovalQuestion, type OpenAgentOptions } from "../../src/api/agent.ts";
import { defineTool } from "../../src/api/tools.ts";
import type { AgentSession } from "../../src/agent/open-agent.ts";
import type { SimModelRequest, ModelReply } from "../../src/sim/model/types.ts";
import { openProgramStage, type ProgramStage } from "../support/agent-program.ts";

/* The options of `openAgent` that programs use, against simulators on a real port. */

let stage: ProgramStage;
let reply: (request: SimModelRequest) => ModelReply;
const opened: AgentSession[] = [];

beforeEach(async () => {
  reply = sayLastResult;
  stage = await openProgramStage(["anthropic", "openai-chat", "local"], { script: (request) => reply(request) });
});
afterEach(async () => {
  for (const { close } of opened.splice(0)) await close();
  await stage.close();
});

/** Says the text of the last result, or repeats the prompt. */
const sayLastResult = ({ turns }: SimModelRequest): ModelReply => {
  const last = turns.at(-1);
  const text = last?.by === "tools" ? last.results.map((each) => each.text).join("; ") : "Hello.";
  return { parts: [{ type: "say", text }] };
};

/** Calls a tool once, then says its result. */
const callOnce =
  (tool: string, input: object) =>
  (request: SimModelRequest): ModelReply =>
    request.turns.at(-1)?.by === "tools" ? sayLastResult(request) : { parts: [{ type: "call", tool, input }] };

const open = async (options: Partial<OpenAgentOptions> = {}): Promise<AgentSession> => {
  const session = await openAgent({
    folder: stage.project,
    model: "anthropic",
    home: stage.home,
    world: realWorld(stage.env),
    ...options,
  });
  opened.push(session);
  return session;
};

const weather = defineTool({
  name: "weather",
  description: "The weather in a city.",
  access: "read",
  input: z.object({ city: z.string() }),
  run: ({ city }) => `Rain in ${city}.`,
});

/** The error a promise rejects with, as text. */
const errorOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => "none",
    (error: unknown) => String(error),
  );

const toolNames = (index: number): readonly string[] => stage.modelRequests[index]?.tools.map(({ name }) => name) ?? [];

describe("openAgent", () => {
  it("needs a folder and a model, and answers", async () => {
    const { ask } = await open();
    expect(await ask("Hello?")).toEqual({ text: "Hello.", reason: "stop" });
  });

  it("says that it needs a folder", async () => {
    const message = 'TypeError: openAgent needs the folder to work in, such as openAgent({ folder: "." }).';
    const openUntyped = openAgent as (options?: object) => Promise<AgentSession>;
    expect([await errorOf(openUntyped()), await errorOf(openUntyped({ model: "anthropic" }))]).toEqual([
      message,
      message,
    ]);
  });

  it("replaces the system prompt", async () => {
    const { ask } = await open({ system: "You are a parrot." });
    await ask("Hello?");
    expect(stage.modelRequests[0]?.system).toBe("You are a parrot.");
  });

  it("uses a provider of the program's own", async () => {
    const provider = defineChatProvider({
      id: "acme",
      label: "Acme",
      endpoint: { url: stage.env["PARLEY_LOCAL_BASE_URL"] ?? "" },
      auth: { type: "bearer", env: ["ACME_KEY"] },
      defaultModel: "qwen3",
    });
    const world = realWorld({ ...stage.env, ACME_KEY: "secret" });
    const { ask, session } = await open({ world, model: { provider, model: "qwen3" } });
    expect(await ask("Hello?")).toEqual({ text: "Hello.", reason: "stop" });
    expect([session.model, stage.modelRequests.map(({ model }) => model)]).toEqual([
      { provider: "acme", model: "qwen3" },
      ["qwen3"],
    ]);
  });

  it("moves a conversation to another provider", async () => {
    const { ask, switchModel, agent } = await open();
    await ask("Hello?");
    await switchModel("openai-chat");
    await ask("Still there?");
    expect(agent.model().provider.id).toBe("openai-chat");
    expect(stage.log.map(({ provider, entry }) => [provider, entry.verdict])).toEqual([
      ["anthropic", "accepted"],
      ["openai-chat", "accepted"],
    ]);
    expect(await errorOf(switchModel("antropic"))).toContain("Did you mean anthropic?");
  });

  it("says what is wrong with a model that does not exist", async () => {
    expect(await errorOf(open({ model: "antropic" }))).toContain('There is no provider "antropic".');
  });

  it("rejects with the failure of a turn", async () => {
    const { ask } = await open({ world: realWorld({ ...stage.env, ANTHROPIC_API_KEY: "" }) });
    const error = await ask("Hello?").catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(TurnError);
    expect((error as TurnError).failure).toMatchObject({ kind: "provider", failure: { kind: "no-key" } });
  });

  it("rejects a turn that was cancelled", async () => {
    const { ask } = await open();
    const error = await ask("Hello?", AbortSignal.abort()).catch((thrown: unknown) => thrown);
    expect((error as TurnError).failure).toEqual({ kind: "cancelled" });
  });
});

describe("tools of the program", () => {
  it("are declared after the built-in ones, and run", async () => {
    reply = callOnce("weather", { city: "Oslo" });
    const { ask } = await open({ tools: [weather] });
    expect((await ask("Weather?")).text).toBe("Rain in Oslo.");
    expect(toolNames(0).at(-1)).toBe("weather");
    expect(toolNames(0)).toContain("read_file");
  });

  it("stand alone where no built-in ones are chosen, which then cannot be called", async () => {
    reply = callOnce("run_shell_command", { command: "echo hello" });
    const { ask } = await open({ tools: [weather], builtinTools: [], approve: () => ({ type: "once" }) });
    expect((await ask("Weather?")).text).toContain("run_shell_command");
    expect(toolNames(0)).toEqual(["weather"]);
  });

  it("come with the chosen built-in ones", async () => {
    const { ask } = await open({ tools: [weather], builtinTools: ["read_file", "glob"] });
    await ask("Hello?");
    expect(toolNames(0)).toEqual(["read_file", "glob", "weather"]);
  });

  it("are checked, for programs without types: an error names what is wrong", async () => {
    const errorWith = (wrong: object): Promise<string> =>
      errorOf(open({ tools: [{ ...weather, ...wrong } as typeof weather] }));
    expect([
      await errorWith({ name: undefined }),
      await errorWith({ access: "readonly" }),
      await errorWith({ input: { type: "object" } }),
      await errorWith({ run: undefined }),
      await errorOf(open({ tools: {} as [] })),
    ]).toEqual([
      "TypeError: A tool has no name.",
      'TypeError: The tool "weather" is not complete: "access" must be "read", "write", "execute" or "network".',
      'TypeError: The tool "weather" is not complete: "input" must be a Zod type, such as z.object({ city: z.string() }).',
      'TypeError: The tool "weather" is not complete: "run" must be a function.',
      "TypeError: tools must be a list of tools made with defineTool.",
    ]);
  });

  it("must have names of their own", async () => {
    expect(await errorOf(open({ tools: [weather, weather] }))).toBe(
      'TypeError: Two tools are named "weather". Give one of them another name.',
    );
    expect(await errorOf(open({ tools: [{ ...weather, name: "read_file" }] }))).toBe(
      'TypeError: The tool "read_file" has the name of a built-in tool. Give it another name.',
    );
    expect(await errorOf(open({ builtinTools: ["read_fil"] }))).toBe(
      'UnknownNameError: There is no built-in tool "read_fil". Did you mean read_file?',
    );
  });

  it("are not added to a session that was created without them", async () => {
    const first = await open();
    await first.ask("Hello?");
    await first.close();
    const { notes } = await open({ resume: { id: first.session.id }, tools: [weather] });
    expect(notes).toContain("The model does not get the tool weather: a session keeps the tools it was created with.");
  });
});

describe("the approval function", () => {
  const command = "touch made.txt";
  const made = (): Promise<string> => realWorld().files.read(join(stage.project, "made.txt")).then(String);

  it("is asked with the call and the approval, and its answer decides", async () => {
    reply = callOnce("run_shell_command", { command });
    const questions: ApprovalQuestion[] = [];
    const { ask } = await open({
      approve: (question) => {
        questions.push(question);
        return { type: "once" };
      },
    });
    await ask("Make it.");
    expect(questions.map(({ call, approval }) => [call.tool, approval.subject.type])).toEqual([
      ["run_shell_command", "execute"],
    ]);
    expect(await made()).toBe("");
  });

  const refusals: readonly (readonly [what: string, approve: () => unknown, reason: string])[] = [
    ["refuses", () => ({ type: "refuse", reason: "Not today." }), "Not today."],
    ["throws", () => Promise.reject(new Error("The desk is closed.")), "The desk is closed."],
    ["gives no known answer", () => true, "not a known decision"],
  ];
  it.each(refusals)("that %s keeps the call from running", async (_, approve, reason) => {
    reply = callOnce("run_shell_command", { command });
    const { ask } = await open({ approve: approve as NonNullable<OpenAgentOptions["approve"]> });
    expect((await ask("Make it.")).text).toContain(reason);
    expect(await made()).toBe("undefined");
  });

  it("learns when no answer is needed any more", async () => {
    reply = callOnce("run_shell_command", { command });
    const turn = new AbortController();
    let asked: AbortSignal | undefined;
    const { ask } = await open({
      approve: (_, signal) => {
        asked = signal;
        turn.abort();
        return new Promise(() => undefined);
      },
    });
    expect(await errorOf(ask("Make it.", turn.signal))).toBe("TurnError: The turn was cancelled.");
    expect([asked?.aborted, await made()]).toEqual([true, "undefined"]);
  });

  it("is not needed to refuse: without it, such calls do not run", async () => {
    reply = callOnce("run_shell_command", { command });
    const { ask } = await open();
    expect((await ask("Make it.")).text).toContain("Needs approval");
    expect(await made()).toBe("undefined");
  });
});
