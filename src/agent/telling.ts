import type { AgentEvent } from "./events.ts";
import type { Journal } from "./journal.ts";

/** What telling needs. */
export type TellingOptions = { readonly journal: Journal; readonly tell: (event: AgentEvent) => void };

/** Tells what happens in a turn, in order, and of what is recorded not before it is kept: what was heard of is never lost. */
export class Telling {
  readonly #journal: Journal;
  readonly #tell: (event: AgentEvent) => void;
  readonly #untold: { readonly event: AgentEvent; readonly isRecord: boolean }[] = [];
  /** How much was told. */
  #told = 0;
  /** What is being written down. A disk that fails is heard of by whoever waits for all of it. */
  readonly #keeping: Promise<void>[] = [];

  constructor({ journal, tell }: TellingOptions) {
    this.#journal = journal;
    this.#tell = tell;
  }

  /** What is told once it is written down. */
  note(event: AgentEvent): void {
    this.#untold.push({ event, isRecord: true });
  }

  /** What is told at once, but not before what it follows from. */
  say(event: AgentEvent): void {
    if (this.#untold.length === 0) this.#tell(event);
    else this.#untold.push({ event, isRecord: false });
  }

  /** Writes down everything new, then tells of it. */
  async keep(): Promise<void> {
    const upTo = this.#told + this.#untold.length;
    await this.#journal.save();
    for (;;) {
      const [next] = this.#untold;
      if (next === undefined || (next.isRecord && this.#told >= upTo)) return;
      this.#untold.shift();
      this.#told += 1;
      this.#tell(next.event);
    }
  }

  /** Begins to write down everything new, and goes on meanwhile. */
  keepSoon(): Promise<void> {
    const kept = this.keep();
    kept.catch(() => undefined);
    this.#keeping.push(kept);
    return kept;
  }

  /** Settles when everything so far is written down and told. */
  async kept(): Promise<void> {
    await Promise.all([...this.#keeping.splice(0), this.keep()]);
  }

  /** The same at the end, when what could not be written down before has its last chance. */
  async last(): Promise<void> {
    await Promise.allSettled(this.#keeping.splice(0));
    await this.keep();
  }
}
