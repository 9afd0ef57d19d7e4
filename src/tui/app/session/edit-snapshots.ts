import { basename, dirname } from "node:path";
import type { AgentEvent } from "../../../agent/events.ts";
import { isObject } from "../../../conversation/json.ts";
import type { Workspace } from "../../../policy/workspace/open.ts";
import type { World } from "../../../world/world.ts";
import type { CommandChange } from "./command-changes.ts";

/** The content of a file: its text, or the name of stored bytes. */
type FileContent = string | { readonly blob: string };

/** A file before and after an edit or a command. `before` is absent for a created file, `after` for a removed one. */
export type EditSnapshot = {
  readonly path: string;
  readonly before?: FileContent;
  readonly after?: FileContent;
  /** The number of conversation entries at the time of the edit. */
  readonly entries: number;
  /** The same for all changes of one command. */
  readonly command?: number;
  /** Why it cannot be restored. */
  readonly problem?: string;
};

/** Reads the stored bytes of files that commands changed. */
type ReadStoredBytes = (blob: string) => Promise<Uint8Array | undefined>;

/** Describes the result of restoring a file. */
export type RestoreResult =
  | { readonly type: "restored" | "removed"; readonly path: string }
  | { readonly type: "kept"; readonly path: string; readonly reason: string };

/** Size limit of a snapshot. */
const maxSnapshotBytes = 4 * 2 ** 20;

/** Snapshots of the edits of a session, saved in a file so that edits can be undone after a restart too. */
export class EditSnapshots {
  readonly #files: World["files"];
  readonly #path: string;
  #snapshots: Promise<readonly EditSnapshot[]>;

  constructor({ files }: Pick<World, "files">, home: string, session: string) {
    this.#files = files;
    this.#path = `${home}/snapshots/${session}.json`;
    this.#snapshots = this.#read();
  }

  /** Records a completed edit, also of a subagent. */
  recordEvent(event: AgentEvent, entries: number): void {
    if (event.type === "agent") return this.recordEvent(event.event, entries);
    if (event.type !== "call-completed") return;
    const { display, outcome } = event.finished;
    if (display.type !== "diff" || outcome.status !== "complete") return;
    const { path, before, after } = display;
    if ((before?.length ?? 0) + after.length > maxSnapshotBytes) return;
    void this.#change((snapshots) => [
      ...snapshots,
      { path, ...(before === undefined ? {} : { before }), after, entries },
    ]);
  }

  /** Records the files that changed while a command ran. */
  recordCommand(
    changes: readonly CommandChange[],
    { root, entries }: { readonly root: string; readonly entries: number },
  ): void {
    void this.#change((snapshots) => {
      const command = 1 + Math.max(0, ...snapshots.map((each) => each.command ?? 0));
      return [...snapshots, ...changes.map((change) => toSnapshot(change, { root, entries, command }))];
    });
  }

  /** The number of snapshots of the last edit, or of the last command. */
  async lastCount(): Promise<number> {
    const snapshots = await this.#snapshots;
    const command = snapshots.at(-1)?.command;
    if (command === undefined) return Math.min(1, snapshots.length);
    return snapshots.length - 1 - snapshots.findLastIndex((each) => each.command !== command);
  }

  /** Returns all edits, oldest first. */
  all(): Promise<readonly EditSnapshot[]> {
    return this.#snapshots;
  }

  /** Restores files to before the last `count` edits, newest first. Files changed since are left alone. */
  async restore(count: number, files: RestoreFiles): Promise<readonly RestoreResult[]> {
    const snapshots = await this.#snapshots;
    const newest = snapshots.slice(snapshots.length - count).toReversed();
    const results = new Map<string, RestoreResult>();
    const failed = new Set<string>();
    for (const snapshot of newest) {
      if (failed.has(snapshot.path)) continue;
      const result = await restoreFile(snapshot, files);
      if (result.type === "kept") failed.add(snapshot.path);
      results.set(snapshot.path, result);
    }
    await this.#change((all) => all.slice(0, all.length - count));
    return [...results.values()];
  }

  /** Copies the edits up to a point of the conversation to another session. */
  async copyTo(to: EditSnapshots, entries: number): Promise<void> {
    const snapshots = await this.#snapshots;
    await to.#change(() => snapshots.filter((each) => each.entries <= entries));
  }

  #change(change: (snapshots: readonly EditSnapshot[]) => readonly EditSnapshot[]): Promise<unknown> {
    this.#snapshots = this.#snapshots.then(async (snapshots) => {
      const next = change(snapshots);
      // A snapshot that cannot be saved can still be restored while the program runs.
      await this.#files.writePrivate(this.#path, JSON.stringify(next)).catch(() => undefined);
      return next;
    });
    return this.#snapshots;
  }

  async #read(): Promise<readonly EditSnapshot[]> {
    try {
      const parsed: unknown = JSON.parse((await this.#files.read(this.#path)) ?? "[]");
      return Array.isArray(parsed) ? parsed.filter(isSnapshot) : [];
    } catch {
      return [];
    }
  }
}

/** Where files are restored, and where stored bytes are read. */
type RestoreFiles = {
  readonly workspace: Pick<Workspace, "resolve" | "bytes" | "write">;
  readonly disk: World["disk"];
  readonly readStored: ReadStoredBytes;
};

const restoreFile = async (
  { path, problem, ...change }: EditSnapshot,
  { workspace, disk, readStored }: RestoreFiles,
): Promise<RestoreResult> => {
  try {
    if (problem !== undefined) return { type: "kept", path, reason: `a command changed it; ${problem}` };
    const place = await workspace.resolve(path);
    if (place.kind !== "file" && place.identity !== "absent")
      return { type: "kept", path, reason: "it is no longer a file" };
    const now = place.kind === "file" ? await workspace.bytes(path, maxSnapshotBytes) : undefined;
    const [before, after] = await Promise.all([
      readContent(change.before, readStored),
      readContent(change.after, readStored),
    ]);
    if (before === "lost" || after === "lost")
      return { type: "kept", path, reason: "its stored content is no longer there" };
    if (isSame(now, before)) {
      if (before !== undefined) await restoreExecutable(place.path, change, before, disk);
      return { type: "restored", path };
    }
    if (now === undefined && after !== undefined) return { type: "kept", path, reason: "it no longer exists" };
    if (!isSame(now, after)) return { type: "kept", path, reason: "it was changed since the edit" };
    if (before === undefined) return await removeFile(place.path, disk);
    await workspace.write(path, before, place.identity);
    await restoreExecutable(place.path, change, before, disk);
    return { type: "restored", path };
  } catch (error) {
    return { type: "kept", path, reason: error instanceof Error ? error.message : String(error) };
  }
};

const readContent = async (
  content: FileContent | undefined,
  readStored: ReadStoredBytes,
): Promise<Uint8Array | undefined | "lost"> => {
  if (content === undefined) return undefined;
  return typeof content === "string" ? Buffer.from(content) : ((await readStored(content.blob)) ?? "lost");
};

/** Restores whether a file is executable, which a command can change, but no edit. */
const restoreExecutable = async (
  path: string,
  { before }: Pick<EditSnapshot, "before">,
  bytes: Uint8Array,
  disk: World["disk"],
): Promise<void> => {
  if (typeof before !== "object") return;
  const folder = await disk.openFolder(dirname(path));
  try {
    const mode = ((await folder.stat(basename(path)))?.mode ?? 0) & 0o777;
    const wanted = before.blob.endsWith("+x") ? mode | ((mode & 0o444) >> 2) : mode & ~0o111;
    if (wanted !== mode) await folder.writeFile(basename(path), bytes, wanted);
  } finally {
    await folder.close();
  }
};

const isSame = (one: Uint8Array | undefined, other: Uint8Array | undefined): boolean =>
  one === undefined || other === undefined ? one === other : Buffer.compare(one, other) === 0;

const toSnapshot = (
  { path, before, after, problem }: CommandChange,
  { root, entries, command }: { readonly root: string; readonly entries: number; readonly command: number },
): EditSnapshot => ({
  path: `${root}/${path}`,
  ...(before === undefined ? {} : { before: { blob: before } }),
  ...(after === undefined ? {} : { after: { blob: after } }),
  ...(problem === undefined ? {} : { problem }),
  entries,
  command,
});

/** Removes a file that an edit created. */
const removeFile = async (path: string, disk: World["disk"]): Promise<RestoreResult> => {
  const at = path.lastIndexOf("/");
  const folder = await disk.openFolder(path.slice(0, at) || "/");
  try {
    await folder.remove(path.slice(at + 1));
    return { type: "removed", path };
  } finally {
    await folder.close();
  }
};

const isSnapshot = (value: unknown): value is EditSnapshot =>
  isObject(value) &&
  typeof value["path"] === "string" &&
  typeof value["entries"] === "number" &&
  [value["before"], value["after"]].every(isContent) &&
  ["undefined", "number"].includes(typeof value["command"]) &&
  ["undefined", "string"].includes(typeof value["problem"]);

const isContent = (value: unknown): boolean =>
  value === undefined || typeof value === "string" || (isObject(value) && typeof value["blob"] === "string");
