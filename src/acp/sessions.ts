import type { HomeFolders } from "../world/home-folders.ts";
import { isAbsolute } from "node:path";
import { SessionError } from "../session/error.ts";
import type { SessionStore } from "../session/store/store.ts";
import { summarizeSession } from "../session/store/summary.ts";
import type { Disk } from "../world/disk.ts";
import type { ClientCapabilities, SessionClient } from "./client.ts";
import type { Connection, RawParams } from "./connection.ts";
import { sessionMethods, type SessionMethod } from "./methods.ts";
import type { OfferedServers } from "./offered-servers.ts";
import { replayConversation } from "./replay.ts";
import { errorCodes, internalError, invalidParams, RpcError } from "./rpc-error.ts";
import { AcpSession, type OpenedSession, type SessionOpenOptions } from "./session.ts";
import type { World } from "../world/world.ts";

/** The program around the server: opens sessions with its settings, and holds the session store. */
export type AcpHost = {
  readonly open: (options: OpenSessionOptions) => Promise<OpenedSession>;
  readonly world: World;
  /** Parley's own folders. */
  readonly home: HomeFolders;
  readonly store: SessionStore;
  /** Why no model can be used, or undefined if one can. */
  readonly findKeyProblem: () => Promise<string | undefined>;
  /** Whether an error is one the person can fix. */
  readonly isUserError: (error: unknown) => boolean;
};

/** The session a client asked for. */
type OpenSessionOptions = {
  readonly folder: string;
  readonly additionalFolders: readonly string[];
  readonly resume?: { readonly id: string };
  readonly agent: SessionOpenOptions;
};

/** The open sessions of a client, and the methods that work on them. */
export class AcpSessions {
  readonly #host: AcpHost;
  readonly #connection: Connection;
  readonly #capabilities: ClientCapabilities;
  readonly #open = new Map<string, AcpSession>();

  constructor(host: AcpHost, connection: Connection, capabilities: ClientCapabilities) {
    this.#host = host;
    this.#connection = connection;
    this.#capabilities = capabilities;
  }

  /** Answers a request. The message of an error that the person can fix is sent; any other error is a bug. */
  async answer(method: SessionMethod, params: RawParams, signal: AbortSignal): Promise<object> {
    try {
      return await this.#methods[sessionMethods[method]](params, signal);
    } catch (error) {
      if (error instanceof RpcError) throw error;
      if (error instanceof SessionError && error.failure.kind === "not-found") throw notFound(error.failure.id);
      if (error instanceof Error && (error instanceof SessionError || this.#host.isUserError(error)))
        throw internalError(error.message);
      throw error;
    }
  }

  /** Succeeds if a model can be used. */
  async authenticate({ methodId }: RawParams): Promise<object> {
    if (methodId !== "environment" && methodId !== "terminal-login")
      throw invalidParams(`Unknown sign-in method ${JSON.stringify(methodId ?? null)}.`);
    const problem = await this.#host.findKeyProblem();
    if (problem !== undefined) throw new RpcError(errorCodes.authRequired, problem, { error: problem });
    return {};
  }

  cancel({ sessionId }: RawParams): void {
    if (typeof sessionId === "string") void this.#open.get(sessionId)?.cancel();
  }

  /** Closes all sessions. */
  async closeAll(): Promise<void> {
    await Promise.all([...this.#open.keys()].map((id) => this.#closeSession(id)));
  }

  readonly #methods: {
    readonly [name in (typeof sessionMethods)[SessionMethod]]: (
      params: RawParams,
      signal: AbortSignal,
    ) => Promise<object>;
  } = {
    create: async (params) => {
      const session = await this.#openSession(params);
      this.#afterAnswer(session);
      return { sessionId: session.id, ...session.describe() };
    },
    load: async (params) => {
      const session = await this.#openSession(params, sessionIdFrom(params));
      await this.#replay(session);
      await session.sendProgress();
      this.#afterAnswer(session);
      return session.describe();
    },
    resume: async (params) => {
      const session = await this.#openSession(params, sessionIdFrom(params));
      this.#afterAnswer(session);
      return session.describe();
    },
    list: async ({ cwd, cursor }) => this.#list(cwd, cursor),
    remove: async (params) => {
      const id = await this.#find(sessionIdFrom(params));
      await this.#closeSession(id);
      await this.#host.store.remove(id).catch((error: unknown) => {
        // Closing a session without messages removed it.
        if (!(error instanceof SessionError && error.failure.kind === "not-found")) throw error;
      });
      return {};
    },
    close: async (params) => {
      await this.#closeSession(this.#get(params).id);
      return {};
    },
    prompt: (params, signal) => this.#get(params).prompt(params["prompt"], signal),
    setMode: async (params) => {
      await this.#get(params).setMode(params["modeId"]);
      return {};
    },
    setOption: (params) => this.#get(params).setOption(params["configId"], params["value"]),
    setModel: async (params) => {
      await this.#get(params).setModel(params["modelId"]);
      return {};
    },
  };

  #get(params: RawParams): AcpSession {
    const id = sessionIdFrom(params);
    const session = this.#open.get(id);
    if (session === undefined) throw notFound(id);
    return session;
  }

  /** The id of a saved session. Clients send whole ids: a prefix of one names nothing. */
  async #find(id: string): Promise<string> {
    if (this.#open.has(id)) return id;
    const { id: found } = await this.#host.store.read(id);
    if (found !== id) throw notFound(id);
    return id;
  }

  async #openSession(params: RawParams, id?: string): Promise<AcpSession> {
    const folder = folderFrom(params["cwd"], "cwd");
    const additional = params["additionalDirectories"] ?? [];
    if (!Array.isArray(additional)) throw invalidParams("additionalDirectories must be a list of paths.");
    const additionalFolders = additional.map((path: unknown) => folderFrom(path, "additionalDirectories"));
    if (id !== undefined) {
      await this.#find(id);
      await this.#closeSession(id, { keepUnused: true });
    }
    let sessionId = id ?? "";
    const client: SessionClient = {
      capabilities: this.#capabilities,
      update: (update) => this.#connection.notify("session/update", { sessionId, update }),
      request: (method, request, signal) => this.#connection.request(method, { sessionId, ...request }, signal),
    };
    const session = new AcpSession(client);
    const { world, home } = this.#host;
    const offered = await readServers(params["mcpServers"], { disk: world.disk, home: home.config, folder });
    const opened = await this.#host.open({
      folder,
      additionalFolders,
      ...(id === undefined ? {} : { resume: { id } }),
      agent: session.openOptions(world.clock, offered),
    });
    sessionId = opened.opened.session.id;
    session.start(opened, { notes: notesOf(opened), hasTitle: id !== undefined });
    this.#open.set(sessionId, session);
    return session;
  }

  /** Sends what a client takes only for a session that it knows. */
  #afterAnswer(session: AcpSession): void {
    setImmediate(() => {
      session.sendNotes();
      void session.sendCommands();
    });
  }

  /** Sends the whole saved conversation, also what a compaction replaced for models. */
  async #replay({ id, session: { folder } }: AcpSession): Promise<void> {
    const saved = await this.#host.store.read(id);
    const update = (each: object): void => this.#connection.notify("session/update", { sessionId: id, update: each });
    replayConversation({ entries: saved.entries, blobs: saved.blobs, folder }).forEach(update);
    const { title, modified } = summarizeSession(saved);
    update({
      sessionUpdate: "session_info_update",
      ...(title === "" ? {} : { title }),
      updatedAt: new Date(modified).toISOString(),
    });
  }

  async #list(cwd: unknown, cursor: unknown): Promise<object> {
    const from = cursor === undefined || cursor === null ? 0 : Number(cursor);
    if (!Number.isInteger(from) || from < 0) throw invalidParams(`Unknown cursor ${JSON.stringify(cursor)}.`);
    const root = cwd === undefined || cwd === null ? {} : { root: folderFrom(cwd, "cwd") };
    const found = await this.#host.store.list({ ...root, limit: from + pageSize + 1 });
    return {
      sessions: found.slice(from, from + pageSize).flatMap(({ id, root: folder, title, modified }) =>
        // A repaired session may not know its folder, which clients need.
        folder === ""
          ? []
          : [
              {
                sessionId: id,
                cwd: folder,
                ...(title === "" ? {} : { title }),
                updatedAt: new Date(modified).toISOString(),
              },
            ],
      ),
      ...(found.length > from + pageSize ? { nextCursor: String(from + pageSize) } : {}),
    };
  }

  /** Closes a session if it is open. A session without messages is removed, as nothing could be resumed. */
  async #closeSession(id: string, { keepUnused = false }: { readonly keepUnused?: boolean } = {}): Promise<void> {
    const session = this.#open.get(id);
    if (session === undefined) return;
    this.#open.delete(id);
    await session.cancel();
    const { opened } = session.session;
    const isUsed = opened.agent.hasMessages();
    await opened.close();
    if (!isUsed && !keepUnused) await this.#host.store.remove(id);
  }
}

/** Reads the MCP servers of a client. Their code is loaded only if there are any. */
const readServers = async (
  given: unknown,
  place: { readonly disk: Disk; readonly home: string; readonly folder: string },
): Promise<OfferedServers | undefined> => {
  if (given === undefined || given === null || (Array.isArray(given) && given.length === 0)) return undefined;
  return (await import("./offered-servers.ts")).readOfferedServers(given, place);
};

const pageSize = 50;

const notesOf = ({ opened: { notes, modelChoice } }: OpenedSession): readonly string[] => [
  ...notes,
  ...(modelChoice.by === "none"
    ? ["No API key found, using the built-in demo model. Set a key and restart, or see parley doctor."]
    : []),
];

const notFound = (id: string): RpcError =>
  new RpcError(errorCodes.notFound, `There is no session ${id}.`, { sessionId: id });

const sessionIdFrom = ({ sessionId }: RawParams): string => {
  if (typeof sessionId !== "string" || sessionId === "") throw invalidParams("sessionId must be the id of a session.");
  return sessionId;
};

const folderFrom = (path: unknown, name: string): string => {
  if (typeof path !== "string" || !isAbsolute(path)) throw invalidParams(`${name} must be an absolute path.`);
  return path;
};
