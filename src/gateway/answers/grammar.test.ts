import { describe, expect, it } from "vitest";
import { fc, runsPerTier } from "../../../test/support/fast-check.ts";
import type { ContentEvent } from "../../transport/events.ts";
import type { FinishReason, ResponsePart } from "../../wire/decode/events.ts";
import type { AnswerOptions } from "./answer.ts";
import { answerEncoders } from "./encoders.ts";
import { checkGrammar, splitEvents, type StreamEvent } from "./grammar.cases.ts";
import { contextFor, inboundApis, someParts, someUsage } from "./round-trip.cases.ts";

const wholePart: fc.Arbitrary<ResponsePart> = fc.constantFrom(
  { type: "code", language: "python", text: "print(1)" },
  { type: "file", mimeType: "image/png", data: "AAAA" },
);

/** Parts in pieces: the events of each, in order. */
const tracks = fc
  .tuple(someParts, fc.array(wholePart, { maxLength: 1 }), fc.nat(6))
  .map(([parts, whole, place]): readonly ResponsePart[] => [...parts.slice(0, place), ...whole, ...parts.slice(place)])
  .map((parts) => parts.map(piecesOf));

/** Splits a part into the events that stream it, with the text in two pieces. */
const piecesOf = (part: ResponsePart, index: number): readonly ContentEvent[] => {
  const end: ContentEvent = { type: "part-end", index, part };
  if (part.type === "code" || part.type === "file") return [end];
  const whole = part.type === "call" ? ("text" in part.input ? part.input.text : "") : part.text;
  const letters = Array.from(whole);
  const half = Math.ceil(letters.length / 2);
  const pieces = [letters.slice(0, half).join(""), letters.slice(half).join("")].filter((text) => text !== "");
  if (part.type !== "call")
    return [...pieces.map((text) => ({ type: `${part.type}-delta`, index, text }) as const), end];
  const id = part.seal?.id;
  return [
    { type: "call-start", index, tool: part.tool, ...(id === undefined ? {} : { id }) },
    ...pieces.map((text) => ({ type: "call-delta", index, text }) as const),
    end,
  ];
};

/** Takes events from the tracks in an order that numbers choose. Parts start in their order. */
const interleave = (all: readonly (readonly ContentEvent[])[], choices: readonly number[]): readonly ContentEvent[] => {
  const left = all.map((events) => [...events]);
  const taken: ContentEvent[] = [];
  for (let turn = 0; left.some((events) => events.length > 0); turn += 1) {
    const next = left.findIndex((events, index) => events.length > 0 && events.length === all[index]?.length);
    const ready = left.filter((events, index) => events.length > 0 && (next === -1 || index <= next));
    const event = ready[(choices[turn % Math.max(1, choices.length)] ?? 0) % ready.length]?.shift();
    if (event !== undefined) taken.push(event);
  }
  return taken;
};

const reasons: readonly FinishReason[] = [
  ...(["stop", "calls", "length", "context", "filtered", "refused", "paused", "malformed", "other"] as const),
];

/** A response: events of parts in any order the core allows, whole or cut, with usage somewhere, and its end. */
const response = fc.record({
  events: fc.tuple(tracks, fc.array(fc.nat(6), { maxLength: 12 })).map(([all, choices]) => interleave(all, choices)),
  length: fc.oneof({ weight: 3, arbitrary: fc.constant(1000) }, { weight: 1, arbitrary: fc.nat(20) }),
  usageAt: fc.oneof(fc.constant(undefined), fc.nat(20)),
  hasStart: fc.boolean(),
  end: fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...reasons) },
    { weight: 1, arbitrary: fc.constant("failure" as const) },
  ),
  pings: fc.array(fc.boolean(), { maxLength: 8 }),
});
type SomeResponse = typeof response extends fc.Arbitrary<infer Value> ? Value : never;

const options: fc.Arbitrary<AnswerOptions> = fc.record({
  thinking: fc.constantFrom("shown", "sealed", "none"),
  includeUsage: fc.boolean(),
  thinkingField: fc.constantFrom("reasoning_content", "reasoning"),
  framing: fc.constantFrom("sse", "json-array"),
  tools: fc.constantFrom(
    new Map(),
    new Map([["run_shell_command", { type: "custom", name: "run_shell_command" } as const]]),
  ),
});

/** Encodes a response as the gateway does, and returns the events of the stream. */
const streamOf = (
  api: (typeof inboundApis)[number],
  { events, length, usageAt, hasStart, end, pings }: SomeResponse,
  chosen: AnswerOptions,
): readonly StreamEvent[] => {
  const parts = events.slice(0, length);
  // A response that was cut ends with a limit or a failure.
  const reason = end !== "failure" && parts.length < events.length ? "length" : end;
  const at = Math.min(usageAt ?? 0, parts.length);
  const usage: readonly ContentEvent[] = usageAt === undefined ? [] : [{ type: "usage", usage: someUsage }];
  const all: readonly ContentEvent[] = [
    ...(hasStart ? [{ type: "response-start", model: "target" } as const] : []),
    ...parts.slice(0, at),
    ...usage,
    ...parts.slice(at),
    ...(reason === "failure" ? [] : [{ type: "finish", reason } as const]),
  ];
  const stream = answerEncoders[api].openStream(contextFor(chosen));
  const pieces = all.map(
    (event, index) => (pings[index % pings.length] === true ? stream.ping() : "") + stream.push(event),
  );
  const failed = reason === "failure" ? stream.fail({ kind: "internal", detail: "The target broke off" }) : "";
  const text = pieces.join("") + failed + stream.end();
  if (api !== "gemini" || chosen.framing !== "json-array") return splitEvents(text);
  return (JSON.parse(text) as readonly unknown[]).map((chunk) => ({ name: "", data: JSON.stringify(chunk) }));
};

describe.each(inboundApis)("a stream in the %s API", (api) => {
  it("has its events in the vendor's order, whatever the order of the target's", () => {
    fc.assert(
      fc.property(response, options, (some, chosen) => {
        expect(checkGrammar(api, streamOf(api, some, chosen))).toEqual([]);
      }),
      { numRuns: runsPerTier(1000) },
    );
  });

  it("ends with its error where the arguments of a call changed while they were streamed", () => {
    const changed = { type: "call", tool: "look", input: { text: '{"n":1}' } } as const;
    const events: readonly ContentEvent[] = [
      { type: "call-start", index: 0, tool: "look" },
      { type: "call-delta", index: 0, text: '{"n":2' },
      { type: "part-end", index: 0, part: changed },
      { type: "text-delta", index: 1, text: "more" },
      { type: "part-end", index: 1, part: { type: "text", text: "more" } },
    ];
    const some = { events, length: 9, usageAt: 9, hasStart: true, end: "calls" as const, pings: [] };
    const stream = streamOf(api, some, { thinking: "shown" });
    expect(checkGrammar(api, stream)).toEqual([]);
    expect(stream.at(-1)?.data).toContain("changed while they were streamed");
  });

  it("is refused by the check if any event but a delta or a ping is missing, repeated or moved to the end", () => {
    const events: readonly ContentEvent[] = [
      { type: "text-delta", index: 0, text: "a" },
      { type: "part-end", index: 0, part: { type: "text", text: "a" } },
      { type: "call-start", index: 1, tool: "look" },
      { type: "part-end", index: 1, part: { type: "call", tool: "look", input: { text: '{"n":1}' } } },
    ];
    const some = { events, length: 9, usageAt: 9, hasStart: true, end: "calls" as const, pings: [] };
    const stream = streamOf(api, some, { thinking: "shown" });
    expect(checkGrammar(api, stream)).toEqual([]);
    const missed = stream.flatMap((event, index) => {
      const rest = stream.toSpliced(index, 1);
      const broken = { missing: rest, repeated: stream.toSpliced(index, 0, event), moved: [...rest, event] };
      return Object.entries(broken).flatMap(([how, one]) =>
        isFree(api, event, how, index === stream.length - 1) || checkGrammar(api, one).length > 0
          ? []
          : [`${how}: ${event.data}`],
      );
    });
    expect(missed).toEqual([]);
  });
});

/** Whether a stream is still in order after such a change: pieces of text are free, and so is the place of the last event. */
const isFree = (api: string, { data }: StreamEvent, how: string, isLast: boolean): boolean =>
  (how === "moved" && isLast) ||
  (how !== "moved" && api === "gemini" && !data.includes("finishReason")) ||
  (how !== "moved" && api === "openai-chat" && data.includes('"content":"a"')) ||
  (how === "missing" && api === "openai-chat" && data.includes('"choices":[]')) ||
  (how !== "moved" && api === "anthropic" && data.includes("content_block_delta"));
