import type { AgentEvent } from "../../../agent/events.ts";
import type { Workspace } from "../../../policy/workspace/open.ts";
import type { World } from "../../../world/world.ts";

/** A file before and after an edit. `before` is absent for a created file. */
export type EditSnapshot = {
  readonly path: string;
  readonly before?: string;
  readonly after: string;
  /** The number of conversation entries at the time of the edit. */
  readonly entries: number;
};

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

  /** Returns all edits, oldest first. */
  all(): Promise<readonly EditSnapshot[]> {
    return this.#snapshots;
  }

  /** Restores files to before the last `count` edits, newest first. Files changed since are left alone. */
  async restore(
    count: number,
    workspace: Pick<Workspace, "resolve" | "bytes" | "write">,
    disk: World["disk"],
  ): Promise<readonly RestoreResult[]> {
    const snapshots = await this.#snapshots;
    const newest = snapshots.slice(snapshots.length - count).toReversed();
    const results = new Map<string, RestoreResult>();
    const failed = new Set<string>();
    for (const snapshot of newest) {
      if (failed.has(snapshot.path)) continue;
      const result = await restoreFile(snapshot, workspace, disk);
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

const restoreFile = async (
  { path, before, after }: EditSnapshot,
  workspace: Pick<Workspace, "resolve" | "bytes" | "write">,
  disk: World["disk"],
): Promise<RestoreResult> => {
  try {
    const place = await workspace.resolve(path);
    if (place.kind !== "file") return { type: "kept", path, reason: "it no longer exists" };
    const now = new TextDecoder("utf-8", { ignoreBOM: true }).decode(await workspace.bytes(path, maxSnapshotBytes));
    if (now !== after) return { type: "kept", path, reason: "it was changed since the edit" };
    if (before === undefined) return await removeFile(place.path, disk);
    await workspace.write(path, Buffer.from(before), place.identity);
    return { type: "restored", path };
  } catch (error) {
    return { type: "kept", path, reason: error instanceof Error ? error.message : String(error) };
  }
};

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
  typeof value === "object" &&
  value !== null &&
  "path" in value &&
  typeof value.path === "string" &&
  "after" in value &&
  typeof value.after === "string" &&
  "entries" in value &&
  typeof value.entries === "number" &&
  (!("before" in value) || typeof value.before === "string");
