import type { AgentEvent } from "../../agent/events.ts";
import type { Opened } from "../../agent/open.ts";
import type { UserPart } from "../../conversation/parts.ts";
import type { Usage } from "../../wire/decode.ts";
import type { Clock } from "../../world/world.ts";

/** Who hears what comes of a talk. */
export type TalkListener = {
  readonly hear: (event: AgentEvent) => void;
  readonly say: (text: string) => void;
  readonly warn: (text: string) => void;
  /** Something about the talk has changed. */
  readonly changed: () => void;
  /** Resolves once there is room for more. */
  readonly room: () => Promise<void>;
};

/** Something the person said, and what came with it. */
export type Said = { readonly text: string; readonly parts: readonly UserPart[] };

/** One session being talked in: turns, what is said meanwhile, and how full it is. */
export class Talk {
  readonly opened: Opened;
  readonly #clock: Pick<Clock, "elapsed">;
  readonly #listener: TalkListener;
  readonly #queue: (readonly UserPart[])[] = [];
  /** What the model is told with the person's next message. */
  readonly #asides: UserPart[] = [];
  #since: number | undefined;
  #turn: Promise<void> = Promise.resolve();
  #context = { used: 0, size: 0 };
  #last: Usage | undefined;

  constructor(opened: Opened, clock: Pick<Clock, "elapsed">, listener: TalkListener) {
    this.opened = opened;
    this.#clock = clock;
    this.#listener = listener;
  }

  /** When the turn that runs began. */
  get since(): number | undefined {
    return this.#since;
  }

  get context(): { readonly used: number; readonly size: number } {
    return this.#context;
  }

  /** What the last answer used. */
  get last(): Usage | undefined {
    return this.#last;
  }

  /** Keeps something for the model until the person speaks again. */
  aside(part: UserPart): void {
    this.#asides.push(part);
  }

  /** Says something: in a turn of its own, or to the one that runs. */
  say(said: Said): Promise<void> {
    return this.#since === undefined ? this.#begin(this.#partsOf(said)) : this.#steer(said);
  }

  /** Ends the turn that runs. Settles when nothing runs any more. */
  async cancel(): Promise<void> {
    this.#queue.splice(0);
    await this.opened.agent.cancel();
    await this.#turn;
  }

  /** Asks how full the context is. */
  async refresh(): Promise<void> {
    this.#context = await this.opened.agent.context();
    this.#listener.changed();
  }

  #begin(parts: Promise<readonly UserPart[]>): Promise<void> {
    this.#since = this.#clock.elapsed();
    this.#listener.changed();
    this.#turn = this.#run(parts);
    return this.#turn;
  }

  async #run(parts: Promise<readonly UserPart[]>): Promise<void> {
    const { hear, warn, room } = this.#listener;
    try {
      for await (const event of this.opened.agent.send(await parts)) {
        if (event.type === "usage") this.#last = event.usage;
        hear(event);
        if (event.type === "usage") void this.refresh();
        await room();
      }
    } catch (error) {
      warn(`This is a bug in Parley. ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    } finally {
      this.#since = undefined;
    }
    await this.refresh();
    const next = this.#queue.shift();
    if (next !== undefined) await this.#begin(Promise.resolve(next));
  }

  async #steer(said: Said): Promise<void> {
    const parts = await this.#partsOf(said);
    if (this.opened.agent.steer(parts)) this.#listener.say("It will be heard after the calls under way.");
    else if (this.#since === undefined) await this.#begin(Promise.resolve(parts));
    else this.#queue.push(parts);
  }

  async #partsOf({ text, parts }: Said): Promise<readonly UserPart[]> {
    const asides = this.#asides.splice(0);
    const attached = await this.opened.attach(text, new AbortController().signal);
    for (const told of attached.told) this.#listener.say(told);
    return [...asides, ...attached.parts, ...parts];
  }
}
