import { createHash } from "node:crypto";
import type { AppendHandle, Folder } from "../world/disk.ts";
import { ensureFolder, withFolder } from "../session/store/folders.ts";
import type { World } from "../world/world.ts";
import type { SessionCommand } from "./service.ts";
import { ServiceError } from "./service-error.ts";

/** A command that was acknowledged. */
export type PostedCommand = {
  readonly number: number;
  readonly command: SessionCommand;
  /** The sequence number of the session's log when it was begun; undefined if it has not been. */
  readonly begunAfter?: number;
  readonly isDone: boolean;
  /** The span of the request that posted it. */
  readonly trace?: string | undefined;
};

/** The facts of a session that its log does not have. */
export type InboxHead = { readonly folder: string; readonly model?: string; readonly key?: string };

/** Lines of the file. A command is posted, then begun, then done. */
type InboxLine =
  | ({ readonly kind: "created" } & InboxHead)
  | {
      readonly kind: "posted";
      readonly number: number;
      readonly key?: string;
      readonly digest: string;
      readonly command: SessionCommand;
      readonly trace?: string | undefined;
    }
  | { readonly kind: "begun"; readonly number: number; readonly after: number }
  | { readonly kind: "done"; readonly number: number };

/**
 * The commands to one session, in a file beside its tenant's sessions. A command is on disk before it is acknowledged,
 * and its beginning before it is carried out, with the length of the session's log at that moment: so after a crash it is
 * known whether it had reached the conversation. Keys of all commands are kept, so a late repeat is recognized.
 */
export class Inbox {
  readonly head: InboxHead;
  readonly #file: AppendHandle;
  readonly #folder: Folder;
  readonly #commands = new Map<number, PostedCommand>();
  readonly #keys = new Map<string, { readonly number: number; readonly digest: string }>();
  #writing: Promise<unknown> = Promise.resolve();
  #last = 0;
  #model: string | undefined;

  private constructor(folder: Folder, file: AppendHandle, lines: readonly InboxLine[]) {
    this.#folder = folder;
    this.#file = file;
    const created = lines.find((line) => line.kind === "created");
    this.head = created ?? { folder: "" };
    for (const line of lines) this.#apply(line);
  }

  static async create(world: World, folder: string, id: string, head: InboxHead): Promise<Inbox> {
    const opened = await ensureFolder(world.disk, folder);
    const file = await opened.openAppend(inboxFileName(id));
    const line: InboxLine = { kind: "created", ...head };
    await file.append(Buffer.from(`${JSON.stringify(line)}\n`));
    await file.flush();
    await opened.flush();
    return new Inbox(opened, file, [line]);
  }

  /** Opens the inbox of a session; undefined if there is none. A line that a crash left incomplete is cut off: it was never acknowledged. */
  static async open(world: World, folder: string, id: string): Promise<Inbox | undefined> {
    const opened = await ensureFolder(world.disk, folder);
    if ((await opened.stat(inboxFileName(id)))?.kind !== "file") {
      await opened.close();
      return undefined;
    }
    const file = await opened.openAppend(inboxFileName(id));
    const { size } = await file.stat();
    const bytes = await file.read(0, size);
    const end = bytes.lastIndexOf(0x0a) + 1;
    if (end < size) await file.truncate(end);
    const lines = Buffer.from(bytes.buffer, bytes.byteOffset, end).toString("utf8").split("\n");
    return new Inbox(
      opened,
      file,
      lines.filter((line) => line !== "").map((line) => JSON.parse(line) as InboxLine),
    );
  }

  /**
   * Keeps a command and resolves once it is durable. A repeated key is answered with the number it had; `received` is the
   * command as its sender wrote it, which a repeat must equal.
   */
  post(
    command: SessionCommand,
    {
      key,
      received = command,
      trace,
    }: {
      readonly key?: string | undefined;
      readonly received?: SessionCommand;
      readonly trace?: string | undefined;
    } = {},
  ): Promise<{ readonly number: number; readonly isDuplicate: boolean }> {
    return this.#serialize(async () => {
      const digest = createHash("sha256").update(JSON.stringify(received)).digest("hex");
      const known = key === undefined ? undefined : this.#keys.get(key);
      if (known !== undefined) {
        if (known.digest !== digest) throw new ServiceError({ kind: "key-reused", key: key ?? "" });
        return { number: known.number, isDuplicate: true };
      }
      const number = this.#last + 1;
      await this.#write({ kind: "posted", number, ...(key === undefined ? {} : { key }), digest, command, trace });
      return { number, isDuplicate: false };
    });
  }

  /** Records that a command is about to reach the conversation, and resolves once that is durable. */
  begin(number: number, after: number): Promise<void> {
    return this.#serialize(() => this.#write({ kind: "begun", number, after }));
  }

  /** Records that a command needs nothing more. */
  finish(number: number): Promise<void> {
    return this.#serialize(() => this.#write({ kind: "done", number }, false));
  }

  /** The commands that are not done, in order. */
  open(): readonly PostedCommand[] {
    return [...this.#commands.values()].filter(({ isDone }) => !isDone);
  }

  hasKey(key: string): boolean {
    return this.#keys.has(key);
  }

  /** The model that was asked for last; undefined to leave the choice to the session. */
  get model(): string | undefined {
    return this.#model ?? this.head.model;
  }

  async close(): Promise<void> {
    await this.#writing.catch(() => undefined);
    await this.#file.close();
    await this.#folder.close();
  }

  async #write(line: InboxLine, isFlushed = true): Promise<void> {
    await this.#file.append(Buffer.from(`${JSON.stringify(line)}\n`));
    if (isFlushed) await this.#file.flush();
    this.#apply(line);
  }

  #apply(line: InboxLine): void {
    if (line.kind === "created") return;
    const { number } = line;
    if (line.kind === "posted") {
      this.#last = Math.max(this.#last, number);
      this.#commands.set(number, { number, command: line.command, isDone: false, trace: line.trace });
      if (line.command.type === "model") this.#model = line.command.model;
      if (line.key !== undefined) this.#keys.set(line.key, { number, digest: line.digest });
      return;
    }
    const posted = this.#commands.get(number);
    if (posted === undefined) return;
    if (line.kind === "begun") this.#commands.set(number, { ...posted, begunAfter: line.after });
    // The contents of a command that is done are not needed any more.
    else this.#commands.delete(number);
  }

  #serialize<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = this.#writing.then(work, work);
    this.#writing = done;
    return done;
  }
}

const extension = ".jsonl";

const inboxFileName = (id: string): string => `${id}${extension}`;

/** Lists the ids of sessions with an inbox, newest first. */
export const listInboxes = async (world: World, path: string): Promise<readonly string[]> =>
  withFolder(await ensureFolder(world.disk, path), async (folder) => {
    const names: string[] = [];
    for await (const { name, kind } of folder.list())
      if (kind === "file" && name.endsWith(extension)) names.push(name.slice(0, -extension.length));
    return names.toSorted().toReversed();
  });

export const removeInbox = async (world: World, path: string, id: string): Promise<void> =>
  withFolder(await ensureFolder(world.disk, path), async (folder) => {
    await folder.remove(inboxFileName(id));
    await folder.flush();
  });
