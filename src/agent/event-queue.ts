/** An unbounded queue from a producer of events to one reader, in order. */
export class EventQueue<Item> implements AsyncIterable<Item> {
  readonly #items: Item[] = [];
  #wake: () => void = () => undefined;
  #isClosed = false;

  push(item: Item): void {
    if (this.#isClosed) return;
    this.#items.push(item);
    this.#wake();
  }

  /** Ends the queue. Items that are in it can still be read. */
  close(): void {
    this.#isClosed = true;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void> {
    for (;;) {
      // All at once: shifting a long list item by item costs its length each time.
      yield* this.#items.splice(0);
      if (this.#items.length > 0) continue;
      if (this.#isClosed) return;
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}
