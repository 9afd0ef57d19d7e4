import type { LiveEvent } from "./session-events.ts";

/** A live event and its place: the fence of its owner, the record it comes after, and its number since that record. */
export type NumberedLiveEvent = {
  readonly fence: number;
  readonly sequence: number;
  readonly number: number;
  readonly event: LiveEvent;
};

/** The most characters of text that wait for a slow reader. */
const defaultRoom = 65_536;

/** The most events that wait; for those without text twice as many, as there are few of them and each matters more. */
const mostEvents = 1000;

/**
 * The live events that wait for one reader. Once there is no room, text is dropped until the next record, or until the
 * request is sent again: the reader sees the beginning of a text, and none with a hole.
 */
export class LiveBuffer {
  readonly #room: number;
  readonly #waiting: NumberedLiveEvent[] = [];
  #characters = 0;
  /** The first event that was dropped; more text of its place is dropped too. */
  #dropped: NumberedLiveEvent | undefined;
  #isEnded = false;
  #wake: () => void = () => undefined;

  constructor(room: number = defaultRoom) {
    this.#room = room;
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  push(item: NumberedLiveEvent): void {
    if (!this.#hasRoom(item)) return;
    this.#waiting.push(item);
    this.#characters += lengthOf(item);
    this.#wake();
  }

  /** The next event, without taking it. */
  peek(): NumberedLiveEvent | undefined {
    return this.#waiting[0];
  }

  shift(): NumberedLiveEvent | undefined {
    const item = this.#waiting.shift();
    if (item !== undefined) this.#characters -= lengthOf(item);
    return item;
  }

  /** Nothing comes any more. */
  end(): void {
    this.#isEnded = true;
    this.#wake();
  }

  /** Resolves with the next event that comes, or at the end. One reader waits at a time. */
  arrival(): Promise<void> {
    if (this.#isEnded) return Promise.resolve();
    return new Promise((resolve) => (this.#wake = resolve));
  }

  #hasRoom(item: NumberedLiveEvent): boolean {
    const { event, fence, sequence } = item;
    if (!("text" in event)) {
      if (this.#waiting.length >= 2 * mostEvents) return false;
      if (event.type === "retrying" && event.discarded) this.#dropped = undefined;
      return true;
    }
    if (this.#dropped?.fence !== fence || this.#dropped.sequence !== sequence) this.#dropped = undefined;
    if (this.#characters + event.text.length > this.#room || this.#waiting.length >= mostEvents) this.#dropped = item;
    return this.#dropped === undefined;
  }
}

const lengthOf = ({ event }: NumberedLiveEvent): number => ("text" in event ? event.text.length : 0);
