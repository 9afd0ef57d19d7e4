import type { GatewayConfig } from "./config.ts";

/** A reached limit: which one, and when it ends. */
export type SpendLimit = { readonly limit: string; readonly retryAfter: number };

/** Adds up what clients spend in a day (UTC). It is kept in memory: a new process begins at zero. */
export class DailySpending {
  readonly #now: () => number;
  readonly #spent = new Map<string, number>();
  #day = -1;

  constructor(now: () => number) {
    this.#now = now;
  }

  add(client: string | undefined, cost: number): void {
    this.#startDay();
    for (const name of ["", ...(client === undefined ? [] : [client])])
      this.#spent.set(name, (this.#spent.get(name) ?? 0) + cost);
  }

  /** The limit a client has reached, if any. */
  reachedLimit(client: string | undefined, { spend, clients = {} }: GatewayConfig): SpendLimit | undefined {
    this.#startDay();
    const own = client === undefined ? undefined : clients[client]?.spend;
    const limits = [
      { most: spend, spent: this.#spent.get("") ?? 0, whose: "all clients" },
      { most: own, spent: this.#spent.get(client ?? "") ?? 0, whose: `the client ${client}` },
    ];
    const reached = limits.find(({ most, spent }) => most !== undefined && spent >= most);
    if (reached === undefined) return undefined;
    return {
      limit: `$${reached.most?.toFixed(2)} a day for ${reached.whose}`,
      retryAfter: (this.#day + 1) * msPerDay - this.#now(),
    };
  }

  #startDay(): void {
    const day = Math.floor(this.#now() / msPerDay);
    if (day !== this.#day) this.#spent.clear();
    this.#day = day;
  }
}

const msPerDay = 86_400_000;
