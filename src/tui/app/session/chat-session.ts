import type { AgentEvent } from "../../../agent/events.ts";
import type { AgentSession } from "../../../agent/open-agent.ts";
import type { UserPart } from "../../../conversation/parts.ts";
import type { TokenUsage } from "../../../wire/decode/events.ts";
import type { World } from "../../../world/world.ts";
import type { SendAfter } from "../../editor/keymap.ts";
import { expandMarkedText } from "../../editor/state.ts";
import type { FrontEnd, QueuedMessage } from "../front-ends/front-end.ts";
import { printError, printInfo } from "../transcript/message.ts";
import type { TranscriptView } from "../transcript/transcript-view.ts";
import type { IdeClient } from "../ide/ide-client.ts";
import { CacheMissTracker } from "./cache-miss.ts";
import { CommandWatch, type CommandSnapshots } from "./command-changes.ts";
import { EditSnapshots } from "./edit-snapshots.ts";
import { TurnMeter } from "./turn-meter.ts";

/** Where a chat session shows its events: as lines of the transcript, printed on the front end. */
export type ChatOutput = {
  readonly transcript: Pick<TranscriptView, "handleEvent">;
  readonly frontEnd: Pick<FrontEnd, "print" | "width" | "update" | "waitForDrain" | "restoreDraft">;
};

/** Options of a chat session. */
export type ChatOptions = ChatOutput & {
  /** The connected editor, if any. */
  readonly ide: () => IdeClient | undefined;
  readonly opened: AgentSession;
  readonly world: Pick<World, "clock" | "files">;
  /** The folder of snapshots. */
  readonly home: string;
  /** Loads what showing a turn needs. */
  readonly prepare: () => Promise<void>;
  /** Whether a turn that took a while is summed up. */
  readonly sumsUpTurns: boolean;
  /** Loads what showing an event needs, if anything is missing. */
  readonly prepareEvent?: (event: AgentEvent) => Promise<void> | undefined;
  /** Opens the store of files around commands. */
  readonly openCommandSnapshots: (session: AgentSession["session"]) => Promise<CommandSnapshots>;
};

/** The usage of one response, and the model that was asked. */
export type RequestUsage = { readonly model: string; readonly usage: TokenUsage };

/** A prompt, as a marked text, with its attachments. */
export type UserPrompt = {
  readonly marked: string;
  readonly parts: readonly UserPart[];
  /** Shows the prompt in the transcript. It is called when the prompt is sent. */
  readonly show: () => void;
  /** Undoes what taking the prompt from the input did. It is called when the prompt is given back. */
  readonly restore?: () => void;
};

/** A prompt that waits. `collected` is set once its attachments are read. */
type QueuedPrompt = { readonly prompt: UserPrompt; readonly sendAfter: SendAfter; collected?: CollectedParts };

/** The parts of a prompt. `added` are those that were waiting for the next prompt. */
type CollectedParts = { readonly added: readonly UserPart[]; readonly parts: readonly UserPart[] };

/** Runs the turns of one session: submits prompts, queues those typed during a turn, and tracks context use. */
export class ChatSession {
  readonly opened: AgentSession;
  readonly #options: ChatOptions;
  #queue: readonly QueuedPrompt[] = [];
  /** Parts added to the user's next prompt. */
  readonly #nextPromptParts: UserPart[] = [];
  #snapshots: EditSnapshots | undefined;
  readonly #commandWatch: CommandWatch;
  #busySince: number | undefined;
  #turn: Promise<void> = Promise.resolve();
  /** Stops the running turn, also before its request is sent. */
  #stop = new AbortController();
  #context = { used: 0, size: 0 };
  #lastUsage: TokenUsage | undefined;
  readonly #requests: RequestUsage[] = [];
  readonly #cacheMiss = new CacheMissTracker();

  constructor(options: ChatOptions) {
    this.opened = options.opened;
    this.#options = options;
    const { session, agent } = options.opened;
    this.#commandWatch = new CommandWatch(
      () => options.openCommandSnapshots(session),
      (changes) => this.snapshots.recordCommand(changes, { root: session.head.root, entries: agent.entryCount() }),
    );
  }

  /** Runs a command that may change files, so that a rewind can restore them. */
  watchCommand<Result>(run: () => Promise<Result>): Promise<Result> {
    return this.#commandWatch.run(run);
  }

  /** The stored files around commands. */
  commandSnapshots(): Promise<CommandSnapshots> {
    return this.#commandWatch.snapshots();
  }

  /** When the running turn began. */
  get busySince(): number | undefined {
    return this.#busySince;
  }

  get context(): { readonly used: number; readonly size: number } {
    return this.#context;
  }

  /** Why most of the last request was not in the prompt cache. */
  get cacheMissCause(): string | undefined {
    return this.#cacheMiss.cause;
  }

  /** Records an event that may explain why the prompt cache misses. */
  recordForCache(event: AgentEvent): void {
    this.#cacheMiss.record(event, this.#options.world.clock.elapsed());
  }

  /** The usage of every response since the session was opened, those of subagents included. */
  get requests(): readonly RequestUsage[] {
    return this.#requests;
  }

  /** Token usage of the last response. */
  get lastUsage(): TokenUsage | undefined {
    return this.#lastUsage;
  }

  /** Snapshots of the session's edits, read on first use. */
  get snapshots(): EditSnapshots {
    const { world, home } = this.#options;
    return (this.#snapshots ??= new EditSnapshots(world, home, this.opened.session.id));
  }

  /** Adds a part to the user's next prompt. */
  addToNextPrompt(part: UserPart): void {
    this.#nextPromptParts.push(part);
  }

  /** Submits a prompt: as a turn of its own, or queued while one runs. */
  submit(prompt: UserPrompt, sendAfter: SendAfter = "step"): Promise<void> {
    if (this.#busySince !== undefined) return this.#enqueue({ prompt, sendAfter });
    return this.#beginTurn(prompt, (signal) => this.#collectParts(prompt, signal));
  }

  /** Asks again about calls that awaited approval when the session was left, and continues their turn. */
  continueTurn(): Promise<void> {
    const { agent } = this.opened;
    return agent.parkedCalls().length === 0
      ? Promise.resolve()
      : this.#runTurn(() => this.#handleEvents(agent.continue()));
  }

  /** The queued prompts, oldest first. */
  queued(): readonly QueuedMessage[] {
    return this.#queue.map(({ prompt: { marked }, sendAfter }) => ({ marked, sendAfter }));
  }

  /** Removes the last queued prompt and returns its marked text. */
  takeBackQueued(): string | undefined {
    const last = this.#queue.at(-1);
    if (last === undefined) return undefined;
    const { agent } = this.opened;
    agent.withdrawQueuedMessages();
    this.#queue = this.#queue.slice(0, -1);
    for (const { sendAfter, collected } of this.#queue)
      if (sendAfter === "step" && collected !== undefined) agent.queueMessage(collected.parts);
    return this.#giveBack(last);
  }

  /** Leaves questions open for the next time the session is opened, and cancels everything else. */
  async park(): Promise<void> {
    const parked = this.opened.agent.park();
    await this.cancel();
    await parked;
  }

  /** Cancels the running turn. Resolves when nothing runs any more. Prompts that were not sent go back to the input. */
  async cancel(): Promise<void> {
    this.#stop.abort();
    await this.opened.agent.cancel();
    await this.#turn;
    this.#restoreDraft();
  }

  /** Updates the context use. */
  async refreshContextUsage(): Promise<void> {
    this.#context = await this.opened.agent.contextUsage();
    this.#options.frontEnd.update();
  }

  #beginTurn(prompt: UserPrompt, collect: (signal: AbortSignal) => Promise<CollectedParts>): Promise<void> {
    return this.#runTurn(async (signal) => {
      prompt.show();
      const [collected] = await Promise.all([collect(signal), this.#options.prepare()]);
      if (!signal.aborted) return this.#handleEvents(this.opened.agent.send(collected.parts));
      // Cancelled while its attachments were read: the agent never got it.
      this.#queue = [{ prompt, sendAfter: "turn", collected }, ...this.#queue];
      return false;
    });
  }

  /** Runs a turn; `run` returns whether it finished. */
  #runTurn(run: (signal: AbortSignal) => Promise<boolean>): Promise<void> {
    this.#busySince = this.#options.world.clock.elapsed();
    this.#stop = new AbortController();
    this.#turn = this.#runToEnd(run, this.#stop.signal);
    this.#options.frontEnd.update();
    return this.#turn;
  }

  async #runToEnd(run: (signal: AbortSignal) => Promise<boolean>, signal: AbortSignal): Promise<void> {
    let hasFinished = false;
    try {
      hasFinished = await run(signal);
    } catch (error) {
      const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
      printError(this.#options.frontEnd, `This is a bug in Parley. ${text}`);
    } finally {
      this.#busySince = undefined;
      this.#options.ide()?.updateDiffs();
    }
    this.opened.agent.withdrawQueuedMessages();
    if (!hasFinished) this.#restoreDraft();
    await this.refreshContextUsage();
    if (!signal.aborted) await this.#beginNext();
  }

  /** Hands every event of the agent to the transcript, waiting while the terminal is slower. Returns whether the turn finished. */
  async #handleEvents(events: AsyncIterable<AgentEvent>): Promise<boolean> {
    const { transcript, frontEnd, prepareEvent, world, sumsUpTurns } = this.#options;
    const { agent } = this.opened;
    const meter = new TurnMeter({
      clock: world.clock,
      cost: () => agent.usageTotals().cost,
      isAsking: () => agent.pendingApprovals().length > 0,
    });
    let hasFinished = false;
    for await (const event of events) {
      await prepareEvent?.(event);
      if (event.type === "user") this.#showQueued(event.parts);
      hasFinished = event.type === "finished";
      if (event.type === "usage") this.#lastUsage = event.usage;
      this.#recordUsage(event);
      this.recordForCache(event);
      meter.handleEvent(event);
      transcript.handleEvent(event);
      this.snapshots.recordEvent(event, agent.entryCount());
      this.#options.ide()?.handleEvent(event);
      frontEnd.update();
      if (event.type === "usage") void this.refreshContextUsage();
      await frontEnd.waitForDrain();
    }
    const summary = meter.end();
    if (sumsUpTurns && summary !== undefined) printInfo(frontEnd, summary);
    return hasFinished;
  }

  #recordUsage(event: AgentEvent): void {
    if (event.type === "agent") return this.#recordUsage(event.event);
    if (event.type === "usage") this.#requests.push({ model: event.model, usage: event.usage });
  }

  /** Begins the turn of the oldest queued prompt, once its attachments are read. */
  async #beginNext(): Promise<void> {
    const [next] = this.#queue;
    if (this.#busySince !== undefined || next?.collected === undefined) return;
    const { prompt, collected } = next;
    this.#queue = this.#queue.slice(1);
    await this.#beginTurn(prompt, async () => collected);
  }

  async #enqueue(queued: QueuedPrompt): Promise<void> {
    this.#queue = [...this.#queue, queued];
    this.#options.frontEnd.update();
    const collected = await this.#collectParts(queued.prompt, new AbortController().signal);
    if (!this.#queue.includes(queued)) return void this.#nextPromptParts.unshift(...collected.added);
    queued.collected = collected;
    if (queued.sendAfter === "step") this.opened.agent.queueMessage(collected.parts);
    await this.#beginNext();
  }

  /** Moves a queued prompt that the agent has sent to the transcript. */
  #showQueued(parts: readonly UserPart[]): void {
    const sent = this.#queue.find(({ collected }) => collected?.parts === parts);
    if (sent === undefined) return;
    this.#queue = this.#queue.filter((each) => each !== sent);
    sent.prompt.show();
  }

  /** Gives all queued prompts back to the input: a cancelled or failed turn sends nothing unasked. */
  #restoreDraft(): void {
    const texts = this.#queue.map((each) => this.#giveBack(each));
    this.#queue = [];
    if (texts.length > 0) this.#options.frontEnd.restoreDraft(texts.join("\n\n"));
  }

  #giveBack({ prompt, collected }: QueuedPrompt): string {
    this.#nextPromptParts.unshift(...(collected?.added ?? []));
    prompt.restore?.();
    return prompt.marked;
  }

  async #collectParts({ marked, parts }: UserPrompt, signal: AbortSignal): Promise<CollectedParts> {
    const added = this.#nextPromptParts.splice(0);
    const attached = await this.opened.attach(expandMarkedText(marked), signal);
    for (const message of attached.messages) printInfo(this.#options.frontEnd, message);
    const context = (await this.#options.ide()?.promptParts()) ?? [];
    return { added: [...added, ...context], parts: [...added, ...attached.parts, ...context, ...parts] };
  }
}
