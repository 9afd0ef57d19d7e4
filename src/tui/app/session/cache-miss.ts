import type { AgentEvent } from "../../../agent/events.ts";

/** A prompt cache usually forgets a request after this many milliseconds. */
const cacheLifetime = 5 * 60_000;

/** Prompts below this many tokens are not cached by any provider. */
const smallestPrompt = 1024;

/** Watches the events of a session for what makes the provider's prompt cache miss. */
export class CacheMissTracker {
  #lastResponse: number | undefined;
  #change: string | undefined;
  #cause: string | undefined;

  /** Why most of the last request was not in the prompt cache; undefined if it was, or if that is expected. */
  get cause(): string | undefined {
    return this.#cause;
  }

  record(event: AgentEvent, now: number): void {
    if (event.type === "model-changed") this.#change = "model switched";
    if (event.type === "compacted") this.#change = "context compacted";
    if (event.type !== "usage") return;
    const { input, cachedRead } = event.usage;
    const idle = this.#lastResponse === undefined ? 0 : now - this.#lastResponse;
    const isMiss = this.#lastResponse !== undefined && input >= smallestPrompt && cachedRead < input / 2;
    this.#cause = isMiss ? (this.#change ?? (idle > cacheLifetime ? idleText(idle) : undefined)) : undefined;
    this.#lastResponse = now;
    this.#change = undefined;
  }
}

const idleText = (ms: number): string => `idle for ${Math.round(ms / 60_000)} min`;
