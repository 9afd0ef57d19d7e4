import type { ApprovalMode } from "../policy/gate/approval-mode.ts";
import type { Scheduler } from "../scheduler/scheduler.ts";
import type { OpenServices } from "../scheduler/services.ts";
import type { Toolbox } from "./toolbox.ts";

/** Opens the tools of a session when they are first needed, and closes what was opened. */
export class LazyToolbox {
  readonly #open: () => Promise<Toolbox>;
  readonly #signal: AbortSignal;
  #toolbox: Promise<Toolbox> | undefined;
  #opened: Toolbox | undefined;
  #cleanup: Promise<void> | undefined;

  /** `signal` stops the removal of leftover files when the session closes. */
  constructor(open: () => Promise<Toolbox>, signal: AbortSignal) {
    this.#open = open;
    this.#signal = signal;
  }

  /** The approval mode; undefined until the tools are opened. */
  get mode(): ApprovalMode | undefined {
    return this.#opened?.services.gate.mode();
  }

  async services(): Promise<OpenServices> {
    return (await this.#load()).services;
  }

  /** The scheduler. Files that killed programs left in the workspace are removed in the background. */
  async scheduler(): Promise<Scheduler> {
    const { scheduler, removeLeftovers } = await this.#load();
    this.#cleanup ??= removeLeftovers(this.#signal);
    return scheduler;
  }

  /** Does ahead what only some calls need. */
  async warmUp(): Promise<void> {
    await (await this.#load()).warmUp();
  }

  async close(): Promise<void> {
    await this.#cleanup;
    const toolbox = await this.#toolbox?.catch(() => undefined);
    await toolbox?.services.close();
  }

  #load(): Promise<Toolbox> {
    this.#toolbox ??= this.#open().then((toolbox) => (this.#opened = toolbox));
    return this.#toolbox;
  }
}
