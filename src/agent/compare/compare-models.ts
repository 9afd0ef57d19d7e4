import { inputObject } from "../../conversation/call-input.ts";
import type { JsonObject } from "../../conversation/json.ts";
import { sanitizeForTerminal } from "../../policy/terminal/sanitize.ts";
import { openSessionStore } from "../../session/store/store.ts";
import type { AgentEvent, UsageTotals } from "../events.ts";
import { singleModelPool } from "../models/choose.ts";
import { modelName, type ModelRef } from "../models/name.ts";
import { openAgent, type AgentSession } from "../open-agent.ts";
import type { ResolvedAgentOptions } from "../options.ts";
import { comparisonNotice } from "../prompts.ts";
import type { TurnEnd } from "../turn/turn.ts";

/** Options of a comparison. */
export type CompareOptions = {
  readonly environment: Pick<ResolvedAgentOptions, "world" | "home" | "folder" | "loaded">;
  /** The session to continue in a copy per model; without it, each model gets a new session. */
  readonly session?: string;
  readonly prompt: string;
  readonly models: readonly ModelRef[];
  /** Receives the events of every model's turn. */
  readonly onEvent?: (model: string, event: AgentEvent) => void;
};

/** A tool call of a compared turn. */
type ComparedCall = {
  readonly tool: string;
  readonly title: string;
  readonly status: "done" | "refused" | "failed";
};

/** The turn of one model. */
export type ComparedTurn = {
  readonly model: ModelRef;
  /** The session that holds it. Undefined if it failed without an answer: such a session is not kept. */
  readonly session?: string;
  readonly text: string;
  /** Why the turn has no complete answer. */
  readonly problem?: string;
  readonly calls: readonly ComparedCall[];
  readonly elapsedMs: number;
  readonly usage: UsageTotals;
};

/**
 * Runs the same turn on several models at the same time, each in a session of its own. Only read-only tools run; other
 * calls are refused, so that no model changes what another one sees.
 */
export const compareModels = async (options: CompareOptions, signal: AbortSignal): Promise<readonly ComparedTurn[]> => {
  const failed = new AbortController();
  const running = options.models.map((model) => runCompared(model, options, AbortSignal.any([signal, failed.signal])));
  try {
    return await Promise.all(running);
  } finally {
    // If one could not be opened or closed, the others end before that is reported.
    failed.abort();
    await Promise.allSettled(running);
  }
};

const runCompared = async (model: ModelRef, options: CompareOptions, signal: AbortSignal): Promise<ComparedTurn> => {
  const { environment, session, prompt, onEvent } = options;
  const { world, home } = environment;
  const opened = await openAgent({
    announcesPlanMode: false,
    ...readOnlyEnvironment(environment),
    interactive: false,
    ...(session === undefined ? {} : { resume: { id: session }, isFork: true }),
  });
  const collector = new TurnCollector();
  try {
    await opened.agent.switchModel(singleModelPool(model));
    opened.agent.addNotice(comparisonNotice);
    const startedAt = world.clock.elapsed();
    const { parts } = await opened.attach(prompt, signal);
    for await (const event of opened.agent.send(parts, signal)) {
      collector.add(event);
      onEvent?.(modelName(model), event);
    }
    const turn = { ...collector.result(), elapsedMs: world.clock.elapsed() - startedAt };
    const isKept = collector.hasAnswer;
    const { id } = opened.session;
    await closeBranch(opened, isKept ? `${prompt} (${modelName(model)})` : undefined, { world, home });
    return { model, ...turn, usage: opened.agent.usageTotals(), ...(isKept ? { session: id } : {}) };
  } catch (error) {
    await opened.close();
    throw error;
  }
};

/** Closes the session of a turn: gives it a title, or removes it. */
const closeBranch = async (
  opened: AgentSession,
  title: string | undefined,
  { world, home }: Pick<ResolvedAgentOptions, "world" | "home">,
): Promise<void> => {
  const { id } = opened.session;
  await opened.close();
  const sessions = openSessionStore(world, { home: home.data });
  if (title === undefined) await sessions.remove(id);
  else await sessions.rename(id, sanitizeForTerminal(title, "line").slice(0, maxTitle).toWellFormed());
};

const maxTitle = 120;

/** The same settings in plan mode and without MCP servers: their tools may do anything. */
const readOnlyEnvironment = ({
  loaded,
  ...environment
}: CompareOptions["environment"]): CompareOptions["environment"] => ({
  ...environment,
  loaded: {
    ...loaded,
    settings: { ...loaded.settings, mcpServers: {} },
    project: {
      ...loaded.project,
      consents: loaded.project.consents.filter(({ key }) => !key.startsWith("mcpServers.")),
    },
    policy: { ...loaded.policy, mode: "plan" },
  },
});

/** Collects the result of a turn from its events. */
class TurnCollector {
  /** The calls by id, in the order they were made. */
  readonly #calls = new Map<string, ComparedCall>();
  #end: TurnEnd | undefined;
  #text = "";

  /** Whether the model said or did anything. */
  get hasAnswer(): boolean {
    return this.#text !== "" || this.#calls.size > 0;
  }

  add(event: AgentEvent): void {
    if (event.type === "text") this.#text += event.text;
    if (event.type === "finished" || event.type === "failed" || event.type === "cancelled") this.#end = event;
    if (event.type === "call-requested") {
      const { id, tool, input } = event.call;
      this.#calls.set(id, { tool, title: firstText(inputObject(input)), status: "failed" });
    }
    if (event.type === "call-completed") {
      const { call, outcome, denial } = event.finished;
      const made = this.#calls.get(call.id);
      const status = denial !== undefined ? "refused" : outcome.status === "complete" ? "done" : "failed";
      if (made !== undefined) this.#calls.set(call.id, { ...made, status });
    }
  }

  result(): Pick<ComparedTurn, "text" | "problem" | "calls"> {
    const text = this.#end?.type === "finished" ? this.#end.text : this.#text;
    const problem = describeProblem(this.#end);
    return { text, calls: [...this.#calls.values()], ...(problem === undefined ? {} : { problem }) };
  }
}

/** The first text among the arguments of a call: a path, a command. */
const firstText = (input: JsonObject): string =>
  Object.values(input)
    .find((value) => typeof value === "string")
    ?.replaceAll(/\s+/g, " ") ?? "";

const describeProblem = (end: TurnEnd | undefined): string | undefined => {
  if (end?.type === "failed") return end.failure.message;
  if (end?.type !== "finished") return "Cancelled.";
  return end.reason === "stop" ? undefined : `Ended early: ${end.reason}.`;
};
