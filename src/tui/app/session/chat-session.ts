import type { AgentEvent } from "../../../agent/events.ts";
import type { AgentSession } from "../../../agent/open-agent.ts";
import type { UserPart } from "../../../conversation/parts.ts";
import type { TokenUsage } from "../../../wire/decode/events.ts";
import type { Clock } from "../../../world/world.ts";

/** Listener for the events of a chat session. */
export type ChatListener = {
  readonly onEvent: (event: AgentEvent) => void;
  readonly info: (text: string) => void;
  readonly warn: (text: string) => void;
  /** The state of the session changed. */
  readonly onChange: () => void;
  /** Resolves once the output queue has drained. */
  readonly waitForDrain: () => Promise<void>;
};

/** A prompt with its attachments. */
export type UserPrompt = { readonly text: string; readonly parts: readonly UserPart[] };

/** Runs the turns of one session: submits prompts, queues those typed during a turn, and tracks context use. */
export class ChatSession {
  readonly opened: AgentSession;
  readonly #clock: Pick<Clock, "elapsed">;
  readonly #listener: ChatListener;
  readonly #queue: (readonly UserPart[])[] = [];
  /** Parts added to the user's next prompt. */
  readonly #asides: UserPart[] = [];
  #since: number | undefined;
  #turn: Promise<void> = Promise.resolve();
  #context = { used: 0, size: 0 };
  #last: TokenUsage | undefined;

  constructor(opened: AgentSession, clock: Pick<Clock, "elapsed">, listener: ChatListener) {
    this.opened = opened;
    this.#clock = clock;
    this.#listener = listener;
  }

  /** When the running turn began. */
  get busySince(): number | undefined {
    return this.#since;
  }

  get context(): { readonly used: number; readonly size: number } {
    return this.#context;
  }

  /** Token usage of the last response. */
  get lastUsage(): TokenUsage | undefined {
    return this.#last;
  }

  /** Adds a part to the user's next prompt. */
  addToNextPrompt(part: UserPart): void {
    this.#asides.push(part);
  }

  /** Submits a prompt: as a turn of its own, or queued in the running one. */
  submit(said: UserPrompt): Promise<void> {
    return this.#since === undefined ? this.#begin(this.#partsOf(said)) : this.#steer(said);
  }

  /** Cancels the running turn. Resolves when nothing runs any more. */
  async cancel(): Promise<void> {
    this.#queue.splice(0);
    await this.opened.agent.cancel();
    await this.#turn;
  }

  /** Updates the context use. */
  async refreshContextUsage(): Promise<void> {
    this.#context = await this.opened.agent.contextUsage();
    this.#listener.onChange();
  }

  #begin(parts: Promise<readonly UserPart[]>): Promise<void> {
    this.#since = this.#clock.elapsed();
    this.#listener.onChange();
    this.#turn = this.#run(parts);
    return this.#turn;
  }

  async #run(parts: Promise<readonly UserPart[]>): Promise<void> {
    const { onEvent, warn, waitForDrain } = this.#listener;
    try {
      for await (const event of this.opened.agent.send(await parts)) {
        if (event.type === "usage") this.#last = event.usage;
        onEvent(event);
        if (event.type === "usage") void this.refreshContextUsage();
        await waitForDrain();
      }
    } catch (error) {
      warn(`This is a bug in Parley. ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    } finally {
      this.#since = undefined;
    }
    await this.refreshContextUsage();
    const next = this.#queue.shift();
    if (next !== undefined) await this.#begin(Promise.resolve(next));
  }

  async #steer(said: UserPrompt): Promise<void> {
    const parts = await this.#partsOf(said);
    if (this.opened.agent.queueMessage(parts)) this.#listener.info("It will be heard after the calls under way.");
    else if (this.#since === undefined) await this.#begin(Promise.resolve(parts));
    else this.#queue.push(parts);
  }

  async #partsOf({ text, parts }: UserPrompt): Promise<readonly UserPart[]> {
    const asides = this.#asides.splice(0);
    const attached = await this.opened.attach(text, new AbortController().signal);
    for (const told of attached.messages) this.#listener.info(told);
    return [...asides, ...attached.parts, ...parts];
  }
}
