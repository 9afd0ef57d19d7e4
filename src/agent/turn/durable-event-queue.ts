import type { AgentEvent } from "../events.ts";
import type { Journal } from "../session/journal.ts";

/** The journal events wait for, and the receiver of the events. */
export type DurableEventQueueOptions = { readonly journal: Journal; readonly emit: (event: AgentEvent) => void };

/**
 * Emits the events of a turn in order, and those about recorded entries only once the entries are on disk: nothing a
 * front end was told is lost by a crash.
 */
export class DurableEventQueue {
  readonly #journal: Journal;
  readonly #emit: (event: AgentEvent) => void;
  readonly #queued: { readonly event: AgentEvent; readonly needsCommit: boolean }[] = [];
  /** The number of events emitted from the queue. */
  #emitted = 0;
  /** Commits in the background. A failed one rejects the next `flush`. */
  readonly #commits: Promise<void>[] = [];

  constructor({ journal, emit }: DurableEventQueueOptions) {
    this.#journal = journal;
    this.#emit = emit;
  }

  /** Queues an event about a recorded entry. It is emitted after the next commit. */
  emitAfterCommit(event: AgentEvent): void {
    this.#queued.push({ event, needsCommit: true });
  }

  /** Emits an event at once, or after the queued events it follows. */
  emit(event: AgentEvent): void {
    if (this.#queued.length === 0) this.#emit(event);
    else this.#queued.push({ event, needsCommit: false });
  }

  /** Commits the journal, then emits the events that were queued before. */
  async commit(): Promise<void> {
    const upTo = this.#emitted + this.#queued.length;
    await this.#journal.commit();
    for (;;) {
      const [next] = this.#queued;
      if (next === undefined || (next.needsCommit && this.#emitted >= upTo)) return;
      this.#queued.shift();
      this.#emitted += 1;
      this.#emit(next.event);
    }
  }

  /** Starts a commit that the caller need not wait for. A failure is reported by `flush`. */
  commitInBackground(): Promise<void> {
    const committed = this.commit();
    committed.catch(() => undefined);
    this.#commits.push(committed);
    return committed;
  }

  /** Resolves once everything so far is committed and emitted. */
  async flush(): Promise<void> {
    await Promise.all([...this.#commits.splice(0), this.commit()]);
  }

  /** Like `flush` at the end of a turn: records whose commit failed before are tried once more. */
  async flushFinal(): Promise<void> {
    await Promise.allSettled(this.#commits.splice(0));
    await this.commit();
  }
}
