import { beforeAll, describe, expect, it } from "vitest";
import type { FaultPlan } from "../../src/sim/faults/fault.ts";
import type { ScriptReply } from "../../src/sim/model/script.ts";
import {
  cutAt,
  framesIn,
  decodeRecording,
  recordStream,
  type DecodedRecording,
  type RecordedStream,
} from "../support/record-stream.ts";
import { fc } from "../support/fast-check.ts";
import { testedProviders } from "../support/tested-providers.ts";
import { perTier } from "../support/tier.ts";

/*
 * A stream is bytes. Where the network cuts them into pieces must not change
 * what is read, and what never came must not be made up.
 */

const look = (at: string): { readonly tool: string; readonly input: unknown } => ({ tool: "look", input: { at } });

/** Thinking, words and two calls, with characters of two, three and four bytes. */
const busy: ScriptReply = { think: "Hm, ü.", say: "Grüße 👋 日本.", call: [look("ä"), look("👋")] };

const answers: readonly (readonly [what: string, reply: ScriptReply, faults?: FaultPlan])[] = [
  ["thinks, speaks and calls twice", busy],
  ["only speaks", { say: "Ja. 👋🏽" }],
  ["reached its limit", { think: "Hm.", say: "Ich wollte noch 日", finish: "length" }],
  ["was filtered", { say: "Es war ein", finish: "filtered" }],
  ["declined", { say: "Das tue ich nicht.", finish: "refused" }],
  ["failed in the middle", busy, [{ fault: { type: "stream-error", after: 3, status: 529 } }]],
];

const names = testedProviders;

/** Streams below `short` bytes are cut at every `stride`th byte, longer ones at a third of these; all around every line and event. */
const short = 6000;
const stride = perTier({ quick: 24, all: 1 });
const randomCuts = perTier({ quick: 3, all: 10 });

/** Cohere's errors are sentences without a name, which within a stream tell nothing. */
const failureOf = (name: string): string => (name === "cohere" ? "stream-cut" : "overloaded");

/**
 * What may be missing at the end of a stream, with the answer still whole: the blank line after the last event. Amazon's
 * counts come after the end of the answer; and who need not mark the end has ended once it is said why.
 */
const spareEnd = (name: string): RegExp => {
  switch (name) {
    case "bedrock":
      return /^.{12}.:event-type...metadata[^]*"usage"[^]*$/s;
    case "minimax":
    case "cohere":
    case "local":
      return /^\n\ndata: \{[^\n]*"choices":\[\][^\n]*"usage":\{[^\n]*\}\n\ndata: \[DONE\]\n\n$/;
    default:
      return /^(\n\n|\r\n\r\n)$/;
  }
};

describe.each(names)("a stream of %s", (name) => {
  let streams: readonly RecordedStream[];
  let whole: readonly DecodedRecording[];
  beforeAll(async () => {
    streams = await Promise.all(answers.map(([, reply, faults]) => recordStream(name, reply, faults)));
    whole = await Promise.all(streams.map((stream) => decodeRecording(stream, [stream.bytes])));
  });

  it("is an answer, or says that there is none", () => {
    const ends = whole.map(({ events, failure }) => failure ?? events.filter(({ type }) => type === "finish").length);
    expect(ends).toEqual([1, 1, 1, 1, 1, failureOf(name)]);
  });

  it("reads the same in any pieces, down to single bytes", async () => {
    for (const [index, stream] of streams.entries()) {
      const { bytes } = stream;
      expect(await decodeRecording(stream, cutAt(bytes, [...bytes.keys()]))).toEqual(whole[index]);
      const property = fc.asyncProperty(fc.array(fc.nat(bytes.length), { maxLength: 12 }), async (places) => {
        expect(await decodeRecording(stream, cutAt(bytes, places))).toEqual(whole[index]);
      });
      await fc.assert(property, { numRuns: randomCuts });
    }
  });

  it("holds the same events when it is cut in two, wherever", async () => {
    const [stream] = streams as [RecordedStream];
    const expected = JSON.stringify(await framesIn(stream, [stream.bytes]));
    const different: number[] = [];
    for (const place of placesIn(stream)) {
      const frames = await framesIn(stream, cutAt(stream.bytes, [place]));
      if (JSON.stringify(frames) !== expected) different.push(place);
    }
    expect(different).toEqual([]);
  });

  it("is no answer when it breaks off, and holds no more than was said until then", async () => {
    const [stream] = streams as [RecordedStream];
    const { bytes } = stream;
    const enough: number[] = [];
    for (const length of placesIn(stream)) {
      const read = await decodeRecording(stream, [bytes.subarray(0, length)]);
      if (isSame(read, whole[0]!)) enough.push(length);
      else expectBeginning(read, whole[0]!, length);
    }
    const least = enough[0] ?? bytes.length;
    expect(enough).toEqual(placesIn(stream).filter((length) => length >= least));
    expect(Buffer.from(bytes.subarray(least)).toString("latin1")).toMatch(spareEnd(name));
  });

  it.each(answers.slice(1).map(([what], index) => [what, index + 1] as const))(
    "that %s is not taken for another answer when it breaks off",
    async (_, index) => {
      const stream = streams[index]!;
      for (const length of edgesIn(stream)) {
        const read = await decodeRecording(stream, [stream.bytes.subarray(0, length)]);
        if (!isSame(read, whole[index]!)) expectBeginning(read, whole[index]!, length);
      }
    },
  );
});

/** Whether two readings differ in nothing but what was counted. */
const isSame = (one: DecodedRecording, other: DecodedRecording): boolean => uncounted(one) === uncounted(other);

const uncounted = ({ events, failure }: DecodedRecording): string =>
  JSON.stringify([failure, events.filter(({ type }) => type !== "usage")]);

/** A reading that broke off: the first events of the whole, no end, and no call that had not ended. */
const expectBeginning = ({ events, failure }: DecodedRecording, whole: DecodedRecording, length: number): void => {
  const isBeginning = events.every((event, index) => JSON.stringify(event) === JSON.stringify(whole.events[index]));
  if (isBeginning && failure === "stream-cut") return;
  expect({ length, failure, events }).toEqual({
    length,
    failure: "stream-cut",
    events: whole.events.slice(0, events.length),
  });
};

const placesIn = (stream: RecordedStream): readonly number[] => {
  const { bytes } = stream;
  const edges = new Set(edgesIn(stream));
  return [...bytes.keys(), bytes.length].filter(
    (place) =>
      place % (bytes.length < short ? stride : 3 * stride) === 0 ||
      edges.has(place) ||
      bytes.subarray(place - 2, place + 2).includes(lineFeed),
  );
};

const lineFeed = 10;

/** Around each place where an event ends. */
const edgesIn = ({ edges, bytes }: RecordedStream): readonly number[] =>
  edges.flatMap((edge) => [edge - 3, edge - 1, edge, edge + 1]).filter((edge) => edge >= 0 && edge < bytes.length);
