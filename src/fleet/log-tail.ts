import { dirname, basename } from "node:path";
import { parseRecord } from "../session/log/content.ts";
import type { StoredRecord } from "../session/log/record.ts";
import { scanFile } from "../session/log/scan.ts";
import { openFolder, withFolder } from "../session/store/folders.ts";
import type { World } from "../world/world.ts";

/** Reads a session file as it grows: each read returns the records that were added since the one before. */
export class LogTail {
  readonly #world: World;
  readonly #path: string;
  readonly #id: string;
  #offset = 0;
  #sequence: number;
  #reading: Promise<unknown> = Promise.resolve();

  /** Records up to the sequence number `after` are passed over. */
  constructor(
    world: World,
    { path, id, after = 0 }: { readonly path: string; readonly id: string; readonly after?: number },
  ) {
    this.#world = world;
    this.#path = path;
    this.#id = id;
    this.#sequence = after;
  }

  /** The sequence number of the last record that was read. */
  get sequence(): number {
    return this.#sequence;
  }

  read(): Promise<readonly StoredRecord[]> {
    const read = this.#reading.then(() => this.#readNew());
    this.#reading = read.catch(() => undefined);
    return read;
  }

  async #readNew(): Promise<readonly StoredRecord[]> {
    const folder = await openFolder(this.#world.disk, dirname(this.#path));
    if (folder === undefined) return [];
    return withFolder(folder, async (open) => {
      const file = await open.openFile(basename(this.#path));
      try {
        const { size } = await file.stat();
        // A repair replaced the file: it is read from the start, and known records are passed over.
        if (size < this.#offset) this.#offset = 0;
        const from = this.#offset;
        const bytes = await file.read(from, size - from);
        // A line without its end is still being written.
        const complete = bytes.subarray(0, bytes.lastIndexOf(0x0a) + 1);
        const { lines } = await scanFile(
          { read: async (at, length) => complete.subarray(at - from, at - from + length) },
          this.#id,
          from,
        );
        this.#offset = from + complete.length;
        const records = lines
          .filter(({ sequence }) => sequence > this.#sequence)
          .map(({ sequence, at, text }) => ({ sequence, at, record: parseRecord(text) }));
        this.#sequence = records.at(-1)?.sequence ?? this.#sequence;
        return records;
      } finally {
        await file.close();
      }
    });
  }
}
