import { destinationOf } from "../../providers/find.ts";
import { decodeAll, eventsOf, type DecodedCase } from "../decode/decode.cases.ts";
import type { ResponseEvent, StreamDecoder, StreamFrame } from "../decode/events.ts";

/** A chunk with one delta. */
export const chunk = (delta: unknown, finish_reason: string | null = null, more: object = {}): StreamFrame => ({
  name: "",
  data: { id: "c1", model: "m", choices: [{ index: 0, delta, finish_reason }], ...more },
});

/** The line that ends a stream. */
export const doneLine: StreamFrame = { name: "[DONE]", data: undefined };

/** How an answer of this model is read. */
export const openDecoder =
  (model: string): (() => StreamDecoder) =>
  () =>
    destinationOf(model).wire.decode.open();

/** Decodes frames of a server of this kind into events. */
export const decodeChat = (model: string, ...frames: readonly StreamFrame[]): readonly ResponseEvent[] =>
  eventsOf(openDecoder(model), frames);

/** Decodes frames into parts and other events. */
export const decodeFrames = (model: string, ...frames: readonly StreamFrame[]): DecodedCase =>
  decodeAll(openDecoder(model), frames);

/** The answer that deltas make, one after another, when the stream then ends as it should. */
export const decodeDeltas = (model: string, ...deltas: readonly unknown[]): DecodedCase =>
  decodeFrames(model, ...deltas.map((delta) => chunk(delta)), chunk({}, "stop"), doneLine);

/** A whole answer, read. */
export const decodeBody = (model: string, body: unknown): DecodedCase =>
  decodeFrames(model, ...destinationOf(model).wire.decode.frames(body));
