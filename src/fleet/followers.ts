import { eventOf, type FollowedEvent, type LiveEvent } from "./session-events.ts";
import type { StoredRecord } from "../session/log/record.ts";
import type { FollowRequest } from "./service.ts";

/** The published items of a session: its records in order, and live events between them. */
type Published =
  | { readonly record: StoredRecord }
  | { readonly live: LiveEvent; readonly sequence: number; readonly number: number };

type Follower = {
  readonly queue: Published[];
  /** Whether records have to be read from the log first: at the start, and after the follower was too slow. */
  isBehind: boolean;
  wake: () => void;
};

/** Reads records after a sequence number from the log. */
export type ReadRecords = (after: number) => Promise<readonly StoredRecord[]>;

/** How many events wait for a slow follower before they are dropped and read from the log instead. */
const maxQueued = 1000;

/** The followers of one session. */
export class Followers {
  readonly #followers = new Set<Follower>();
  #sequence = 0;
  #live = 0;
  #isEnded = false;

  get size(): number {
    return this.#followers.size;
  }

  publishRecord(record: StoredRecord): void {
    this.#sequence = record.sequence;
    this.#live = 0;
    this.#publish({ record });
  }

  publishLive(live: LiveEvent): void {
    this.#live += 1;
    this.#publish({ live, sequence: this.#sequence, number: this.#live });
  }

  /** Wakes followers that wait for the session to become idle. */
  wakeAll(): void {
    for (const follower of this.#followers) follower.wake();
  }

  /** Ends all iterations, when the session is removed or the service closes. */
  end(): void {
    this.#isEnded = true;
    this.wakeAll();
  }

  async *follow(
    { after, signal, isLive = false, untilIdle = false, untilNow = false }: FollowRequest,
    { readRecords, isIdle }: { readonly readRecords: ReadRecords; readonly isIdle: () => boolean },
  ): AsyncGenerator<FollowedEvent, void> {
    const follower: Follower = { queue: [], isBehind: true, wake: () => undefined };
    const onAbort = (): void => follower.wake();
    signal.addEventListener("abort", onAbort, { once: true });
    this.#followers.add(follower);
    let sequence = after;
    try {
      while (!signal.aborted && !this.#isEnded) {
        if (follower.isBehind) {
          follower.isBehind = false;
          for (const record of await readRecords(sequence)) {
            sequence = record.sequence;
            const event = eventOf(record);
            if (event !== undefined) yield event;
          }
        }
        if (untilNow) return;
        for (let next = follower.queue.shift(); next !== undefined && !signal.aborted; next = follower.queue.shift()) {
          if ("record" in next) {
            if (next.record.sequence <= sequence) continue;
            sequence = next.record.sequence;
            const event = eventOf(next.record);
            if (event !== undefined) yield event;
          } else if (isLive && next.sequence >= sequence)
            yield { id: `${next.sequence}.${next.number}`, sequence: next.sequence, event: next.live };
        }
        if (follower.isBehind || follower.queue.length > 0) continue;
        if (untilIdle && isIdle()) return;
        if (signal.aborted || this.#isEnded) return;
        await new Promise<void>((resolve) => (follower.wake = resolve));
      }
    } finally {
      signal.removeEventListener("abort", onAbort);
      this.#followers.delete(follower);
    }
  }

  #publish(item: Published): void {
    for (const follower of this.#followers) {
      if (follower.queue.length >= maxQueued) {
        follower.queue.length = 0;
        follower.isBehind = true;
      } else follower.queue.push(item);
      follower.wake();
    }
  }
}
