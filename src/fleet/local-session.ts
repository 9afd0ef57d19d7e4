import type { AgentEvent } from "../agent/events.ts";
import type { AgentSession } from "../agent/open-agent.ts";
import { describeQuestion } from "../agent/turn/record-calls.ts";
import type { CallId, UserPart } from "../conversation/parts.ts";
import type { ApprovalRequest } from "../scheduler/events.ts";
import type { StoredRecord } from "../session/log/record.ts";
import type { World } from "../world/world.ts";
import { Followers } from "./followers.ts";
import type { Inbox, PostedCommand } from "./inbox.ts";
import { liveEventOf } from "./live-events.ts";
import { LogTail } from "./log-tail.ts";
import { ServiceError } from "./service-error.ts";
import type {
  FollowRequest,
  OpenQuestion,
  PostReceipt,
  PostRequest,
  ServiceSession,
  SessionCommand,
} from "./service.ts";
import { cancelledTurn, isTurnCommand } from "./turn-commands.ts";
import { emptyState, foldRecord, type LoggedState } from "./session-state.ts";
import type { FollowedEvent } from "./session-events.ts";

export type LocalSessionOptions = {
  readonly world: World;
  readonly id: string;
  /** The session file. */
  readonly path: string;
  readonly inbox: Inbox;
  /** Opens the agent, once there is a slot for it. The slot is given back when `close` resolves. */
  readonly openAgent: (
    onEvent: (event: AgentEvent) => void,
    traceOf: () => string | undefined,
  ) => Promise<AgentSession>;
  /** Milliseconds a question keeps its turn open; then the turn is parked. */
  readonly parkAfter: number;
  /** Milliseconds until the agent is closed once there is nothing to do. */
  readonly idleTime: () => number;
};

/**
 * One session of the local service: takes its commands in order, runs turns, and publishes records and live events. The
 * agent is opened when there is work, and can be closed whenever no turn runs.
 */
export class LocalSession {
  readonly id: string;
  readonly inbox: Inbox;
  readonly followers: Followers = new Followers();
  readonly #options: LocalSessionOptions;
  readonly #tail: LogTail;
  #state: LoggedState = emptyState;
  #agent: AgentSession | undefined;
  #closing: Promise<void> = Promise.resolve();
  #work: Promise<void> | undefined;
  #isTurnRunning = false;
  #isStopped = false;
  /** The span of the request that posted the command being carried out. */
  #trace: string | undefined;
  /** Messages given to the turn that runs, by their command. */
  readonly #steered = new Map<readonly UserPart[], number>();
  #events: Promise<unknown> = Promise.resolve();
  #stopParkTimer: () => void = () => undefined;
  #problem: string | undefined;
  #retries = 0;
  #stopRetry: () => void = () => undefined;
  #stopIdleTimer: () => void = () => undefined;

  constructor(options: LocalSessionOptions) {
    this.#options = options;
    this.id = options.id;
    this.inbox = options.inbox;
    this.#tail = new LogTail(options.world, options);
  }

  get isTurnRunning(): boolean {
    return this.#isTurnRunning;
  }

  get isOpen(): boolean {
    return this.#agent !== undefined;
  }

  /** Whether the agent can be closed without stopping anything. */
  get isIdle(): boolean {
    return this.#work === undefined;
  }

  get isQueued(): boolean {
    return !this.#isTurnRunning && this.inbox.open().length > 0;
  }

  /** Reads the records that are new. */
  async refresh(): Promise<void> {
    const done = this.#events.then(() => this.#readRecords());
    this.#events = done.catch(() => undefined);
    await done;
  }

  async describe(): Promise<ServiceSession> {
    await this.refresh();
    const { title, folder, model, created, modified, sequence } = this.#state;
    const pending = this.#questions();
    return {
      id: this.id,
      title,
      folder,
      ...(model === undefined ? {} : { model }),
      created,
      modified,
      state: this.#isTurnRunning ? "running" : this.isQueued ? "queued" : pending.length > 0 ? "parked" : "idle",
      sequence,
      pending,
      ...(this.#problem === undefined ? {} : { problem: this.#problem }),
    };
  }

  async post({ command, key, trace }: PostRequest): Promise<PostReceipt> {
    await this.refresh();
    const { sequence } = this.#state;
    const checked = key !== undefined && this.inbox.hasKey(key) ? command : this.#check(command);
    const { number, isDuplicate } = await this.inbox.post(checked, { key, received: command, trace });
    if (!isDuplicate) await this.#react(number, checked);
    this.wake();
    return { command: number, isDuplicate, sequence };
  }

  follow(request: FollowRequest): AsyncIterable<FollowedEvent> {
    return this.followers.follow(request, {
      readRecords: async (after) => new LogTail(this.#options.world, { ...this.#options, after }).read(),
      isIdle: () => this.isIdle && this.inbox.open().length === 0,
    });
  }

  /** Starts to work on the commands, unless it does already. */
  wake(): void {
    if (this.#work !== undefined || this.#isStopped || this.inbox.open().length === 0) return;
    this.#stopRetry();
    this.#work = this.#runCommands()
      .then(
        () => this.#clearProblem(),
        (error: unknown) => this.#retryLater(error),
      )
      .finally(() => {
        this.#work = undefined;
        this.followers.wakeAll();
        if (this.#problem === undefined && this.inbox.open().length > 0) this.wake();
        if (this.#work === undefined) this.#closeAgentLater();
      });
  }

  /** Closes the agent after a while without work. */
  #closeAgentLater(): void {
    this.#stopIdleTimer();
    if (this.#isStopped) return;
    this.#stopIdleTimer = this.#options.world.clock.after(this.#options.idleTime(), () => {
      if (this.isIdle) this.closeAgent().catch((error: unknown) => this.#setProblem(error));
    });
  }

  /** Takes no more commands, parks a turn that waits for approval, and resolves once nothing runs. */
  async drain(): Promise<void> {
    this.#isStopped = true;
    this.#stopRetry();
    this.#stopIdleTimer();
    if (this.#isTurnRunning) await this.#agent?.agent.park();
    await this.#work;
  }

  /** Closes the agent, if no turn runs. */
  async closeAgent(): Promise<void> {
    const open = this.#agent;
    this.#agent = undefined;
    if (open !== undefined) this.#closing = open.close();
    await this.#closing;
  }

  /** Cancels what runs and closes everything. */
  async close(): Promise<void> {
    this.#isStopped = true;
    this.#stopRetry();
    this.#stopIdleTimer();
    this.#stopParkTimer();
    await this.#agent?.agent.cancel();
    await this.#work;
    await this.closeAgent();
    await this.#events;
    this.followers.end();
    await this.inbox.close();
  }

  #questions(): readonly OpenQuestion[] {
    const ofAgents = (this.#agent?.agent.pendingApprovals() ?? []).flatMap(({ call, approval, agent }) =>
      agent === undefined ? [] : [{ call, agent, ...describeQuestion(approval) }],
    );
    return [...this.#state.questions.values(), ...ofAgents];
  }

  /** Checks a command against the state of the session. A decision gets the digest of the question it is for. */
  #check(command: SessionCommand): SessionCommand {
    if (command.type !== "decide") return command;
    const { call, agent, digest } = command;
    const question = this.#questions().find((each) => each.call === call && each.agent === agent);
    if (question === undefined || (digest !== undefined && digest !== question.digest))
      throw new ServiceError({ kind: "not-asked", call });
    return question.digest === undefined ? command : { ...command, digest: question.digest };
  }

  /** Applies a command to the turn that runs, if it concerns that one. */
  async #react(number: number, command: SessionCommand): Promise<void> {
    const open = this.#agent;
    if (open === undefined || !this.#isTurnRunning) return;
    switch (command.type) {
      case "decide":
        this.#decidePending(open);
        return;
      case "cancel":
        for (const { number: earlier, command: posted } of this.inbox.open())
          if (earlier < number && isTurnCommand(posted)) await this.inbox.finish(earlier);
        open.agent.withdrawQueuedMessages();
        // The command stays open until the turn has ended: one that is being parked is cancelled after that.
        await open.agent.cancel();
        return;
      case "steer":
        if (command.blobs !== undefined) open.addBlobs(command.blobs);
        await this.inbox.begin(number, this.#state.sequence);
        if (open.agent.queueMessage(command.parts)) this.#steered.set(command.parts, number);
        return;
      case "model":
        await open.switchModel(command.model);
        await this.inbox.finish(number);
        return;
      case "title":
        await open.session.append([{ kind: "title", title: command.title }]);
        await this.inbox.finish(number);
        await this.refresh();
        return;
      case "user":
        return;
    }
  }

  async #runCommands(): Promise<void> {
    for (let next = this.#nextCommand(); next !== undefined; next = this.#nextCommand()) {
      if (this.#isStopped) return;
      await this.#runCommand(next);
      await this.refresh();
    }
  }

  #nextCommand(): PostedCommand | undefined {
    return this.inbox.open()[0];
  }

  /** Whether a command that would begin or continue a turn was cancelled before that. */
  #isCancelled({ number, command }: PostedCommand): boolean {
    return (
      isTurnCommand(command) &&
      this.inbox.open().some((later) => later.number > number && later.command.type === "cancel")
    );
  }

  async #runCommand(posted: PostedCommand): Promise<void> {
    const { number, command, trace } = posted;
    this.#trace = trace;
    const open = await this.#openAgent();
    await this.refresh();
    if (this.#isCancelled(posted)) return this.inbox.finish(number);
    if (posted.begunAfter !== undefined && (await this.#isTakenIn(posted, open))) return;
    switch (command.type) {
      case "user":
      case "steer": {
        if (command.blobs !== undefined) open.addBlobs(command.blobs);
        await this.inbox.begin(number, this.#state.sequence);
        await this.#runTurn(open, (agent) => agent.send(command.parts));
        break;
      }
      case "decide":
        // The question may have been answered or withdrawn since.
        if (this.#isOpenQuestion(command)) {
          await this.inbox.begin(number, this.#state.sequence);
          await this.#runTurn(open, (agent) => agent.continue());
        }
        break;
      case "cancel":
        if (this.#state.questions.size > 0) await this.#runTurn(open, (agent) => agent.continue(), "cancel");
        else if (this.#state.isTurnOpen) await open.session.append([cancelledTurn(open)]);
        break;
      case "model":
        await open.switchModel(command.model);
        break;
      case "title":
        await open.session.append([{ kind: "title", title: command.title }]);
        break;
    }
    await this.inbox.finish(number);
  }

  #isOpenQuestion({ call, digest }: Extract<SessionCommand, { type: "decide" }>): boolean {
    const question = this.#state.questions.get(call);
    return question !== undefined && (digest === undefined || question.digest === digest);
  }

  /**
   * Takes up a command that had begun when its process ended. If it had reached the conversation, its turn is continued
   * unless it had ended; otherwise it is carried out now.
   */
  async #isTakenIn({ number, command, begunAfter = 0 }: PostedCommand, open: AgentSession): Promise<boolean> {
    const records = await new LogTail(this.#options.world, { ...this.#options, after: begunAfter }).read();
    if (!records.some(({ record }) => hasReached(record, command))) return false;
    const last = records.findLast(({ record }) => record.kind === "turn" || hasReached(record, command));
    if (last?.record.kind !== "turn") await this.#runTurn(open, (agent) => agent.continue());
    await this.inbox.finish(number);
    return true;
  }

  async #openAgent(): Promise<AgentSession> {
    this.#stopIdleTimer();
    if (this.#agent !== undefined) return this.#agent;
    await this.#closing.catch(() => undefined);
    const open = await this.#options.openAgent(
      (event) => this.#onEvent(event),
      () => this.#trace,
    );
    this.#agent = open;
    return open;
  }

  async #runTurn(
    open: AgentSession,
    start: (agent: AgentSession["agent"]) => AsyncIterable<AgentEvent>,
    answer?: "cancel",
  ): Promise<void> {
    this.#isTurnRunning = true;
    try {
      for await (const event of start(open.agent)) {
        if (event.type !== "call-updated" || event.status.state !== "awaiting_approval") continue;
        if (answer === "cancel") open.agent.decide(event.call, { type: "cancel" });
        else this.#onQuestion(open, event.call, event.status.approval);
      }
    } finally {
      this.#isTurnRunning = false;
      this.#stopParkTimer();
      // Messages the turn did not take are prompts of their own.
      const left = new Set(open.agent.withdrawQueuedMessages());
      for (const [parts, number] of this.#steered) if (!left.has(parts)) await this.inbox.finish(number);
      this.#steered.clear();
    }
  }

  #onQuestion(open: AgentSession, call: CallId, approval: ApprovalRequest): void {
    if (this.#isStopped) {
      void open.agent.park();
      return;
    }
    const { digest } = describeQuestion(approval);
    const posted = this.#decisions().find((each) => each.call === call && each.agent === undefined);
    if (posted !== undefined) {
      // A decision about a question that has changed since does not count: the new question is open.
      const isDecided = (posted.digest ?? digest) === digest && open.agent.decide(call, posted.decision);
      this.#finishInBackground(posted.number);
      if (isDecided) return;
    }
    this.#parkLater(open, this.#options.parkAfter);
  }

  /** Parks the turn after a while, but not before the decisions that were posted are applied. */
  #parkLater(open: AgentSession, delay: number): void {
    this.#stopParkTimer();
    this.#stopParkTimer = this.#options.world.clock.after(delay, () => {
      if (this.#decisions().length > 0) this.#parkLater(open, Math.max(50, this.#options.parkAfter));
      else void open.agent.park();
    });
  }

  #finishInBackground(number: number): void {
    this.inbox.finish(number).catch((error: unknown) => this.#setProblem(error));
  }

  /** Answers the questions of the turn that runs with the decisions that were posted. */
  #decidePending({ agent }: AgentSession): void {
    for (const { call, approval, agent: name } of agent.pendingApprovals()) {
      const { digest } = describeQuestion(approval);
      const posted = this.#decisions().find(
        (each) => each.call === call && each.agent === name && (each.digest ?? digest) === digest,
      );
      if (posted !== undefined && agent.decide(call, posted.decision, name)) this.#finishInBackground(posted.number);
    }
  }

  #decisions(): readonly (Extract<SessionCommand, { type: "decide" }> & { readonly number: number })[] {
    return this.inbox
      .open()
      .flatMap(({ number, command }) => (command.type === "decide" ? [{ ...command, number }] : []));
  }

  /** Publishes in order: what a record keeps is read from the log, so followers see only what is there. */
  #onEvent(event: AgentEvent): void {
    const live = liveEventOf(event);
    this.#events = this.#events.then(() =>
      live === undefined ? this.#readRecords() : this.followers.publishLive(live),
    );
    this.#events = this.#events.catch(() => undefined);
  }

  async #readRecords(): Promise<void> {
    for (const record of await this.#tail.read()) this.#addRecord(record);
  }

  #addRecord(record: StoredRecord): void {
    this.#state = foldRecord(this.#state, record);
    this.followers.publishRecord(record);
  }

  #clearProblem(): void {
    this.#problem = undefined;
    this.#retries = 0;
  }

  #setProblem(error: unknown): void {
    this.#problem = error instanceof Error ? error.message : String(error);
  }

  /** Work that failed outside a turn is tried again: the session may be open elsewhere, or the disk full. */
  #retryLater(error: unknown): void {
    this.#setProblem(error);
    if (this.#isStopped) return;
    const delay = Math.min(60_000, 1000 * 2 ** this.#retries);
    this.#retries += 1;
    this.#stopRetry = this.#options.world.clock.after(delay, () => this.wake());
  }
}

/** Whether a record shows that a command reached the conversation. */
const hasReached = (record: StoredRecord["record"], command: SessionCommand): boolean => {
  if (command.type === "decide") return record.kind === "decided" && record.call === command.call;
  if (command.type !== "user" && command.type !== "steer") return false;
  return (
    record.kind === "entry" &&
    record.entry.type === "user" &&
    JSON.stringify(record.entry.parts) === JSON.stringify(command.parts)
  );
};
