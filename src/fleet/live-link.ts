import { isObject } from "../conversation/json.ts";
import { runStatement, type SqlDatabase } from "../postgres/database.ts";
import type { SessionKey } from "../postgres/load.ts";
import { createSseParser } from "../transport/stream/frames.ts";
import type { Clock } from "../world/world.ts";
import { LiveBuffer, type NumberedLiveEvent } from "./live-buffer.ts";
import { livePath, parseLiveAddress } from "./live-door.ts";
import type { LiveEvent } from "./session-events.ts";

type LinkOptions = { readonly database: SqlDatabase; readonly clock: Clock };

/** The owner of a session, by its row. */
export type SessionOwner = { readonly worker: string | undefined; readonly fence: number };

/** The connections of a front door to workers: one for each session that is followed live, shared by its followers. */
export class LiveLinks {
  readonly #options: LinkOptions;
  readonly #links = new Map<string, LiveLink>();

  constructor(options: LinkOptions) {
    this.#options = options;
  }

  /** Adds a reader of a session's live events. The last one to leave closes the connection. */
  join(session: SessionKey): LiveReader {
    const key = JSON.stringify([session.tenant, session.id]);
    const link = this.#links.get(key) ?? new LiveLink(this.#options, session);
    this.#links.set(key, link);
    const buffer = new LiveBuffer();
    link.readers.add(buffer);
    return new LiveReader(this.#options.clock, buffer, {
      connect: (owner) => link.connect(owner),
      leave: () => {
        link.readers.delete(buffer);
        if (link.readers.size > 0) return;
        this.#links.delete(key);
        link.close();
      },
    });
  }
}

/** One follower's view of the live events of a session. */
export class LiveReader {
  readonly #clock: Clock;
  readonly #buffer: LiveBuffer;
  /** Connects to the owner of the session, unless it is connected. Failures are retried with pauses, and never thrown. */
  readonly connect: (owner: SessionOwner) => void;
  readonly leave: () => void;
  #awaited: NumberedLiveEvent | undefined;

  constructor(clock: Clock, buffer: LiveBuffer, { connect, leave }: Pick<LiveReader, "connect" | "leave">) {
    this.#clock = clock;
    this.#buffer = buffer;
    this.connect = connect;
    this.leave = leave;
  }

  /**
   * Yields the events of an owner that came after a record and before the next one, as they come, for `milliseconds`. Ends
   * earlier if there is one of a later place: the row and the records before it are to be read first.
   */
  async *read(
    { fence, sequence }: Pick<NumberedLiveEvent, "fence" | "sequence">,
    milliseconds: number,
    signal: AbortSignal,
  ): AsyncGenerator<NumberedLiveEvent> {
    let isOver = signal.aborted;
    let finish = (): void => undefined;
    const over = new Promise<void>((resolve) => {
      finish = () => {
        isOver = true;
        resolve();
      };
    });
    const cancelTimer = this.#clock.after(milliseconds, finish);
    signal.addEventListener("abort", finish, { once: true });
    try {
      while (!isOver) {
        const item = this.#buffer.peek();
        const isAhead = item !== undefined && (item.fence > fence || item.sequence > sequence);
        if (isAhead && item !== this.#awaited) {
          this.#awaited = item;
          return;
        }
        if (item === undefined) await Promise.race([over, this.#buffer.arrival()]);
        else if (isAhead) await over;
        else {
          this.#buffer.shift();
          // Of an earlier place: the record that followed has been read, and says more.
          if (item.fence === fence && item.sequence === sequence) yield item;
        }
      }
    } finally {
      cancelTimer();
      signal.removeEventListener("abort", finish);
    }
  }
}

/** The connection to the owner of one session. */
class LiveLink {
  readonly readers = new Set<LiveBuffer>();
  readonly #options: LinkOptions;
  readonly #session: SessionKey;
  #owner: SessionOwner = { worker: undefined, fence: -1 };
  #connection: AbortController | undefined;
  #failures = 0;
  #nextAttempt = -Infinity;

  constructor(options: LinkOptions, session: SessionKey) {
    this.#options = options;
    this.#session = session;
  }

  connect(owner: SessionOwner): void {
    const { clock } = this.#options;
    // Another follower has read a newer row.
    if (owner.fence < this.#owner.fence) return;
    if (owner.fence !== this.#owner.fence || owner.worker !== this.#owner.worker) {
      this.close();
      this.#owner = owner;
      this.#failures = 0;
      this.#nextAttempt = -Infinity;
    }
    if (owner.worker === undefined || this.#connection !== undefined || clock.elapsed() < this.#nextAttempt) return;
    const connection = (this.#connection = new AbortController());
    void this.#read(owner.worker, connection.signal)
      .catch(() => undefined)
      .then(() => {
        if (this.#connection !== connection) return;
        this.#connection = undefined;
        this.#failures += 1;
        this.#nextAttempt = clock.elapsed() + Math.min(5000, 25 * 2 ** this.#failures);
      });
  }

  close(): void {
    this.#connection?.abort();
    this.#connection = undefined;
  }

  async #read(worker: string, signal: AbortSignal): Promise<void> {
    const [row] = await runStatement(this.#options.database, "select address from parley.worker where id = $1", [
      worker,
    ]);
    const text = row?.["address"];
    const address = typeof text === "string" ? parseLiveAddress(text) : undefined;
    if (address === undefined || signal.aborted) return;
    const { tenant, id } = this.#session;
    const url = `${address.url}${livePath}?${new URLSearchParams({ tenant, session: id }).toString()}`;
    const headers = { authorization: `Bearer ${address.token}` };
    const response = await fetch(url, { headers, signal, redirect: "error" });
    if (response.status !== 200 || response.body === null) return response.body?.cancel();
    this.#failures = 0;
    const parser = await createSseParser();
    for await (const chunk of response.body)
      for (const { data } of parser.push(chunk as Uint8Array).frames) {
        if (signal.aborted) return;
        if (isNumberedLiveEvent(data)) for (const reader of this.readers) reader.push(data);
      }
  }
}

/** A worker of another version may send events that this one does not know. */
const isNumberedLiveEvent = (value: unknown): value is NumberedLiveEvent =>
  isObject(value) &&
  Number.isInteger(value["fence"]) &&
  Number.isInteger(value["sequence"]) &&
  Number.isInteger(value["number"]) &&
  isObject(value["event"]) &&
  knownTypes.has(value["event"]["type"]);

const knownTypes: ReadonlySet<unknown> = new Set<LiveEvent["type"]>([
  "text",
  "thought",
  "call",
  "output",
  "asked-by-agent",
  "retrying",
]);
