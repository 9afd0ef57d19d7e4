import type { WireId } from "../src/wire/wire.ts";
import { shapes, type Event, type Round } from "./shapes.ts";

/** The events of an answer, in order, each as the bytes one vendor would send for it. */
export type Stream = readonly Uint8Array[];

/**
 * An answer of about so many bytes in many small pieces, the same in every run:
 * rounds of thinking, words and a call, as each API streams them.
 */
export const streamOf = (family: WireId, size: number): Stream => {
  const shape = shapes[family];
  const random = numbers();
  const events: Uint8Array[] = [];
  let bytes = 0;
  const add = (some: readonly Event[]): void => {
    for (const event of some) {
      const written = shape.write(event);
      events.push(written);
      bytes += written.length;
    }
  };
  add(shape.head);
  for (let round = 0; bytes < size; round++) add(shape.round(round, said(random)));
  add(shape.tail);
  return events;
};

/** The bytes of a stream, cut without regard to its events, as a socket hands them over. */
export const inChunks = (stream: Stream, size: number): readonly Uint8Array[] => {
  const all = Buffer.concat(stream);
  return Array.from({ length: Math.ceil(all.length / size) }, (_, index) =>
    Uint8Array.prototype.slice.call(all, index * size, (index + 1) * size),
  );
};

/** One event of one family around a text, and nothing it could do without. */
export const tinyEvent = (family: WireId, text: string): Uint8Array => shapes[family].write(shapes[family].tiny(text));

/** The event that must stand before others. */
export const firstEvents = (family: WireId): Stream => shapes[family].opening.map(shapes[family].write);

/** Numbers from 0 up to 1 that look random. */
const numbers = (): (() => number) => {
  let state = 1;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
};

const said = (random: () => number): Round => {
  const pieces = (count: number): readonly string[] => Array.from({ length: count }, () => piece(random));
  return { thinking: pieces(50), text: pieces(350), call: ['{"path":"src/', ...pieces(100).map(inJson), '"}'] };
};

/** 20 to 60 letters, now and then with one that is not ASCII. */
const piece = (random: () => number): string => {
  const at = Math.floor(random() * (prose.length - 60));
  const words = prose.slice(at, at + 20 + Math.floor(random() * 41));
  return random() < 0.02 ? `${words}’s 👋` : words;
};

const prose =
  "The reader of a stream sees a word as soon as it is said, and nothing is kept that has been handed on. " +
  'A call\'s arguments come in pieces: "path", then a colon, then a name.\nNothing may be read into them before they end. ' +
  "Where two answers cross, each keeps its own place, and what one of them loses the other does not find. ";

const inJson = (text: string): string => JSON.stringify(text).slice(1, -1);
