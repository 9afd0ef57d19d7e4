import { indexFaults, seededRandom, createNetError, type SimFault } from "./fault.ts";

/** How the bytes of a response are sent. */
export type Delivery = {
  readonly faults: readonly SimFault[];
  /** Seeds the positions that faults leave open. */
  readonly seed: number;
  /** Bytes per chunk. Default: one event per chunk. */
  readonly chunkBytes?: number;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly signal?: AbortSignal;
};

/** Applies the faults that change a stream's events. `error` encodes the vendor's error event. */
export const applyEventFaults = (
  events: readonly (string | Uint8Array)[],
  { faults, seed }: Pick<Delivery, "faults" | "seed">,
  error: (fault: Extract<SimFault, { type: "stream-error" }>) => string | Uint8Array,
): readonly (string | Uint8Array)[] => {
  const random = seededRandom(seed);
  return faults.filter(isEventFault).reduce((now, fault) => {
    const place = (given?: number): number => given ?? Math.floor(random() * now.length);
    switch (fault.type) {
      case "duplicate": {
        const at = place(fault.event);
        return [...now.slice(0, at + 1), ...now.slice(at)];
      }
      case "swap": {
        const at = place(fault.event);
        return [...now.slice(0, at), ...now.slice(at, at + 2).toReversed(), ...now.slice(at + 2)];
      }
      case "drop":
        return now.toSpliced(place(fault.event), 1);
      case "malformed-event":
        return now.toSpliced(place(fault.after), 0, malformedEvent(now));
      case "huge-line":
        return now.toSpliced(place(fault.after), 0, hugeLine(now, fault.bytes));
      case "stream-error":
        return [...now.slice(0, place(fault.after)), error(fault)];
    }
  }, events);
};

const eventFaultTypes = ["duplicate", "swap", "drop", "malformed-event", "huge-line", "stream-error"] as const;
type EventFault = Extract<SimFault, { type: (typeof eventFaultTypes)[number] }>;
const isEventFault = (fault: SimFault): fault is EventFault => eventFaultTypes.some((type) => type === fault.type);

/** True for AWS event streams: binary frames that start with their length and its checksum. */
const isBinaryStream = (events: readonly (string | Uint8Array)[]): boolean => typeof events[0] !== "string";

const malformedEvent = (events: readonly (string | Uint8Array)[]): string | Uint8Array =>
  isBinaryStream(events)
    ? Buffer.from([0, 0, 0, 20, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])
    : 'data: {"type": \n\n';

const hugeLine = (events: readonly (string | Uint8Array)[], bytes: number): Uint8Array => {
  const line = Buffer.alloc(bytes, "x");
  if (!isBinaryStream(events)) line.write('data: {"x":"');
  else if (bytes >= 4) line.writeUInt32BE(bytes);
  return line;
};

/** Yields the body in chunks, with faults applied. Throws a `NetError` where the connection breaks. */
export async function* deliverBody(
  events: readonly (string | Uint8Array)[],
  { faults, seed, chunkBytes, sleep, signal }: Delivery,
): AsyncGenerator<Uint8Array> {
  const total = events.reduce((sum, event) => sum + Buffer.byteLength(event), 0);
  const random = seededRandom(seed + 1);
  const place = (given?: number): number => given ?? Math.floor(random() * total);
  const { corrupt, truncate, cut, slice, drip, garbage, ...named } = indexFaults(faults);
  const delay = named["delay-body"];
  const [broken, code] = cut === undefined ? [named["gzip-cut"], "Z_BUF_ERROR"] : [cut, "ECONNRESET"];
  const ends = broken ?? truncate;
  const stop = ends === undefined ? Infinity : place(ends.at);
  const bytes = garbage === undefined ? events : [...events, garbage.text ?? "\u0000garbage {]\n\n"];
  const whole = corrupt === undefined ? toBuffers(bytes) : corruptByte(toBuffers(bytes), place(corrupt.at));

  if (delay !== undefined) await sleep(delay.ms, signal);
  let sent = 0;
  for (const piece of splitIntoChunks(whole, slice?.bytes ?? chunkBytes)) {
    signal?.throwIfAborted();
    if (sent >= stop) break;
    if (drip !== undefined && sent > 0) await sleep(drip.ms, signal);
    yield sent + piece.length > stop ? piece.subarray(0, stop - sent) : piece;
    sent += piece.length;
  }
  signal?.throwIfAborted();
  if (broken !== undefined) throw createNetError("broken", code);
}

function* toBuffers(events: readonly (string | Uint8Array)[]): Generator<Buffer> {
  for (const event of events) yield Buffer.from(event);
}

function* corruptByte(pieces: Iterable<Buffer>, at: number): Generator<Buffer> {
  let before = 0;
  for (const piece of pieces) {
    const index = at - before;
    if (index >= 0 && index < piece.length) piece[index] = (piece[index] ?? 0) ^ 0x15;
    before += piece.length;
    yield piece;
  }
}

function* splitIntoChunks(pieces: Iterable<Buffer>, size: number | undefined): Generator<Buffer> {
  if (size === undefined) {
    yield* pieces;
    return;
  }
  const whole = Buffer.concat([...pieces]);
  for (let at = 0; at < whole.length; at += size) yield whole.subarray(at, at + size);
}
