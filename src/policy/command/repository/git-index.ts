/** The paths in git's index that are repositories of their own; undefined where the index cannot be read for sure. */
export const listNestedRepositories = (index: Uint8Array): readonly string[] | undefined => {
  const view = new DataView(index.buffer, index.byteOffset, index.byteLength);
  if (index.length < 12 || view.getUint32(0) !== signature) return undefined;
  const version = view.getUint32(4);
  if (version < 2 || version > 4) return undefined;
  try {
    return [20, 32].map((hash) => readEntries(view, version, hash)).find((found) => found !== undefined);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
};

/** "DIRC", and the kinds of what may follow the entries: "link" alone keeps entries in another file. */
const signature = 0x44495243;
const linkExtension = 0x6c696e6b;

/** The mode of a repository inside a repository. */
const repositoryMode = 0o160000;

/** Reads all entries with names of objects this long; undefined where that does not end where it should. */
const readEntries = (view: DataView, version: number, hash: number): readonly string[] | undefined => {
  const found: string[] = [];
  const end = view.byteLength - hash;
  let name: readonly number[] = [];
  let at = 12;
  for (let left = view.getUint32(8); left > 0; left--) {
    if (at + 42 + hash > end) return undefined;
    const mode = view.getUint32(at + 24);
    const flags = view.getUint16(at + 40 + hash);
    const start = at + 42 + hash + (version > 2 && (flags & 0x4000) !== 0 ? 2 : 0);
    const [kept, from] = version === 4 ? readSharedPrefix(view, start, name.length) : [0, start];
    const to = findNameEnd(view, from, end);
    if (to === undefined || kept < 0) return undefined;
    // Names that nothing is built on are not worth copying.
    if (version === 4 || mode === repositoryMode) name = [...name.slice(0, kept), ...readBytes(view, from, to)];
    if (mode === repositoryMode) found.push(new TextDecoder().decode(Uint8Array.from(name)));
    at = version === 4 ? to + 1 : at + Math.ceil((to - at + 1) / 8) * 8;
  }
  return isComplete(view, at, end) ? found : undefined;
};

/** How much of the name before is kept, as version 4 writes it: what to take off, in steps of seven bits. */
const readSharedPrefix = (view: DataView, start: number, length: number): readonly [kept: number, from: number] => {
  let at = start;
  let byte = view.getUint8(at++);
  let off = byte & 127;
  while ((byte & 128) !== 0) {
    byte = view.getUint8(at++);
    off = ((off + 1) << 7) | (byte & 127);
  }
  return [length - off, at];
};

const findNameEnd = (view: DataView, from: number, end: number): number | undefined => {
  for (let at = from; at < end; at++) if (view.getUint8(at) === 0) return at;
  return undefined;
};

const readBytes = (view: DataView, from: number, to: number): Uint8Array =>
  new Uint8Array(view.buffer, view.byteOffset + from, to - from);

/** Whether what follows the entries is whole, up to the checksum, and keeps no entries elsewhere. */
const isComplete = (view: DataView, from: number, end: number): boolean => {
  let at = from;
  while (at + 8 <= end) {
    if (view.getUint32(at) === linkExtension) return false;
    at += 8 + view.getUint32(at + 4);
  }
  return at === end;
};
