import type { AgentEvent } from "../../../agent/events.ts";
import type { AgentSession } from "../../../agent/open-agent.ts";
import type { UserPart } from "../../../conversation/parts.ts";
import type { TokenUsage } from "../../../wire/decode/events.ts";
import type { Clock } from "../../../world/world.ts";

/** Who hears what comes of a talk. */
export type ChatListener = {
  readonly onEvent: (event: AgentEvent) => void;
  readonly info: (text: string) => void;
  readonly warn: (text: string) => void;
  /** Something about the talk has changed. */
  readonly onChange: () => void;
  /** Resolves once there is room for more. */
  readonly waitForDrain: () => Promise<void>;
};

/** Something the person said, and what came with it. */
export type UserPrompt = { readonly text: string; readonly parts: readonly UserPart[] };

/** One session being talked in: turns, what is said meanwhile, and how full it is. */
export class ChatSession {
  readonly opened: AgentSession;
  readonly #clock: Pick<Clock, "elapsed">;
  readonly #listener: ChatListener;
  readonly #queue: (readonly UserPart[])[] = [];
  /** What the model is told with the person's next message. */
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

  /** When the turn that runs began. */
  get busySince(): number | undefined {
    return this.#since;
  }

  get context(): { readonly used: number; readonly size: number } {
    return this.#context;
  }

  /** What the last answer used. */
  get lastUsage(): TokenUsage | undefined {
    return this.#last;
  }

  /** Keeps something for the model until the person speaks again. */
  addToNextPrompt(part: UserPart): void {
    this.#asides.push(part);
  }

  /** Says something: in a turn of its own, or to the one that runs. */
  submit(said: UserPrompt): Promise<void> {
    return this.#since === undefined ? this.#begin(this.#partsOf(said)) : this.#steer(said);
  }

  /** Ends the turn that runs. Settles when nothing runs any more. */
  async cancel(): Promise<void> {
    this.#queue.splice(0);
    await this.opened.agent.cancel();
    await this.#turn;
  }

  /** Asks how full the context is. */
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
    const { onEvent: hear, warn, waitForDrain: room } = this.#listener;
    try {
      for await (const event of this.opened.agent.send(await parts)) {
        if (event.type === "usage") this.#last = event.usage;
        hear(event);
        if (event.type === "usage") void this.refreshContextUsage();
        await room();
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
