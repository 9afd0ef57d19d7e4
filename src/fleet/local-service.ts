import { createHash } from "node:crypto";
import { join } from "node:path";
import { loadAgentEnvironment, type AgentEnvironment } from "../agent/environment.ts";
import type { AgentEvent } from "../agent/events.ts";
import { loadPool } from "../agent/models/choose.ts";
import { openAgent, type AgentSession } from "../agent/open-agent.ts";
import type { OpenAgentOptions } from "../agent/options.ts";
import { UnknownNameError } from "../providers/unknown-name.ts";
import { SessionError } from "../session/error.ts";
import { exportConversation } from "../session/export/conversation.ts";
import { ensureFolder, openFolder, withFolder } from "../session/store/folders.ts";
import { sessionFileName } from "../session/store/locate.ts";
import { projectFolderName } from "../session/store/project-folder.ts";
import { openSessionStore, type SessionStore } from "../session/store/store.ts";
import type { CommandLineFlags } from "../settings/load/flags-and-environment.ts";
import { toHomeFolders, type HomeFolders, type HomeOption } from "../world/home-folders.ts";
import { acquireLockFile } from "../world/lock-file.ts";
import type { World } from "../world/world.ts";
import { Inbox, listInboxes, removeInbox } from "./inbox.ts";
import { LocalSession } from "./local-session.ts";
import { ServiceError } from "./service-error.ts";
import type {
  CreatedServiceSession,
  CreateRequest,
  ExportFormat,
  FollowRequest,
  ListRequest,
  ServiceSessionPage,
  SessionService,
} from "./service.ts";
import type { FollowedEvent } from "./session-events.ts";
import { AgentSlots } from "./agent-slots.ts";

/** Options of the local service. */
export type LocalServiceOptions = {
  readonly world: World;
  /** Parley's own folders. */
  readonly home: HomeOption;
  /** The folders sessions may work in, or below, as canonical paths. The first is the default. */
  readonly folders: readonly string[];
  readonly flags?: CommandLineFlags;
  /** The most agents open at once. Further turns wait. */
  readonly maxOpen?: number;
  /** Milliseconds a question keeps its turn open before it is parked. */
  readonly parkAfter?: number;
  /** Milliseconds an agent without work stays open. */
  readonly idleTime?: number;
  /** Opens an agent, e.g. with telemetry. Default: `openAgent`. */
  readonly openAgent?: (options: OpenAgentOptions, traceOf?: () => string | undefined) => Promise<AgentSession>;
};

/** The tenant of the person who started the service. It shares their settings, skills and sessions; others share nothing. */
export const ownTenant = "local";

/**
 * Sessions in one process, on files. Each tenant but the person's own has a home folder of its own, so that memory,
 * permissions and sessions are separate. Commands that were acknowledged before the process ended are carried out by the
 * next one.
 */
export const openLocalService = async (options: LocalServiceOptions): Promise<SessionService> => {
  const service = new LocalService(options);
  await service.start();
  return service.toService();
};

class LocalService {
  readonly #options: Required<Omit<LocalServiceOptions, "flags" | "home">> &
    Pick<LocalServiceOptions, "flags"> & { readonly home: HomeFolders };
  readonly #slots: AgentSlots;
  /** The sessions in memory, by tenant and id, the least recently used first. */
  readonly #sessions = new Map<string, Promise<LocalSession>>();
  readonly #loaded = new Map<string, LocalSession>();
  readonly #creating = new Map<string, Promise<CreatedServiceSession>>();
  readonly #environments = new Map<string, Promise<AgentEnvironment>>();
  #isDraining = false;
  #closed: Promise<void> | undefined;
  #release: () => Promise<void> = async () => undefined;

  constructor({
    maxOpen = 16,
    parkAfter = 10_000,
    idleTime = 60_000,
    openAgent: open = openAgent,
    ...options
  }: LocalServiceOptions) {
    this.#options = { ...options, home: toHomeFolders(options.home), maxOpen, parkAfter, idleTime, openAgent: open };
    this.#slots = new AgentSlots(maxOpen);
  }

  toService(): SessionService {
    return {
      create: (tenant, request) => this.#wrap(this.#create(tenant, request)),
      post: (tenant, id, request) =>
        this.#wrap(
          (async () => {
            this.#refuseWhileDraining();
            const session = await this.#find(tenant, id);
            if (request.command.type === "model")
              await this.#checkModel(session.inbox.head.folder, request.command.model);
            return session.post(request);
          })(),
        ),
      follow: (tenant, id, request) => this.#follow(tenant, id, request),
      list: (tenant, request) => this.#wrap(this.#list(tenant, request)),
      read: (tenant, id) => this.#wrap(this.#find(tenant, id).then((session) => session.describe())),
      export: (tenant, id, format) => this.#export(tenant, id, format),
      remove: (tenant, id) => this.#wrap(this.#remove(tenant, id)),
      gauges: async () => {
        const sessions = [...this.#loaded.values()];
        return {
          openSessions: sessions.filter(({ isOpen }) => isOpen).length,
          runningTurns: sessions.filter(({ isTurnRunning }) => isTurnRunning).length,
          queuedSessions: sessions.filter(({ isQueued }) => isQueued).length,
          followers: sessions.reduce((sum, { followers }) => sum + followers.size, 0),
        };
      },
      checkReady: async () => {
        this.#refuseWhileDraining();
        await this.#wrap(ensureFolder(this.#options.world.disk, this.#base).then((folder) => folder.close()));
      },
      drain: (milliseconds) => this.#drain(milliseconds),
      close: () => (this.#closed ??= this.#close()),
    };
  }

  /** Refuses a second service on the same folder, and takes up commands that an earlier one left. */
  async start(): Promise<void> {
    const { world } = this.#options;
    const folder = await ensureFolder(world.disk, join(this.#base, "lock"));
    const lock = await acquireLockFile({ folder, ...world }, { name: "serve" });
    if (!lock.acquired) {
      await folder.close();
      throw new ServiceError({
        kind: "unavailable",
        message: `Another process serves the sessions of ${this.#base} (${lock.holder}). Stop it, or set PARLEY_HOME to another folder.`,
      });
    }
    this.#release = async () => {
      await lock.release();
      await folder.close();
    };
    for (const tenant of await this.#listTenants())
      for (const id of await listInboxes(world, this.#inboxFolder(tenant))) {
        const session = await this.#find(tenant, id).catch(() => undefined);
        if (session !== undefined && session.inbox.open().length > 0) session.wake();
        else await this.#forget(tenant, id);
      }
  }

  get #base(): string {
    return join(this.#options.home.data, "server");
  }

  #inboxFolder(tenant: string): string {
    return join(this.#base, "inbox", tenantFolderName(tenant));
  }

  #homeOf(tenant: string): HomeFolders {
    if (tenant === ownTenant) return this.#options.home;
    return toHomeFolders(join(this.#base, "tenants", tenantFolderName(tenant)));
  }

  #storeOf(tenant: string): SessionStore {
    return openSessionStore(this.#options.world, { home: this.#homeOf(tenant).data });
  }

  /** The folder names of tenants, which serve as their names: a name is its own folder name. */
  async #listTenants(): Promise<readonly string[]> {
    return withFolder(await ensureFolder(this.#options.world.disk, join(this.#base, "inbox")), async (folder) => {
      const names: string[] = [];
      for await (const { name, kind } of folder.list()) if (kind === "folder") names.push(name);
      return names;
    });
  }

  #refuseWhileDraining(): void {
    if (this.#isDraining)
      throw new ServiceError({ kind: "unavailable", message: "The server is stopping. Try again later." });
  }

  async #create(tenant: string, request: CreateRequest): Promise<CreatedServiceSession> {
    this.#refuseWhileDraining();
    const { key } = request;
    if (key === undefined) return this.#createNew(tenant, request);
    const place = JSON.stringify([tenant, key]);
    // Of two equal requests at the same time, the second waits for the first.
    const running = this.#creating.get(place);
    if (running !== undefined) return { ...(await running), isDuplicate: true };
    const created = this.#createOnce(tenant, { ...request, key });
    this.#creating.set(place, created);
    return created.finally(() => this.#creating.delete(place));
  }

  async #createOnce(tenant: string, request: CreateRequest & { readonly key: string }): Promise<CreatedServiceSession> {
    const { world } = this.#options;
    const path = join(
      this.#base,
      "keys",
      tenantFolderName(tenant),
      createHash("sha256").update(request.key).digest("hex"),
    );
    const { key: _, ...rest } = request;
    const text = await world.files.read(path);
    if (text !== undefined) {
      const known = JSON.parse(text) as { readonly id: string; readonly request: string };
      if (known.request !== JSON.stringify(rest)) throw new ServiceError({ kind: "key-reused", key: request.key });
      const { sequence } = await (await this.#find(tenant, known.id)).describe();
      return { id: known.id, isDuplicate: true, sequence };
    }
    const created = await this.#createNew(tenant, request);
    await world.files.writePrivate(path, JSON.stringify({ id: created.id, request: JSON.stringify(rest) }));
    return created;
  }

  async #createNew(tenant: string, { folder, model, title }: CreateRequest): Promise<CreatedServiceSession> {
    const { world } = this.#options;
    const root = await this.#checkFolder(folder);
    if (model !== undefined) await this.#checkModel(root, model);
    const opened = await this.#openAgent(tenant, { folder: root, ...(model === undefined ? {} : { model }) });
    const { id } = opened.session;
    if (title !== undefined) await opened.session.append([{ kind: "title", title }]);
    await opened.close();
    const inbox = await Inbox.create(world, this.#inboxFolder(tenant), id, {
      folder: root,
      ...(model === undefined ? {} : { model }),
    });
    await inbox.close();
    const session = await this.#find(tenant, id);
    return { id, isDuplicate: false, sequence: (await session.describe()).sequence };
  }

  async #checkFolder(folder: string | undefined): Promise<string> {
    const { folders, world } = this.#options;
    const asked = folder ?? folders[0] ?? "";
    const found = asked.startsWith("/") || /^[A-Za-z]:/.test(asked) ? await world.disk.canonicalPath(asked) : undefined;
    const isOffered = found !== undefined && folders.some((each) => found === each || found.startsWith(`${each}/`));
    // A folder that does not exist is answered like one that is not offered.
    if (!isOffered) throw new ServiceError({ kind: "invalid", message: `Sessions cannot work in ${asked}.` });
    return found;
  }

  async #checkModel(folder: string, model: string): Promise<void> {
    const { loaded, world } = await this.#environmentOf(folder);
    await loadPool(model, loaded.settings.pools, world.env);
  }

  /** The settings and the world of a folder. They are loaded once. */
  #environmentOf(folder: string): Promise<AgentEnvironment> {
    const { world, home, flags } = this.#options;
    const known = this.#environments.get(folder);
    if (known !== undefined) return known;
    const loading = loadAgentEnvironment({ folder, home, world, ...(flags === undefined ? {} : { flags }) });
    this.#environments.set(folder, loading);
    loading.catch(() => this.#environments.delete(folder));
    return loading;
  }

  /** Opens an agent once there is a slot; one without work gives its slot up. */
  async #openAgent(
    tenant: string,
    {
      folder,
      model,
      id,
      onEvent,
      traceOf,
    }: {
      readonly folder: string;
      readonly model?: string;
      readonly id?: string;
      readonly onEvent?: (event: AgentEvent) => void;
      readonly traceOf?: () => string | undefined;
    },
  ): Promise<AgentSession> {
    const environment = await this.#environmentOf(folder);
    if (!this.#slots.tryAcquire()) {
      await [...this.#loaded.values()].find((session) => session.isOpen && session.isIdle)?.closeAgent();
      await this.#slots.acquire();
    }
    try {
      const options = {
        ...environment,
        home: this.#homeOf(tenant),
        folder,
        interactive: true,
        ...(model === undefined ? {} : { model }),
        ...(id === undefined ? {} : { resume: { id } }),
        ...(onEvent === undefined ? {} : { onEvent }),
      };
      const opened = await this.#options.openAgent(options, traceOf);
      return { ...opened, close: () => opened.close().finally(() => this.#slots.release()) };
    } catch (error) {
      this.#slots.release();
      throw error;
    }
  }

  /** Finds a session of a tenant. Only sessions this service created exist for it, and only by their whole id. */
  #find(tenant: string, id: string): Promise<LocalSession> {
    const place = placeOf(tenant, id);
    const known = this.#sessions.get(place);
    if (known !== undefined) return known;
    const loading = this.#load(tenant, id);
    this.#sessions.set(place, loading);
    loading.catch(() => this.#sessions.delete(place));
    return loading;
  }

  async #load(tenant: string, id: string): Promise<LocalSession> {
    const { world, parkAfter, idleTime } = this.#options;
    if (!/^[0-9a-z]{10,40}$/.test(id)) throw new ServiceError({ kind: "not-found", id });
    const inbox = await Inbox.open(world, this.#inboxFolder(tenant), id);
    if (inbox === undefined) throw new ServiceError({ kind: "not-found", id });
    const { folder } = inbox.head;
    const session = new LocalSession({
      world,
      id,
      path: join(this.#homeOf(tenant).data, "sessions", projectFolderName(folder), sessionFileName(id)),
      inbox,
      openAgent: (onEvent, traceOf) => {
        const { model } = inbox;
        return this.#openAgent(tenant, { folder, id, onEvent, traceOf, ...(model === undefined ? {} : { model }) });
      },
      parkAfter,
      // Another session may wait for the slot.
      idleTime: () => (this.#slots.waiting > 0 ? 0 : idleTime),
    });
    try {
      await session.refresh();
    } catch (error) {
      await inbox.close();
      throw error;
    }
    this.#loaded.set(placeOf(tenant, id), session);
    return session;
  }

  /** Removes a session from memory. */
  async #forget(tenant: string, id: string): Promise<void> {
    const place = placeOf(tenant, id);
    const session = this.#loaded.get(place);
    this.#sessions.delete(place);
    this.#loaded.delete(place);
    await session?.close();
  }

  async *#follow(tenant: string, id: string, request: FollowRequest): AsyncGenerator<FollowedEvent> {
    const session = await this.#wrap(this.#find(tenant, id));
    yield* session.follow(request);
  }

  async #list(tenant: string, { limit = 50, cursor }: ListRequest = {}): Promise<ServiceSessionPage> {
    const all = await listInboxes(this.#options.world, this.#inboxFolder(tenant));
    const left = cursor === undefined ? all : all.filter((id) => id < cursor);
    const page = left.slice(0, limit);
    const sessions = await Promise.all(
      page.map(async (id) => {
        const isLoaded = this.#loaded.has(placeOf(tenant, id));
        // A session whose log was removed by other means is left out.
        const described = await this.#find(tenant, id)
          .then((session) => session.describe())
          .catch(() => undefined);
        if (!isLoaded && described?.state === "idle") await this.#forgetUnused(tenant, id);
        return described;
      }),
    );
    const next = left.length > page.length ? page.at(-1) : undefined;
    return { sessions: sessions.flatMap((each) => each ?? []), ...(next === undefined ? {} : { next }) };
  }

  async #forgetUnused(tenant: string, id: string): Promise<void> {
    const session = this.#loaded.get(placeOf(tenant, id));
    if (session !== undefined && session.isIdle && session.followers.size === 0) await this.#forget(tenant, id);
  }

  async *#export(tenant: string, id: string, format: ExportFormat): AsyncGenerator<Uint8Array> {
    const { world } = this.#options;
    const session = await this.#wrap(this.#find(tenant, id));
    if (format === "conversation") {
      const saved = await this.#wrap(this.#storeOf(tenant).read(id));
      yield Buffer.from(`${JSON.stringify(exportConversation(saved))}\n`);
      return;
    }
    const path = join(this.#homeOf(tenant).data, "sessions", projectFolderName(session.inbox.head.folder));
    const folder = await openFolder(world.disk, path);
    if (folder === undefined) throw new ServiceError({ kind: "not-found", id });
    const file = await folder.openFile(sessionFileName(id));
    try {
      const { size } = await file.stat();
      for (let at = 0; at < size; at += exportChunk) yield await file.read(at, Math.min(exportChunk, size - at));
    } finally {
      await file.close();
      await folder.close();
    }
  }

  async #remove(tenant: string, id: string): Promise<void> {
    await this.#find(tenant, id);
    await this.#forget(tenant, id);
    await this.#storeOf(tenant)
      .remove(id)
      .catch((error: unknown) => {
        if (!(error instanceof SessionError) || error.failure.kind !== "not-found") throw error;
      });
    await removeInbox(this.#options.world, this.#inboxFolder(tenant), id);
  }

  async #drain(milliseconds: number): Promise<void> {
    this.#isDraining = true;
    const drained = Promise.all([...this.#loaded.values()].map((session) => session.drain()));
    const timeout = new AbortController();
    await Promise.race([
      drained,
      this.#options.world.clock.sleep(milliseconds, timeout.signal).catch(() => undefined),
    ]).finally(() => timeout.abort());
  }

  async #close(): Promise<void> {
    this.#isDraining = true;
    await Promise.all([...this.#loaded.values()].map((session) => session.close()));
    await this.#release();
  }

  /** Turns the failures of lower layers into those of a service. */
  async #wrap<Result>(work: Promise<Result>): Promise<Result> {
    try {
      return await work;
    } catch (error) {
      throw toServiceError(error);
    }
  }
}

const exportChunk = 2 ** 18;

const placeOf = (tenant: string, id: string): string => JSON.stringify([tenantFolderName(tenant), id]);

/** A folder name for a tenant: its own name where that is a safe one, otherwise its digest. A folder name is its own folder name. */
const tenantFolderName = (tenant: string): string =>
  /^[a-z0-9][a-z0-9_-]{0,63}$/.test(tenant)
    ? tenant
    : `x-${createHash("sha256").update(tenant).digest("hex").slice(0, 40)}`;

const toServiceError = (error: unknown): unknown => {
  if (error instanceof UnknownNameError)
    return new ServiceError({ kind: "invalid", message: error.message }, { cause: error });
  if (!(error instanceof SessionError)) return error;
  const { failure } = error;
  if (failure.kind === "not-found" || failure.kind === "ambiguous")
    return new ServiceError({ kind: "not-found", id: failure.id }, { cause: error });
  if (failure.kind === "busy") return new ServiceError({ kind: "busy", id: failure.id }, { cause: error });
  return new ServiceError({ kind: "unavailable", message: error.message }, { cause: error });
};
