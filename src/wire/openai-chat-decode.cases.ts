import { destinationOf } from "../providers/find.ts";
import { answerOf, eventsOf, type Answer } from "./decode.cases.ts";
import type { AnswerEvent, Decoding, Frame } from "./decode.ts";

/** A chunk with one delta. */
export const chunk = (delta: unknown, finish_reason: string | null = null, more: object = {}): Frame => ({
  name: "",
  data: { id: "c1", model: "m", choices: [{ index: 0, delta, finish_reason }], ...more },
});

/** The line that ends a stream. */
export const doneLine: Frame = { name: "[DONE]", data: undefined };

/** How an answer of this model is read. */
export const opened =
  (model: string): (() => Decoding) =>
  () =>
    destinationOf(model).wire.decode.open();

/** Everything that is told about these frames, of a server of this kind. */
export const told = (model: string, ...frames: readonly Frame[]): readonly AnswerEvent[] =>
  eventsOf(opened(model), frames);

/** The answer these frames make: its parts, and what else was told. */
export const answer = (model: string, ...frames: readonly Frame[]): Answer => answerOf(opened(model), frames);

/** The answer that deltas make, one after another, when the stream then ends as it should. */
export const said = (model: string, ...deltas: readonly unknown[]): Answer =>
  answer(model, ...deltas.map((delta) => chunk(delta)), chunk({}, "stop"), doneLine);

/** A whole answer, read. */
export const readWhole = (model: string, body: unknown): Answer =>
  answer(model, ...destinationOf(model).wire.decode.frames(body));
