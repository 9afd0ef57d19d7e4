import { expect } from "vitest";
import { done, text } from "../../conversation/builders.ts";
import type { JsonObject } from "../../conversation/json.ts";
import { Ledger, type NewPart } from "../../conversation/ledger.ts";
import { destinationOf } from "../../providers/find.ts";
import { RequestComposer } from "../compose.ts";
import type { ResponseEvent, ResponsePart, StreamDecoder, StreamFrame } from "./events.ts";
import { fc, runsPerTier } from "../../../test/support/fast-check.ts";

/** How a stream is opened. */
type OpenDecoder = () => StreamDecoder;

/** A decoded response: its parts in order, and all other events except deltas. */
export type DecodedCase = { readonly parts: readonly ResponsePart[]; readonly events: readonly ResponseEvent[] };

/** Decodes frames and the end of the stream into events. */
export const eventsOf = (open: OpenDecoder, frames: readonly StreamFrame[]): readonly ResponseEvent[] => {
  const reading = open();
  return [...frames.flatMap(reading.step), ...reading.end()];
};

/** Decodes frames into a response. */
export const decodeAll = (open: OpenDecoder, frames: readonly StreamFrame[]): DecodedCase => {
  const events = eventsOf(open, frames);
  return { parts: partsIn(events), events: events.filter(({ type }) => !/-delta$|^call-start$|^part-end$/.test(type)) };
};

/** The parts that ended, in the order they began. */
export const partsIn = (events: readonly ResponseEvent[]): readonly ResponsePart[] =>
  events
    .flatMap((event) => (event.type === "part-end" ? [event] : []))
    .toSorted((one, other) => one.index - other.index)
    .map(({ part }) => part);

/** Parts as they go back, in the next request, to the model that made them. Every call has returned "ok". */
export const encodeBack = (to: string, parts: readonly ResponsePart[]): JsonObject => {
  const { target } = destinationOf(to);
  const ledger = new Ledger();
  ledger.user([text("go")]);
  const said = parts.filter((part): part is NewPart & ResponsePart => part.type !== "file");
  for (const { id, tool } of ledger.model(target, said)) ledger.complete(id, tool, done("ok"));
  ledger.user([text("more")]);
  const composer = new RequestComposer({ destination: destinationOf(to), blobs: {} });
  composer.add(ledger.entries);
  return composer.body();
};

/**
 * Expects a decoder to stay calm whatever arrives: anything at all, good frames
 * with something else in one place, and good frames lost, doubled and out of order.
 */
export const expectRobust = (open: OpenDecoder, good: readonly StreamFrame[]): void => {
  const calls = partsIn(eventsOf(open, good)).filter(({ type }) => type === "call");
  const names = fc.constantFrom("", ...good.map(({ name }) => name));
  const anything = fc.array(fc.record({ name: names, data: fc.jsonValue() }), { maxLength: 8 });
  fc.assert(fc.property(anything, (frames) => expectOrderly(eventsOf(open, frames))));
  const place = fc.tuple(fc.nat(good.length - 1), fc.nat(60), fc.jsonValue());
  fc.assert(
    fc.property(fc.array(place, { minLength: 1, maxLength: 3 }), (changes) => {
      const frames = changes.reduce((now, [at, node, value]) => mutateFrames(now, { at, node, value }), good);
      expectOrderly(eventsOf(open, frames));
    }),
    { numRuns: runsPerTier(500) },
  );
  const shuffled = fc.array(fc.constantFrom(...good), { maxLength: good.length * 2 });
  fc.assert(
    fc.property(shuffled, (frames) => {
      const events = eventsOf(open, frames);
      expectOrderly(events);
      for (const part of partsIn(events)) if (part.type === "call") expect(calls).toContainEqual(part);
    }),
    { numRuns: runsPerTier(300) },
  );
};

/** At most one finish, nothing after it but what is passed over, and no part that ends twice or before it began. */
const expectOrderly = (events: readonly ResponseEvent[]): void => {
  const last = events.findIndex(({ type }) => type === "finish" || type === "error" || type === "malformed");
  if (last !== -1) expect(events.slice(last + 1).every(({ type }) => type === "skipped")).toBe(true);
  const ended = new Set<number>();
  for (const event of events) {
    if (!("index" in event)) continue;
    expect(ended.has(event.index)).toBe(false);
    if (event.type === "part-end") ended.add(event.index);
  }
};

/** The frames with one value in one of them replaced. */
const mutateFrames = (
  frames: readonly StreamFrame[],
  { at, node, value }: { at: number; node: number; value: unknown },
): readonly StreamFrame[] => {
  let left = node;
  const walk = (here: unknown): unknown => {
    if (left-- === 0) return value;
    if (Array.isArray(here)) return here.map(walk);
    if (typeof here !== "object" || here === null) return here;
    return Object.fromEntries(Object.entries(here).map(([key, inner]) => [key, walk(inner)]));
  };
  return frames.map((frame, index) => (index === at ? { ...frame, data: walk(frame.data) } : frame));
};
