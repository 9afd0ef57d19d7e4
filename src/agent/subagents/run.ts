import { join } from "node:path";
import type { Blobs, Entry, ToolDeclaration } from "../../conversation/entry.ts";
import type { Media } from "../../conversation/parts.ts";
import type { CallHooks } from "../../scheduler/call-hooks.ts";
import type { Scheduler } from "../../scheduler/scheduler.ts";
import type { Session } from "../../session/session.ts";
import type { NewSession } from "../../session/store/create.ts";
import { openSessionStore } from "../../session/store/store.ts";
import { ToolFailure, type ToolContent, type ToolResult } from "../../tools/tool.ts";
import type { Agent } from "../agent.ts";
import { createAgent } from "../create-agent.ts";
import { singleModelPool } from "../models/choose.ts";
import type { AgentEvent } from "../events.ts";
import type { SessionHooks } from "../hooks/session-hooks.ts";
import { Journal } from "../session/journal.ts";
import type { Environment } from "../../world/world.ts";
import { loadModel, modelName, type ModelRef } from "../models/name.ts";
import type { ResolvedAgentOptions, SharedAgentOptions } from "../options.ts";
import { SpendingTracker } from "../models/spending.ts";
import { taskToolName } from "./task-declaration.ts";
import type { RemoteContexts } from "./remote/run.ts";
import type { RunTask, SubagentTask } from "./task-tool.ts";

/** The parent of subagents: the options, tools and limits they share with it. */
export type SubagentContext = SharedAgentOptions & {
  readonly open: Pick<ResolvedAgentOptions, "world" | "home" | "folder" | "isSaved" | "sessions">;
  /** The session that tasks belong to. */
  readonly parentId: string;
  readonly tools: readonly ToolDeclaration[];
  /** Creates a scheduler for some of the tools, behind the same permission gate. */
  readonly schedulerFor: (tools: readonly string[], hooks?: CallHooks) => Scheduler;
  /** Creates the hooks of a subagent, if any are configured. */
  readonly hooksFor?: ((id: string, type: string) => SessionHooks) | undefined;
  readonly model: () => ModelRef;
  /** The spending of the session, which includes its subagents. */
  readonly spending: SpendingTracker;
  readonly spend?: number | undefined;
  /** The most requests of a subagent, unless its file sets another limit. No limit if absent. */
  readonly turns?: number | undefined;
  readonly emit: (event: AgentEvent) => void;
};

/** Runs subagents, and lists the running ones so that their approvals can be answered. */
export class SubagentRunner {
  readonly #running = new Map<string, Agent>();
  readonly #remote: RemoteContexts = new Map();
  #count = 0;

  get running(): ReadonlyMap<string, Agent> {
    return this.#running;
  }

  /** Returns a function that runs tasks, each with a new agent: its own conversation, model, tools and limits. */
  createTaskRunner(context: SubagentContext): RunTask {
    return async (task, { report, signal, askUser }) => {
      const name = `${task.agent?.name ?? taskToolName}-${(this.#count += 1)}`;
      const remote = task.agent?.remote;
      if (task.agent !== undefined && remote !== undefined) {
        const { runRemoteAgent } = await import("./remote/run.ts");
        const emit = (event: AgentEvent): void => context.emit({ type: "agent", agent: name, event });
        const { world } = context.open;
        try {
          return await runRemoteAgent({
            agent: { ...task.agent, remote },
            prompt: task.prompt,
            world,
            contexts: this.#remote,
            signal,
            report,
            onText: (text) => emit({ type: "text", text }),
            askUser,
          });
        } finally {
          emit({ type: "finished", reason: "stop", text: "" });
        }
      }
      const hooks = context.hooksFor?.(name, task.agent?.name ?? "general-purpose");
      const { agent, close } = await startSubagent(task, context, hooks);
      this.#running.set(name, agent);
      try {
        await hooks?.beginSubagent(signal);
        let end: AgentEvent | undefined;
        for await (const event of agent.send(task.prompt, signal)) {
          context.emit({ type: "agent", agent: name, event });
          if (event.type === "call-updated" && event.status.state === "executing") report(`${event.status.title}\n`);
          end = event;
        }
        return await toToolResult(end, agent);
      } finally {
        this.#running.delete(name);
        await close();
      }
    };
  }
}

const startSubagent = async (
  { description, agent: definition }: SubagentTask,
  { open, parentId, tools, schedulerFor, model, spending, spend, turns, ...shared }: SubagentContext,
  hooks: SessionHooks | undefined,
): Promise<{ readonly agent: Agent; readonly close: () => Promise<void> }> => {
  const ownTools = tools.filter(
    ({ name }) =>
      !parentTools.has(name) &&
      (definition?.tools?.includes(name) ?? true) &&
      definition?.disallowedTools?.includes(name) !== true,
  );
  const ownModel = await loadOwnModel(definition?.model, open.world.env);
  const modelRef = ownModel ?? model();
  if (definition?.model !== undefined && ownModel === undefined)
    shared.emit({
      type: "notice",
      text: `The agent ${definition.name} names the model "${definition.model}", which cannot be used. It runs with ${modelName(modelRef)}.`,
    });
  const system = definition?.prompt || subagentPrompt;
  const session = await createSubagentSession(open, parentId, {
    root: open.folder,
    system,
    tools: ownTools,
    model: { provider: modelRef.provider.id, model: modelRef.model },
    records: [{ kind: "title", title: description }],
  });
  const maxTurns = definition?.maxTurns ?? turns;
  const agent = createAgent({
    ...shared,
    sessionId: session.id,
    journal: new Journal(session, session),
    prefix: { system, tools: ownTools },
    pool: singleModelPool(modelRef),
    openScheduler: async () =>
      schedulerFor(
        ownTools.map(({ name }) => name),
        hooks?.calls,
      ),
    hooks,
    limits: { ...(maxTurns === undefined ? {} : { turns: maxTurns }), ...(spend === undefined ? {} : { spend }) },
    spending: new SpendingTracker({ parent: spending }),
  });
  return { agent, close: session.close };
};

/** The model of an agent file; undefined if it names none that can be used, so that the parent's is. */
const loadOwnModel = async (name: string | undefined, env: Environment): Promise<ModelRef | undefined> =>
  name === undefined ? undefined : loadModel(name, env).catch(() => undefined);

/** Creates a session beside those of the user, or in memory if the user's is not saved. */
const createSubagentSession = async (
  { world, home, isSaved, sessions }: SubagentContext["open"],
  parentId: string,
  start: NewSession,
): Promise<Session> => {
  if (isSaved !== false && sessions?.createSubagent !== undefined) return sessions.createSubagent(parentId, start);
  if (isSaved !== false) return openSessionStore(world, { home: join(home.data, "subagents") }).create(start);
  const { createInMemorySession } = await import("../../session/store/in-memory.ts");
  return createInMemorySession(world, start);
};
/** Tools of the session alone: a subagent has no person to ask, no to-do list and no work of its own in the background. */
const parentTools: ReadonlySet<string> = new Set([
  taskToolName,
  "ask_user",
  "present_plan",
  "write_todos",
  "background_tasks",
]);

const subagentPrompt =
  "You are an agent that does one piece of work for another agent, with the tools you are given. Work on your own: questions cannot be answered. When you are done, answer with everything that was asked for, complete and exact, with paths and line numbers where they matter; nothing else of what you did will be seen. A file you name by its id (file-...) is handed over with your answer.";

/** Converts the end of a subagent's turn to a tool result: its last answer, and the files the answer holds or names. */
const toToolResult = async (end: AgentEvent | undefined, agent: Agent): Promise<ToolResult> => {
  switch (end?.type) {
    case "finished": {
      const answer = end.text === "" ? "(The agent said nothing.)" : end.text;
      const text = end.reason === "stop" ? answer : `${answer}\n\n(It ended early: ${end.reason}.)`;
      return {
        content: [{ type: "text", text }, ...collectFiles(agent, end.text)],
        display: { type: "text", text },
      };
    }
    case "failed":
      throw new ToolFailure("execution_failed", `The agent could not finish. ${end.failure.message}`);
    default:
      throw new ToolFailure("execution_failed", "The agent was stopped before it was done.");
  }
};

/** The files in the last message, and those its text names by id. */
const collectFiles = (agent: Agent, text: string): readonly ToolContent[] => {
  const { entries, blobs } = agent.conversation();
  const last = entries.findLast((entry) => entry.type === "model");
  const named = entries
    .flatMap(mediaIn)
    .filter((media) => text.includes(media.id) || last?.parts.includes(media) === true);
  return [...new Map(named.map((media) => [media.id, media])).values()].flatMap((media) => toFileContent(media, blobs));
};

const mediaIn = (entry: Entry): readonly Media[] => {
  if (entry.type === "completion") return entry.outcome.content.filter((part) => part.type === "media");
  return entry.type === "model" ? entry.parts.filter((part) => part.type === "media") : [];
};

const toFileContent = (media: Media, blobs: Blobs): readonly ToolContent[] => {
  const base64 = media.source.type === "blob" ? blobs[media.source.hash] : undefined;
  if (base64 === undefined) return [];
  const { mimeType, name, width, height, pages } = media;
  return [
    {
      type: "file",
      mimeType,
      bytes: Buffer.from(base64, "base64"),
      ...(name === undefined ? {} : { name }),
      ...(width === undefined ? {} : { width }),
      ...(height === undefined ? {} : { height }),
      ...(pages === undefined ? {} : { pages }),
    },
  ];
};
