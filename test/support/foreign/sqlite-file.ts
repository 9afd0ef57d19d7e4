/** A table of a SQLite file: its columns, and rows of texts and whole numbers in that order. */
export type SqliteTable = {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (string | number)[])[];
};

const pageSize = 1024;

/** Writes a SQLite file with small pages, so that even short rows have overflow pages and tables have trees. */
export const writeSqlite = (tables: Readonly<Record<string, SqliteTable>>): Buffer => {
  const pages: Buffer[] = [Buffer.alloc(pageSize)];
  const schema = Object.entries(tables).map(([name, { columns, rows }]) => [
    "table",
    name,
    name,
    writeTree(
      pages,
      rows.map((row, index) => encodeCell(pages, row, index + 1)),
    ),
    `CREATE TABLE ${name} (${columns.map((column) => `"${column}" text`).join(", ")}, PRIMARY KEY ("${columns[0]}"))`,
  ]);
  const first = writeLeaf(
    schema.map((row, index) => encodeCell(pages, row, index + 1)),
    100,
  );
  first.write("SQLite format 3\0", 0, "latin1");
  first.writeUInt16BE(pageSize, 16);
  first.set([1, 1, 0, 64, 32, 32], 18);
  first.writeUInt32BE(pages.length, 28);
  first.writeUInt32BE(1, 56);
  pages[0] = first;
  return Buffer.concat(pages);
};

/** A SQLite file as an agent leaves it that never closed it: an empty database, and all pages in the write-ahead log. */
export const writeSqliteInLog = (tables: Readonly<Record<string, SqliteTable>>): { file: Buffer; log: Buffer } => {
  const whole = writeSqlite(tables);
  const file = writeLeaf([], 100);
  whole.copy(file, 0, 0, 56);
  file.set([2, 2], 18);
  const header = Buffer.alloc(32);
  for (const [at, value] of [0x377f0682, 3_007_000, pageSize, 0, 11, 12].entries()) header.writeUInt32BE(value, 4 * at);
  let sum = addChecksum(header.subarray(0, 24), [0, 0]);
  sum.forEach((value, index) => header.writeUInt32BE(value, 24 + 4 * index));
  const count = whole.length / pageSize;
  const frame = (page: number, data: Buffer, pagesAtCommit: number): Buffer => {
    const head = Buffer.alloc(24);
    for (const [at, value] of [page, pagesAtCommit, 11, 12].entries()) head.writeUInt32BE(value, 4 * at);
    sum = addChecksum(data, addChecksum(head.subarray(0, 8), sum));
    sum.forEach((value, index) => head.writeUInt32BE(value, 16 + 4 * index));
    return Buffer.concat([head, data]);
  };
  const frames = Array.from({ length: count }, (_, index) =>
    frame(index + 1, whole.subarray(index * pageSize, (index + 1) * pageSize), index + 1 === count ? count : 0),
  );
  // A change that was never committed, and the end of an older log.
  const uncommitted = frame(1, Buffer.alloc(pageSize, 7), 0);
  return { file, log: Buffer.concat([header, ...frames, uncommitted, Buffer.alloc(24 + pageSize, 9)]) };
};

type LogChecksum = readonly [first: number, second: number];

const addChecksum = (bytes: Buffer, [first, second]: LogChecksum): LogChecksum => {
  for (let at = 0; at < bytes.length; at += 8) {
    first = (first + bytes.readUInt32LE(at) + second) >>> 0;
    second = (second + bytes.readUInt32LE(at + 4) + first) >>> 0;
  }
  return [first, second];
};

/** Writes the leaves of a table and, if there are several, levels of interior pages above them; returns the root. */
const writeTree = (pages: Buffer[], cells: readonly Buffer[]): number => {
  let level = inGroups(cells, pageSize - 8).map((group) => pages.push(writeLeaf(group, 0)));
  if (level.length === 0) return pages.push(writeLeaf([], 0));
  while (level.length > 1) {
    const groups: number[][] = [];
    level.forEach((page, index) => (index % 20 === 0 ? groups.push([page]) : groups.at(-1)!.push(page)));
    level = groups.map((group) => pages.push(writeInterior(group)));
  }
  return level[0]!;
};

const inGroups = (cells: readonly Buffer[], room: number): readonly (readonly Buffer[])[] => {
  const groups: Buffer[][] = [];
  let used = room;
  for (const cell of cells) {
    if (used + cell.length + 2 > room) {
      groups.push([]);
      used = 0;
    }
    groups.at(-1)!.push(cell);
    used += cell.length + 2;
  }
  return groups;
};

const writeLeaf = (cells: readonly Buffer[], start: number): Buffer => {
  const page = Buffer.alloc(pageSize);
  page[start] = 13;
  page.writeUInt16BE(cells.length, start + 3);
  let end = pageSize;
  cells.forEach((cell, index) => {
    end -= cell.length;
    cell.copy(page, end);
    page.writeUInt16BE(end, start + 8 + 2 * index);
  });
  page.writeUInt16BE(end, start + 5);
  return page;
};

const writeInterior = (children: readonly number[]): Buffer => {
  const page = Buffer.alloc(pageSize);
  page[0] = 5;
  page.writeUInt16BE(children.length - 1, 3);
  page.writeUInt32BE(children.at(-1)!, 8);
  children.slice(0, -1).forEach((child, index) => {
    const at = pageSize - 5 * (index + 1);
    page.writeUInt32BE(child, at);
    page[at + 4] = index + 1;
    page.writeUInt16BE(at, 12 + 2 * index);
  });
  return page;
};

const encodeCell = (pages: Buffer[], row: readonly (string | number)[], rowId: number): Buffer => {
  const values = row.map((value) => {
    if (typeof value === "string") return Buffer.from(value);
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64BE(BigInt(value));
    return bytes;
  });
  const types = row.map((value, index) => varint(typeof value === "string" ? 13 + 2 * values[index]!.length : 6));
  const typeBytes = Buffer.concat(types);
  const headerSize = typeBytes.length + (typeBytes.length < 127 ? 1 : 2);
  const payload = Buffer.concat([varint(headerSize), typeBytes, ...values]);
  const local = localSize(payload.length);
  const parts = [varint(payload.length), varint(rowId), payload.subarray(0, local)];
  if (local === payload.length) return Buffer.concat(parts);
  const pointer = Buffer.alloc(4);
  pointer.writeUInt32BE(writeOverflow(pages, payload.subarray(local)));
  return Buffer.concat([...parts, pointer]);
};

const writeOverflow = (pages: Buffer[], rest: Buffer): number => {
  const page = Buffer.alloc(pageSize);
  const own = pages.push(page);
  rest.copy(page, 4, 0, pageSize - 4);
  if (rest.length > pageSize - 4) page.writeUInt32BE(writeOverflow(pages, rest.subarray(pageSize - 4)), 0);
  return own;
};

const localSize = (size: number): number => {
  if (size <= pageSize - 35) return size;
  const least = Math.floor(((pageSize - 12) * 32) / 255) - 23;
  const wanted = least + ((size - least) % (pageSize - 4));
  return wanted <= pageSize - 35 ? wanted : least;
};

const varint = (value: number): Buffer => {
  const bytes = [value & 127];
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128)) bytes.unshift((rest & 127) | 128);
  return Buffer.from(bytes);
};
