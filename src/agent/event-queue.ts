/** Hands events from whoever makes them to the one who reads them, in order. */
export class EventQueue<Item> implements AsyncIterable<Item> {
  readonly #items: Item[] = [];
  #wake: () => void = () => undefined;
  #closed = false;

  push(item: Item): void {
    if (this.#closed) return;
    this.#items.push(item);
    this.#wake();
  }

  /** No more will come; what is there can still be read. */
  close(): void {
    this.#closed = true;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void> {
    for (;;) {
      // Taken as a whole: shifting a long list item by item costs its length each time.
      yield* this.#items.splice(0);
      if (this.#items.length > 0) continue;
      if (this.#closed) return;
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}
