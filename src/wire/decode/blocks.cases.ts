import { expect } from "vitest";
import { done, text } from "../../conversation/builders.ts";
import type { Origin } from "../../conversation/entry.ts";
import type { JsonObject } from "../../conversation/json.ts";
import { Ledger, type NewPart } from "../../conversation/ledger.ts";
import type { Target } from "../../transcript/target.ts";
import type { ResponseEvent, ResponsePart, ResponseDecoder, FinishReason, StreamFrame, TokenUsage } from "./events.ts";
import { write } from "../wire.cases.ts";
import type { Wire } from "../wire.ts";
import { fc } from "../../../test/support/fast-check.ts";

/** Everything a stream has to tell, to its end. */
export const eventsOf = (decode: ResponseDecoder<never>, frames: readonly StreamFrame[]): readonly ResponseEvent[] => {
  const { step, end } = decode.open(undefined as never);
  return [...frames.flatMap((frame) => step(frame)), ...end()];
};

/** An answer without its history: its parts, how it ended, what it cost. */
export type BlocksResponse = {
  readonly parts: readonly ResponsePart[];
  readonly finish?: FinishReason;
  readonly raw?: string;
  readonly usage?: TokenUsage;
};

/** A response after its stream has ended. */
export const collectResponse = (events: readonly ResponseEvent[]): BlocksResponse => {
  const finish = events.find((event) => event.type === "finish");
  const usage = events.findLast((event) => event.type === "usage")?.usage;
  return {
    parts: events.flatMap((event) => (event.type === "part-end" ? [event.part] : [])),
    ...(finish === undefined ? {} : { finish: finish.reason }),
    ...(finish?.raw === undefined ? {} : { raw: finish.raw }),
    ...(usage === undefined ? {} : { usage }),
  };
};

/** The events of one kind. */
export const only = <Type extends ResponseEvent["type"]>(
  type: Type,
  events: readonly ResponseEvent[],
): readonly Extract<ResponseEvent, { type: Type }>[] =>
  events.filter((event): event is Extract<ResponseEvent, { type: Type }> => event.type === type);

/** A frame with the name and type some event has. */
export const typed = (type: string, fields: Record<string, unknown> = {}): StreamFrame => ({
  name: type,
  data: { type, ...fields },
});

/** A frame as a binary event stream names it. */
export const named = (name: string, data: unknown = {}): StreamFrame => ({ name, data });

/** The model's own message as it goes back to its maker after the next step. */
export const encodeBack = <Dialect>(
  wire: Wire<Dialect>,
  answer: BlocksResponse,
  { from, target, dialect }: { readonly from: Origin; readonly target: Target; readonly dialect: Dialect },
): unknown => {
  const ledger = new Ledger();
  ledger.user([text("go")]);
  const parts = answer.parts.filter((part): part is NewPart & ResponsePart => part.type !== "file");
  for (const call of ledger.model(from, parts)) ledger.complete(call.id, call.tool, done("ok"));
  const conversation = { version: 1, entries: ledger.entries, blobs: {} } as const;
  const body: JsonObject = write(wire, conversation, { target, dialect, settings: {} });
  return wire.extractMessages(body)[1]?.["content"];
};

/** The contract of every decoder, whatever the frames are. `ends` are the names of frames that end a block or the answer. */
export type StreamContract = { readonly decode: ResponseDecoder<never>; readonly ends: readonly string[] };

/**
 * Expects that nothing is thrown, that there is one last word at most and only
 * `skipped` after it, that the parts of a finished answer are numbered without
 * gaps, and that a call ends only with the frame that ends its block or the answer.
 */
export const expectContract = ({ decode, ends }: StreamContract, frames: readonly StreamFrame[]): void => {
  const { step, end } = decode.open(undefined as never);
  const steps = [...frames.map((frame) => ({ frame, events: step(frame) })), { frame: undefined, events: end() }];
  const all = steps.flatMap(({ events }) => events);

  const last = all.findIndex(({ type }) => type === "finish" || type === "malformed" || type === "error");
  if (last !== -1)
    expect(new Set(all.slice(last + 1).map(({ type }) => type))).toEqual(
      new Set(all.length > last + 1 ? ["skipped"] : []),
    );

  const begun = new Set(all.flatMap((event) => ("index" in event ? [event.index] : [])));
  if (all[last]?.type === "finish")
    expect([...begun].toSorted((one, other) => one - other)).toEqual([...begun].map((_, index) => index));

  for (const { frame, events } of steps)
    if (frame !== undefined && !ends.includes(frame.name))
      expect(events.filter((event) => event.type === "part-end" && event.part.type === "call")).toEqual([]);
};

/** Good frames after some were lost, repeated and moved. */
export const arbitraryFaultyFrames = (frames: readonly StreamFrame[]): fc.Arbitrary<readonly StreamFrame[]> =>
  fc
    .array(fc.record({ at: fc.nat(frames.length - 1), fate: fc.constantFrom("drop", "repeat", "move") }), {
      maxLength: 6,
    })
    .map((fates) =>
      fates.reduce<readonly StreamFrame[]>((now, { at, fate }) => {
        const frame = now[at];
        if (frame === undefined) return now;
        if (fate === "repeat") return now.toSpliced(at, 0, frame);
        const without = now.toSpliced(at, 1);
        return fate === "drop" ? without : without.toSpliced((at * 7) % frames.length, 0, frame);
      }, frames),
    );
