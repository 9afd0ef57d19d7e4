import type { AgentEvent } from "../events.ts";
import type { Journal } from "../session/journal.ts";

/** What telling needs. */
export type DurableEventQueueOptions = { readonly journal: Journal; readonly emit: (event: AgentEvent) => void };

/** Tells what happens in a turn, in order, and of what is recorded not before it is kept: what was heard of is never lost. */
export class DurableEventQueue {
  readonly #journal: Journal;
  readonly #tell: (event: AgentEvent) => void;
  readonly #untold: { readonly event: AgentEvent; readonly isRecord: boolean }[] = [];
  /** How much was told. */
  #told = 0;
  /** What is being written down. A disk that fails is heard of by whoever waits for all of it. */
  readonly #keeping: Promise<void>[] = [];

  constructor({ journal, emit: tell }: DurableEventQueueOptions) {
    this.#journal = journal;
    this.#tell = tell;
  }

  /** What is told once it is written down. */
  emitAfterCommit(event: AgentEvent): void {
    this.#untold.push({ event, isRecord: true });
  }

  /** What is told at once, but not before what it follows from. */
  emit(event: AgentEvent): void {
    if (this.#untold.length === 0) this.#tell(event);
    else this.#untold.push({ event, isRecord: false });
  }

  /** Writes down everything new, then tells of it. */
  async commit(): Promise<void> {
    const upTo = this.#told + this.#untold.length;
    await this.#journal.commit();
    for (;;) {
      const [next] = this.#untold;
      if (next === undefined || (next.isRecord && this.#told >= upTo)) return;
      this.#untold.shift();
      this.#told += 1;
      this.#tell(next.event);
    }
  }

  /** Begins to write down everything new, and goes on meanwhile. */
  commitInBackground(): Promise<void> {
    const kept = this.commit();
    kept.catch(() => undefined);
    this.#keeping.push(kept);
    return kept;
  }

  /** Settles when everything so far is written down and told. */
  async flush(): Promise<void> {
    await Promise.all([...this.#keeping.splice(0), this.commit()]);
  }

  /** The same at the end, when what could not be written down before has its last chance. */
  async flushFinal(): Promise<void> {
    await Promise.allSettled(this.#keeping.splice(0));
    await this.commit();
  }
}
