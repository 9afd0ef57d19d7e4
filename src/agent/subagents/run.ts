import { join } from "node:path";
import type { Blobs, Entry, ToolDeclaration } from "../../conversation/entry.ts";
import type { Media } from "../../conversation/parts.ts";
import type { Scheduler } from "../../scheduler/scheduler.ts";
import { openSessionStore } from "../../session/store/store.ts";
import { ToolFailure, type ToolContent, type ToolResult } from "../../tools/tool.ts";
import type { Agent } from "../agent.ts";
import { createAgent } from "../create-agent.ts";
import { singleModelPool } from "../models/choose.ts";
import type { AgentEvent } from "../events.ts";
import { Journal } from "../session/journal.ts";
import { loadModel, type ModelRef } from "../models/name.ts";
import type { OpenAgentOptions, SharedAgentOptions } from "../options.ts";
import { SpendingTracker } from "../models/spending.ts";
import { taskToolName } from "./task-declaration.ts";
import type { RunTask, SubagentTask } from "./task-tool.ts";

/** What subagents share with the agent they work for. */
export type SubagentContext = SharedAgentOptions & {
  readonly open: Pick<OpenAgentOptions, "world" | "home" | "folder">;
  readonly tools: readonly ToolDeclaration[];
  /** A scheduler of its own for some of the tools, behind the same gate. */
  readonly schedulerFor: (tools: readonly string[]) => Scheduler;
  readonly model: () => ModelRef;
  /** What the whole session uses and may cost: subagents are part of it. */
  readonly spending: SpendingTracker;
  readonly spend?: number | undefined;
  /** The most requests a subagent may make, unless its own file says otherwise; no limit where it is absent. */
  readonly turns?: number | undefined;
  readonly emit: (event: AgentEvent) => void;
};

/** Agents that work for another. Those that work right now can be asked what waits, and answered. */
export class SubagentRunner {
  readonly #working = new Map<string, Agent>();
  #count = 0;

  get running(): ReadonlyMap<string, Agent> {
    return this.#working;
  }

  /** Does tasks, each with an agent of its own: its own conversation, model, tools and limits. */
  createTaskRunner(around: SubagentContext): RunTask {
    return async (task, { report, signal }) => {
      const name = `${task.agent?.name ?? taskToolName}-${(this.#count += 1)}`;
      const { agent, close } = await startSubagent(task, around);
      this.#working.set(name, agent);
      try {
        let end: AgentEvent | undefined;
        for await (const event of agent.send(task.prompt, signal)) {
          around.emit({ type: "agent", agent: name, event });
          if (event.type === "call-updated" && event.status.state === "executing") report(`${event.status.title}\n`);
          end = event;
        }
        return await toToolResult(end, agent);
      } finally {
        this.#working.delete(name);
        await close();
      }
    };
  }
}

const startSubagent = async (
  { description, agent: named }: SubagentTask,
  { open, tools, schedulerFor, model, spending, spend, turns, ...shared }: SubagentContext,
): Promise<{ readonly agent: Agent; readonly close: () => Promise<void> }> => {
  const offered = tools.filter(({ name }) => name !== taskToolName && (named?.tools?.includes(name) ?? true));
  const chosen = named?.model === undefined ? model() : await loadModel(named.model);
  const system = named?.prompt || subagentPrompt;
  const session = await openSessionStore(open.world, { home: join(open.home, "subagents") }).create({
    root: open.folder,
    system,
    tools: offered,
    model: { provider: chosen.provider.id, model: chosen.model },
    records: [{ kind: "title", title: description }],
  });
  const mostTurns = named?.maxTurns ?? turns;
  const agent = createAgent({
    ...shared,
    sessionId: session.id,
    journal: new Journal(session, session),
    prefix: { system, tools: offered },
    pool: singleModelPool(chosen),
    openScheduler: async () => schedulerFor(offered.map(({ name }) => name)),
    limits: { ...(mostTurns === undefined ? {} : { turns: mostTurns }), ...(spend === undefined ? {} : { spend }) },
    spending: new SpendingTracker(spending),
  });
  return { agent, close: session.close };
};

const subagentPrompt =
  "You are an agent that does one piece of work for another agent, with the tools you are given. Work on your own: nobody can answer questions. When you are done, answer with everything that was asked for, complete and exact, with paths and line numbers where they matter; nothing else of what you did will be seen. A file you name by its id (file-...) is handed over with your answer.";

/** What the caller gets: the last words, and the files the subagent made or was given at the end. */
const toToolResult = async (end: AgentEvent | undefined, agent: Agent): Promise<ToolResult> => {
  switch (end?.type) {
    case "finished": {
      const said = end.text === "" ? "(The agent said nothing.)" : end.text;
      const words = end.reason === "stop" ? said : `${said}\n\n(It ended early: ${end.reason}.)`;
      return {
        content: [{ type: "text", text: words }, ...collectFiles(agent, end.text)],
        display: { type: "text", text: words },
      };
    }
    case "failed":
      throw new ToolFailure("execution_failed", `The agent could not finish. ${end.failure.message}`);
    default:
      throw new ToolFailure("execution_failed", "The agent was stopped before it was done.");
  }
};

/** The files of its last message, and those its last words name. */
const collectFiles = (agent: Agent, words: string): readonly ToolContent[] => {
  const { entries, blobs } = agent.conversation();
  const last = entries.findLast((entry) => entry.type === "model");
  const named = entries
    .flatMap(mediaIn)
    .filter((media) => words.includes(media.id) || last?.parts.includes(media) === true);
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
