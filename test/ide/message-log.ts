/** A JSON-RPC message a stand-in received. */
export type ReceivedMessage = {
  readonly id?: number;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
};

/** The messages a stand-in received, in order. */
export class MessageLog {
  readonly #received: ReceivedMessage[] = [];
  #wake: (() => void)[] = [];

  add(message: ReceivedMessage): void {
    this.#received.push(message);
    for (const resolve of this.#wake.splice(0)) resolve();
  }

  all(method?: string): readonly ReceivedMessage[] {
    return this.#received.filter((each) => method === undefined || each.method === method);
  }

  /** The arguments of all calls of a tool. */
  calls(tool: string): readonly Readonly<Record<string, unknown>>[] {
    return this.#received.flatMap(({ method, params }) =>
      method === "tools/call" && params["name"] === tool ? [params["arguments"] as Record<string, unknown>] : [],
    );
  }

  /** Resolves once this many calls of a tool, or messages of a method, have arrived. */
  async count(name: string, wanted: number): Promise<void> {
    while (Math.max(this.calls(name).length, this.all(name).length) < wanted)
      await new Promise<void>((resolve) => this.#wake.push(resolve));
  }
}
