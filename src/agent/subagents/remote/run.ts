import type { JsonObject } from "../../../conversation/json.ts";
import { isObject } from "../../../conversation/json.ts";
import { createGuardedFetch, type FetchFunction } from "../../../mcp/connection/http-guard.ts";
import { nonPublicReason } from "../../../policy/network/public-address.ts";
import { sanitizeForTerminal } from "../../../policy/terminal/sanitize.ts";
import type { AskUser } from "../../../tools/capabilities.ts";
import { ToolFailure, type ToolResult } from "../../../tools/tool.ts";
import { createId } from "../../../world/random-id.ts";
import type { World } from "../../../world/world.ts";
import type { SubagentDefinition } from "../agent-file.ts";
import { chooseInterface } from "./card.ts";
import { createA2aClient, readJson, refuseStatus, type A2aClient, type OutgoingMessage } from "./client.ts";
import { authHeaders, type RemoteAgentSource } from "./definition.ts";
import { RemoteAgentError } from "./remote-agent-error.ts";
import type { RemoteItem } from "./read-items.ts";
import { toAnswer, toQuestion } from "./result.ts";
import { foldItem, isSettled, newRemoteTask, textOf, type RemoteTask } from "./task.ts";

/** The conversations with remote agents that a session has: each agent's context, and its task that awaits an answer. */
export type RemoteContexts = Map<string, { readonly context?: string; readonly task?: string }>;

/** A task for a remote agent, and how it reports. */
export type RemoteRun = {
  readonly agent: SubagentDefinition & { readonly remote: RemoteAgentSource };
  readonly prompt: string;
  readonly world: Pick<World, "net" | "clock" | "env" | "random">;
  readonly contexts: RemoteContexts;
  readonly signal: AbortSignal;
  readonly report: (text: string) => void;
  readonly onText: (text: string) => void;
  /** Asks the person; undefined where there is none. */
  readonly askUser?: AskUser | undefined;
  readonly lookup?: (host: string) => Promise<readonly string[]>;
};

/** Sends a task to a remote agent and waits for its answer. A later task of the session continues the conversation. */
export const runRemoteAgent = async (run: RemoteRun): Promise<ToolResult> => {
  const { agent, contexts, signal } = run;
  const deadline = new AbortController();
  const stopTimer = run.world.clock.after(maxRunMs, () =>
    deadline.abort(new RemoteAgentError(`It did not finish within ${maxRunMs / 60_000} minutes.`)),
  );
  const limited = { ...run, signal: AbortSignal.any([signal, deadline.signal]) };
  try {
    const client = await connect(limited);
    const { context, task } = contexts.get(agent.name) ?? {};
    const ids = { ...(context === undefined ? {} : { context }), ...(task === undefined ? {} : { task }) };
    return await converse(limited, client, { id: createId(run.world.random), text: run.prompt, ...ids });
  } catch (error) {
    signal.throwIfAborted();
    const reason: unknown = deadline.signal.aborted ? deadline.signal.reason : error;
    if (reason instanceof ToolFailure) throw reason;
    const words = sanitizeForTerminal(reason instanceof Error ? reason.message : String(reason), "line").slice(0, 2000);
    throw new ToolFailure("execution_failed", `The remote agent ${agent.name} failed. ${words}`, { cause: error });
  } finally {
    stopTimer();
  }
};

/** An agent that is alive and yet never ends is stopped. */
const maxRunMs = 60 * 60_000;
/** A response that pauses longer is taken for broken. */
const maxPauseMs = 5 * 60_000;
const maxCardBytes = 2 ** 20;

/** Reads the agent's card and returns a client for the interface it names. */
const connect = async (run: RemoteRun): Promise<A2aClient> => {
  const { remote } = run.agent;
  const { url } = remote;
  const fetch = createGuardedFetch({
    world: run.world,
    server: url,
    headers: authHeaders(remote, run.world.env),
    maxPause: maxPauseMs,
    refuseAddress: remote.isOwn ? refuseReserved : refuseNonPublic,
    ...(run.lookup === undefined ? {} : { lookup: run.lookup }),
  });
  return createA2aClient(chooseInterface(remote.card ?? (await readCard(url, fetch, run.signal)), url), fetch);
};

const readCard = async (url: string, fetch: FetchFunction, signal: AbortSignal): Promise<JsonObject> => {
  const response = await fetch(url, { redirect: "manual", signal, headers: { accept: "application/json" } });
  await refuseStatus(response);
  const card = await readJson(response, maxCardBytes);
  if (!isObject(card)) throw new RemoteAgentError("Its card is not a JSON object.");
  return card as JsonObject;
};

/** The person may have an agent on this machine or network; addresses of cloud metadata are never one. */
const refuseReserved = (address: string): string | undefined => {
  const reason = nonPublicReason(address);
  return reason === "this machine" || reason === "a private network" ? undefined : reason;
};

const refuseNonPublic = (address: string): string | undefined => {
  const reason = nonPublicReason(address);
  return reason === undefined
    ? undefined
    : `${reason}; only an agent file of your own, such as ~/.parley/agents/NAME.md, may name it`;
};

/** Sends messages until the agent has ended its task, and asks the person its questions. */
const converse = async (run: RemoteRun, client: A2aClient, first: OutgoingMessage): Promise<ToolResult> => {
  const { agent, contexts, askUser } = run;
  let message = first;
  for (;;) {
    const task = await exchange(run, client, message);
    const context = task.context ?? message.context;
    const ids = context === undefined ? {} : { context };
    const waits = task.state === "input-required" && task.id !== undefined ? { task: task.id } : {};
    contexts.set(agent.name, { ...ids, ...waits });
    switch (task.state) {
      case "message":
      case "completed":
        return toAnswer(agent.name, task);
      case "input-required": {
        if (askUser === undefined) return toQuestion(agent.name, task);
        const answer = await askPerson(run, task).catch(async (error: unknown) => {
          await cancelTask(client, task.id, run);
          throw error;
        });
        if (answer === undefined) {
          contexts.set(agent.name, ids);
          await cancelTask(client, task.id, run);
          throw new ToolFailure(
            "execution_failed",
            `The remote agent ${agent.name} asked the user, who did not answer. Its task was cancelled.`,
          );
        }
        message = { id: createId(run.world.random), text: answer, ...ids, ...waits };
        continue;
      }
      case "auth-required":
        throw new RemoteAgentError(`It needs another sign-in. ${textOf(task.says)}`);
      case "failed":
      case "rejected":
      case "canceled":
        throw new RemoteAgentError(`Its task was ${task.state}. ${textOf(task.says)}`);
      case "submitted":
      case "working":
        throw new RemoteAgentError("Its task did not end.");
    }
  }
};

/** Asks the person a question of the agent. */
const askPerson = async ({ agent, askUser, signal }: RemoteRun, task: RemoteTask): Promise<string | undefined> => {
  const words = sanitizeForTerminal(textOf(task.says), "visible").slice(0, 4000);
  const question = `The remote agent ${agent.name} asks: ${words === "" ? "(no text)" : words}`;
  const answers = await askUser?.(
    [{ question, header: agent.name.slice(0, 20), options: [], allowsSeveral: false }],
    signal,
  );
  const answer = answers?.[0]?.join("\n").trim();
  return answer === "" ? undefined : answer;
};

/** Sends one message and follows its task until it is settled. A cancel of the call is passed on. */
const exchange = async (run: RemoteRun, client: A2aClient, message: OutgoingMessage): Promise<RemoteTask> => {
  const follower = new TaskFollower(run, client, message.task);
  try {
    return await follower.follow(message);
  } catch (error) {
    const { id } = follower.task;
    if (run.signal.aborted || !(error instanceof RemoteAgentError && error.isBroken)) await cancelTask(client, id, run);
    throw error;
  }
};

const cancelMs = 5000;

/** Cancels a task, as far as that succeeds in a few seconds. */
const cancelTask = async (client: A2aClient, id: string | undefined, { world }: RemoteRun): Promise<void> => {
  if (id === undefined) return;
  const stop = new AbortController();
  const stopTimer = world.clock.after(cancelMs, () => stop.abort());
  await client.cancel(id, stop.signal).catch(() => undefined);
  stopTimer();
};

/** How often a broken stream is taken up again before the task is polled. */
const maxSubscriptions = 3;
/** How often in a row a poll may fail. */
const maxFailedPolls = 5;

class TaskFollower {
  readonly #run: RemoteRun;
  readonly #client: A2aClient;
  task: RemoteTask = newRemoteTask;

  constructor(run: RemoteRun, client: A2aClient, id: string | undefined) {
    this.#run = run;
    this.#client = client;
    this.task = { ...newRemoteTask, id };
  }

  async follow(message: OutgoingMessage): Promise<RemoteTask> {
    const { signal } = this.#run;
    if (!this.#client.streams) this.#add(await this.#client.send(message, signal));
    else await this.#read(this.#client.stream(message, signal));
    for (let tries = 0; !isSettled(this.task) && this.#client.streams && tries < maxSubscriptions; tries += 1)
      await this.#subscribe();
    if (!isSettled(this.task)) await this.#poll();
    return this.task;
  }

  /** Takes up the stream again. An agent that cannot, or whose task has just ended, is polled. */
  async #subscribe(): Promise<void> {
    const { signal } = this.#run;
    try {
      await this.#read(this.#client.subscribe(this.#requireId(), signal));
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof RemoteAgentError)) throw error;
    }
  }

  async #poll(): Promise<void> {
    const { signal, world } = this.#run;
    const id = this.#requireId();
    for (let [failures, delay] = [0, 250]; !isSettled(this.task); delay = Math.min(delay * 2, 5000)) {
      try {
        this.#add(await this.#client.get(id, signal));
        failures = 0;
      } catch (error) {
        signal.throwIfAborted();
        failures += 1;
        if (!(error instanceof RemoteAgentError && error.isBroken) || failures === maxFailedPolls) throw error;
      }
      if (!isSettled(this.task)) await world.clock.sleep(delay, signal);
    }
  }

  /** Without an id it is not known whether the agent has begun, so nothing is sent again. */
  #requireId(): string {
    if (this.task.id === undefined)
      throw new RemoteAgentError(
        "The connection ended before it named its task. It may have begun the work, so nothing was sent again.",
      );
    return this.task.id;
  }

  async #read(items: AsyncIterable<RemoteItem>): Promise<void> {
    try {
      for await (const item of items) {
        this.#add(item);
        // A stream begins with the task as it was before an answer, so such a task is no question yet.
        if (isSettled(this.task) && (item.type !== "task" || this.task.state !== "input-required")) return;
      }
    } catch (error) {
      this.#run.signal.throwIfAborted();
      if (!(error instanceof RemoteAgentError && error.isBroken && this.task.id !== undefined)) throw error;
    }
  }

  #add(item: RemoteItem): void {
    const { report, onText } = this.#run;
    this.task = foldItem(this.task, item);
    const text = item.type === "artifact" ? textOf(item.artifact.parts) : "";
    if (text !== "") {
      onText(text);
      report(text);
    }
    if (item.type === "status" && item.state === "working" && item.says.length > 0)
      report(`${sanitizeForTerminal(textOf(item.says), "line").slice(0, 500)}\n`);
  }
}
