import { createHash, randomUUID } from "node:crypto";
import type { AgentSession } from "../agent/open-agent.ts";
import { isConnectionFailure, runStatement, type Row } from "../postgres/database.ts";
import { exportLines, readRecordRows, type SessionKey } from "../postgres/load.ts";
import { checkStoreVersion } from "../postgres/migrate.ts";
import { postCommand } from "../postgres/ownership.ts";
import { openPostgresSessions, type PostgresSessions, type PostgresStoreOptions } from "../postgres/store.ts";
import { readTenant } from "../postgres/tenants.ts";
import { UnknownNameError } from "../providers/unknown-name.ts";
import { SessionError } from "../session/error.ts";
import { exportConversation } from "../session/export/conversation.ts";
import { parseRecord } from "../session/log/content.ts";
import type { StoredRecord } from "../session/log/record.ts";
import type { OpenRequest } from "./agent-opener.ts";
import type { NumberedLiveEvent } from "./live-buffer.ts";
import { LiveLinks } from "./live-link.ts";
import { ServiceError } from "./service-error.ts";
import type {
  CreatedServiceSession,
  CreateRequest,
  FollowRequest,
  ListRequest,
  PostReceipt,
  PostRequest,
  ServiceSession,
  ServiceSessionPage,
  ServiceSessionState,
  SessionCommand,
  SessionService,
} from "./service.ts";
import { eventOf, type FollowedEvent } from "./session-events.ts";
import { emptyState, foldRecord } from "./session-state.ts";

/** Options of the service on a database. */
export type PostgresServiceOptions = {
  readonly store: Omit<PostgresStoreOptions, "tenant">;
  readonly openAgent: (request: OpenRequest) => Promise<AgentSession>;
  /** The folders sessions may work in, or below, as canonical paths. The first is the default. */
  readonly folders: readonly string[];
  /** The canonical form of a path; undefined if it does not exist. */
  readonly canonicalPath: (path: string) => Promise<string | undefined>;
  /** Milliseconds between two looks for new records of sessions that are followed. Default: 100. */
  readonly pollMs?: number;
};

/**
 * The operations of a front door on sessions in a database. Workers carry the commands out; this process only writes to
 * the inbox and reads records, so any number of front doors can run.
 */
export const openPostgresService = async (options: PostgresServiceOptions): Promise<SessionService> => {
  await checkStoreVersion(options.store.database);
  return new PostgresService(options).toService();
};

class PostgresService {
  readonly #options: PostgresServiceOptions;
  readonly #stores = new Map<string, PostgresSessions>();
  readonly #closing = new AbortController();
  readonly #live: LiveLinks;
  #followers = 0;
  #isDraining = false;

  constructor(options: PostgresServiceOptions) {
    this.#options = options;
    this.#live = new LiveLinks({ database: options.store.database, clock: options.store.world.clock });
  }

  toService(): SessionService {
    return {
      create: (tenant, request) => wrap(this.#create(tenant, request)),
      post: (tenant, id, request) => wrap(this.#post({ tenant, id }, request)),
      follow: (tenant, id, request) => this.#follow({ tenant, id }, request),
      list: (tenant, request) => wrap(this.#list(tenant, request)),
      read: (tenant, id) => wrap(this.#read({ tenant, id })),
      export: (tenant, id, format) => this.#export({ tenant, id }, format),
      remove: (tenant, id) => wrap(this.#remove({ tenant, id })),
      gauges: async () => {
        const [row] = await wrap(
          runStatement(
            this.#options.store.database,
            `select count(*) filter (where state = 'running') as running, count(*) filter (where state = 'ready') as queued
              from parley.session where state in ('running', 'ready')`,
          ),
        );
        return {
          openSessions: Number(row?.["running"]),
          runningTurns: Number(row?.["running"]),
          queuedSessions: Number(row?.["queued"]),
          followers: this.#followers,
        };
      },
      checkReady: async () => {
        this.#refuseWhileDraining();
        await wrap(runStatement(this.#options.store.database, "select version from parley.store"));
      },
      drain: async () => {
        this.#isDraining = true;
      },
      close: async () => {
        this.#closing.abort();
        for (const store of this.#stores.values()) await store.close().catch(() => undefined);
      },
    };
  }

  #refuseWhileDraining(): void {
    if (this.#isDraining)
      throw new ServiceError({ kind: "unavailable", message: "The server is stopping. Try again later." });
  }

  #storeOf(tenant: string): PostgresSessions {
    const known = this.#stores.get(tenant) ?? openPostgresSessions({ ...this.#options.store, tenant });
    this.#stores.set(tenant, known);
    return known;
  }

  async #create(tenant: string, request: CreateRequest): Promise<CreatedServiceSession> {
    this.#refuseWhileDraining();
    const { key, ...rest } = request;
    const known = key === undefined ? undefined : await this.#findCreated(tenant, key, JSON.stringify(rest));
    if (known !== undefined) return known;
    const folder = await this.#checkFolder(request.folder);
    const opened = await this.#options.openAgent({
      tenant,
      folder,
      sessions: this.#storeOf(tenant),
      ...(request.model === undefined ? {} : { model: request.model }),
    });
    const { id } = opened.session;
    if (request.title !== undefined) await opened.session.append([{ kind: "title", title: request.title }]);
    await opened.close();
    if (key !== undefined) {
      const rows = await runStatement(
        this.#options.store.database,
        "insert into parley.creation (tenant, key, session, request) values ($1, $2, $3, $4) on conflict do nothing returning session",
        [tenant, key, id, JSON.stringify(rest)],
      );
      if (rows.length === 0) {
        // An equal request was faster.
        await this.#storeOf(tenant).remove(id);
        const first = await this.#findCreated(tenant, key, JSON.stringify(rest));
        if (first !== undefined) return first;
      }
    }
    return { id, isDuplicate: false, sequence: Number((await this.#row({ tenant, id }))["sequence"]) };
  }

  async #findCreated(tenant: string, key: string, request: string): Promise<CreatedServiceSession | undefined> {
    const [row] = await runStatement(
      this.#options.store.database,
      "select c.session, c.request, s.sequence from parley.creation c join parley.session s on s.tenant = c.tenant and s.id = c.session where c.tenant = $1 and c.key = $2",
      [tenant, key],
    );
    if (row === undefined) return undefined;
    if (row["request"] !== request) throw new ServiceError({ kind: "key-reused", key });
    return { id: String(row["session"]), isDuplicate: true, sequence: Number(row["sequence"]) };
  }

  async #checkFolder(folder: string | undefined): Promise<string> {
    const { folders, canonicalPath } = this.#options;
    const asked = folder ?? folders[0] ?? "";
    const found = asked.startsWith("/") ? await canonicalPath(asked) : undefined;
    const isOffered = found !== undefined && folders.some((each) => found === each || found.startsWith(`${each}/`));
    if (!isOffered) throw new ServiceError({ kind: "invalid", message: `Sessions cannot work in ${asked}.` });
    return found;
  }

  async #post(key: SessionKey, { command, key: given, trace }: PostRequest): Promise<PostReceipt> {
    this.#refuseWhileDraining();
    const { database } = this.#options.store;
    const digest = createHash("sha256").update(JSON.stringify(command)).digest("hex");
    const repeat = given === undefined ? undefined : await this.#findPosted(key, given, digest);
    if (repeat !== undefined) return repeat;
    const checked = await this.#check(key, command);
    const text = JSON.stringify({ ...checked, received: digest, trace });
    const posted = await postCommand(database, key, { key: given ?? `auto-${randomUUID()}`, command: text });
    if (posted === undefined) throw new ServiceError({ kind: "not-found", id: key.id });
    if (posted.id !== undefined) return { command: posted.id, isDuplicate: false, sequence: posted.sequence };
    const first = await this.#findPosted(key, given ?? "", digest);
    if (first === undefined) throw new ServiceError({ kind: "not-found", id: key.id });
    return first;
  }

  async #findPosted({ tenant, id }: SessionKey, key: string, digest: string): Promise<PostReceipt | undefined> {
    const [row] = await runStatement(
      this.#options.store.database,
      "select i.id, i.command, s.sequence from parley.inbox i join parley.session s on s.tenant = i.tenant and s.id = i.session where i.tenant = $1 and i.session = $2 and i.key = $3",
      [tenant, id, key],
    );
    if (row === undefined) return undefined;
    const { received } = JSON.parse(String(row["command"])) as { readonly received?: string };
    if (received !== digest) throw new ServiceError({ kind: "key-reused", key });
    return { command: Number(row["id"]), isDuplicate: true, sequence: Number(row["sequence"]) };
  }

  /** Checks a command against the session. A decision gets the digest of the question it is for. */
  async #check(key: SessionKey, command: SessionCommand): Promise<SessionCommand> {
    if (command.type === "user" || command.type === "steer") {
      const { mostSpend, spent } = await readTenant(this.#options.store.database, key.tenant);
      if (mostSpend !== undefined && spent >= mostSpend)
        throw new ServiceError({
          kind: "limit",
          message: `The spending limit of $${mostSpend.toFixed(2)} is reached. Ask the operator to raise it.`,
        });
    }
    if (command.type !== "decide" || command.agent !== undefined) return command;
    const { pending } = await this.#read(key);
    const question = pending.find(({ call }) => call === command.call);
    if (question === undefined || (command.digest !== undefined && command.digest !== question.digest))
      throw new ServiceError({ kind: "not-asked", call: command.call });
    return question.digest === undefined ? command : { ...command, digest: question.digest };
  }

  async #row({ tenant, id }: SessionKey): Promise<Row> {
    const [row] = await runStatement(
      this.#options.store.database,
      "select * from parley.session where tenant = $1 and id = $2 and state <> 'child'",
      [tenant, id],
    );
    if (row === undefined) throw new ServiceError({ kind: "not-found", id });
    return row;
  }

  async #read(key: SessionKey): Promise<ServiceSession> {
    const row = await this.#row(key);
    let state = emptyState;
    for await (const record of this.#records(key, 0)) state = foldRecord(state, record);
    const { title, folder, model, created, modified, sequence, questions } = state;
    return {
      id: key.id,
      title,
      folder,
      ...(model === undefined ? {} : { model }),
      created,
      modified,
      state: serviceStateOf(row, questions.size),
      sequence,
      pending: [...questions.values()],
      ...(Number(row["crashes"]) > 0
        ? { problem: `${String(row["crashes"])} workers in a row ended while they ran this session.` }
        : {}),
    };
  }

  async #list(tenant: string, { limit = 50, cursor }: ListRequest = {}): Promise<ServiceSessionPage> {
    const rows = await runStatement(
      this.#options.store.database,
      "select id from parley.session where tenant = $1 and state <> 'child' and ($2::text is null or id < $2) order by id desc limit $3",
      [tenant, cursor ?? null, limit + 1],
    );
    const ids = rows.slice(0, limit).map((row) => String(row["id"]));
    const sessions = await Promise.all(
      ids.map((id) => this.#read({ tenant, id }).catch((error: unknown) => ignoreMissing(error))),
    );
    const next = rows.length > limit ? ids.at(-1) : undefined;
    return { sessions: sessions.flatMap((each) => each ?? []), ...(next === undefined ? {} : { next }) };
  }

  async *#records(key: SessionKey, after: number): AsyncGenerator<StoredRecord> {
    for await (const { sequence, at, text } of readRecordRows(this.#options.store.database, key, after))
      yield { sequence, at, record: parseRecord(text) };
  }

  /**
   * Sequence numbers of a session are given under its row lock, so they become visible in order and none is missed. Live
   * events come from its worker, if that one can be reached, and only between the records they belong between.
   */
  async *#follow(
    key: SessionKey,
    { after, signal, isLive = false, untilIdle = false, untilNow = false }: FollowRequest,
  ): AsyncGenerator<FollowedEvent> {
    const { pollMs = 100, store } = this.#options;
    await wrap(this.#row(key));
    const stop = AbortSignal.any([signal, this.#closing.signal]);
    this.#followers += 1;
    const live = isLive && !untilNow ? this.#live.join(key) : undefined;
    /** The owner whose text was passed on, and its last number, until the message is there. */
    let draft: { readonly fence: number; readonly number: number } | undefined;
    try {
      for (let sequence = after; !stop.aborted;) {
        // Read before the records: what is idle now has written all of its records.
        const row = await wrap(this.#row(key)).catch((error: unknown) => ignoreMissing(error));
        if (row === undefined) return;
        const fence = Number(row["fence"]);
        live?.connect({ worker: row["state"] === "running" ? String(row["owner"]) : undefined, fence });
        for await (const record of this.#records(key, sequence)) {
          sequence = record.sequence;
          const event = eventOf(record);
          if (event?.event.type === "message" || event?.event.type === "turn") draft = undefined;
          if (event !== undefined) yield event;
          if (stop.aborted) return;
        }
        if (untilNow) return;
        const isIdle = row["state"] === "idle" || (row["state"] === "parked" && Number(row["unread"]) === 0);
        if (untilIdle && isIdle && Number(row["sequence"]) <= sequence) return;
        if (live === undefined) {
          await store.world.clock.sleep(pollMs, stop).catch(() => undefined);
          continue;
        }
        if (draft !== undefined && draft.fence !== fence) {
          // Another worker sends the request again, so the text so far does not count.
          yield toFollowed({
            sequence,
            number: draft.number + 1,
            event: { type: "retrying", delay: 0, discarded: true },
          });
          draft = undefined;
        }
        for await (const item of live.read({ fence, sequence }, pollMs, stop)) {
          if (item.event.type === "text" || item.event.type === "thought") draft = { fence, number: item.number };
          yield toFollowed(item);
          if (stop.aborted) return;
        }
      }
    } finally {
      live?.leave();
      this.#followers -= 1;
    }
  }

  async *#export(key: SessionKey, format: "records" | "conversation"): AsyncGenerator<Uint8Array> {
    await wrap(this.#row(key));
    if (format === "records")
      for await (const line of exportLines(this.#options.store.database, key)) yield Buffer.from(line);
    else yield Buffer.from(JSON.stringify(exportConversation(await this.#storeOf(key.tenant).read(key.id))));
  }

  /** A session that runs is cancelled first, and removed once its worker has given it back. */
  async #remove(key: SessionKey): Promise<void> {
    const { clock } = this.#options.store.world;
    await this.#row(key);
    for (let attempt = 0; ; attempt++)
      try {
        return await this.#storeOf(key.tenant).remove(key.id);
      } catch (error) {
        if (!(error instanceof SessionError) || error.failure.kind !== "busy" || attempt >= 100) throw error;
        if (attempt === 0)
          await postCommand(this.#options.store.database, key, {
            key: `remove-${randomUUID()}`,
            command: JSON.stringify({ type: "cancel" } satisfies SessionCommand),
          });
        await clock.sleep(100, this.#closing.signal);
      }
  }
}

const toFollowed = ({ sequence, number, event }: Omit<NumberedLiveEvent, "fence">): FollowedEvent => ({
  id: `${sequence}.${number}`,
  sequence,
  event,
});

const serviceStateOf = (row: Row, questions: number): ServiceSessionState => {
  switch (row["state"]) {
    case "running":
      return "running";
    case "ready":
      return "queued";
    case "parked":
      return "parked";
    default:
      return questions > 0 ? "parked" : "idle";
  }
};

const ignoreMissing = (error: unknown): undefined => {
  if (error instanceof ServiceError && error.failure.kind === "not-found") return undefined;
  throw error;
};

const wrap = <Result>(work: Promise<Result>): Promise<Result> =>
  work.catch((error: unknown) => {
    throw toServiceError(error);
  });

const toServiceError = (error: unknown): unknown => {
  if (error instanceof UnknownNameError)
    return new ServiceError({ kind: "invalid", message: error.message }, { cause: error });
  if (!(error instanceof SessionError)) return error;
  const { failure } = error;
  if (failure.kind === "not-found") return new ServiceError({ kind: "not-found", id: failure.id }, { cause: error });
  if (failure.kind === "busy") return new ServiceError({ kind: "busy", id: failure.id }, { cause: error });
  const message = isConnectionFailure(error) ? "The database does not answer. Try again later." : error.message;
  return new ServiceError({ kind: "unavailable", message }, { cause: error });
};
