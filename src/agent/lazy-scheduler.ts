import type { Scheduler } from "../scheduler/scheduler.ts";
import type { Clock } from "../world/world.ts";
import { requestHeadStartMs } from "./requests/model-request.ts";

/** Loads the tools when the first calls arrive, or earlier while a response is awaited. */
export class LazyScheduler {
  readonly #load: (() => Promise<Scheduler>) | undefined;
  readonly #warmUp: (() => Promise<void>) | undefined;
  readonly #clock: Pick<Clock, "after">;
  #loading: Promise<Scheduler> | undefined;
  #loaded: Scheduler | undefined;
  #isWarm = false;

  /** `warmUp` loads what only some calls need, after the scheduler. */
  constructor(
    load: (() => Promise<Scheduler>) | undefined,
    warmUp: (() => Promise<void>) | undefined,
    clock: Pick<Clock, "after">,
  ) {
    this.#load = load;
    this.#warmUp = warmUp;
    this.#clock = clock;
  }

  /** The scheduler, if it is loaded. */
  get loaded(): Scheduler | undefined {
    return this.#loaded;
  }

  async open(): Promise<Scheduler> {
    if (this.#load === undefined) throw new Error("This agent has no tools.");
    this.#loading ??= this.#load();
    this.#loaded = await this.#loading;
    return this.#loaded;
  }

  /**
   * Starts loading once the request had time to be sent; returns a function that cancels it. A response that ends sooner
   * loads the tools itself if it has calls, and needs none otherwise. A response that arrives while the tools are loaded
   * is handled before the rest. A failure is reported by `open`.
   */
  preload(): () => void {
    if (this.#load === undefined || this.#isWarm) return () => undefined;
    let isCancelled = false;
    let cancelTimer = this.#clock.after(requestHeadStartMs, async () => {
      await this.open().catch(() => undefined);
      if (!isCancelled) cancelTimer = this.#clock.after(0, () => this.#warm());
    });
    return () => {
      isCancelled = true;
      cancelTimer();
    };
  }

  #warm(): void {
    this.#isWarm = true;
    this.#warmUp?.().catch(() => undefined);
  }
}
