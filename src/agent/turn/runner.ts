import type { UserPart } from "../../conversation/parts.ts";
import type { EventQueue } from "../event-queue.ts";
import type { AgentEventStream } from "../event-stream.ts";
import type { AgentEvent } from "../events.ts";
import type { TurnEnd } from "./turn.ts";

/** Runs one turn, or one compaction, at a time. Holds the messages that are queued meanwhile. */
export class TurnRunner {
  readonly #events: AgentEventStream;
  readonly #queued: (readonly UserPart[])[] = [];
  readonly #notices: string[] = [];
  #running: AbortController | undefined;
  #work: Promise<unknown> | undefined;
  #acceptsMessages = false;

  constructor(events: AgentEventStream) {
    this.#events = events;
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /** Runs a turn and yields its events. Leaving the loop cancels the turn. */
  async *send(
    run: (signal: AbortSignal) => Promise<TurnEnd>,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<AgentEvent, void> {
    const { controller, release } = this.#acquire(signal);
    const queue = this.#events.open();
    const turn = this.#run(run, controller.signal, queue);
    turn.catch(() => undefined);
    this.#work = turn;
    try {
      yield* queue;
    } finally {
      // If the reader left early, the turn ends before another may begin. After its end this does nothing.
      controller.abort();
      await turn.finally(release);
    }
  }

  /** Runs other work that excludes turns, such as a compaction. */
  async runExclusive<Result>(
    work: (signal: AbortSignal) => Promise<Result>,
    signal: AbortSignal | undefined,
  ): Promise<Result> {
    const { controller, release } = this.#acquire(signal);
    const running = work(controller.signal);
    this.#work = running;
    return running.finally(release);
  }

  /** Queues a message for the running turn. False if none accepts it. */
  queueMessage(parts: readonly UserPart[]): boolean {
    if (!this.#acceptsMessages || this.#running?.signal.aborted !== false) return false;
    this.#queued.push(parts);
    return true;
  }

  /** Removes and returns the queued messages, to send them or to give them back. */
  takeQueuedMessages(): readonly (readonly UserPart[])[] {
    return this.#queued.splice(0);
  }

  /** Holds a notice until the next request is prepared. */
  addNotice(text: string): void {
    this.#notices.push(text);
  }

  /** Removes and returns the notices. */
  takeNotices(): readonly string[] {
    return this.#notices.splice(0);
  }

  abort(): void {
    this.#running?.abort();
  }

  /** Resolves once the running work has ended, however it ends. */
  async ended(): Promise<void> {
    await this.#work?.catch(() => undefined);
  }

  async #run(
    run: (signal: AbortSignal) => Promise<TurnEnd>,
    signal: AbortSignal,
    queue: EventQueue<AgentEvent>,
  ): Promise<void> {
    try {
      this.#acceptsMessages = true;
      const end = await run(signal);
      this.#acceptsMessages = false;
      this.#events.emit(end);
    } finally {
      this.#acceptsMessages = false;
      queue.close();
    }
  }

  /** Claims the agent for one piece of work. Throws while another runs. */
  #acquire(signal: AbortSignal | undefined): { readonly controller: AbortController; readonly release: () => void } {
    if (this.#running !== undefined) throw new Error("A turn is running already. Queue a message, or cancel the turn.");
    const controller = new AbortController();
    const abort = (): void => controller.abort(signal?.reason);
    this.#running = controller;
    if (signal?.aborted === true) abort();
    signal?.addEventListener("abort", abort, { once: true });
    return {
      controller,
      release: () => {
        signal?.removeEventListener("abort", abort);
        this.#running = this.#work = undefined;
        this.#events.release();
      },
    };
  }
}
