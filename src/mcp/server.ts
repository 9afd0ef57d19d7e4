import type { HomeFolders } from "../world/home-folders.ts";
import { createRedactor } from "../policy/secrets/redact.ts";
import { handlersFor, type McpRequestHandlers } from "./requests/handlers.ts";
import { emptyCatalog, type Catalog } from "./catalog.ts";
import { createCatalogCache, type CatalogCache } from "./catalog-cache.ts";
import type { ServerEndpoint, McpServerConfig } from "./config/read-servers.ts";
import { signInSecrets } from "./config/oauth.ts";
import type { McpConnection, ServerNotification } from "./connection/connect.ts";
import { McpServerError } from "./server-error.ts";
import { restartDelay } from "./restart-backoff.ts";
import type { McpToolHost } from "./tools/tool.ts";
import type { McpTransportOptions } from "./connection/transports.ts";
import { withTimeout } from "./connection/timeout.ts";

/** The connection state of a server. */
export type McpServerState =
  | { readonly state: "connecting" }
  | { readonly state: "ready" }
  /** It was ready, ended, and is being restarted. */
  | { readonly state: "restarting"; readonly reason: string }
  /** It is not restarted unless requested. */
  | { readonly state: "failed"; readonly reason: string }
  | { readonly state: "sign-in"; readonly reason: string }
  | { readonly state: "closed" };

export type McpServerOptions = Omit<McpTransportOptions, "auth"> & {
  readonly handlers: McpRequestHandlers;
  /** Milliseconds a server may take to start and list what it offers. */
  readonly startTimeout: number;
  /** Parley's own folders, with stored tokens and the catalog cache; without them nothing is stored. */
  readonly home: HomeFolders | undefined;
  /** Whether a project's server may be started. Asked each time before it is. */
  readonly consent: (config: McpServerConfig) => Promise<boolean>;
  /** Nothing is loaded or started before this settles; only the cached tools are offered. */
  readonly startAfter: Promise<unknown>;
  /** Whether a server without a cache entry starts at once instead. */
  readonly startUncachedAtOnce: boolean;
  readonly onChange: () => void;
  readonly onLog: (level: string, text: string) => void;
};

/** Milliseconds a server may take to answer a ping. */
const pingTimeout = 5000;

/** Milliseconds after which a ready server counts as stable: its failures are counted from zero. */
const stableAfter = 60_000;

/** Minimum milliseconds between two reads of the catalog. */
const refreshDebounce = 500;

/** One server during its whole life: connects, restarts it when it ends, and knows what it offers. */
export class McpServer implements McpToolHost {
  readonly config: McpServerConfig;
  readonly name: string;
  readonly timeout: number;
  readonly redact: (text: string) => string;
  readonly #options: McpServerOptions;
  readonly #end = new AbortController();
  readonly #cache: CatalogCache | undefined;
  readonly #startTime: number;
  #state: McpServerState = { state: "connecting" };
  #catalog: Catalog = emptyCatalog;
  #connection: McpConnection | undefined;
  #failures = 0;
  #since = 0;
  /** The pending cache write; `close` waits for it. */
  #keeping: Promise<void> | undefined;
  #isDirty = false;
  #isRemembered = false;
  /** The first attempt, which may have started a process already. */
  #connecting: Promise<void> | undefined;
  #isLooking = false;
  readonly #waiting = new Set<() => void>();

  constructor(options: McpServerOptions) {
    const { config } = options;
    this.#options = options;
    this.config = config;
    this.name = config.name;
    const handlers = handlersFor(options.handlers, config.sampling);
    this.#cache =
      options.home === undefined ? undefined : createCatalogCache(options.world, options.home.cache, handlers);
    this.timeout = config.timeout;
    this.#startTime = Math.min(options.startTimeout, config.timeout);
    this.redact = createRedactor({ secrets: endpointSecrets(config.endpoint) }).redact;
  }

  get state(): McpServerState {
    return this.#state;
  }

  /** Everything it offers: while it connects, the cached catalog. */
  get catalog(): Catalog {
    return this.#catalog;
  }

  /** Whether the catalog is known, from the server or the cache. */
  get isKnown(): boolean {
    return this.#catalog !== emptyCatalog;
  }

  get currentConnection(): McpConnection | undefined {
    return this.#connection;
  }

  /** Starts or restarts it in the background. */
  start(): void {
    this.#failures = 0;
    const before = this.#connection;
    this.#connection = undefined;
    this.#connecting = this.#connect(false, before);
  }

  /** Resolves once it is connected. Rejects where it will not be. */
  async connection(signal: AbortSignal): Promise<McpConnection> {
    await withTimeout({ clock: this.#options.world.clock, ms: this.#startTime, signal }, (stop) =>
      this.#until(stop, () => this.#isSettled()),
    ).catch(() => signal.throwIfAborted());
    if (this.#connection !== undefined) return this.#connection;
    throw new McpServerError("gone", `The MCP server ${this.name} is not available: ${describeReason(this.#state)}`);
  }

  /** Settles when its cached catalog has been read. */
  cacheLoaded(signal: AbortSignal): Promise<void> {
    return this.#until(signal, () => this.#isRemembered || this.#state.state !== "connecting");
  }

  /** Settles when the first attempt has succeeded or failed. */
  settled(signal: AbortSignal): Promise<void> {
    return this.#until(signal, () => this.#state.state !== "connecting");
  }

  onCallStopped = (): void => {
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

  async #until(signal: AbortSignal, condition: () => boolean): Promise<void> {
    if (condition()) return;
    // A signal of its own: Node warns of more than ten listeners of one, and there may be more servers.
    const own = AbortSignal.any([signal]);
    while (!condition()) {
      own.throwIfAborted();
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          own.removeEventListener("abort", wake);
          this.#waiting.delete(wake);
          resolve();
        };
        this.#waiting.add(wake);
        own.addEventListener("abort", wake, { once: true });
      });
    }
  }

  #become(state: McpServerState): void {
    if (this.#state.state === "closed") return;
    this.#state = state;
    this.#options.onChange();
    this.#waiting.forEach((wake) => wake());
  }

  async #connect(isAgain: boolean, before?: McpConnection): Promise<void> {
    const { signal } = this.#end;
    if (!isAgain) this.#become({ state: "connecting" });
    try {
      await before?.close();
      if (!isAgain) {
        await this.#remember();
        this.#isRemembered = true;
        this.#waiting.forEach((wake) => wake());
        if (this.isKnown || !this.#options.startUncachedAtOnce)
          await Promise.race([this.#options.startAfter, whenAborted(signal)]);
      }
      if (signal.aborted) return;
      // A person may be asked, which takes time: cached tools are offered meanwhile.
      const isAllowed =
        this.config.source !== "project" ||
        (await Promise.race([this.#options.consent(this.config), whenAborted(signal)])) === true;
      if (signal.aborted) return;
      if (!isAllowed) {
        this.#catalog = emptyCatalog;
        return this.#become({
          state: "failed",
          reason: "It is a server of the project and has not been allowed. Run parley mcp allow.",
        });
      }
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

  /** Offers the cached catalog at once. */
  async #remember(): Promise<void> {
    const known = await this.#cache?.read(this.config);
    if (known === undefined || this.#connection !== undefined) return;
    this.#catalog = known;
    this.#options.onChange();
  }

  async #open(signal: AbortSignal): Promise<{ readonly connection: McpConnection; readonly catalog: Catalog }> {
    const { world, handlers } = this.#options;
    const { connect } = await import("./connection/connect.ts");
    const { readCatalog } = await import("./catalog.ts");
    const auth = await this.#auth();
    signal.throwIfAborted();
    const options = { signal, timeout: this.#startTime };
    return withTimeout({ clock: world.clock, ms: this.#startTime, signal }, async (stop) => {
      const connection = await connect(
        { ...this.#options, auth, handlers, onNotification: (notification) => this.#hear(notification) },
        { ...options, signal: stop },
      );
      try {
        return { connection, catalog: await readCatalog(connection, this.config, { ...options, signal: stop }) };
      } catch (error) {
        await connection.close();
        throw error;
      }
    });
  }

  /** A configured authorization header replaces OAuth. */
  async #auth(): Promise<McpTransportOptions["auth"]> {
    const { home, world, lookup } = this.#options;
    const { endpoint, name } = this.config;
    const isSignedIn =
      endpoint.type === "stdio" || Object.keys(endpoint.headers).some((header) => /^authorization$/i.test(header));
    if (home === undefined || isSignedIn) return undefined;
    const { loadStoredAuth } = await import("./oauth/sign-in.ts");
    const { url, signIn } = endpoint;
    return loadStoredAuth({
      world,
      home: home.config,
      server: name,
      url,
      signIn,
      ...(lookup === undefined ? {} : { lookup }),
    });
  }

  /** Decides whether to restart. */
  async #failed(error: unknown, wasReady: boolean): Promise<void> {
    const reason = this.redact(error instanceof Error ? error.message : String(error));
    const kind = error instanceof McpServerError ? error.kind : undefined;
    if (kind === "sign-in") return this.#become({ state: "sign-in", reason });
    this.#failures += 1;
    const pause = restartDelay(this.#failures, {
      wasReady,
      reach: this.config.endpoint,
      kind,
      random: this.#options.world.random,
    });
    if (pause === undefined) return this.#become({ state: "failed", reason });
    this.#become({ state: "restarting", reason });
    await this.#options.world.clock.sleep(pause, this.#end.signal).catch(() => undefined);
    if (!this.#end.signal.aborted) await this.#connect(true);
  }

  #hear(notification: ServerNotification): void {
    switch (notification.type) {
      case "closed":
        return void this.#lost("It has exited.");
      case "list-changed":
        this.#isDirty = true;
        return void this.#look();
      case "log":
        return this.#options.onLog(notification.level, this.redact(notification.text));
    }
  }

  async #lost(reason: string): Promise<void> {
    const connection = this.#connection;
    if (connection === undefined) return;
    this.#connection = undefined;
    if (this.#options.world.clock.elapsed() - this.#since > stableAfter) this.#failures = 0;
    const stderr = connection.recentStderr();
    await this.#failed(
      new Error(stderr === "" ? reason : `${reason} Last output on stderr: ${stderr.slice(-500)}`),
      true,
    );
  }

  /** Reads the catalog again, as long as the server reports changes. */
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
        this.#options.onChange();
        await (this.#keeping = this.#cache?.write(this.config, catalog));
        await world.clock.sleep(refreshDebounce, signal);
      }
    } catch {
      // The old catalog stays; a lost connection is reported by `closed`.
    } finally {
      this.#isLooking = false;
    }
  }

  /** Pings it, and restarts it where it does not answer. */
  async #check(): Promise<void> {
    const connection = this.#connection;
    if (connection === undefined) return;
    try {
      await connection.request("ping", {}, { signal: this.#end.signal, timeout: pingTimeout });
    } catch {
      if (this.#connection !== connection) return;
      const lost = this.#lost("It did not answer.");
      await connection.close();
      await lost;
    }
  }
}

/** Every configured value may be a secret, except the paths of a plugin's own folders and of what is in them. */
const endpointSecrets = (reach: ServerEndpoint): readonly string[] => {
  if (reach.type !== "stdio") return [...Object.values(reach.headers), ...signInSecrets(reach.signIn)];
  const folders = pluginFolderVariables.map((name) => reach.env[name]).filter((value) => value?.startsWith("/"));
  return Object.values(reach.env).filter(
    (value) => !folders.some((folder) => value === folder || value.startsWith(`${folder}/`)),
  );
};

/** The variables by which the server of a plugin learns its folders. */
const pluginFolderVariables = ["PLUGIN_ROOT", "PLUGIN_DATA", "CLAUDE_PLUGIN_ROOT", "CLAUDE_PLUGIN_DATA"];

const describeReason = (state: McpServerState): string => ("reason" in state ? state.reason : `it is ${state.state}.`);

const whenAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
