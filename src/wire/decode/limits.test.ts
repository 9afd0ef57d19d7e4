import { describe, expect, it } from "vitest";
import { destinationOf } from "../../providers/find.ts";
import { decodeAll, eventsOf } from "./decode.cases.ts";
import type { StreamDecoder, StreamFrame } from "./events.ts";
import { perTier } from "../../../test/support/tier.ts";

const opening = (to: string) => (): StreamDecoder => destinationOf(to).wire.decode.open();

const named = (data: { readonly type: string } & Record<string, unknown>): StreamFrame => ({ name: data.type, data });

const numbersTo = (count: number): readonly number[] => Array.from({ length: count }, (_, number) => number);

describe("a Responses stream of very many items", () => {
  const message = (number: number): StreamFrame =>
    named({
      type: "response.output_item.done",
      item: { id: `msg_${number}`, type: "message", content: [{ type: "output_text", text: String(number) }] },
    });
  const lateWord = (item_id: string): StreamFrame =>
    named({ type: "response.output_text.delta", item_id, delta: "late" });
  const messages = numbersTo(3000).map(message);
  const open = opening("openai/gpt-5.6");

  it("tells each of them once, however often it is said", () => {
    const { parts, events: told } = decodeAll(open, [...messages, ...messages]);
    expect(parts).toEqual(
      numbersTo(3000).map((number) => ({ type: "text", text: String(number), seal: { item: `msg_${number}` } })),
    );
    expect(told).toEqual(messages.map(() => ({ type: "skipped", what: "message again" })));
  });

  it("knows a late word of any of them from one of an item that never began", () => {
    const places = messages.map(({ data }, output_index) =>
      named({ type: "response.output_item.done", output_index, ...(data as object) }),
    );
    const { events: told } = decodeAll(open, [
      ...places,
      ...["msg_0", "msg_1234", "msg_2999", "msg_3000"].map(lateWord),
    ]);
    const late = { type: "skipped", what: "response.output_text.delta after its item" };
    const what = "A piece of an item that never began: response.output_text.delta.";
    expect(told).toEqual([late, late, late, { type: "malformed", what }]);
  });

  it("is given up where the parts of one item have no end", () => {
    const item = { id: "m", type: "message", role: "assistant" };
    const words = numbersTo(1001).map((content_index) =>
      named({ type: "response.output_text.delta", item_id: "m", content_index, delta: "a" }),
    );
    const events = eventsOf(open, [named({ type: "response.output_item.added", item }), ...words, ...words]);
    expect(events.slice(0, 1001)).toEqual([
      ...numbersTo(1000).map((index) => ({ type: "text-delta", index, text: "a" })),
      { type: "malformed", what: "More than 1000 parts of an item are open at once." },
    ]);
  });
});

describe("a Bedrock piece with very many members", () => {
  it("is read to its end", () => {
    const count = perTier({ quick: 60_000, all: 300_000 });
    const reasoningContent = Object.fromEntries(numbersTo(count).map((number) => [`member${number}`, "a"]));
    const frame = { name: "contentBlockDelta", data: { contentBlockIndex: 0, delta: { reasoningContent } } };
    expect(eventsOf(opening("bedrock"), [frame])).toHaveLength(count);
  });
});
