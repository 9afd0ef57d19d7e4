import type { Clock } from "../../world/world.ts";
import type { AgentEvent } from "../events.ts";

/**
 * Milliseconds after the event of the first request when MCP servers are started, unless its answer begins sooner. The
 * event comes just before the request is written; starting processes meanwhile would delay it, and no later event
 * comes before the answer, which may take minutes.
 */
const serverStartDelayMs = 200;

/** Holds back the start of MCP servers until the first request is sent, so that they do not slow it down. */
export class ServerStartGate {
  /** Resolves when servers may start. */
  readonly opened: Promise<void>;
  readonly #clock: Pick<Clock, "sleep">;
  readonly #signal: AbortSignal;
  #resolve: () => void = () => undefined;

  /** `signal` ends the wait when the session closes. */
  constructor(clock: Pick<Clock, "sleep">, signal: AbortSignal) {
    this.#clock = clock;
    this.#signal = signal;
    this.opened = new Promise((resolve) => (this.#resolve = resolve));
  }

  open(): void {
    this.#resolve();
  }

  /** Opens the gate after a request was sent. */
  onEvent({ type }: AgentEvent): void {
    if (type === "request")
      void this.#clock.sleep(serverStartDelayMs, this.#signal).then(
        () => this.open(),
        () => undefined,
      );
    if (type === "text" || type === "thought") this.open();
  }
}
