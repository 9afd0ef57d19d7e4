import { cpus, loadavg } from "node:os";
import { destinationOf, findProvider, homeProviders, wireIds } from "../src/providers/find.ts";
import { createEventStreamParser, createSseParser } from "../src/transport/stream/frames.ts";
import type { TransportEvent } from "../src/transport/events.ts";
import { openTransport } from "../src/transport/transport.ts";
import type { ResponseEvent } from "../src/wire/decode/events.ts";
import type { WireId } from "../src/wire/wire.ts";
import { realWorld } from "../src/world/real/world.ts";
import { firstEvents, inChunks, streamOf, tinyEvent, type Stream } from "./streams.ts";
import { howToInstall, vendorReads, type Heard, type Reads } from "./vendors.ts";

/*
 * npm run bench:stream, or with a number: so many megabytes instead of 50
 * Decode: many small events, read by us and by the vendor's own SDK, from the same bytes, in turns. `ours` is frames
 * and decoder, `send` the whole transport but for the network. Ratios are to the SDK. `held` is what had to be kept
 * in memory, `lag` by how many chunks an event came later than the chunk that completed it, in `ours` or `send`.
 * Growth: what one event costs among ten times as many, and one megabyte in a line four times as long.
 */
const megabytes = Number(process.argv[2] ?? 50);
const rounds = 5;
const socket = 16_384;

type Body = AsyncIterable<Uint8Array>;

const inMemory = async function* (chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
};

/** Frames and decoder alone. Hears of the events of each frame. */
const decode = async (family: WireId, body: Body, hear: (events: readonly ResponseEvent[]) => void): Promise<void> => {
  const reader = destinationOf(homeProviders[family]).wire.decode.open();
  const { push, end } = await (family === "bedrock" ? createEventStreamParser() : createSseParser());
  for await (const chunk of body) for (const frame of push(chunk).frames) hear(reader.step(frame));
  for (const frame of end().frames) hear(reader.step(frame));
  hear(reader.end());
};

/** The same through the whole transport, event by event, as a program gets it. */
const send = (family: WireId, body: Body): AsyncIterable<TransportEvent> => {
  const provider = findProvider(homeProviders[family]);
  const type = family === "bedrock" ? "application/vnd.amazon.eventstream" : "text/event-stream";
  const net = { send: async () => ({ status: 200, headers: { "content-type": type }, body }) };
  const url = "http://localhost/";
  const gate = { prepare: async () => ({ method: "POST", url, headers: {} }) as const, locate: () => ({ url }) };
  const transport = openTransport({ world: { ...realWorld(), net }, signer: gate });
  return transport.send({ provider, model: provider.defaultModel, body: {} });
};

const decodes =
  (family: WireId): Reads =>
  async (chunks) => {
    const total = { events: 0, letters: 0 };
    await decode(family, inMemory(chunks), (events) => {
      for (const event of events) count(total, event);
    });
    return total;
  };

const sends =
  (family: WireId): Reads =>
  async (chunks) => {
    const total = { events: 0, letters: 0 };
    for await (const event of send(family, inMemory(chunks))) count(total, event);
    return total;
  };

const count = (total: { events: number; letters: number }, event: TransportEvent | ResponseEvent): void => {
  total.events += 1;
  if (event.type === "text-delta" || event.type === "thinking-delta" || event.type === "call-delta")
    total.letters += event.text.length;
};

const time = async (reads: Reads, chunks: readonly Uint8Array[]): Promise<{ ms: number; heard: Heard }> => {
  globalThis.gc?.();
  const start = process.hrtime.bigint();
  const heard = await reads(chunks);
  return { ms: Number(process.hrtime.bigint() - start) / 1e6, heard };
};

/** Some ways to read the same bytes, in turns. The first turn warms up and does not count. */
const sideBySide = async (ways: readonly Reads[], chunks: readonly Uint8Array[]) => {
  const times = ways.map((): number[] => []);
  const heard: Heard[] = [];
  for (let round = 0; round <= rounds; round++)
    for (const [index, reads] of ways.entries()) {
      const result = await time(reads, chunks);
      heard[index] = result.heard;
      if (round > 0) times[index]!.push(result.ms);
    }
  if (new Set(heard.map(({ letters }) => letters)).size > 1)
    throw new Error(`Not everyone heard the same: ${JSON.stringify(heard)}`);
  return ways.map((_, index) => ({ ms: median(times[index]!), heard: heard[index]! }));
};

const median = (values: readonly number[]): number => values.toSorted((one, other) => one - other)[values.length >> 1]!;

/** The most that is held while a stream is read, in megabytes: what open parts have said, and what we need besides. */
const held = async (family: WireId, chunks: readonly Uint8Array[]): Promise<number> => {
  let least = Number.POSITIVE_INFINITY;
  let most = 0;
  const watched = async function* (): AsyncGenerator<Uint8Array> {
    for (const [index, chunk] of chunks.entries()) {
      yield chunk;
      if (index % Math.ceil(chunks.length / 32) !== 0) continue;
      const now = heap();
      least = Math.min(least, now);
      most = Math.max(most, now - least);
    }
  };
  await decode(family, watched(), () => undefined);
  return most;
};

const heap = (): number => {
  globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return (heapUsed + arrayBuffers) / 1e6;
};

/** The most chunks that had been handed over after the one that completed an event, when that event was told. */
const lag = async (family: WireId, stream: Stream, size: number): Promise<number> => {
  let end = 0;
  const completed = stream.map((event) => Math.floor(((end += event.length) - 1) / size));
  const completedBy: number[] = [];
  let frame = 0;
  let last = -1;
  const slowly = async function* (): AsyncGenerator<Uint8Array> {
    last = -1;
    for (const chunk of inChunks(stream, size)) {
      await Promise.resolve();
      last += 1;
      yield chunk;
    }
  };
  let most = 0;
  await decode(family, slowly(), (events) => {
    const due = completed[frame++] ?? last;
    most = Math.max(most, last - due);
    for (const _ of events) completedBy.push(due);
  });
  let told = 0;
  for await (const event of send(family, slowly()))
    if (event.type !== "request") most = Math.max(most, last - completedBy[told++]!);
  return frame === stream.length + 1 && told === completedBy.length ? most : Number.NaN;
};

const row = (cells: readonly (string | number)[], widths: readonly number[]): void => {
  const padded = widths.map((width, index) => String(cells[index])[index === 0 ? "padEnd" : "padStart"](width));
  process.stdout.write(`${padded.join(" ")}\n`);
};

const vendors = vendorReads();
if (vendors === undefined) process.stdout.write(`${howToInstall}\n`);
const load = loadavg().map((value) => value.toFixed(1));
process.stdout.write(`node ${process.version}, ${cpus().length} cores, load ${load.join(" ")}\n\n`);

const widths = [17, 5, 8, 8, 6, 8, 6, 8, 8, 4];
row(["decode", "MB", "SDK ms", "ours ms", "ratio", "send ms", "ratio", "events", "held MB", "lag"], widths);
for (const family of wireIds) {
  const chunks = inChunks(streamOf(family, megabytes * 1e6), socket);
  const vendor = vendors?.[family];
  const ways = [decodes(family), sends(family), ...(vendor === undefined ? [] : [vendor])];
  const [ours, whole, sdk] = await sideBySide(ways, chunks);
  const ratio = (ms: number): string => (sdk === undefined ? "-" : (ms / sdk.ms).toFixed(2));
  const bytes = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  const times = [ours!.ms.toFixed(0), ratio(ours!.ms), whole!.ms.toFixed(0), ratio(whole!.ms)];
  const memory = (await held(family, chunks)).toFixed(1);
  const late = await lag(family, streamOf(family, 1e6), 700);
  row(
    [family, (bytes / 1e6).toFixed(0), sdk?.ms.toFixed(0) ?? "-", ...times, ours!.heard.events, memory, late],
    widths,
  );
}

const tiny = (family: WireId, events: number): readonly Uint8Array[] => {
  const event = tinyEvent(family, "a");
  return inChunks([...firstEvents(family), ...Array.from({ length: events }, () => event)], socket);
};

const oneLine = (family: WireId, length: number): readonly Uint8Array[] =>
  inChunks([...firstEvents(family), tinyEvent(family, "a".repeat(length))], 1000);

/** Milliseconds for one of so many things, the best of three. */
const each = async (family: WireId, things: number, chunks: readonly Uint8Array[]): Promise<number> => {
  const times: number[] = [];
  for (let round = 0; round < 3; round++) times.push((await time(decodes(family), chunks)).ms);
  return Math.min(...times) / things;
};

process.stdout.write("\n");
const growthWidths = [17, 11, 11, 6, 12, 12, 6];
row(["growth", "µs of 10^5", "µs of 10^6", "ratio", "ms/MB of 15", "ms/MB of 60", "ratio"], growthWidths);
for (const family of wireIds) {
  const few = (await each(family, 1e5, tiny(family, 1e5))) * 1000;
  const many = (await each(family, 1e6, tiny(family, 1e6))) * 1000;
  const short = await each(family, 15, oneLine(family, 15e6));
  const long = await each(family, 60, oneLine(family, 60e6));
  const cells = [few, many, many / few, short, long, long / short];
  row([family, ...cells.map((value) => value.toFixed(2))], growthWidths);
}
