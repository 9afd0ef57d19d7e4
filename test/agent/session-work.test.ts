import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { AgentEvent } from "../../src/agent/events.ts";
import { openAgent, type AgentSession } from "../../src/agent/open-agent.ts";
import type { OpenAgentOptions } from "../../src/agent/options.ts";
import { openSessionStore } from "../../src/session/store/store.ts";
import { loadSettings } from "../../src/settings/load/load.ts";
import type { ModelFunction } from "../../src/sim/family.ts";
import type { UserQuestion } from "../../src/tools/capabilities.ts";
import { realWorld } from "../../src/world/real/world.ts";
import { openProgramStage, type ProgramStage } from "../support/agent-program.ts";
import { isRunning } from "../support/processes.ts";

/* Work that outlives a turn: the to-do list, questions to the person, commands and subagents in the background. */

type StepCall = readonly [tool: string, input: object];

/** Prompts the scripted model to make these calls, one batch after the other, and then to say "Done.". */
const steps = (...batches: readonly (readonly StepCall[])[]): string => `STEPS ${JSON.stringify(batches)} END`;

const follow: ModelFunction = ({ turns }) => {
  const at = turns.findLastIndex((turn) => turn.by === "user" && turn.text.includes("STEPS "));
  const prompt = turns[at];
  if (prompt?.by !== "user") return { parts: [{ type: "say", text: "A summary of it all." }] };
  const json = /STEPS (.*) END/.exec(prompt.text)?.[1] ?? "[]";
  const batch = (JSON.parse(json) as readonly (readonly StepCall[])[])[
    turns.slice(at).filter(({ by }) => by === "model").length
  ];
  return batch === undefined
    ? { parts: [{ type: "say", text: "Done." }] }
    : { parts: batch.map(([tool, input]) => ({ type: "call", tool, input })) };
};

let stage: ProgramStage;
let opened: AgentSession[] = [];
beforeEach(async () => {
  stage = await openProgramStage(["anthropic"], { script: follow });
});
afterEach(async () => {
  for (const each of opened) await each.close();
  opened = [];
  await stage.close();
});

const open = async (options: Partial<OpenAgentOptions> = {}): Promise<AgentSession> => {
  const world = realWorld(stage.env);
  const loaded = await loadSettings(world, {
    home: stage.home,
    root: stage.project,
    scope: "inert",
    flags: { model: ["anthropic"], "approval-mode": ["yolo"] },
  });
  const session = await openAgent({
    world,
    home: stage.home,
    folder: stage.project,
    loaded,
    interactive: false,
    ...options,
  });
  opened.push(session);
  return session;
};

const close = async (session: AgentSession): Promise<void> => {
  opened = opened.filter((each) => each !== session);
  await session.close();
};

const send = async ({ agent }: AgentSession, prompt: string): Promise<readonly AgentEvent[]> => {
  const events: AgentEvent[] = [];
  for await (const event of agent.send(prompt)) events.push(event);
  return events;
};

const resultsOf = (events: readonly AgentEvent[]): readonly string[] =>
  events.flatMap((event) =>
    event.type === "call-completed"
      ? [event.finished.outcome.content.map((part) => (part.type === "text" ? part.text : "")).join("\n")]
      : [],
  );

/** Resolves once no background task runs any more. */
const taskEnd = (session: AgentSession): Promise<void> =>
  new Promise((resolve) => {
    const check = (): void =>
      void (session
        .tasks()
        ?.list()
        .some(({ status }) => status === "running")
        ? setImmediate(check)
        : resolve());
    check();
  });

const notices = ({ agent }: AgentSession): readonly string[] =>
  agent.conversation().entries.flatMap((entry) => (entry.type === "notice" && !entry.opens ? [entry.text] : []));

const firstList = [
  { description: "Read it", status: "completed" },
  { description: "Change it", status: "in_progress" },
  { description: "Test it", status: "pending" },
] as const;

describe("the to-do list", () => {
  it("is replaced as a whole, emitted once it is on disk, and survives a resume", async () => {
    const session = await open();
    expect(session.todos()).toEqual([]);
    const events = await send(session, steps([["write_todos", { todos: firstList }]]));
    expect(events.filter(({ type }) => type === "todos")).toEqual([{ type: "todos", todos: firstList }]);
    expect(resultsOf(events)).toEqual([
      "The to-do list is now:\n1. [completed] Read it\n2. [in_progress] Change it\n3. [pending] Test it",
    ]);
    const { id } = session.session;
    await close(session);
    const resumed = await open({ resume: { id } });
    expect(resumed.todos()).toEqual(firstList);
    await send(resumed, steps([["write_todos", { todos: [] }]]));
    expect(resumed.todos()).toEqual([]);
  });

  it.each([
    ["with open items is repeated after a compaction", firstList, 1],
    ["that is done is not", [{ description: "Read it", status: "completed" }], 0],
  ])("%s", async (_, todos, count) => {
    const session = await open();
    await send(session, steps([["write_todos", { todos }]]));
    for (let at = 0; at < 3; at++) await send(session, `${steps()} ${"Some words. ".repeat(2000)}`);
    expect(await session.agent.compact()).toBe(true);
    expect(notices(session)).toEqual(
      Array.from(
        { length: count },
        () =>
          "Your to-do list, as you last wrote it:\n1. [completed] Read it\n2. [in_progress] Change it\n3. [pending] Test it",
      ),
    );
  });

  it("with an unknown status changes nothing", async () => {
    const session = await open();
    const events = await send(session, steps([["write_todos", { todos: [{ description: "x", status: "blocked" }] }]]));
    expect([session.todos(), resultsOf(events)[0]]).toEqual([[], expect.stringContaining("status")]);
  });
});

describe("ask_user", () => {
  const questions = [
    {
      question: "Which database?",
      header: "Database",
      options: [{ label: "SQLite", description: "One file" }, { label: "PostgreSQL" }],
    },
    { question: "Which parts?", options: [{ label: "API" }, { label: "UI" }], multiSelect: true },
    { question: "What name?" },
  ];

  it("hands the questions to the front end and the answers to the model", async () => {
    const asked: (readonly UserQuestion[])[] = [];
    const session = await open({
      interactive: true,
      askUser: async (given) => {
        asked.push(given);
        return [["SQLite"], ["API", "UI"], ["Parley"]];
      },
    });
    const events = await send(session, steps([["ask_user", { questions }]]));
    expect(asked).toEqual([
      [
        {
          question: "Which database?",
          header: "Database",
          options: [{ label: "SQLite", description: "One file" }, { label: "PostgreSQL" }],
          allowsSeveral: false,
        },
        { question: "Which parts?", options: [{ label: "API" }, { label: "UI" }], allowsSeveral: true },
        { question: "What name?", options: [], allowsSeveral: false },
      ],
    ]);
    expect(resultsOf(events)).toEqual([
      "Which database?\nAnswer: SQLite\n\nWhich parts?\nAnswer: API; UI\n\nWhat name?\nAnswer: Parley",
    ]);
  });

  it("tells the model if the person does not answer, and if there is no person", async () => {
    const session = await open({ askUser: async () => undefined });
    expect(resultsOf(await send(session, steps([["ask_user", { questions }]])))).toEqual([
      "The user did not answer. Continue without, or end your turn and say what you need to know.",
    ]);
    const headless = await open();
    const [completed] = (await send(headless, steps([["ask_user", { questions }]]))).flatMap((event) =>
      event.type === "call-completed" ? [event.finished] : [],
    );
    expect([completed?.outcome.status, completed?.error?.message]).toEqual([
      "error",
      "No person can answer: this session runs unattended. Decide yourself, continue, and say in your answer what you assumed.",
    ]);
  });
});

describe("a command in the background", () => {
  const background = (command: string): StepCall => ["run_shell_command", { command, background: true }];
  /** Writes its process id to a file, then never ends. */
  const forever = "echo $$ > pid.part; mv pid.part pid; while true; do sleep 0.05; done";
  const readPid = async (): Promise<number> => {
    const file = join(stage.project, "pid");
    while (!existsSync(file)) await new Promise((resolve) => setImmediate(resolve));
    return Number(readFileSync(file, "utf8"));
  };

  it("returns an id at once, can be read, and is stopped", async () => {
    const session = await open();
    const events = await send(
      session,
      steps(
        [background(forever)],
        [["background_tasks", { action: "list" }]],
        [["background_tasks", { action: "stop", id: "bg-1" }]],
        [["background_tasks", { action: "read", id: "bg-1" }]],
        [["background_tasks", { action: "read", id: "bg-2" }]],
      ),
    );
    const [started, listed, stopped, read, unknown] = resultsOf(events);
    expect(started).toMatch(
      /^Command: echo .*\nIt runs in the background as bg-1\. A notice follows when it ends; until then background_tasks reads or stops it\.\nOutput so far: \(empty\)$/,
    );
    expect(listed).toMatch(/^bg-1 \(command, running, \d+ s\): echo/);
    expect(stopped).toMatch(/^bg-1 \(command, stopped, \d+ s\): echo/);
    expect(read).toMatch(/Error: The command was cancelled and stopped with all its child processes\./);
    expect(unknown).toBe('There is no task "bg-2" in the background. All of them end when Parley quits.');
    expect(isRunning(await readPid())).toBe(false);
    expect(notices(session)).toEqual([]);
    expect(events.flatMap((event) => (event.type === "task" ? [[event.task.id, event.task.status]] : []))).toEqual([
      ["bg-1", "running"],
      ["bg-1", "stopped"],
    ]);
  });

  it("that ends is in a notice before the next request, and sent bytes never change", async () => {
    const session = await open();
    const go = join(stage.project, "go");
    await send(session, steps([background(`echo first; until [ -e go ]; do sleep 0.02; done; echo last; exit 3`)]));
    writeFileSync(go, "");
    await taskEnd(session);
    expect(notices(session)).toEqual([]);
    await send(session, steps());
    expect(notices(session)).toEqual([
      expect.stringMatching(
        /^Background task ended: bg-1 \(command, exit code 3, \d+ s\): echo first; until .*\nCommand: .*\nDirectory: \(root\)\nOutput: first\nlast\n/,
      ),
    ]);
    const bodies = stage.log.map(({ entry }) => JSON.stringify((entry.body as { messages: unknown[] }).messages));
    for (const [at, body] of bodies.slice(1).entries())
      expect(body.replaceAll(cacheMark, "").startsWith(bodies[at]!.replaceAll(cacheMark, "").slice(0, -3))).toBe(true);
  });

  it("is waited for with wait, and its id is not used twice in a resumed session", async () => {
    const session = await open();
    const events = await send(
      session,
      steps([background("sleep 0.4; echo over")], [["background_tasks", { action: "read", id: "bg-1", wait: 30 }]]),
    );
    expect(resultsOf(events)[1]).toMatch(/^bg-1 \(command, done, \d+ s\)[^]*Output: over\n/);
    const { id } = session.session;
    await close(session);
    const resumed = await open({ resume: { id } });
    const [result] = resultsOf(await send(resumed, steps([background(forever)])));
    expect(result).toMatch(/in the background as bg-[2-9]\d*\./);
  });

  it("does not survive the session, whose next run learns of it", async () => {
    const session = await open();
    await send(session, steps([background(forever)]));
    const pid = await readPid();
    expect(isRunning(pid)).toBe(true);
    const { id } = session.session;
    await close(session);
    expect(isRunning(pid)).toBe(false);
    expect(notices(await open({ resume: { id } }))).toEqual([
      expect.stringMatching(/^Background task ended: bg-1 \(command, stopped, .*It was stopped when Parley quit\.\n/),
    ]);
  });

  it("was moved there by the user while it ran: its call ends, and cancelling the turn does not stop it", async () => {
    const session = await open();
    const events: AgentEvent[] = [];
    for await (const event of session.agent.send(
      steps([["run_shell_command", { command: `echo running; ${forever}` }]]),
    )) {
      events.push(event);
      if (event.type === "call-output") expect(session.tasks()?.moveToBackground()).toBe(1);
    }
    const [result] = resultsOf(events);
    expect(result).toMatch(/\nThe user moved it to the background as bg-1\. .*\nOutput so far: running$/);
    await session.agent.cancel();
    expect(isRunning(await readPid())).toBe(true);
    expect(session.tasks()?.moveToBackground()).toBe(0);
  });
});

describe("a subagent in the background", () => {
  it("gives its answer in a notice, and has neither questions nor a to-do list", async () => {
    const session = await open();
    const task = {
      description: "look",
      prompt: steps([["read_file", { absolute_path: "dot.png" }]]),
      background: true,
    };
    const [result] = resultsOf(await send(session, steps([["task", task]])));
    expect(result).toBe(
      "The agent works in the background as bg-1. You get its answer when it ends; until then use background_tasks to wait for it or stop it.",
    );
    const events = await send(session, steps([["background_tasks", { action: "read", id: "bg-1", wait: 30 }]]));
    expect(resultsOf(events)).toEqual([expect.stringMatching(/^bg-1 \(agent, done, \d+ s\): task: look\nDone\.$/)]);
    expect(notices(session)).toEqual([]);
    await send(session, steps([["task", task]]));
    await taskEnd(session);
    await send(session, steps());
    expect(notices(session)).toEqual([expect.stringMatching(/^Background task ended: bg-2 .*: task: look\.\nDone\.$/)]);
    const tools = stage.modelRequests.map((request) => request.tools.map(({ name }) => name));
    const own = tools.find((names) => !names.includes("task"));
    expect([own?.includes("run_shell_command"), own?.includes("ask_user"), own?.includes("write_todos")]).toEqual([
      true,
      false,
      false,
    ]);
  });
});

it("a session that was started with fewer tools keeps its request prefix when it is resumed", async () => {
  const world = realWorld(stage.env);
  const tools = [{ name: "read_file", description: "Reads.", parameters: { type: "object", properties: {} } }];
  const saved = await openSessionStore(world, { home: stage.home }).create({
    root: stage.project,
    system: "Be old.",
    tools,
    records: [{ kind: "entry", entry: { type: "user", parts: [{ type: "text", text: "Hello." }] } }],
  });
  await saved.close();
  await send(await open({ resume: { id: saved.id } }), steps());
  expect(stage.modelRequests.map(({ system, tools: sent }) => [system, sent.map(({ name }) => name)])).toEqual([
    ["Be old.", ["read_file"]],
  ]);
});

it("the log keeps the to-do list as records of their own", async () => {
  const session = await open();
  await send(session, steps([["write_todos", { todos: firstList }]]));
  const records = [];
  for await (const { record } of session.session.records()) records.push(record);
  expect(records.filter(({ kind }) => kind === "todos")).toEqual([{ kind: "todos", todos: firstList }]);
});

const cacheMark = ',"cache_control":{"type":"ephemeral"}';
