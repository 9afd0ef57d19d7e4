/** Lists the nested repositories (submodules) in a git index; undefined if the index cannot be parsed with certainty. */
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

/** "DIRC", the signature; and "link", the only extension after the entries that stores entries in another file. */
const signature = 0x44495243;
const linkExtension = 0x6c696e6b;

/** The file mode of a nested repository (gitlink). */
const repositoryMode = 0o160000;

/** Reads all entries with object names of `hash` bytes; undefined if the data does not end where it should. */
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
    const [sharedLength, from] = version === 4 ? readSharedPrefix(view, start, name.length) : [0, start];
    const to = findNameEnd(view, from, end);
    if (to === undefined || sharedLength < 0) return undefined;
    // Only version 4 builds a name on the one before, so other names need no copy.
    if (version === 4 || mode === repositoryMode) name = [...name.slice(0, sharedLength), ...readBytes(view, from, to)];
    if (mode === repositoryMode) found.push(new TextDecoder().decode(Uint8Array.from(name)));
    at = version === 4 ? to + 1 : at + Math.ceil((to - at + 1) / 8) * 8;
  }
  return isComplete(view, at, end) ? found : undefined;
};

/** Reads the length shared with the name before (version 4 stores the bytes to drop as a varint). */
const readSharedPrefix = (view: DataView, start: number, length: number): readonly [kept: number, from: number] => {
  let at = start;
  let byte = view.getUint8(at++);
  let droppedBytes = byte & 127;
  while ((byte & 128) !== 0) {
    byte = view.getUint8(at++);
    droppedBytes = ((droppedBytes + 1) << 7) | (byte & 127);
  }
  return [length - droppedBytes, at];
};

const findNameEnd = (view: DataView, from: number, end: number): number | undefined => {
  for (let at = from; at < end; at++) if (view.getUint8(at) === 0) return at;
  return undefined;
};

const readBytes = (view: DataView, from: number, to: number): Uint8Array =>
  new Uint8Array(view.buffer, view.byteOffset + from, to - from);

/** Whether the extensions after the entries are complete up to the checksum and none stores entries elsewhere. */
const isComplete = (view: DataView, from: number, end: number): boolean => {
  let at = from;
  while (at + 8 <= end) {
    if (view.getUint32(at) === linkExtension) return false;
    at += 8 + view.getUint32(at + 4);
  }
  return at === end;
};
