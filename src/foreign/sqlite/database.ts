import type { Disk, FileHandle } from "../../world/disk.ts";
import { ForeignSessionError } from "../error.ts";
import { withFile } from "../files.ts";
import type { PathNames } from "../format.ts";
import { readPages, type PageSource } from "./pages.ts";
import { decodeRecord, readVarint, type SqlValue } from "./record.ts";
import { columnNames } from "./schema.ts";

/** A row by column name. */
type DatabaseRow = Readonly<Record<string, SqlValue>>;

/** A SQLite file opened for reading. */
export type Database = {
  /** Reads the rows of a table in the order of their row ids; only those with a value in a column, if `where` is given. */
  readonly rows: (table: string, where?: RowFilter) => AsyncIterable<DatabaseRow>;
};

/** Selects rows with this text in a column. */
type RowFilter = { readonly column: string; readonly value: string };

const maxAttempts = 3;

/**
 * Opens a SQLite file with its write-ahead log and runs the work. The file is never opened for writing and no lock is
 * taken: if the agent wrote to it meanwhile, the work is done again, so it must not keep anything of a failed attempt.
 */
export const openDatabase = async <Result>(
  disk: Disk,
  base: string,
  path: PathNames,
  work: (database: Database) => Promise<Result>,
): Promise<Result> => {
  const name = path.at(-1) ?? "";
  const attempt = (log: FileHandle | undefined): Promise<Attempt<Result>> =>
    withFile(disk, base, path, async (file) => {
      const pages = await readPages(file, log);
      try {
        const result = await work({ rows: (table, where) => tableRows(pages, table, where) });
        return { isStable: await pages.isUnchanged(), result };
      } catch (error) {
        if (await pages.isUnchanged()) throw error;
        return { isStable: false };
      }
    });
  for (let count = 0; count < maxAttempts; count++) {
    const done = await withFile(disk, base, [...path.slice(0, -1), `${name}-wal`], attempt).catch((error: unknown) => {
      if (isMissing(error)) return attempt(undefined);
      throw error;
    });
    if (done.isStable) return done.result;
  }
  throw new ForeignSessionError(`${name} is being written. Close the other agent and try again.`);
};

type Attempt<Result> = { readonly isStable: true; readonly result: Result } | { readonly isStable: false };

const isMissing = (error: unknown): boolean => error instanceof Error && "code" in error && error.code === "ENOENT";

type Table = { readonly root: number; readonly columns: readonly string[]; readonly rowId: string | undefined };

const tableRows = async function* (pages: PageSource, name: string, where?: RowFilter): AsyncGenerator<DatabaseRow> {
  const table = await findTable(pages, name);
  if (table === undefined)
    throw new ForeignSessionError(`The database has no table "${name}". Its format is not known.`);
  yield* readTable(pages, table, where);
};

const findTable = async (pages: PageSource, name: string): Promise<Table | undefined> => {
  const schema: Table = { root: 1, columns: ["type", "name", "tbl_name", "rootpage", "sql"], rowId: undefined };
  for await (const row of readTable(pages, schema))
    if (row["type"] === "table" && row["name"] === name && typeof row["sql"] === "string")
      return { root: Number(row["rootpage"]), ...columnNames(row["sql"]) };
  return undefined;
};

/** A tree deeper than this has a circle. */
const maxDepth = 40;

/** Reads a table's tree from left to right. */
const readTable = async function* (
  pages: PageSource,
  table: Table,
  where?: RowFilter,
  root: number = table.root,
  depth = 0,
): AsyncGenerator<DatabaseRow> {
  if (depth > maxDepth) throw pages.damaged();
  const page = await pages.read(root);
  const start = root === 1 ? 100 : 0;
  const view = new DataView(page.buffer, page.byteOffset, page.byteLength);
  const kind = page[start];
  const count = view.getUint16(start + 3);
  const pointers = start + (kind === interiorPage ? 12 : 8);
  if ((kind !== interiorPage && kind !== leafPage) || pointers + 2 * count > page.length) throw pages.damaged();
  for (let index = 0; index < count; index++) {
    const cell = view.getUint16(pointers + 2 * index);
    if (cell + 4 > page.length) throw pages.damaged();
    if (kind === interiorPage) yield* readTable(pages, table, where, view.getUint32(cell), depth + 1);
    else {
      const row = await readCell(pages, page, cell, table, where);
      if (row !== undefined) yield row;
    }
  }
  if (kind === interiorPage) yield* readTable(pages, table, where, view.getUint32(start + 8), depth + 1);
};

const interiorPage = 5;
const leafPage = 13;
const maxRecordBytes = 2 ** 28;

/** Reads a row of a leaf page. The overflow of a row that is not wanted is not read. */
const readCell = async (
  pages: PageSource,
  page: Uint8Array,
  cell: number,
  { columns, rowId }: Table,
  where: RowFilter | undefined,
): Promise<DatabaseRow | undefined> => {
  const [size, afterSize] = readVarint(page, cell);
  const [row, start] = readVarint(page, afterSize);
  if (size > maxRecordBytes) throw pages.damaged();
  const local = localSize(size, pages.usable);
  const head = page.subarray(start, start + local);
  if (head.length < local) throw pages.damaged();
  const toRow = (values: readonly SqlValue[]): DatabaseRow =>
    Object.fromEntries(columns.map((name, at) => [name, name === rowId ? row : (values[at] ?? null)]));
  if (where !== undefined) {
    const early = toRow(decodeRecord(head, pages.encoding))[where.column];
    // A value in the overflow is not known yet.
    if (typeof early === "string" && early !== where.value) return undefined;
  }
  const bytes = local === size ? head : await pages.readOverflow(page, start + local, head, size);
  const found = toRow(decodeRecord(bytes, pages.encoding));
  return where === undefined || found[where.column] === where.value ? found : undefined;
};

/** Returns how many bytes of a record are on its page; the rest is in overflow pages. */
const localSize = (size: number, usable: number): number => {
  const most = usable - 35;
  if (size <= most) return size;
  const least = Math.floor(((usable - 12) * 32) / 255) - 23;
  const wanted = least + ((size - least) % (usable - 4));
  return wanted <= most ? wanted : least;
};
