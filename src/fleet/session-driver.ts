import type { Agent } from "../agent/agent.ts";
import type { AgentEvent } from "../agent/events.ts";
import type { AgentSession } from "../agent/open-agent.ts";
import { describeQuestion } from "../agent/turn/record-calls.ts";
import { releaseSession, readSessionCommands, type TakenSession } from "../postgres/ownership.ts";
import { createSessionStore, openClaimed, type PostgresSession, type PostgresStoreOptions } from "../postgres/store.ts";
import type { WorkerLease } from "../postgres/lease.ts";
import type { SessionStore } from "../session/store/store.ts";
import { CommandLedger, type ReceivedCommand } from "./command-ledger.ts";
import type { SessionCommand } from "./service.ts";
import { cancelledTurn, isTurnCommand } from "./turn-commands.ts";
import {
  describeWorkplace,
  sharedWorkplaces,
  workplaceNoticeStart,
  type EarlierWork,
  type Workplace,
  type Workplaces,
} from "./workplace.ts";

/** Opens the agent of a session. */
export type OpenSessionAgent = (request: {
  readonly tenant: string;
  readonly folder: string;
  readonly sessions: SessionStore;
  readonly id: string;
  readonly fence: number;
  /** Where its tools run. */
  readonly workplace: Workplace;
  /** Notices for the model, to be given before its next request. */
  readonly notices: readonly string[];
  readonly onEvent: (event: AgentEvent) => void;
  /** The span of the request that posted the command being carried out, as a `traceparent`. */
  readonly traceOf: () => string | undefined;
}) => Promise<AgentSession>;

export type SessionDriverOptions = {
  readonly store: PostgresStoreOptions;
  readonly lease: WorkerLease;
  readonly openAgent: OpenSessionAgent;
  /** Where tools run. Default: in the project's own folder. */
  readonly workplaces?: Workplaces | undefined;
  /** Milliseconds a question keeps its turn in this process; then the session waits without one. */
  readonly parkAfter: number;
  /** Called with each event and the sequence number of the last record before it. */
  readonly onEvent?: ((event: AgentEvent, sequence: number) => void) | undefined;
  /** Called with the reason why a command could not be carried out. It is not tried again. */
  readonly onRefusedCommand?: (message: string) => void;
};

/** How a session was given back: its new state, or `lost` if another worker has it. */
export type DriveResult = "idle" | "ready" | "parked" | "lost";

/**
 * Drives a session that was taken: completes what was interrupted, carries out its commands in order, and gives it back.
 * An approval without an answer for a while parks it.
 */
export class SessionDriver {
  readonly taken: TakenSession;
  readonly #options: SessionDriverOptions;
  readonly #commands = new CommandLedger();
  #session: PostgresSession | undefined;
  #agent: AgentSession | undefined;
  #workplace: Workplace | undefined;
  #isTurnRunning = false;
  #isStopped = false;
  /** Whether the last turn was left without an end by an earlier owner. */
  #isInterrupted = false;
  #trace: string | undefined;
  #cancelTurn: (() => Promise<void>) | undefined;
  #stopParkTimer: () => void = () => undefined;

  constructor(options: SessionDriverOptions, taken: TakenSession) {
    this.#options = options;
    this.taken = taken;
  }

  /** Works until nothing is left to do, and gives the session back. */
  async run(): Promise<DriveResult> {
    const { lease, store } = this.#options;
    let isParked = false;
    try {
      this.receive(parseCommands(await readSessionCommands(store.database, this.taken)));
      isParked = await this.#work();
    } catch (error) {
      await this.#close();
      if (lease.isLost || isLostError(error)) return "lost";
      // The next owner tries again after a pause.
      await releaseSession(store.database, this.taken, { wakeAfter: retryDelay });
      throw error;
    }
    await this.#close();
    if (lease.isLost) return "lost";
    return ((await releaseSession(store.database, this.taken, { isParked })) ?? "lost") as DriveResult;
  }

  /** Adds commands that were read for this session, and applies those that concern the turn that runs. */
  receive(commands: readonly ReceivedCommand[]): void {
    for (const added of this.#commands.add(commands)) this.#react(added);
  }

  /** Begins nothing new. A turn that waits for approval is parked; another one ends as it does. */
  stop(): void {
    this.#isStopped = true;
    if (this.#isTurnRunning) void this.#agent?.agent.park();
  }

  /** Ends at once, because another worker may begin: nothing that happens here is written any more. */
  abandon(): void {
    this.#isStopped = true;
    void this.#agent?.agent.cancel();
  }

  /** Returns whether the session waits for a person. */
  async #work(): Promise<boolean> {
    const { store, lease, openAgent, workplaces = sharedWorkplaces, onEvent } = this.#options;
    const { tenant, id, fence, project } = this.taken;
    const options = { ...store, tenant };
    const { isInterrupted, ...earlier } = await this.#readEarlierWork(options);
    const workplace = (this.#workplace = await workplaces.open(this.taken));
    const notice = describeWorkplace(workplace, this.taken, earlier);
    const sessions: SessionStore = {
      ...createSessionStore(options, async () => lease),
      open: async () =>
        (this.#session = await openClaimed(options, {
          id,
          fence,
          isLost: () => lease.isLost,
          commands: this.#commands,
          releases: false,
        })),
    };
    const open = await openAgent({
      tenant,
      folder: project,
      sessions,
      id,
      fence,
      workplace,
      notices: notice === undefined ? [] : [notice],
      onEvent: (event) => onEvent?.(event, this.#session?.sequence() ?? 0),
      traceOf: () => this.#trace,
    });
    this.#agent = open;
    this.#isInterrupted = isInterrupted;
    if (isInterrupted && !this.#commands.open().some(({ command }) => command.type === "cancel"))
      await this.#runTurn(open.agent.continue());
    for (let next = this.#nextCommand(); next !== undefined && !this.#isStopped; next = this.#nextCommand())
      await this.#carryOut(open, next);
    return open.agent.parkedCalls().length > 0;
  }

  /** Reads the log. It is interrupted if the last turn has not ended: its owner did before. */
  async #readEarlierWork(options: PostgresStoreOptions): Promise<EarlierWork & { readonly isInterrupted: boolean }> {
    const { records } = await createSessionStore(options, async () => this.#options.lease).read(this.taken.id);
    let isInterrupted = false;
    let hasWorked = false;
    let notice: string | undefined;
    for await (const { record } of records())
      if (record.kind === "turn") isInterrupted = false;
      else if (record.kind === "decided") isInterrupted = true;
      else if (record.kind === "entry") {
        const { entry } = record;
        if (["user", "model", "completion"].includes(entry.type)) isInterrupted = true;
        if (entry.type === "model") hasWorked = true;
        if (entry.type === "notice" && entry.text.startsWith(workplaceNoticeStart)) notice = entry.text;
      }
    return { isInterrupted, hasWorked, notice };
  }

  /** The command to carry out next: a cancel goes before the commands that it takes back. */
  #nextCommand(): ReceivedCommand | undefined {
    const open = this.#commands.open();
    const [first] = open;
    if (first === undefined || !isTurnCommand(first.command)) return first;
    return open.find(({ command }) => command.type === "cancel") ?? first;
  }

  async #carryOut(open: AgentSession, { id, command, trace }: ReceivedCommand): Promise<void> {
    const { agent } = open;
    this.#trace = trace;
    switch (command.type) {
      case "user":
      case "steer":
        if (command.blobs !== undefined) open.addBlobs(command.blobs);
        this.#commands.give(id);
        await this.#runTurn(agent.send(command.parts));
        return this.#checkGiven(id);
      case "decide":
        if (agent.parkedCalls().some((call) => call.id === command.call)) await this.#runTurn(agent.continue());
        // The question was answered or withdrawn before, or has changed: this decision counts for nothing.
        return this.#markTaken([id]);
      case "cancel": {
        const before = this.#commands.open().filter((each) => each.id < id && isTurnCommand(each.command));
        if (agent.parkedCalls().length > 0) await this.#runTurn(agent.continue(), "cancel");
        else if (this.#isInterrupted) await this.#session?.append([cancelledTurn(open)]);
        return this.#markTaken([...before.map((each) => each.id), id]);
      }
      case "model":
        await open.switchModel(command.model).catch((error: unknown) => {
          this.#options.onRefusedCommand?.(error instanceof Error ? error.message : String(error));
        });
        return this.#markTaken([id]);
      case "title":
        this.#commands.give(id);
        await open.session.append([{ kind: "title", title: command.title }]);
    }
  }

  /** A prompt that did not reach the conversation was refused, e.g. by a hook. It is not tried again. */
  async #checkGiven(id: number): Promise<void> {
    this.#commands.takeBack(id);
    await this.#markTaken([id]);
  }

  async #markTaken(ids: readonly number[]): Promise<void> {
    const open = new Set(this.#commands.open().map(({ id }) => id));
    const left = ids.filter((id) => open.has(id));
    await this.#session?.markTaken(left);
  }

  async #runTurn(events: AsyncIterable<AgentEvent>, answer?: "cancel"): Promise<void> {
    const open = this.#agent;
    if (open === undefined) return;
    this.#isTurnRunning = true;
    this.#isInterrupted = false;
    let failure: unknown;
    try {
      for await (const event of events) {
        if (event.type === "failed" && event.failure.kind === "storage") failure = new Error(event.failure.message);
        if (event.type !== "call-updated" || event.status.state !== "awaiting_approval") continue;
        if (answer === "cancel") open.agent.decide(event.call, { type: "cancel" });
        else this.#onQuestion(open);
      }
    } finally {
      this.#isTurnRunning = false;
      this.#stopParkTimer();
      open.agent.withdrawQueuedMessages();
      for (const { id } of this.#steered.splice(0)) this.#commands.takeBack(id);
      await this.#cancelTurn?.();
      this.#cancelTurn = undefined;
    }
    if (failure !== undefined) throw failure;
  }

  /** The messages given to the turn that runs. Those it did not take become prompts. */
  readonly #steered: ReceivedCommand[] = [];

  #onQuestion(open: AgentSession): void {
    if (this.#decidePending(open.agent)) return;
    this.#stopParkTimer();
    if (this.#isStopped) void open.agent.park();
    else
      this.#stopParkTimer = this.#options.store.world.clock.after(
        this.#options.parkAfter,
        () => void open.agent.park(),
      );
  }

  /** Answers the questions of the turn with the decisions that were posted. Returns whether none is left. */
  #decidePending(agent: Agent): boolean {
    let isLeft = false;
    for (const { call, approval, agent: name } of agent.pendingApprovals()) {
      const { digest } = describeQuestion(approval);
      const posted = this.#commands
        .open()
        .find(({ command }) => command.type === "decide" && command.call === call && command.agent === name);
      if (posted?.command.type !== "decide" || (posted.command.digest ?? digest) !== digest) {
        isLeft = true;
        continue;
      }
      // The record of the decision takes the command. A subagent's question has none.
      if (name === undefined) this.#commands.give(posted.id);
      if (!agent.decide(call, posted.command.decision, name)) this.#commands.takeBack(posted.id);
      else if (name !== undefined) void this.#markTaken([posted.id]).catch(() => undefined);
    }
    return !isLeft;
  }

  /** Applies a command to the turn that runs, if it concerns that one. */
  #react({ id, command }: ReceivedCommand): void {
    const open = this.#agent;
    if (open === undefined || !this.#isTurnRunning) return;
    switch (command.type) {
      case "decide":
        if (this.#decidePending(open.agent)) this.#stopParkTimer();
        return;
      case "cancel": {
        const before = this.#commands.open().filter((each) => each.id < id && isTurnCommand(each.command));
        open.agent.withdrawQueuedMessages();
        // The command is taken once the turn has ended, so that the next owner cancels it if this one dies. A turn that
        // is being parked ends with its questions open: the command is carried out after that.
        this.#cancelTurn = () => {
          const isOpen = open.agent.parkedCalls().length > 0;
          return this.#markTaken([...before.map((each) => each.id), ...(isOpen ? [] : [id])]);
        };
        void open.agent.cancel();
        return;
      }
      case "steer":
        if (command.blobs !== undefined) open.addBlobs(command.blobs);
        this.#commands.give(id);
        if (open.agent.queueMessage(command.parts)) this.#steered.push({ id, command });
        else this.#commands.takeBack(id);
        return;
      case "title":
        this.#commands.give(id);
        void open.session.append([{ kind: "title", title: command.title }]).catch(() => this.#commands.takeBack(id));
        return;
      case "user":
      case "model":
        return;
    }
  }

  async #close(): Promise<void> {
    const open = this.#agent;
    this.#agent = undefined;
    await open?.close().catch(() => undefined);
    const workplace = this.#workplace;
    this.#workplace = undefined;
    await workplace?.close().catch(() => undefined);
  }
}

const retryDelay = 5000;

const isLostError = (error: unknown): boolean =>
  error instanceof Error && "failure" in error && (error.failure as { readonly kind?: unknown }).kind === "lost";

/** Reads commands of the inbox. One that cannot be read is left to a newer version. */
export const parseCommands = (
  rows: readonly { readonly id: number; readonly command: string }[],
): readonly ReceivedCommand[] =>
  rows.map(({ id, command: text }) => {
    const { trace, ...command } = JSON.parse(text) as SessionCommand & { readonly trace?: string };
    return { id, command, trace };
  });
