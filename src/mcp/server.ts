import { createRedactor } from "../policy/redact.ts";
import { permitted, type Asking } from "./asking.ts";
import { emptyCatalog, type Catalog } from "./catalog.ts";
import { catalogCache, type CatalogCache } from "./catalog-cache.ts";
import type { Reach, ServerConfig } from "./config.ts";
import { secretsOf } from "./config-oauth.ts";
import type { Connection, ServerNews } from "./connection.ts";
import { ServerFailure } from "./failure.ts";
import { pauseBefore } from "./restart.ts";
import type { ToolHost } from "./tool.ts";
import type { TransportOptions } from "./transports.ts";
import { within } from "./within.ts";

/** Where a server stands. */
export type ServerState =
  | { readonly state: "connecting" }
  | { readonly state: "ready" }
  /** It was there and went, and is started again. */
  | { readonly state: "restarting"; readonly reason: string }
  /** It is not tried again unless somebody asks for it. */
  | { readonly state: "failed"; readonly reason: string }
  | { readonly state: "sign-in"; readonly reason: string }
  | { readonly state: "closed" };

export type ServerOptions = Omit<TransportOptions, "auth"> & {
  readonly asking: Asking;
  /** Milliseconds a server may take to start and say what it offers. */
  readonly startTime: number;
  /** The folder of Parley's own things, where tokens and what servers offered are kept; without it nothing is. */
  readonly home: string | undefined;
  /** Whether a project's server may be started. Asked each time before it is. */
  readonly consent: (config: ServerConfig) => Promise<boolean>;
  /** Nothing is loaded or started before this, only what is remembered is offered. */
  readonly after: Promise<unknown>;
  /** Whether one of which nothing is remembered starts at once instead. */
  readonly startsUnknownAtOnce: boolean;
  readonly changed: () => void;
  readonly log: (level: string, text: string) => void;
};

/** How long a server may take to answer whether it is there. */
const pingTime = 5000;

/** A server that was there for so long is not counted among those that keep failing. */
const steady = 60_000;

/** Between two looks at what a server offers, at least. */
const calm = 500;

/** One server, from its start to its end: connects, starts it again when it goes, and knows what it offers. */
export class Server implements ToolHost {
  readonly config: ServerConfig;
  readonly server: string;
  readonly timeout: number;
  readonly redact: (text: string) => string;
  readonly #options: ServerOptions;
  readonly #end = new AbortController();
  readonly #cache: CatalogCache | undefined;
  readonly #startTime: number;
  #state: ServerState = { state: "connecting" };
  #catalog: Catalog = emptyCatalog;
  #connection: Connection | undefined;
  #failures = 0;
  #since = 0;
  /** What is being written down; whoever closes us waits for it. */
  #keeping: Promise<void> | undefined;
  #isDirty = false;
  #isRemembered = false;
  /** The first attempt, which may have started a process already. */
  #connecting: Promise<void> | undefined;
  #isLooking = false;
  readonly #waiting = new Set<() => void>();

  constructor(options: ServerOptions) {
    const { config } = options;
    this.#options = options;
    this.config = config;
    this.server = config.name;
    const asking = permitted(options.asking, config.sampling);
    this.#cache = options.home === undefined ? undefined : catalogCache(options.world, options.home, asking);
    this.timeout = config.timeout;
    this.#startTime = Math.min(options.startTime, config.timeout);
    this.redact = createRedactor({ secrets: secretsIn(config.reach) }).redact;
  }

  get state(): ServerState {
    return this.#state;
  }

  /** What it offers, as far as is known: while it connects, what it offered the last time. */
  get catalog(): Catalog {
    return this.#catalog;
  }

  /** Whether it is known what it offers, from now or from the last time. */
  get isKnown(): boolean {
    return this.#catalog !== emptyCatalog;
  }

  get live(): Connection | undefined {
    return this.#connection;
  }

  /** Starts it in the background, or again. */
  start(): void {
    this.#failures = 0;
    const before = this.#connection;
    this.#connection = undefined;
    this.#connecting = this.#connect(false, before);
  }

  /** Answers once it is there. Throws where it will not be. */
  async connection(signal: AbortSignal): Promise<Connection> {
    await within({ clock: this.#options.world.clock, ms: this.#startTime, signal }, (stop) =>
      this.#until(stop, () => this.#isSettled()),
    ).catch(() => signal.throwIfAborted());
    if (this.#connection !== undefined) return this.#connection;
    throw new ServerFailure("gone", `The MCP server ${this.server} is not there: ${reasonIn(this.#state)}`);
  }

  /** Settles when it is known what it offered the last time, if anything is. */
  remembered(signal: AbortSignal): Promise<void> {
    return this.#until(signal, () => this.#isRemembered || this.#state.state !== "connecting");
  }

  /** Settles when the first attempt has come to something. */
  settled(signal: AbortSignal): Promise<void> {
    return this.#until(signal, () => this.#state.state !== "connecting");
  }

  stopped = (): void => {
    void this.#check();
  };

  async close(): Promise<void> {
    this.#end.abort(new Error("The servers are closed."));
    this.#become({ state: "closed" });
    const connection = this.#connection;
    this.#connection = undefined;
    await Promise.all([connection?.close(), this.#keeping, this.#connecting]);
  }

  #isSettled(): boolean {
    return this.#connection !== undefined || !["connecting", "restarting"].includes(this.#state.state);
  }

  async #until(signal: AbortSignal, isSo: () => boolean): Promise<void> {
    while (!isSo()) {
      signal.throwIfAborted();
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          signal.removeEventListener("abort", wake);
          this.#waiting.delete(wake);
          resolve();
        };
        this.#waiting.add(wake);
        signal.addEventListener("abort", wake, { once: true });
      });
    }
  }

  #become(state: ServerState): void {
    if (this.#state.state === "closed") return;
    this.#state = state;
    this.#options.changed();
    this.#waiting.forEach((wake) => wake());
  }

  async #connect(isAgain: boolean, before?: Connection): Promise<void> {
    const { signal } = this.#end;
    if (!isAgain) this.#become({ state: "connecting" });
    try {
      await before?.close();
      if (this.config.from === "project" && (await this.#options.consent(this.config)) !== true)
        return this.#become({ state: "failed", reason: "The project wants it; nobody agreed to start it." });
      if (!isAgain) {
        await this.#remember();
        this.#isRemembered = true;
        this.#waiting.forEach((wake) => wake());
        if (this.isKnown || !this.#options.startsUnknownAtOnce)
          await Promise.race([this.#options.after, aborted(signal)]);
      }
      if (signal.aborted) return;
      const { connection, catalog } = await this.#open(signal);
      if (signal.aborted) return await connection.close();
      this.#connection = connection;
      this.#catalog = catalog;
      this.#since = this.#options.world.clock.elapsed();
      this.#become({ state: "ready" });
      await (this.#keeping = this.#cache?.write(this.config, catalog));
    } catch (error) {
      if (!signal.aborted) await this.#failed(error, isAgain);
    }
  }

  /** Offers at once what it offered the last time. */
  async #remember(): Promise<void> {
    const known = await this.#cache?.read(this.config);
    if (known === undefined || this.#connection !== undefined) return;
    this.#catalog = known;
    this.#options.changed();
  }

  async #open(signal: AbortSignal): Promise<{ readonly connection: Connection; readonly catalog: Catalog }> {
    const { world, asking } = this.#options;
    const { connect } = await import("./connection.ts");
    const { readCatalog } = await import("./catalog.ts");
    const auth = await this.#auth();
    signal.throwIfAborted();
    const asked = { signal, timeout: this.#startTime };
    return within({ clock: world.clock, ms: this.#startTime, signal }, async (stop) => {
      const connection = await connect(
        { ...this.#options, auth, asking, tell: (news) => this.#hear(news) },
        { ...asked, signal: stop },
      );
      try {
        return { connection, catalog: await readCatalog(connection, this.config, { ...asked, signal: stop }) };
      } catch (error) {
        await connection.close();
        throw error;
      }
    });
  }

  /** Whoever sends a header of this name has signed in by other means. */
  async #auth(): Promise<TransportOptions["auth"]> {
    const { home, world, lookup } = this.#options;
    const { reach, name } = this.config;
    const isSignedIn =
      reach.type === "stdio" || Object.keys(reach.headers).some((header) => /^authorization$/i.test(header));
    if (home === undefined || isSignedIn) return undefined;
    const { storedAuth } = await import("./oauth.ts");
    const { url, signIn } = reach;
    return storedAuth({ world, home, server: name, url, signIn, ...(lookup === undefined ? {} : { lookup }) });
  }

  /** Decides whether to try again. */
  async #failed(error: unknown, wasThere: boolean): Promise<void> {
    const reason = this.redact(error instanceof Error ? error.message : String(error));
    const kind = error instanceof ServerFailure ? error.kind : undefined;
    if (kind === "sign-in") return this.#become({ state: "sign-in", reason });
    this.#failures += 1;
    const pause = pauseBefore(this.#failures, {
      wasThere,
      reach: this.config.reach,
      kind,
      random: this.#options.world.random,
    });
    if (pause === undefined) return this.#become({ state: "failed", reason });
    this.#become({ state: "restarting", reason });
    await this.#options.world.clock.sleep(pause, this.#end.signal).catch(() => undefined);
    if (!this.#end.signal.aborted) await this.#connect(true);
  }

  #hear(news: ServerNews): void {
    switch (news.type) {
      case "closed":
        return void this.#lost("It has ended.");
      case "list-changed":
        this.#isDirty = true;
        return void this.#look();
      case "log":
        return this.#options.log(news.level, this.redact(news.text));
    }
  }

  async #lost(why: string): Promise<void> {
    const connection = this.#connection;
    if (connection === undefined) return;
    this.#connection = undefined;
    if (this.#options.world.clock.elapsed() - this.#since > steady) this.#failures = 0;
    const words = connection.lastWords();
    await this.#failed(new Error(words === "" ? why : `${why} It last wrote: ${words.slice(-500)}`), true);
  }

  /** Looks again at what it offers, for as long as it says that this changes. */
  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    const { world } = this.#options;
    const { signal } = this.#end;
    try {
      while (this.#isDirty && this.#connection !== undefined) {
        this.#isDirty = false;
        const { readCatalog } = await import("./catalog.ts");
        const catalog = await readCatalog(this.#connection, this.config, { signal, timeout: this.#startTime });
        this.#catalog = catalog;
        this.#options.changed();
        await (this.#keeping = this.#cache?.write(this.config, catalog));
        await world.clock.sleep(calm, signal);
      }
    } catch {
      // It stays with what it offered before; if it is gone, that is heard elsewhere.
    } finally {
      this.#isLooking = false;
    }
  }

  /** Asks whether it is still there, and starts it again where it is not. */
  async #check(): Promise<void> {
    const connection = this.#connection;
    if (connection === undefined) return;
    try {
      await connection.ask("ping", {}, { signal: this.#end.signal, timeout: pingTime });
    } catch {
      if (this.#connection !== connection) return;
      const lost = this.#lost("It did not answer.");
      await connection.close();
      await lost;
    }
  }
}

const secretsIn = (reach: Reach): readonly string[] =>
  reach.type === "stdio" ? Object.values(reach.env) : [...Object.values(reach.headers), ...secretsOf(reach.signIn)];

const reasonIn = (state: ServerState): string => ("reason" in state ? state.reason : `it is ${state.state}.`);

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
