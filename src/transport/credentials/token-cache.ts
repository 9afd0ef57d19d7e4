import type { Clock } from "../../world/world.ts";

/** A fetched value, and when it expires, in milliseconds since 1970. */
export type ExpiringValue<Value> = { readonly value: Value; readonly until: number };

/** Tokens are renewed this long before they expire, in milliseconds. */
const renewalMargin = 5 * 60_000;

/** Caches a fetched value until shortly before it expires. Concurrent callers share one fetch. */
export class TokenCache<Value> {
  readonly #clock: Clock;
  readonly #fetch: () => Promise<ExpiringValue<Value>>;
  #held: ExpiringValue<Value> | undefined;
  #pending: Promise<Value> | undefined;

  constructor(clock: Clock, fetch: () => Promise<ExpiringValue<Value>>) {
    this.#clock = clock;
    this.#fetch = fetch;
  }

  /** Returns the value. Aborting stops the waiting, not the fetch: others may wait for it too. */
  get(signal?: AbortSignal): Promise<Value> {
    const held = this.#held;
    if (held !== undefined && held.until - renewalMargin > this.#clock.now()) return Promise.resolve(held.value);
    this.#pending ??= this.#renew();
    return abortable(this.#pending, signal);
  }

  /** Drops the value: the next caller fetches a new one. */
  drop(): void {
    this.#held = undefined;
  }

  async #renew(): Promise<Value> {
    try {
      this.#held = await this.#fetch();
      return this.#held.value;
    } finally {
      this.#pending = undefined;
    }
  }
}

const abortable = <Value>(work: Promise<Value>, signal: AbortSignal | undefined): Promise<Value> => {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
};
