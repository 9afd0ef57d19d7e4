/** How patient we are. All times in milliseconds. */
export type RetryPolicy = {
  /** Requests per turn, the first included. */
  readonly maxAttempts: number;
  /** The longest a server may ask us to wait; beyond it we say so instead of waiting. */
  readonly maxWait: number;
  /** All waiting of one turn together. */
  readonly maxTotalWait: number;
  /** Silence after the request, before the first byte of the answer, and within it. */
  readonly headers: number;
  readonly firstByte: number;
  readonly idle: number;
  /** One answer as a whole, however lively it is. */
  readonly whole: number;
};

/** Long enough for a model that thinks in silence, short enough for a person. */
export const retryPolicy: RetryPolicy = {
  maxAttempts: 5,
  maxWait: 120_000,
  maxTotalWait: 300_000,
  headers: 300_000,
  firstByte: 300_000,
  idle: 300_000,
  // Models that think longest take some twenty minutes; a server that sends a byte now and then would take for ever.
  whole: 3_600_000,
};

const firstBackoffCeiling = 1000;
const backoffCeilings = { normal: 16_000, overloaded: 60_000 } as const;

/**
 * How long to wait before the next attempt: full jitter under a ceiling that
 * doubles, and never less than what the server asked for.
 */
export const backoffDelay = (
  retry: number,
  { floor, overloaded, random }: { floor: number; overloaded: boolean; random: () => number },
): number => {
  const ceiling = Math.min(
    overloaded ? backoffCeilings.overloaded : backoffCeilings.normal,
    firstBackoffCeiling * 2 ** (retry - 1),
  );
  return floor + random() * ceiling;
};

/**
 * Retries allowed across all turns of a process. A retry takes a whole token;
 * a turn puts a small part of one back, a success the rest. So trouble that
 * lasts is answered with hardly more requests than there are turns.
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

  /** Takes one retry; false when there is none left. */
  take(): boolean {
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  #add(tokens: number): void {
    this.#tokens = Math.min(RetryBudget.#most, this.#tokens + tokens);
  }
}
