/** The retry policy and timeouts. All times in milliseconds. */
export type RetryPolicy = {
  /** Requests per turn, the first included. */
  readonly maxAttempts: number;
  /** The longest wait a server may ask for; beyond it the request fails at once. */
  readonly maxWait: number;
  /** All waits of one turn together. */
  readonly maxTotalWait: number;
  /** Timeouts: for the response headers, for the first byte, and between bytes. */
  readonly headers: number;
  readonly firstByte: number;
  readonly idle: number;
  /** Timeout for the whole response. */
  readonly whole: number;
};

/** The default retry policy: long enough for a model that thinks without output, short enough for a user. */
export const retryPolicy: RetryPolicy = {
  maxAttempts: 5,
  maxWait: 120_000,
  maxTotalWait: 300_000,
  headers: 300_000,
  firstByte: 300_000,
  idle: 300_000,
  // The slowest models take some twenty minutes; without this, a server that sends a byte now and then would never time out.
  whole: 3_600_000,
};

const firstBackoffCeiling = 1000;
const backoffCeilings = { normal: 16_000, overloaded: 60_000 } as const;

/**
 * Exponential retry backoff with full jitter: returns how long to wait before the next attempt, under a ceiling that
 * doubles, and never less than what the server asked for.
 */
export const backoffDelay = (
  retry: number,
  { minDelay, overloaded, random }: { minDelay: number; overloaded: boolean; random: () => number },
): number => {
  const ceiling = Math.min(
    overloaded ? backoffCeilings.overloaded : backoffCeilings.normal,
    firstBackoffCeiling * 2 ** (retry - 1),
  );
  return minDelay + random() * ceiling;
};

/**
 * Retry budget of a process (token bucket). A retry takes a whole token; a turn puts a small part of one back, a success
 * the rest. So a lasting outage gets hardly more requests than there are turns.
 */
export class RetryBudget {
  static readonly #most = 10;
  static readonly #perTurn = 0.05;
  #tokens: number = RetryBudget.#most;

  turn(): void {
    this.#add(RetryBudget.#perTurn);
  }

  success(): void {
    this.#add(1);
  }

  /** Takes one retry from the budget; false if there is none left. */
  take(): boolean {
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  #add(tokens: number): void {
    this.#tokens = Math.min(RetryBudget.#most, this.#tokens + tokens);
  }
}
