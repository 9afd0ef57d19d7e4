import { describe, expect, it } from "vitest";
import type { ContentEvent } from "../../transport/events.ts";
import { contextFor, decodeStream, encodeStream, partsIn, unwrapCargo } from "./round-trip.cases.ts";
import { createSequencer, type SequenceEvent } from "./sequence.ts";

const inSequence = (...events: readonly ContentEvent[]): readonly (readonly SequenceEvent[])[] => {
  const sequence = createSequencer();
  return events.map((event) => sequence(event));
};
const call = { type: "call", tool: "look", input: { text: '{"n":1}' }, seal: { id: "a" } } as const;
const thought = { type: "thinking", text: "Hm.", seal: { details: [{ type: "reasoning.text" }] } } as const;

/** OpenRouter: the details of the reasoning arrive last. */
const lateDetails: readonly ContentEvent[] = [
  { type: "thinking-delta", index: 0, text: "Hm." },
  { type: "text-delta", index: 1, text: "I look." },
  { type: "part-end", index: 1, part: { type: "text", text: "I look." } },
  { type: "call-start", index: 2, tool: "look", id: "a" },
  { type: "call-delta", index: 2, text: '{"n":1}' },
  { type: "part-end", index: 0, part: thought },
  { type: "part-end", index: 2, part: call },
  { type: "finish", reason: "calls" },
];

describe("events in sequence", () => {
  it("stream text before the seal of earlier thinking is known", () => {
    expect(inSequence(...lateDetails.slice(0, 2)).flat()).toEqual([
      { type: "open", kind: "thinking" },
      { type: "delta", text: "Hm." },
      { type: "close", part: { type: "thinking", text: "Hm." } },
      { type: "open", kind: "text" },
      { type: "delta", text: "I look." },
    ]);
  });

  it("give a late seal to the client before the next call", async () => {
    const parts = partsIn(await decodeStream("anthropic", encodeStream("anthropic", lateDetails, contextFor())));
    expect(parts.map(({ type }) => type)).toEqual(["thinking", "text", "thinking", "call"]);
    const carrier = parts[2];
    expect(unwrapCargo(carrier?.type === "thinking" ? carrier.seal?.signature : "")).toEqual({
      thinking: thought.seal,
    });
  });

  it("put thinking that continues during a text after that text", () => {
    const events = inSequence(
      { type: "thinking-delta", index: 0, text: "Hm" },
      { type: "text-delta", index: 1, text: "I " },
      { type: "thinking-delta", index: 0, text: "." },
      { type: "part-end", index: 0, part: { type: "thinking", text: "Hm." } },
      { type: "text-delta", index: 1, text: "look." },
      { type: "part-end", index: 1, part: { type: "text", text: "I look." } },
    );
    expect(events.slice(2).flat()).toEqual([
      { type: "delta", text: "look." },
      { type: "close", part: { type: "text", text: "I look." } },
      { type: "open", kind: "thinking" },
      { type: "delta", text: "." },
      { type: "close", part: { type: "thinking", text: "." } },
    ]);
  });

  it("hold back arguments that are not yet JSON, and send them when the call ends", () => {
    const events = inSequence(
      { type: "call-start", index: 0, tool: "look" },
      { type: "call-delta", index: 0, text: "cat.png" },
      { type: "part-end", index: 0, part: { type: "call", tool: "look", input: { value: { path: "cat.png" } } } },
    );
    expect(events.slice(0, 2)).toEqual([[], []]);
    expect(events[2]?.[1]).toEqual({ type: "delta", text: '{"path":"cat.png"}' });
  });

  it("never end a call with other arguments than those that were streamed", () => {
    const events = inSequence(
      { type: "call-start", index: 0, tool: "look" },
      { type: "call-delta", index: 0, text: '{"n":2' },
      { type: "part-end", index: 0, part: call },
    );
    expect(events.at(-1)).toEqual([{ type: "mismatch", tool: "look" }]);
  });

  it("mark a call that was cut by a limit", () => {
    const events = inSequence(
      { type: "call-start", index: 0, tool: "look" },
      { type: "call-delta", index: 0, text: '{"n":' },
      { type: "finish", reason: "length" },
    );
    expect(events.at(-1)).toEqual([{ type: "cut" }, { type: "finish", reason: "length", raw: undefined }]);
  });
});
