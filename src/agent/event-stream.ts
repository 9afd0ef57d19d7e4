import type { RenderReport } from "../transcript/incremental-renderer.ts";
import { EventQueue } from "./event-queue.ts";
import type { AgentEvent } from "./events.ts";

/** Delivers an agent's events: first to its listener, then to the reader of the running turn. */
export class AgentEventStream {
  readonly #listener: ((event: AgentEvent) => void) | undefined;
  #queue: EventQueue<AgentEvent> | undefined;
  #lastReport: RenderReport | undefined;

  constructor(listener: ((event: AgentEvent) => void) | undefined) {
    this.#listener = listener;
  }

  /** The rendering report of the last request. */
  get lastReport(): RenderReport | undefined {
    return this.#lastReport;
  }

  readonly emit = (event: AgentEvent): void => {
    if (event.type === "request") this.#lastReport = event.report;
    this.#listener?.(event);
    this.#queue?.push(event);
  };

  /** Begins the stream of a turn. Outside a turn, only the listener receives events. */
  open(): EventQueue<AgentEvent> {
    this.#queue = new EventQueue<AgentEvent>();
    return this.#queue;
  }

  /** Ends the stream of a turn. */
  release(): void {
    this.#queue = undefined;
  }
}
